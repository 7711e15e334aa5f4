import DAOCore
import DAOSystemPostgres
import DAOTestSupport
import Foundation

/// A primary, and a synchronous standby if wanted, beside the server of the tests.
///
/// Their files are not synced: what a killed process has written, the system keeps. One thread uses a cluster.
final class Cluster {
    /// A server. A number that is taken names its directory and its socket.
    private struct Member {
        let port: Int
        var data: String { "cluster-\(port)" }
    }

    private static let nextPort = Lock(Int.random(in: 10_000...30_000))
    /// The directory of a server that was never started.
    private static let template = Lock<String?>(nil)

    private var primary: Member
    private var standby: Member
    /// The directory of the sockets, and of the directories of the servers.
    private let place: String

    private let settings: String

    /// Starts the servers.
    ///
    /// - Parameters:
    ///   - hasStandby: Whether there is a standby.
    ///   - settings: Further options of the servers' command line.
    ///   - prepare: A closure that gets the directory of the primary before it is started.
    init(hasStandby: Bool = true, settings: String = "", prepare: (Cluster, String) throws -> Void = { _, _ in }) throws {
        place = try Server.directory
        self.settings = settings
        let port = Self.nextPort.withLock { port in
            port += 2
            return port
        }
        (primary, standby) = (Member(port: port), Member(port: port + 1))
        let template = try Self.template.withLock { template in
            if let template { return template }
            let new = "cluster-template-\(ProcessInfo.processInfo.processIdentifier)"
            try Self.run("initdb", "--no-sync", "-D", new, "-U", "dao", "-A", "trust", "-E", "UTF8", "--no-locale")
            template = new
            return new
        }
        try Self.run("cp", "-Rp", template, primary.data)
        try prepare(self, "\(place)/\(primary.data)")
        try start(primary)
        if hasStandby { try addStandby() }
    }

    /// The number of the primary's port and socket.
    var port: Int { primary.port }

    /// The URL of a new schema, with both servers as hosts.
    func newURL(_ options: String) -> String {
        let host = place.replacing("/", with: "%2F")
        let ports = [primary.port, standby.port].sorted()
        return
            "postgres://dao@\(host):\(ports[0]),\(host):\(ports[1])/postgres?schema=s-\(UUID().uuidString.lowercased())&\(options)"
    }

    /// Runs statements on the primary, and returns the first column of the last one's rows.
    @discardableResult func onPrimary(_ sql: String) throws -> [String] { try Server.psql(sql, on: place, port: primary.port) }

    /// Runs statements on the standby.
    @discardableResult func onStandby(_ sql: String) throws -> [String] { try Server.psql(sql, on: place, port: standby.port) }

    /// Kills all processes of the primary.
    func killPrimary() throws { try kill(primary) }

    /// Makes a primary of the standby. The other server is dead.
    func promote() throws {
        try Self.run("pg_ctl", "promote", "-w", "-t", "60", "-D", standby.data)
        swap(&primary, &standby)
    }

    /// Stops the primary and starts it again.
    ///
    /// - Parameter mode: `fast` ends its connections, `immediate` does not even write what it has in memory.
    func restartPrimary(_ mode: String) throws {
        try Self.run("pg_ctl", "stop", "-w", "-m", mode, "-D", primary.data)
        try start(primary)
    }

    /// Makes a new synchronous standby of the server that is not the primary, from a copy of the primary.
    ///
    /// When it returns, a commit that was ever acknowledged is on both servers.
    func addStandby() throws {
        try? FileManager.default.removeItem(atPath: "\(place)/\(standby.data)")
        try Self.run(
            "pg_basebackup", "-D", standby.data, "-R", "-X", "stream", "-c", "fast", "--no-sync", "-h", place, "-p",
            "\(primary.port)", "-U", "dao")
        try start(standby)
        try onPrimary("ALTER SYSTEM SET synchronous_standby_names = '*'")
        try onPrimary("SELECT pg_reload_conf()")
        try wait("the new settings") { try onPrimary("SHOW synchronous_standby_names") == ["*"] }
        // The process that makes checkpoints is the one that lets commits wait. It reads new settings before a checkpoint.
        try onPrimary("CHECKPOINT")
        let position = try onPrimary("SELECT pg_current_wal_flush_lsn()")[0]
        try wait("the standby") {
            try onPrimary("SELECT 1 FROM pg_stat_replication WHERE sync_state = 'sync' AND replay_lsn >= '\(position)'") == ["1"]
        }
    }

