import DAOCore
import Foundation

/// A list whose name is unique, of rows with unique ranks.
struct Queue: Plain, Model, Equatable {
    var id: Int
    var name: String
    var entries: [QueueEntry] = []

    static let schema = Schema(
        "queue", Self.init,
        Field("id", \.id, .primaryKey), Field("name", \.name, .unique), Field("entries", \.entries, .cascade))
}

/// A row with a unique rank, which counts its writes.
struct QueueEntry: Plain, Model, Equatable {
    var id: Int
    var rank: Int
    var note: String = ""
    var revision = Revision()

    static let schema = Schema(
        "queueEntry", Self.init,
        Field("id", \.id, .primaryKey), Field("rank", \.rank, .unique), Field("note", \.note), Field("revision", \.revision))
}

/// A row with a unique number, which refers to others.
struct Locker: Plain, Model, Equatable {
    var id: Int
    var number: Int
    var keeper: Person?
    var guest: Reference<Person>?

    static let schema = Schema(
        "locker", Self.init,
        Field("id", \.id, .primaryKey), Field("number", \.number, .unique), Field("keeper", \.keeper, .linked),
        Field("guest", \.guest))
}

/// A row with a text as its key, and a unique number.
struct Token: Plain, Model, Equatable {
    var id: String
    var code: Int

    static let schema = Schema("token", Self.init, Field("id", \.id, .primaryKey), Field("code", \.code, .unique))
}

/// A unique value of every kind, none of which can be nil.
struct Signature: Plain, Model, Equatable {
    var id: Int
    var small: Int8
    var number: Int
    var large: UInt64
    var real: Double
    var price: Decimal
    var day: Date
    var text: String
    var bytes: Data
    var mark: UUID
    var link: URL
    var isLeft: Bool

    static let schema = Schema(
        "signature", Self.init,
        Field("id", \.id, .primaryKey), Field("small", \.small, .unique), Field("number", \.number, .unique),
        Field("large", \.large, .unique), Field("real", \.real, .unique), Field("price", \.price, .unique),
        Field("day", \.day, .unique), Field("text", \.text, .unique), Field("bytes", \.bytes, .unique),
        Field("mark", \.mark, .unique), Field("link", \.link, .unique), Field("isLeft", \.isLeft),
        indexes: [Index(\.isLeft, \.number, isUnique: true)])

    /// Returns a row whose values depend on a number.
    static func make(_ id: Int, _ number: Int) -> Signature {
        Signature(
            id: id, small: Int8(number), number: number, large: .max - UInt64(number), real: Double(number) / 4,
            price: Decimal(number) / 8, day: Date(timeIntervalSinceReferenceDate: Double(number)), text: "text \(number)",
            bytes: Data([UInt8(number)]), mark: UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, UInt8(number))),
            link: URL(fileURLWithPath: "/\(number)"), isLeft: number % 2 == 0)
    }
}
