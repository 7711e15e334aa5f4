import DAOCore
import DAOPostgres
import DAOTestSupport
import Foundation
import Testing

/// Servers that are stopped, full, or not the one that they should be.
@Suite("L1, L4 · Faults of a server", .enabled(if: Server.isThere, "there is no server"))
struct ServerFaultTests {
    /// The number of rows that a stream does not read at once.
    private static let many = 1200

    private func fill(_ database: any Database) throws {
        try database.books.create((1...Self.many).map { Book(id: $0, title: "\($0)", shelf: nil) })
    }

    @Test(arguments: ["fast", "immediate"])
    func aServerIsRestartedInTheMiddleOfEverything(_ mode: String) async throws {
        try await onThread {
            let cluster = try Cluster(hasStandby: false)
            defer { cluster.remove() }
            let database = try DatabaseDrivers(.postgres).open(cluster.newURL("connect_timeout=2"))
            try fill(database)
            // The idle connections are lost.
            try cluster.restartPrimary(mode)
            #expect(try database.books.count() == Self.many)
            try cluster.restartPrimary(mode)
            try database.books.persist(Book(id: 1, title: "again", shelf: nil))
            // A transaction, a snapshot and a stream are lost.
            let transaction = try storageError {
                try database.transaction {
                    try database.books.erase(byPrimaryKey: 1)
                    try cluster.restartPrimary(mode)
                    _ = try database.books.count()
                }
            }
            #expect(transaction.kind == .unreachable)
            let snapshot = try storageError {
                try database.snapshot {
                    _ = try database.books.count()
                    try cluster.restartPrimary(mode)
                    _ = try database.books.count()
                }
            }
            #expect(snapshot.kind == .unreachable)
            let stream = try storageError {
                try database.books.forEach { if $0.id == 1 { try cluster.restartPrimary(mode) } }
            }
            #expect(stream.kind == .unreachable)
            // Nothing of the transaction stays, and all goes on.
            #expect(try database.books.read(byPrimaryKey: 1)?.title == "again")
            _ = try database.transaction { try database.books.erase(byPrimaryKey: 1) }
            #expect(try database.books.count() == Self.many - 1)
            try database.close()
        }
    }

    @Test(arguments: ["statement", "gate", "snapshot", "stream"])
    func aConnectionThatTheServerEndsIsReplaced(_ state: String) async throws {
        let name = "ended-\(state)"
        let url = try Server.newURL("timeout=60&application_name=\(name)")
        let schema = try #require(try DatabaseConfiguration(url: url).options["schema"])
        let database = try DatabaseDrivers(.postgres).open(url)
        try fill(database)
        let end = """
            SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE application_name = '\(name)'
            """
        /// Ends the connections once one of them waits.
        @Sendable func endWaiting() throws {
            let deadline = ContinuousClock.now + .seconds(25)
            while try Server.psql("\(end) AND wait_event IN ('PgSleep', 'relation')").isEmpty, .now < deadline { usleep(5000) }
        }
        let error: StorageError
        switch state {
        case "statement":
            error = try await ending(endWaiting) {
                try database.transaction {
                    try database.books.erase(byPrimaryKey: 1)
                    _ = try database.underlying(as: PostgresHandle.self, touching: .none) {
                        try $0.execute("SELECT pg_sleep(30)")
                    }
                }
            }
        case "gate":
            error = try await Server.locking("\"\(schema)\".dao_gate") {
                try await ending(endWaiting) { try database.books.erase(byPrimaryKey: 1) }
            }
        case "snapshot":
            error = try storageError {
                try database.snapshot {
                    _ = try database.books.count()
                    try Server.psql(end)
                    _ = try database.books.count()
                }
            }
        default:
            error = try storageError { try database.books.forEach { if $0.id == 1 { try Server.psql(end) } } }
        }
        #expect(error.kind == .unreachable)
        #expect(try await database.books.count() == Self.many)
        try await database.books.erase(byPrimaryKey: 1)
        #expect(try await database.books.count() == Self.many - 1)
        try database.close()
    }

    @Test(arguments: ["a read", "a write", "the end", "a snapshot"])
    func aTransactionThatTheServerEndsForBeingIdleIsUnreachable(_ next: String) async throws {
        try await onThread {
            let database = try DatabaseDrivers(.postgres).open(Server.newURL())
            try fill(database)
            let sleep = { Thread.sleep(forTimeInterval: 0.6) }
            /// Lets the server end the session of the transaction when it has waited for the next statement for too long.
            let limit: @Sendable (PostgresHandle) throws -> Void = {
                _ = try $0.execute("SET idle_in_transaction_session_timeout = '150ms'")
            }
            let error = try storageError {
                if next == "a snapshot" {
                    return try database.snapshot {
                        try database.underlying(as: PostgresHandle.self, limit)
                        sleep()
                        _ = try database.books.count()
                    }
                }
                try database.transaction {
                    try database.books.erase(byPrimaryKey: 1)
                    try database.underlying(as: PostgresHandle.self, touching: .none, limit)
                    sleep()
                    switch next {
                    case "a read": _ = try database.books.count()
                    case "a write": try database.books.erase(byPrimaryKey: 2)
                    default: break
                    }
                }
            }
            #expect(error.kind == .unreachable, "\(error)")
            #expect(!error.message.contains("backup"))
            // Nothing of the transaction stays, and all goes on, on another session.
            #expect(try database.books.count() == Self.many)
            _ = try database.transaction { try database.books.erase(byPrimaryKey: 1) }
            #expect(try database.books.count() == Self.many - 1)
            try database.close()
        }
    }

