import DAOCore
import Foundation

/// A small model with a key of some type and a note.
struct KeyedBy<ID: PrimaryKeyValue & Equatable>: Plain, Model, Equatable {
    var id: ID
    var note: String

    static var schema: Schema<Self> {
        Schema("by\(ID.self)", Self.init, Field("id", \.id, .primaryKey), Field("note", \.note))
    }
}

/// A wrapper around a string, as a key.
struct Slug: RawRepresentable, PrimaryKeyValue, Equatable {
    let rawValue: String
}

/// A wrapper around a number, as a key.
struct Number: RawRepresentable, PrimaryKeyValue, Equatable {
    let rawValue: Int32
}

/// A model whose key is not its first field.
struct KeyedInTheMiddle: Plain, Model, Equatable {
    var before: String
    var id: Int
    var after: String
    static let schema = Schema(
        "middle", Self.init, Field("before", \.before), Field("id", \.id, .primaryKey), Field("after", \.after))
}

/// A model whose only field is its key.
struct OnlyKey: Plain, Model, Equatable {
    var id: String
    static let schema = Schema("only", Self.init, Field("id", \.id, .primaryKey))
}

/// A text as the key, and an index.
struct Shelved: Plain, Model, Equatable {
    var id: String
    var shelf: Int
    static let schema = Schema("shelved", Self.init, Field("id", \.id, .primaryKey), Field("shelf", \.shelf, .indexed))
}

/// A parent whose key and whose children's keys are texts.
struct KeyRing: Plain, Model, Equatable {
    var id: String
    var keys: [KeyedBy<String>] = []
    static let schema = Schema("ring", Self.init, Field("id", \.id, .primaryKey), Field("keys", \.keys, .linked))
}

/// Two entities whose names and keys concatenate to the same text.
struct EntityA: Plain, Model, Equatable {
    var id: String
    var note: String
    static let schema = Schema("A", Self.init, Field("id", \.id, .primaryKey), Field("note", \.note))
}

struct EntityAB: Plain, Model, Equatable {
    var id: String
    var note: String
    static let schema = Schema("AB", Self.init, Field("id", \.id, .primaryKey), Field("note", \.note))
}
