import DAOCore
import DAOSQLite
import DAOTestSupport
import Foundation

enum Mood: String, FieldValue { case calm, wild }

/// A model with a required and an optional field of every kind.
struct Everything: Model, Equatable {
    var id: Int
    var flag: Bool
    var small: Int8?
    var big: UInt64
    var bigger: UInt64?
    var ratio: Double
    var maybe: Double?
    var single: Float?
    var price: Decimal
    var discount: Decimal?
    var name: String
    var note: String?
    var bytes: Data
    var blob: Data?
    var token: UUID
    var other: UUID?
    var site: URL?
    var date: Date
    var seen: Date?
    var mood: Mood?
    var tags: [String]

    static let schema = Schema(
        "everything", Self.init,
        Field("id", \.id, .primaryKey),
        Field("flag", \.flag),
        Field("small", \.small, .indexed),
        Field("big", \.big, .indexed),
        Field("bigger", \.bigger),
        Field("ratio", \.ratio, .indexed),
        Field("maybe", \.maybe, .indexed),
        Field("single", \.single),
        Field("price", \.price),
        Field("discount", \.discount, .indexed),
        Field("name", \.name, .indexed),
        Field("note", \.note),
        Field("bytes", \.bytes),
        Field("blob", \.blob, .indexed),
        Field("token", \.token),
        Field("other", \.other),
        Field("site", \.site),
        Field("date", \.date, .indexed),
        Field("seen", \.seen),
        Field("mood", \.mood),
        Field("tags", \.tags))
}

struct Message: Model, Equatable {
    var id: Int
    var sender: Int
    var date: Date
    var text: String
    var subject: String
    var draft: String?
    var isRead: Bool
    var score: Double

    static let schema = Schema(
        "message", Self.init,
        Field("id", \.id, .primaryKey),
        Field("sender", \.sender, .indexed),
        Field("date", \.date, .indexed),
        Field("text", \.text),
        Field("subject", \.subject),
        Field("draft", \.draft),
        Field("isRead", \.isRead),
        Field("score", \.score))

    static func numbered(_ id: Int) -> Message {
        Message(
            id: id, sender: id % 10, date: Date(timeIntervalSinceReferenceDate: Double(id)), text: "text \(id)",
            subject: "subject \(id)",
            draft: id % 3 == 0 ? nil : "draft", isRead: id % 2 == 0, score: Double(id) / 7)
    }
}

struct User: Model, Equatable {
    var name: String
    var email: String?
    var age: UInt8

    static let schema = Schema(
        "user", Self.init, Field("name", \.name, .primaryKey), Field("email", \.email, .unique), Field("age", \.age))
}

struct Big: Model, Equatable {
    var id: UInt64
    var value: Double
    static let schema = Schema("big", Self.init, Field("id", \.id, .primaryKey), Field("value", \.value))
}

struct Token: Model, Equatable {
    var id: UUID
    static let schema = Schema("token", Self.init, Field("id", \.id, .primaryKey))
}

extension Place {
    /// Returns the path of the file of the tests.
    func path() -> String { path("app.db") }

    /// Opens a database in the directory.
    func database(_ name: String = "app.db", _ change: (inout DatabaseConfiguration) -> Void = { _ in }) throws -> SQLiteDatabase
    {
        var configuration = DatabaseConfiguration(scheme: "sqlite", path: path(name))
        configuration.durability = .relaxed
        change(&configuration)
        return try SQLiteDatabase(configuration)
    }
}
