import DAOCore
import DAOPostgres
import DAOSystemPostgres
import DAOTestSupport
import Foundation
import Testing

#if canImport(Glibc)
    import Glibc
#endif

@Suite("Poolers in front of a server", .enabled(if: Server.isThere, "there is no server"))
struct PoolerTests {
    @Test(arguments: [true, false])
    func aPoolerThatSharesConnectionsIsUnsupported(_ isSharing: Bool) throws {
        let pooler = try PoolerStandIn(sharesConnections: isSharing)
        defer { pooler.stop() }
        let url = try pooler.newURL()
        if isSharing {
            let error = try storageError { try DatabaseDrivers(.postgres).open(url) }
            #expect(error.kind == .unsupported)
            #expect(error.message.contains("session mode"))
        } else {
            let database = try DatabaseDrivers(.postgres).open(url)
            try database.books.create(Book(id: 1, title: "one", shelf: nil))
            try database.transaction { try database.books.create(Book(id: 2, title: "two", shelf: nil)) }
            #expect(try database.books.count() == 2)
            try database.close()
        }
    }
}

/// PgBouncer, which gives a connection of the server to another client after each transaction.
@Suite("A pooler in transaction mode", .enabled(if: PgBouncer.isThere, "there is no PgBouncer"))
struct TransactionPoolerTests {
    private func open(_ url: String) throws -> any Database { try DatabaseDrivers(.postgres).open(url) }

    @Test func withoutTheOptionItIsRefusedAndTheErrorNamesTheOption() throws {
        let pooler = try PgBouncer()
        let error = try storageError { try open(pooler.newURL("")) }
        #expect(error.kind == .unsupported)
        #expect(error.message.contains("pooler=transaction"))
        let statements = try PgBouncer("statement")
        let other = try storageError { try open(statements.newURL()) }
        #expect(other.kind == .unsupported, "\(other)")
        #expect(other.message.contains("transaction mode"))
    }

    @Test(arguments: [
        ("pooler=statement", "neither 'session' nor 'transaction' nor 'process'"),
        ("pooler=transaction&reads=standby", "reads=standby"),
    ])
    func wrongOptionsAreRefused(_ options: String, _ words: String) throws {
        let error = try storageError { try open(Server.newURL(options)) }
        #expect(error.kind == .invalidConfiguration && error.message.contains(words), "\(error)")
    }

    @Test(arguments: ["session", "transaction", "process"])
    func theOptionAlsoWorksWithoutAPoolerAndWithOneInSessionMode(_ mode: String) throws {
        let pooler = try PgBouncer("session")
        for url in [try Server.newURL("pooler=\(mode)"), pooler.newURL("pooler=\(mode)")] {
            let database = try open(url)
            try database.books.create(Book(id: 1, title: "one", shelf: nil))
            #expect(try database.books.count() == 1)
            try database.close()
        }
    }

