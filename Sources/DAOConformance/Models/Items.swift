import DAOCore
import Foundation

/// The plain model of most cases: an indexed number, and a note that may be nil.
struct Item: Plain, Model, Equatable {
    var id: Int
    var name: String
    var number: Int = 0
    var note: String?

    static let schema = Schema(
        "item", Self.init,
        Field("id", \.id, .primaryKey), Field("name", \.name), Field("number", \.number, .indexed), Field("note", \.note))

    /// Returns an item for every id: `name` is "Item #id", `number` ten times the id.
    static func make(_ ids: some Sequence<Int>) -> [Item] { ids.map { Item(id: $0, name: "Item #\($0)", number: $0 * 10) } }
}

/// A counter, for increments.
package struct Counter: Plain, Model, Equatable {
    package var id: Int
    package var value: Int

    package init(id: Int, value: Int) { (self.id, self.value) = (id, value) }

    package static let schema = Schema("counter", Self.init, Field("id", \.id, .primaryKey), Field("value", \.value))
}

/// A bank account, for sums that must not change.
struct Account: Plain, Model, Equatable {
    var id: String
    var balance: Int
    var mirror: Int

    static let schema = Schema(
        "account", Self.init, Field("id", \.id, .primaryKey), Field("balance", \.balance), Field("mirror", \.mirror))
}

/// Two unique fields: the first may be nil, the second may not.
struct Member: Plain, Model, Equatable {
    var id: Int
    var email: String?
    var badge: Int
    var name: String = ""

    static let schema = Schema(
        "member", Self.init,
        Field("id", \.id, .primaryKey), Field("email", \.email, .unique), Field("badge", \.badge, .unique),
        Field("name", \.name))

    /// As many rows as a database stores in another way than few, when its entity is empty.
    static let many = 5200
}

/// A unique number that may be NaN.
struct Reading: Plain, Model, Equatable {
    var id: Int
    var value: Double?

    static let schema = Schema("reading", Self.init, Field("id", \.id, .primaryKey), Field("value", \.value, .unique))
}

/// A model with a long text and long data.
struct Blob: Plain, Model, Equatable {
    var id: Int
    var text: String = ""
    var data: Data = Data()

    static let schema = Schema("blob", Self.init, Field("id", \.id, .primaryKey), Field("text", \.text), Field("data", \.data))
}

/// A document whose status is an enumeration.
struct Document: Plain, Model, Equatable {
    var id: Int
    var mood: Mood
    var level: Level
    var text: String

    static let schema = Schema(
        "document", Self.init,
        Field("id", \.id, .primaryKey), Field("mood", \.mood), Field("level", \.level), Field("text", \.text))
}

/// The same entity in a version of the application that knows more statuses.
struct RawDocument: Plain, Model, Equatable {
    var id: Int
    var mood: String
    var level: Int
    var text: String

    static let schema = Schema(
        "document", Self.init,
        Field("id", \.id, .primaryKey), Field("mood", \.mood), Field("level", \.level), Field("text", \.text))
}

/// The user of the classic tests.
struct User: Plain, Model, Equatable {
    var id: Int64
    var name: String
    var age: Int

    static let schema = Schema("user", Self.init, Field("id", \.id, .primaryKey), Field("name", \.name), Field("age", \.age))

    /// Returns the users that the classic tests begin with.
    static func make(_ count: Int64) -> [User] { make(1...count) }

    /// Returns a user for every id.
    static func make(_ ids: some Sequence<Int64>) -> [User] {
        ids.map { User(id: $0, name: "Name #\($0)", age: Int($0) + 10) }
    }
}

/// A model whose schema is computed at every use.
struct Computed: Plain, Model, Equatable {
    var id: Int
    var text: String

    static var schema: Schema<Computed> {
        Schema("computed", Self.init, Field("id", \.id, .primaryKey), Field("text", \.text, .indexed))
    }
}
