import DAOCore
import DAOPostgres
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