    /// With one connection of the server, every client has it in turn.
    @Test func aCallLeavesNothingBehindAndTakesNothing() throws {
        let pooler = try PgBouncer(connections: 1)
        try HostileClient.prepare()
        let mark = UUID().uuidString
        let session = """
            SELECT md5(string_agg(name || '=' || setting, ',' ORDER BY name)) FROM pg_settings
            WHERE name NOT IN ('application_name', 'in_hot_standby')
            """
        let left = """
            SELECT (SELECT count(*) FROM pg_prepared_statements) + (SELECT count(*) FROM pg_cursors)
            + (SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid())
            """
        func other(_ sql: String) throws -> [String] { try Server.psql(sql, on: pooler.directory) }
        _ = try other("SET transform_null_equals = on; " + HostileClient.settings.map { "SET \($0)" }.joined(separator: "; "))
        let before = try other(session)
        #expect(try other("SHOW search_path") == ["evil, pg_catalog"])

        let database = try open(pooler.newURL("pooler=transaction&pool=2"))
        let books = try database.books
        try books.create((1...600).map { Book(id: $0, title: "\($0)", shelf: "\($0)") })
        #expect(try other(session) == before, "after rows were created")
        #expect(try books.read(byPrimaryKey: 7)?.title == "7")
        #expect(try books.count { $0.shelf == nil } == 0)
        #expect(throws: StorageError.self) { try books.create(Book(id: 7, title: "again", shelf: nil)) }
        #expect(throws: StorageError.self) { try books.create(Book(id: 700, title: "again", shelf: "7")) }
        var streamed = 0
        try books.forEach { _ in streamed += 1 }
        #expect(streamed == 600)
        try database.transaction {
            try books.update(where: { $0.id == 1 }) { $0.title = "changed" }
            _ = try database.underlying(as: PostgresHandle.self, touching: .models(Book.self)) {
                try $0.execute(
                    "CREATE TABLE public.\"seen-\(mark)\" AS SELECT current_setting('synchronous_commit') AS c, "
                        + "current_user::text AS u, current_setting('transaction_read_only') AS r")
            }
        }
        _ = try? database.snapshot { () throws -> Void in
            _ = try books.count()
            throw CancellationError()
        }
        #expect(try other(session) == before, "after reads, refused writes, a stream and a snapshot")
        #expect(try other(left) == ["0"])
        #expect(
            try Server.psql("SELECT c || u || r FROM public.\"seen-\(mark)\"; ") == ["ondaooff"],
            "the settings inside of a transaction")
        try Server.psql("DROP TABLE public.\"seen-\(mark)\"")
        try database.close()
    }

    @Test func aPoolerWithoutAFreeConnectionIsBusy() throws {
        let pooler = try PgBouncer(connections: 1, settings: "query_wait_timeout = 1")
        let database = try open(pooler.newURL("pooler=transaction&timeout=2"))
        try database.books.create(Book(id: 1, title: "one", shelf: nil))
        let holder = PQconnectdb("host='\(pooler.directory)' user=dao dbname=postgres")
        defer { PQfinish(holder) }
        PQclear(PQexec(holder, "BEGIN"))
        let error = try storageError { try database.books.count() }
        #expect(error.kind == .busy, "\(error)")
        PQclear(PQexec(holder, "ROLLBACK"))
        #expect(try database.books.count() == 1)
        try database.close()
    }

    @Test func aPoolerWithTooManyClientsIsBusy() throws {
        let pooler = try PgBouncer(settings: "max_client_conn = 1")
        let holder = PQconnectdb("host='\(pooler.directory)' user=dao dbname=postgres")
        defer { PQfinish(holder) }
        let error = try storageError { try open(pooler.newURL()) }
        #expect(error.kind == .busy, "\(error)")
    }

    /// The cancelled call is ended, and no other one is.
    @Test func cancellingReachesTheRightQuery() async throws {
        let pooler = try PgBouncer(connections: 4)
        let database = try open(pooler.newURL("pooler=transaction&pool=40"))
        let books = try database.books
        try await books.create((1...3000).map { Book(id: $0, title: "\($0)", shelf: nil) })
        for _ in 0..<20 {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<12 {
                    group.addTask {
                        let task = Task {
                            try await onThread {
                                try database.snapshot { () throws -> Int in
                                    try books.count { $0.title > "5" && $0.title != "\(number)" }
                                }
                            }
                        }
                        if number % 2 == 0 {
                            try await Task.sleep(for: .microseconds(Int.random(in: 0...3000)))
                            task.cancel()
                            _ = try? await task.value
                        } else {
                            #expect(try await task.value > 0)
                        }
                    }
                }
                try await group.waitForAll()
            }
        }
        try database.close()
    }

    /// What was acknowledged stays, and calls go on when the pooler is back.
    @Test func aPoolerThatIsKilledOrPausedLosesNothing() throws {
        let pooler = try PgBouncer(connections: 6)
        let database = try open(pooler.newURL("pooler=transaction&pool=8&connect_timeout=10&statementTimeout=2"))
        let books = try database.books
        try books.create(Book(id: 0, title: "first", shelf: nil))
        let isOver = Lock(false)
        let acknowledged = Lock<Set<Int>>([])
        let unexpected = Lock<[String]>([])
        let group = DispatchGroup()
        for writer in 1...3 {
            group.enter()
            Thread.detachNewThread {
                var number = writer * 1_000_000
                while !isOver.withLock({ $0 }) {
                    number += 1
                    do {
                        try books.create(Book(id: number, title: "x", shelf: nil))
                        acknowledged.withLock { _ = $0.insert(number) }
                    } catch let error as StorageError where [.unreachable, .outcomeUnknown, .busy].contains(error.kind) {
                        usleep(2000)
                    } catch {
                        unexpected.withLock { $0.append("\(error)") }
                    }
                    do { _ = try books.read(byPrimaryKey: 0) } catch let error as StorageError
                        where [.unreachable, .busy].contains(error.kind)
                    {} catch { unexpected.withLock { $0.append("\(error)") } }
                }
                group.leave()
            }
        }
        for round in 0..<4 {
            usleep(200_000)
            if round % 2 == 0 {
                try pooler.kill9()
                usleep(100_000)
                try pooler.start()
            } else {
                try pooler.signal(SIGSTOP)
                sleep(3)
                try pooler.signal(SIGCONT)
            }
        }
        usleep(300_000)
        isOver.withLock { $0 = true }
        #expect(group.wait(timeout: .now() + 60) == .success)
        #expect(unexpected.withLock { $0 } == [])
        let stored = Set(try books.read(\.id))
        let (lost, count) = acknowledged.withLock { ($0.subtracting(stored), $0.count) }
        #expect(lost.isEmpty)
        #expect(count > 20)
        try database.close()
    }

    /// `ROUNDS` calls of each of 400 clients, over four connections of the server, beside a hostile client.
    @Test func manyClientsOnFewConnectionsGetTheRightAnswers() throws {
        let rounds = ProcessInfo.processInfo.environment["ROUNDS"].flatMap(Int.init) ?? 20
        let pooler = try PgBouncer(connections: 4, settings: "max_client_conn = 1000\nlisten_backlog = 1000")
        let url = pooler.newURL("pooler=transaction&pool=500&timeout=60")
        let database = try open(url)
        let books = try database.books
        try books.create((1...1000).map { Book(id: $0, title: "\($0)", shelf: nil) })
        let hostile = try HostileClient(pooler.directory)
        defer { hostile.stop() }
        together(
            (0..<400).map { client in
                {
                    for round in 0..<rounds {
                        let id = (client * 7919 + round * 104_729) % 1000 + 1
                        if client % 40 == 0, round % 10 == 0 {
                            try books.persist(Book(id: 2000 + client, title: "\(round)", shelf: nil))
                            #expect(try books.read(byPrimaryKey: 2000 + client)?.title == "\(round)")
                        } else {
                            #expect(try books.read(byPrimaryKey: id)?.title == "\(id)")
                        }
                    }
                }
            }, seconds: 120 + Double(rounds) / 4)
        #expect(hostile.count > 0)
        try database.close()
    }
}