    /// Runs a call on a thread while another one does something else, and returns the error of the call.
    private func ending(
        _ end: @escaping @Sendable () throws -> Void, _ call: @escaping @Sendable () throws -> Void
    ) async throws -> StorageError {
        try await onThread {
            let error = Lock<StorageError?>(nil)
            together([
                end,
                {
                    let thrown = try storageError(call)
                    error.withLock { $0 = thrown }
                },
            ])
            return try #require(error.withLock { $0 })
        }
    }

    @Test func aCommitThatWaitsForItsStandbyIsNotTakenForStored() async throws {
        try await onThread {
            let cluster = try Cluster()
            defer { cluster.remove() }
            let url = cluster.newURL("connect_timeout=1&application_name=waits&target_session_attrs=read-write")
            let database = try #require(try DatabaseDrivers(.postgres).open(url) as? PostgresDatabase)
            try database.books.create(Book(id: 1, title: "one", shelf: nil))
            try cluster.stopStandby()
            // The server ends the connection whose commit waits.
            let port = cluster.port
            Thread.detachNewThread {
                let deadline = ContinuousClock.now + .seconds(20)
                let end = """
                    SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                    WHERE application_name = 'waits' AND wait_event = 'SyncRep'
                    """
                while (try? Server.psql(end, on: Server.directory, port: port)) == [], .now < deadline { usleep(5000) }
            }
            let start = ContinuousClock.now
            let error = try storageError { try database.books.create(Book(id: 2, title: "two", shelf: nil)) }
            // The row is on one server. Only when the standby has it, too, the commit is acknowledged.
            #expect(error.kind == .outcomeUnknown)
            #expect(.now - start < .seconds(20))
            try cluster.startStandby()
            #expect(try database.outcome(of: error.commitToken ?? "") == .committed)
            #expect(try database.books.read().map(\.id) == [1, 2])
            try database.books.create(Book(id: 3, title: "three", shelf: nil))
            try database.close()
        }
    }

    @Test func aServerWhoseDiskIsFullStoresNothing() throws {
        let url = try Server.newURL("pool=4")
        let schema = try #require(try DatabaseConfiguration(url: url).options["schema"])
        let database = try DatabaseDrivers(.postgres).open(url)
        try database.books.create(Book(id: 1, title: "one", shelf: nil))
        try Server.psql(
            """
            SET search_path = "\(schema)";
            CREATE FUNCTION fill() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
            IF NEW.id > 1 THEN RAISE 'could not extend file: No space left on device' USING ERRCODE = '53100'; END IF;
            RETURN NEW; END $$;
            CREATE TRIGGER fill AFTER INSERT OR UPDATE ON book FOR EACH ROW EXECUTE FUNCTION fill();
            """)
        let books = (2...60).map { Book(id: $0, title: "\($0)", shelf: nil) }
        #expect(try storageError { try database.books.create(books) }.kind == .outOfSpace)
        #expect(try storageError { try database.books.create(books[0]) }.kind == .outOfSpace)
        try database.transaction {
            try database.books.persist(Book(id: 1, title: "changed", shelf: nil))
            #expect(try storageError { try database.books.persist(books) }.kind == .outOfSpace)
            #expect(try database.books.count() == 1)
        }
        #expect(try database.books.read().map(\.title) == ["changed"])
        try Server.psql("DROP TRIGGER fill ON \"\(schema)\".book")
        try database.books.create(books)
        #expect(try database.books.count() == 60)
        try database.close()
    }

    @Test func aCertificateIsChecked() async throws {
        try await onThread {
            var files = ""
            let cluster = try Cluster(
                hasStandby: false,
                settings: "-c listen_addresses=127.0.0.1 -c ssl=on -c ssl_cert_file=server.crt -c ssl_key_file=server.key"
            ) { cluster, directory in
                files = directory
                for name in ["ca", "other"] {
                    try Cluster.run(
                        "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days",
                        "2",
                        "-subj", "/CN=\(name)", "-keyout", "\(directory)/\(name).key", "-out", "\(directory)/\(name).crt")
                }
                try Cluster.run(
                    "openssl", "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj",
                    "/CN=localhost",
                    "-keyout", "\(directory)/server.key", "-out", "\(directory)/server.csr")
                try Cluster.run(
                    "openssl", "x509", "-req", "-in", "\(directory)/server.csr", "-CA", "\(directory)/ca.crt", "-CAkey",
                    "\(directory)/ca.key", "-CAcreateserial", "-days", "2", "-out", "\(directory)/server.crt")
                try Cluster.run("chmod", "600", "\(directory)/server.key")
            }
            defer { cluster.remove() }
            func open(_ host: String, _ options: String) throws {
                try DatabaseDrivers(.postgres).open(
                    "postgres://dao@\(host):\(cluster.port)/postgres?schema=tls&hostaddr=127.0.0.1&\(options)"
                ).close()
            }
            func root(_ name: String) -> String {
                "sslmode=verify-full&sslrootcert=\(files)/\(name).crt".replacing("/", with: "%2F")
            }
            try open("localhost", root("ca"))
            for (host, options) in [
                ("db.example.com", root("ca")), ("localhost", root("other")), ("localhost", root("missing")),
            ] {
                let error = try storageError { try open(host, options) }
                #expect(error.kind == .notPermitted, "\(host) \(options): \(error)")
                #expect(error.message.contains("sslrootcert"), "\(error)")
            }
            // A server without TLS.
            let plain = try Cluster(hasStandby: false, settings: "-c listen_addresses=127.0.0.1")
            defer { plain.remove() }
            let error = try storageError {
                try DatabaseDrivers(.postgres).open("postgres://dao@127.0.0.1:\(plain.port)/postgres?schema=tls&sslmode=require")
                    .close()
            }
            #expect(error.kind == .notPermitted, "\(error)")
            #expect(error.message.contains("sslmode"), "\(error)")
        }
    }
}