    /// Stops the standby, as an administrator does.
    func stopStandby() throws { try Self.run("pg_ctl", "stop", "-m", "fast", "-w", "-D", standby.data) }

    /// Starts the standby again.
    func startStandby() throws { try start(standby) }

    /// Keeps a copy of the standby's files as they are now. Its connections end.
    func keepStandby() throws {
        try stopStandby()
        try Self.run("cp", "-Rp", standby.data, "\(standby.data)-kept")
        try startStandby()
    }

    /// Puts another standby in the standby's place: one of the files that were kept, which replays no commit that came later.
    func replaceStandbyByKept() throws {
        try stopStandby()
        try Self.run("rm", "-r", standby.data)
        try Self.run("mv", "\(standby.data)-kept", standby.data)
        try Self.run("sh", "-c", "echo \"recovery_min_apply_delay = '1h'\" >>\(standby.data)/postgresql.auto.conf")
        try startStandby()
    }

    /// Stops both servers, and removes their files.
    func remove() {
        for member in [standby, primary] {
            try? kill(member)
            try? FileManager.default.removeItem(atPath: "\(place)/\(member.data)")
        }
    }

    // MARK: Processes

    private func start(_ member: Member) throws {
        try Self.run(
            "pg_ctl", "start", "-w", "-t", "60", "-D", member.data, "-l", "\(member.data).log", "-o",
            """
            -c fsync=off -c listen_addresses='' -c unix_socket_directories=\(place) -c port=\(member.port) -c shared_buffers=32MB \
            -c wal_keep_size=256MB -c wal_retrieve_retry_interval=100ms -c jit=off -c max_connections=400 \(settings)
            """)
    }

    /// Kills the processes of a server, without a chance to say anything.
    private func kill(_ member: Member) throws {
        let file = "\(place)/\(member.data)/postmaster.pid"
        let first = try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n").first
        guard let server = first.flatMap({ Int32($0) }) else { throw ServerFailure(message: "no number in \(file)") }
        // From now on it starts no process.
        Foundation.kill(server, SIGSTOP)
        let children = try Self.output(of: ["/usr/bin/env", "pgrep", "-P", "\(server)"], in: place).text.split(separator: "\n")
        for process in children.compactMap({ Int32($0) }) + [server] { Foundation.kill(process, SIGKILL) }
        // Nobody takes the dead one for a living one.
        for file in [file, "\(place)/.s.PGSQL.\(member.port)", "\(place)/.s.PGSQL.\(member.port).lock"] {
            try? FileManager.default.removeItem(atPath: file)
        }
    }

    /// Runs a program, such as one of PostgreSQL, as the owner of the servers.
    static func run(_ program: String, _ arguments: String...) throws {
        let environment = ProcessInfo.processInfo.environment
        let owner = (environment["DAO_POSTGRES_OWNER"] ?? "").split(separator: " ").map(String.init)
        let path = "\(environment["DAO_POSTGRES_BIN"] ?? ""):\(environment["PATH"] ?? "")"
        let command = ["/usr/bin/env"] + owner + ["env", "PATH=\(path)", program] + arguments
        let result = try output(of: command, in: Server.directory)
        guard result.status == 0 else {
            throw ServerFailure(message: "\(([program] + arguments).joined(separator: " ")): \(result.text)")
        }
    }

    /// Runs a program to its end. What it starts may go on.
    private static func output(of command: [String], in directory: String) throws -> (status: Int32, text: String) {
        // A server keeps the file open. It would keep a pipe open, too, and nobody would see its end.
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("dao-output-\(UUID().uuidString)")
        try Data().write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: command[0])
        process.arguments = Array(command.dropFirst())
        process.currentDirectoryURL = URL(fileURLWithPath: directory)
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = try FileHandle(forWritingTo: file)
        process.standardError = process.standardOutput
        try process.run()
        let status = process.waitForEnd()
        return (status, try String(contentsOf: file, encoding: .utf8))
    }

}

/// Waits until a condition holds.
func wait(_ what: String, until condition: () throws -> Bool) throws {
    let deadline = ContinuousClock.now + .seconds(60)
    while try !condition() {
        if .now > deadline { throw ServerFailure(message: "waited too long for \(what)") }
        usleep(5000)
    }
}