/// The pooler of the process: databases that are schemas of one server take turns with its connections.
@Suite("Connections that databases share", .enabled(if: Server.isThere, "there is no server"))
struct SharedConnectionTests {
    /// Databases of new schemas, on connections that no other test has.
    private struct Shelves {
        let name = "shared-\(UUID().uuidString.prefix(8).lowercased())"
        private let urls: [String]
        let databases: [any Database]

        init(_ count: Int, _ options: String) throws {
            let name = name
            urls = try (0..<count).map { _ in try Server.newURL("pooler=process&application_name=\(name)&\(options)") }
            databases = try urls.map { try DatabaseDrivers(.postgres).open($0) }
        }

        /// How many connections the server has of them.
        var connections: Int {
            get throws {
                Int(try Server.psql("SELECT count(*) FROM pg_stat_activity WHERE application_name = '\(name)'")[0]) ?? -1
            }
        }

        /// Lets the server end all of their connections.
        func endConnections() throws {
            try Server.psql("SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE application_name = '\(name)'")
        }

        func close() throws {
            for database in databases { try database.close() }
            for url in urls { try PostgresDatabase.dropSchema(of: DatabaseConfiguration(url: url)) }
        }
    }

    @Test(arguments: ["one", "many"]) func fewConnectionsServeManySchemas(_ writers: String) throws {
        let shelves = try Shelves(12, "pool=4&writers=\(writers)&timeout=60")
        together(
            shelves.databases.enumerated().map { shelf, database in
                {
                    let books = try database.books
                    for round in 1...20 {
                        try database.transaction(retrying: 20) {
                            try books.create(Book(id: round, title: "\(shelf)", shelf: nil))
                        }
                        try books.persist([Book(id: 0, title: "\(shelf)", shelf: nil)])
                        var streamed = 0
                        try books.forEach { _ in streamed += 1 }
                        #expect(streamed == round + 1)
                        #expect(throws: StorageError.self) { try books.create(Book(id: 0, title: "again", shelf: nil)) }
                        #expect(
                            try database.snapshot { try books.read(\.title) } == Array(repeating: "\(shelf)", count: round + 1))
                    }
                }
            })
        #expect(try (1...4).contains(shelves.connections))
        try shelves.close()
        // Those that nobody uses any more are closed.
        try wait("the end of the connections") { try shelves.connections == 0 }
    }

    @Test func aCallWaitsForAConnectionAndThenIsBusy() throws {
        let shelves = try Shelves(3, "pool=2&timeout=0.3")
        for database in shelves.databases { try database.books.create(Book(id: 1, title: "one", shelf: nil)) }
        let last = try shelves.databases[2].books
        try shelves.databases[0].transaction {
            _ = try shelves.databases[0].books.read()
            try shelves.databases[1].snapshot {
                _ = try shelves.databases[1].books.read()
                let read = try storageError { try onAnotherThread { try last.read() } }
                #expect(read.kind == .busy && read.message.contains("'pool'"), "\(read)")
                let write = try storageError { try onAnotherThread { try last.create(Book(id: 2, title: "two", shelf: nil)) } }
                #expect(write.kind == .busy, "\(write)")
            }
            #expect(try onAnotherThread { try last.count() } == 1)
        }
        #expect(try last.count() == 1)
        try shelves.close()
    }

    /// What fails gives its connection back, in each way of failing: two of them would be gone soon.
    @Test func failuresKeepNoConnection() throws {
        let shelves = try Shelves(2, "pool=2&timeout=1")
        let (first, second) = (shelves.databases[0], shelves.databases[1])
        let books = try first.books
        try books.create(Book(id: 1, title: "one", shelf: nil))
        for round in 0..<12 {
            switch round % 6 {
            case 0: #expect(throws: StorageError.self) { try books.create(Book(id: 1, title: "again", shelf: nil)) }
            case 1:
                #expect(throws: CancellationError.self) {
                    try first.transaction { () throws -> Void in
                        _ = try books.read()
                        throw CancellationError()
                    }
                }
            case 2:
                #expect(throws: StorageError.self) {
                    try first.transaction {
                        _ = try first.underlying(as: PostgresHandle.self, touching: .models(Book.self)) {
                            try $0.execute("SELECT no_such_function()")
                        }
                    }
                }
            case 3:
                // The connection is lost in the middle of a transaction.
                #expect(throws: StorageError.self) {
                    try first.transaction {
                        _ = try books.read()
                        try shelves.endConnections()
                        _ = try books.read()
                    }
                }
            case 4:
                // Those that nobody has are lost.
                try shelves.endConnections()
            default:
                #expect(throws: StorageError.self) {
                    try first.underlying(as: PostgresHandle.self, touching: .models(Book.self)) {
                        try $0.execute("SELECT pg_terminate_backend(pg_backend_pid())")
                    }
                }
            }
            #expect(try second.books.count() == 0)
            #expect(try books.count() == 1)
            try second.transaction { _ = try second.books.count() }
        }
        try shelves.close()
    }
}

