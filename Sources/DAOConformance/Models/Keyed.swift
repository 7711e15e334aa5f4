import DAOCore
import Foundation

// Small models, one for each type of key.

/// A model with a key of some type and a note.
protocol Keyed: Plain, Model, Equatable {
    associatedtype ID: PrimaryKeyValue & Equatable
    var id: ID { get }
    var note: String { get }
    init(id: ID, note: String)
}

struct KeyedByInt: Keyed {
    var id: Int
    var note: String
    static let schema = Schema("byInt", Self.init(id:note:), Field("id", \.id, .primaryKey), Field("note", \.note))
}

struct KeyedByInt8: Keyed {
    var id: Int8
    var note: String
    static let schema = Schema("byInt8", Self.init(id:note:), Field("id", \.id, .primaryKey), Field("note", \.note))
}

struct KeyedByInt16: Keyed {
    var id: Int16
    var note: String
    static let schema = Schema("byInt16", Self.init(id:note:), Field("id", \.id, .primaryKey), Field("note", \.note))
}

struct KeyedByInt32: Keyed {
    var id: Int32
    var note: String
    static let schema = Schema("byInt32", Self.init(id:note:), Field("id", \.id, .primaryKey), Field("note", \.note))
}

struct KeyedByInt64: Keyed {
    var id: Int64
    var note: String
    static let schema = Schema("byInt64", Self.init(id:note:), Field("id", \.id, .primaryKey), Field("note", \.note))
}

struct KeyedByUInt: Keyed {
    var id: UInt
    var note: String
    static let schema = Schema("byUInt", Self.init(id:note:), Field("id", \.id, .primaryKey), Field("note", \.note))
}

struct KeyedByUInt8: Keyed {
    var id: UInt8
    var note: String
    static let schema = Schema("byUInt8", Self.init(id:note:), Field("id", \.id, .primaryKey), Field("note", \.note))
}

struct KeyedByUInt16: Keyed {
    var id: UInt16
    var note: String
    static let schema = Schema("byUInt16", Self.init(id:note:), Field("id", \.id, .primaryKey), Field("note", \.note))
}

struct KeyedByUInt32: Keyed {
    var id: UInt32
    var note: String
    static let schema = Schema("byUInt32", Self.init(id:note:), Field("id", \.id, .primaryKey), Field("note", \.note))
}

struct KeyedByUInt64: Keyed {
    var id: UInt64
    var note: String
    static let schema = Schema("byUInt64", Self.init(id:note:), Field("id", \.id, .primaryKey), Field("note", \.note))
}

struct KeyedByString: Keyed {
    var id: String
    var note: String
    static let schema = Schema("byString", Self.init(id:note:), Field("id", \.id, .primaryKey), Field("note", \.note))
}

struct KeyedByUUID: Keyed {
    var id: UUID
    var note: String
    static let schema = Schema("byUUID", Self.init(id:note:), Field("id", \.id, .primaryKey), Field("note", \.note))
}

/// A wrapper around a string, as a key.
struct Slug: RawRepresentable, PrimaryKeyValue, Equatable {
    let rawValue: String
}

/// A wrapper around a number, as a key.
struct Number: RawRepresentable, PrimaryKeyValue, Equatable {
    let rawValue: Int32
}

struct KeyedBySlug: Keyed {
    var id: Slug
    var note: String
    static let schema = Schema("bySlug", Self.init(id:note:), Field("id", \.id, .primaryKey), Field("note", \.note))
}

struct KeyedByNumber: Keyed {
    var id: Number
    var note: String
    static let schema = Schema("byNumber", Self.init(id:note:), Field("id", \.id, .primaryKey), Field("note", \.note))
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
