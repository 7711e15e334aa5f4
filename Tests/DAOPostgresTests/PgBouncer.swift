import DAOCore
import DAOSystemPostgres
import DAOTestSupport
import Foundation

/// PgBouncer in front of the server of the tests. One thread uses it.
final class PgBouncer {
    /// Whether `Scripts/with-postgres.sh` found it.
    static var isThere: Bool { ProcessInfo.processInfo.environment["DAO_POOLER_URL"] != nil }

    private let program =
        ["/usr/sbin/pgbouncer", "/usr/local/bin/pgbouncer", "/opt/homebrew/bin/pgbouncer"]
        .first(where: FileManager.default.isExecutableFile) ?? "pgbouncer"
    /// The directory of its socket.
    let directory: String
    /// Its configuration, after the line that names the server.
    private let configuration: String

    /// Starts it.
    ///
    /// - Parameters:
    ///   - mode: For how long it gives a connection of the server to one client.
    ///   - connections: The number of connections to the server.
    ///   - port: The number of the server's socket.
    ///   - settings: Further lines of its configuration.
    init(_ mode: String = "transaction", connections: Int = 20, port: Int = 5432, settings: String = "") throws {
        let place = try Server.directory
        directory = "\(place)/pooler-\(UUID().uuidString.prefix(8))"
        try Cluster.run("mkdir", directory)
        try Data("\"dao\" \"\"\n".utf8).write(to: URL(fileURLWithPath: directory + "/users.txt"))
        configuration = """
            [pgbouncer]
            pool_mode = \(mode)
            unix_socket_dir = \(directory)
            listen_addr =
            listen_port = 5432
            auth_type = trust
            admin_users = dao
            auth_file = \(directory)/users.txt
            default_pool_size = \(connections)
            pidfile = \(directory)/pgbouncer.pid
            logfile = \(directory)/log
            \(settings)

            """
        try write(port)
        try start()
    }

    /// Writes its configuration, which names the server.
    private func write(_ port: Int) throws {
        try Data("[databases]\npostgres = host=\(Server.directory) port=\(port)\n\(configuration)".utf8)
            .write(to: URL(fileURLWithPath: directory + "/pgbouncer.ini"))
    }

    /// Lets it lead its clients to another server, as an administrator does after a fail-over.
    func lead(to port: Int) throws {
        try write(port)
        // A process that a test starts may have SIGHUP blocked.
        try Server.psql("RELOAD", database: "pgbouncer", on: directory)
    }

    func start() throws {
        try? FileManager.default.removeItem(atPath: directory + "/pgbouncer.pid")
        try? FileManager.default.removeItem(atPath: directory + "/.s.PGSQL.5432")
        try Cluster.run(program, "-q", "-d", directory + "/pgbouncer.ini")
        try wait("PgBouncer") { (try? Server.psql("SELECT 1", on: directory)) == ["1"] }
    }

    /// Sends it a signal.
    func signal(_ number: Int32) throws {
        let text = try String(contentsOfFile: directory + "/pgbouncer.pid", encoding: .utf8)
        guard let process = Int32(text.trimmingCharacters(in: .whitespacesAndNewlines)) else {
            throw ServerFailure(message: "PgBouncer has no number")
        }
        kill(process, number)
    }

    /// Kills it. Its connections are lost.
    func kill9() throws { try signal(SIGKILL) }

    /// The URL of a new schema behind it, for whoever opens databases in transaction mode.
    func newURL(_ options: String = "pooler=transaction") -> String {
        let host = directory.replacing("/", with: "%2F")
        return "postgres://dao@\(host)/postgres?schema=test-\(UUID().uuidString.lowercased())"
            + (options.isEmpty ? "" : "&\(options)")
    }

    deinit {
        try? signal(SIGCONT)
        try? signal(SIGKILL)
    }
}

/// Another client of the same pooler that changes everything which a connection of the server remembers, again and again.
final class HostileClient: Sendable {
    private let isStopped = Lock(false)
    private let rounds = Lock(0)
    private let ended = DispatchGroup()

    /// What it sets. The schema `evil` has tables and functions of the names that others use.
    static let settings = [
        "search_path = evil, pg_catalog", "synchronous_commit = off", "transform_null_equals = on", "row_security = off",
        "default_transaction_isolation = 'serializable'", "default_transaction_read_only = on",
        "default_transaction_deferrable = on", "enable_indexscan = off", "enable_bitmapscan = off", "statement_timeout = 60000",
        "lock_timeout = 1", "idle_in_transaction_session_timeout = 60000", "IntervalStyle = 'sql_standard'",
        "extra_float_digits = -15", "bytea_output = 'escape'", "escape_string_warning = off", "role = stranger",
    ]

    /// Makes the schema `evil` on the server.
    static func prepare() throws {
        try Server.psql(
            """
            SELECT pg_advisory_lock(4711);
            DO $$ BEGIN
            IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'stranger') THEN CREATE ROLE stranger; END IF; END $$;
            CREATE SCHEMA IF NOT EXISTS evil AUTHORIZATION stranger;
            CREATE TABLE IF NOT EXISTS evil.dao_gate (version BIGINT);
            CREATE OR REPLACE FUNCTION evil.is_equal(BIGINT, BIGINT) RETURNS BOOLEAN LANGUAGE sql AS 'SELECT false';
            DO $$ BEGIN
            CREATE OPERATOR evil.= (LEFTARG = BIGINT, RIGHTARG = BIGINT, FUNCTION = evil.is_equal);
            EXCEPTION WHEN duplicate_function THEN NULL; END $$;
            """)
    }

    /// - Parameters:
    ///   - directory: The directory of the pooler's socket.
    ///   - pause: The microseconds between two rounds of a client.
    init(_ directory: String, clients: Int = 4, pause: useconds_t = 2000) throws {
        try Self.prepare()
        for number in 0..<clients {
            ended.enter()
            Thread.detachNewThread { [self] in
                run(directory, pause + 500 * useconds_t(number))
                ended.leave()
            }
        }
    }

    private func run(_ directory: String, _ pause: useconds_t) {
        let temporary = ["dao_gate", "dao_commit", "item", "book", "shelf"].map {
            "CREATE TEMPORARY TABLE IF NOT EXISTS \"\($0)\" (version BIGINT)"
        }
        let text =
            "BEGIN READ WRITE; SET LOCAL role TO DEFAULT; \(temporary.joined(separator: "; ")); "
            + Self.settings.map { "SET \($0)" }.joined(separator: "; ") + "; COMMIT"
        while !isStopped.withLock({ $0 }) {
            let connection = PQconnectdb("host='\(directory)' user=dao dbname=postgres connect_timeout=2")
            PQsetNoticeProcessor(connection, { _, _ in }, nil)
            while PQstatus(connection) == CONNECTION_OK, !isStopped.withLock({ $0 }) {
                PQclear(PQexec(connection, text))
                rounds.withLock { $0 += 1 }
                usleep(pause)
            }
            PQfinish(connection)
            usleep(2000)
        }
    }

    /// How often it has changed a connection.
    var count: Int { rounds.withLock { $0 } }

    func stop() {
        isStopped.withLock { $0 = true }
        ended.wait()
    }

    deinit { isStopped.withLock { $0 = true } }
}