@Suite("Servers that are too old", .enabled(if: Server.isThere, "there is no server"))
struct OldServerTests {
    @Test func aServerBeforeVersion13IsUnsupported() throws {
        let server = try PoolerStandIn(sharesConnections: false, version: "12.22")
        defer { server.stop() }
        let error = try storageError { try DatabaseDrivers(.postgres).open(server.newURL()) }
        #expect(error.kind == .unsupported)
        #expect(error.message.contains("13"))
    }
}

/// Stands for a pooler such as PgBouncer: it greets clients itself, and gives them connections of the server for as long as
/// they are connected, or for one transaction.
private final class PoolerStandIn: Sendable {
    let directory: String
    private let shared: NSLock?
    private let server: Int32
    private let version: String
    private let isStopped = Lock(false)

    init(sharesConnections: Bool, version: String = "15.0") throws {
        self.version = version
        directory = "/tmp/dao-pooler-\(UUID().uuidString.prefix(8))"
        shared = sharesConnections ? NSLock() : nil
        server = sharesConnections ? try Self.connectToServer() : -1
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        let listener = UnixSocket.make()
        guard UnixSocket.withAddress(directory, { bind(listener, $0, $1) }) == 0, listen(listener, 100) == 0 else {
            throw ServerFailure(message: "no socket in \(directory)")
        }
        Thread.detachNewThread { [self] in
            while true {
                let client = accept(listener, nil, nil)
                if client < 0 || isStopped.withLock({ $0 }) {
                    close(client)
                    close(listener)
                    return
                }
                Thread.detachNewThread { [self] in
                    try? serve(client)
                    close(client)
                }
            }
        }
    }

