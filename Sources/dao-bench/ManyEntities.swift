import DAOCore
import DAOLMDB
import DAOSQLite
import Foundation

/// Fifty entities of six fields and an index.
enum ManyEntities {
    static let count = 50

    /// Opens a database and the storage of each entity, and returns the time.
    static func open(_ url: String) throws -> Duration {
        let start = ContinuousClock.now
        let database = try DatabaseDrivers(.sqlite, .lmdb).open(url)
        for tens in digits.prefix(count / digits.count) { for ones in digits { try storage(database, tens, ones) } }
        let time = ContinuousClock.now - start
        try database.close()
        return time
    }

    private static func storage(_ database: any Database, _ tens: any Digit.Type, _ ones: any Digit.Type) throws {
        func make<Tens: Digit, Ones: Digit>(_: Tens.Type, _: Ones.Type) throws {
            _ = try database.storage(for: Numbered<Tens, Ones>.self)
        }
        try make(tens, ones)
    }

    private protocol Digit: SendableMetatype { static var value: Int { get } }
    private enum D0: Digit { static let value = 0 }
    private enum D1: Digit { static let value = 1 }
    private enum D2: Digit { static let value = 2 }
    private enum D3: Digit { static let value = 3 }
    private enum D4: Digit { static let value = 4 }
    private enum D5: Digit { static let value = 5 }
    private enum D6: Digit { static let value = 6 }
    private enum D7: Digit { static let value = 7 }
    private enum D8: Digit { static let value = 8 }
    private enum D9: Digit { static let value = 9 }

    private static let digits: [any Digit.Type] = [
        D0.self, D1.self, D2.self, D3.self, D4.self, D5.self, D6.self, D7.self, D8.self, D9.self,
    ]

    /// The schemas of the entities: a generic type has no stored static properties.
    private static let schemas = Lock<[ObjectIdentifier: any Sendable]>([:])

    /// An entity for each pair of digits.
    private struct Numbered<Tens: Digit, Ones: Digit>: Plain, Model {
        var id: Int
        var name: String
        var group: Int
        var date: Date
        var note: String?
        var isDone: Bool

        static var schema: Schema<Self> {
            if let known = schemas.withLock({ $0[ObjectIdentifier(self)] }) as? Schema<Self> { return known }
            let schema = Schema(
                "entity\(Tens.value)\(Ones.value)", Self.init, Field("id", \.id, .primaryKey), Field("name", \.name),
                Field("group", \.group, .indexed), Field("date", \.date), Field("note", \.note), Field("isDone", \.isDone))
            schemas.withLock { $0[ObjectIdentifier(self)] = schema }
            return schema
        }
    }
}
