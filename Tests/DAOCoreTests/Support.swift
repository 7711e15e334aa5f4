import DAOCore
import DAOLMDB
import DAOMemory
import DAOSQLite
import DAOTestSupport
import Foundation
import Testing

/// A model with a field of every kind that predicates support.
struct Sample: Model, Plain, Equatable {
    var id: Int
    var name: String
    var nick: String?
    var age: Int
    var level: Int8?
    var big: UInt64
    var score: Double?
    var ratio: Float?
    var price: Decimal?
    var isRead: Bool
    var flag: Bool?
    var date: Date?
    var token: UUID?
    var link: URL?
    var bytes: Data?
    var tags: [String]
    var like: Int

    static let schema = Schema(
        "sample", Self.init,
        Field("id", \.id, .primaryKey),
        Field("name", \.name, .indexed),
        Field("nick", \.nick),
        Field("age", \.age, .indexed),
        Field("level", \.level),
        Field("big", \.big),
        Field("score", \.score),
        Field("ratio", \.ratio),
        Field("price", \.price),
        Field("isRead", \.isRead),
        Field("flag", \.flag),
        Field("date", \.date),
        Field("token", \.token),
        Field("link", \.link),
        Field("bytes", \.bytes),
        Field("tags", \.tags),
        Field("like", \.like)
    )

    static func index(_ name: String) throws -> Int { try #require(schema.description.index(of: name)) }
}

/// A database of its own that tells what its calls look at.
final class CountedDatabase {
    private(set) var database: any Database
    private let place = Place()
    private let configuration: DatabaseConfiguration
    private let calls = Calls()

    /// The calls that were reported.
    private final class Calls: Sendable { let reports = Lock<[CallReport]>([]) }

    private static let drivers = DatabaseDrivers(.memory, .sqlite, .lmdb)

    /// - Parameter scheme: "memory", "lmdb" or "sqlite".
    init(_ scheme: String) throws {
        var configuration = DatabaseConfiguration(scheme: scheme, path: scheme == "memory" ? "" : place.path("test"))
        configuration.instrument = Instrument { [calls] call in calls.reports.withLock { $0.append(call) } }
        self.configuration = configuration
        database = try Self.drivers.open(configuration)
    }

    deinit { try? database.close() }

    /// Closes the database and opens it again, unless it is in memory. SQLite gathers its statistics when it is closed.
    func reopen() throws {
        if configuration.scheme == "memory" { return }
        try database.close()
        database = try Self.drivers.open(configuration)
    }

    /// Runs a call, and returns its result with the rows that it looked at; on SQLite the steps of its statements.
    func work<Result>(_ call: () throws -> Result) throws -> (result: Result, work: Int) {
        calls.reports.withLock { $0 = [] }
        let result = try call()
        let report = try #require(calls.reports.withLock { $0.last })
        let steps = report.statements.reduce(0) { $0 + ($1.steps ?? 0) }
        return (result, configuration.scheme == "sqlite" ? steps : try #require(report.rowsLookedAt))
    }
}

/// Returns the error that a closure throws.
func storageError(_ body: () throws -> some Any) throws -> StorageError {
    do {
        let result = try body()
        throw Unexpected(description: "expected an error, got \(result)")
    } catch let error as StorageError {
        return error
    }
}

struct Unexpected: Error, CustomStringConvertible { let description: String }

func decimal(_ text: String) throws -> Decimal { try #require(Decimal(string: text)) }
