import DAOConformance
import DAOCore
import DAOPostgres
import DAOSystemPostgres
import DAOTestSupport
import Foundation
import Testing

/// The server of the tests, which `Scripts/with-postgres.sh` starts.
enum Server {
    /// Its URL, without options; nil when there is none.
    static let url = ProcessInfo.processInfo.environment["DAO_POSTGRES_URL"]
    static var isThere: Bool { url != nil }
    /// The directory of the socket of a standby of it, which `make test` does not start.
    static let standby = ProcessInfo.processInfo.environment["DAO_POSTGRES_STANDBY"]

    /// The URL of the pooler in front of it, in transaction mode; nil when there is none.
    static let poolerURL = ProcessInfo.processInfo.environment["DAO_POOLER_URL"]

    /// The kind of database, with a schema for each test.
    static func target(_ options: String = "pool=120", pooled: Bool = false) -> ConformanceTarget? {
        guard let url = pooled ? poolerURL : url else { return nil }
        return try? ConformanceTarget(
            url: "\(url)?\(options)", name: "postgres", drivers: [.postgres], program: Process.built("dao-conformance"))
    }

    /// The URL of a new schema, which the first opening creates.
    static func newURL(_ options: String = "") throws -> String {
        let name = "test-\(UUID().uuidString.lowercased())"
        return "\(try #require(url))?schema=\(name)" + (options.isEmpty ? "" : "&\(options)")
    }

    /// The URL of the server with another user, host or database.
    static func url(user: String = "dao", database: String = "postgres", options: String = "") throws -> String {
        let url = try #require(url)
        let host = try #require(url.split(separator: "@").last?.split(separator: "/").first)
        return "postgres://\(user)@\(host)/\(database)?\(options)"
    }

    /// The directory of its socket.
    static var directory: String {
        get throws {
            let url = try #require(url)
            return try #require(try DatabaseConfiguration(url: url).options["host"])
        }
    }

    /// Runs a closure while another program has locked a table.
    static func locking<Result>(_ table: String, _ body: () async throws -> Result) async throws -> Result {
        let connection = try PQconnectdb("host='\(directory)' user=dao dbname=postgres")
        defer { PQfinish(connection) }
        PQclear(PQexec(connection, "BEGIN; LOCK TABLE \(table)"))
        return try await body()
    }

    /// Runs statements as another program would, and returns the first column of the last one's rows.
    ///
    /// - Parameters:
    ///   - sql: The statements.
    ///   - directory: The directory of the server's socket; nil for the server of the tests.
    ///   - port: The number of the socket.
    @discardableResult static func psql(
        _ sql: String, database: String = "postgres", on directory: String? = nil, port: Int = 5432
    ) throws -> [String] {
        let host = try directory ?? Server.directory
        let connection = PQconnectdb("host='\(host)' port=\(port) user=dao dbname='\(database)'")
        defer { PQfinish(connection) }
        PQsetNoticeProcessor(connection, { _, _ in }, nil)
        let result = PQexec(connection, sql)
        defer { PQclear(result) }
        let status = PQresultStatus(result)
        guard status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK else {
            throw ServerFailure(message: String(cString: PQerrorMessage(connection)))
        }
        return (0..<PQntuples(result)).map { String(cString: PQgetvalue(result, $0, 0)) }
    }
}

struct ServerFailure: Error {
    let message: String
}

/// Runs a closure on a thread of its own. A test that waits for servers takes no thread from other tests then.
func onThread<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result {
    try await withCheckedThrowingContinuation { continuation in
        Thread.detachNewThread { continuation.resume(with: Swift.Result { try body() }) }
    }
}

/// Runs closures on threads of their own, and waits for them. Their errors are issues.
func together(_ bodies: [@Sendable () throws -> Void], seconds: Double = 120) {
    let group = DispatchGroup()
    for body in bodies {
        group.enter()
        Thread.detachNewThread {
            do { try body() } catch { Issue.record(error) }
            group.leave()
        }
    }
    #expect(group.wait(timeout: .now() + seconds) == .success)
}

/// Runs a closure on another thread, which is in no transaction of this one, and waits for it.
func onAnotherThread<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) throws -> Value {
    let result = Lock<Result<Value, any Error>?>(nil)
    let isDone = DispatchSemaphore(value: 0)
    Thread.detachNewThread {
        let value = Result { try body() }
        result.withLock { $0 = value }
        isDone.signal()
    }
    guard isDone.wait(timeout: .now() + 60) == .success, let value = result.withLock({ $0 }) else {
        throw ServerFailure(message: "the call does not end")
    }
    return try value.get()
}

/// Returns the storage error that a closure throws.
func storageError<Result>(_ body: () throws -> Result) throws -> StorageError {
    do {
        _ = try body()
    } catch let error as StorageError {
        return error
    }
    throw ServerFailure(message: "expected a StorageError")
}

struct Book: Plain, Model, Equatable {
    var id: Int
    var title: String
    var shelf: String?

    static let schema = Schema(
        "book", Self.init, Field("id", \.id, .primaryKey), Field("title", \.title, .indexed), Field("shelf", \.shelf, .unique))
}

extension Database {
    var books: DAO<Book> { get throws { DAO(storage: try storage(for: Book.self)) } }
}