    /// The URL of a new schema, behind the pooler.
    func newURL() throws -> String {
        try Server.newURL().replacing(
            Server.directory.replacing("/", with: "%2F"), with: directory.replacing("/", with: "%2F"))
    }

    func stop() {
        isStopped.withLock { $0 = true }
        let caller = UnixSocket.make()
        _ = UnixSocket.withAddress(directory) { connect(caller, $0, $1) }
        close(caller)
        if server >= 0 { close(server) }
        try? FileManager.default.removeItem(atPath: directory)
    }

    private func serve(_ client: Int32) throws {
        _ = try Self.read(Int(Self.length(try Self.read(4, client))) - 4, client)
        UnixSocket.send(Self.greeting(version)[...], client)
        let own = shared == nil ? try Self.connectToServer() : server
        defer { if shared == nil { close(own) } }
        while true {
            var message = try Self.message(from: client)
            // It says goodbye.
            if message[0] == UInt8(ascii: "X") { return }
            shared?.lock()
            defer { shared?.unlock() }
            // Until the server is in no transaction.
            while true {
                UnixSocket.send(message[...], own)
                if message[0] == UInt8(ascii: "S") || message[0] == UInt8(ascii: "Q") {
                    var answer: [UInt8] = []
                    repeat {
                        answer = try Self.message(from: own)
                        UnixSocket.send(answer[...], client)
                    } while answer[0] != UInt8(ascii: "Z")
                    if answer[5] == UInt8(ascii: "I") { break }
                }
                message = try Self.message(from: client)
            }
        }
    }

    // MARK: Messages

    private static func connectToServer() throws -> Int32 {
        let server = UnixSocket.make()
        let directory = try Server.directory
        guard UnixSocket.withAddress(directory, { connect(server, $0, $1) }) == 0 else {
            throw ServerFailure(message: "no server in \(directory)")
        }
        let text = [UInt8]("user\0dao\0database\0postgres\0\0".utf8)
        UnixSocket.send((bytes(Int32(text.count + 8)) + bytes(196_608) + text)[...], server)
        while try message(from: server)[0] != UInt8(ascii: "Z") {}
        return server
    }

    /// What a server says when a client may go on, with a number of a process that is the pooler's own.
    private static func greeting(_ version: String) -> [UInt8] {
        func message(_ type: Character, _ content: [UInt8]) -> [UInt8] {
            [type.asciiValue ?? 0] + bytes(Int32(content.count + 4)) + content
        }
        let settings = ["server_version": version, "server_encoding": "UTF8", "client_encoding": "UTF8"]
        return message("R", bytes(0)) + settings.flatMap { message("S", [UInt8]("\($0)\0\($1)\0".utf8)) }
            + message("K", bytes(-7) + bytes(7)) + message("Z", [UInt8(ascii: "I")])
    }

    private static func bytes(_ number: Int32) -> [UInt8] { withUnsafeBytes(of: number.bigEndian) { Array($0) } }

    private static func length(_ bytes: [UInt8]) -> Int32 { bytes.reduce(0) { $0 << 8 | Int32($1) } }

    private static func message(from socket: Int32) throws -> [UInt8] {
        let head = try read(5, socket)
        return head + (try read(Int(length(Array(head[1...]))) - 4, socket))
    }

    private static func read(_ count: Int, _ socket: Int32) throws -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        var done = 0
        while done < count {
            let read = bytes.withUnsafeMutableBytes { recv(socket, $0.baseAddress.map { $0 + done }, count - done, 0) }
            if read <= 0 { throw ServerFailure(message: "the connection was closed") }
            done += read
        }
        return bytes
    }
}
