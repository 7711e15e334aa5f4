import DAOCore
import DAOLMDB
import DAOMemory
import DAOSQLite
import DAOTestSupport
import Foundation

/// A database that stores links.
enum Backend: String, CaseIterable {
    case memory, sqlite, lmdb

    /// Returns the URL of a new database in a directory.
    func url(in directory: URL) -> String {
        switch self {
        case .memory: "memory:\(directory.lastPathComponent)"
        case .sqlite: "sqlite:\(directory.appendingPathComponent("links.db").path)"
        case .lmdb: "lmdb:\(directory.appendingPathComponent("links.mdb").path)"
        }
    }

    func open(in directory: URL) throws -> any Database {
        try DatabaseDrivers(.memory, .sqlite, .lmdb).open(url(in: directory))
    }
}

/// Keys that a faulty encoding would confuse.
func edgeCaseKeys(_ kind: ValueKind) -> [Key] {
    switch kind {
    case .uint64:
        [0, 1, 2, 255, 256, UInt64(Int64.max) - 1, UInt64(Int64.max)].map { .integer(Int64($0)) }
            + [UInt64(Int64.max) + 1, UInt64.max - 1, .max].map(Key.unsigned)
    case .string:
        [
            "", "\0", "\0\0", "\0\u{1}", "a", "a\0", "a\0b", "ab", "é", "e\u{301}", "\u{301}", "5", "05",
            String(repeating: "x", count: 240), String(repeating: "x", count: 241), String(repeating: "x", count: 242),
            String(repeating: "x", count: 256), String(repeating: "x", count: 255) + "y", String(repeating: "\0", count: 256),
            String(repeating: "\u{10FFFF}", count: 64),
        ].map(Key.string)
    case .uuid:
        [
            UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)),
            UUID(uuid: (255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255)),
            UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1)),
            UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0)),
            UUID(uuid: (128, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0)),
        ].map(Key.uuid)
    default: [Int64.min, .min + 1, -256, -1, 0, 1, 2, 255, 256, .max].map(Key.integer)
    }
}

/// A row that links lead to: it has a key and nothing else.
protocol KeyedRow: Model, Equatable {}

extension KeyedRow {
    init(_ key: Key) throws {
        self = try Self.schema.decode(ValueRowReader(entity: Self.schema.description, values: [key.value]))
    }
}

struct IntegerRow: KeyedRow {
    var id: Int64
    static let schema = Schema("integerRow", Self.init(id:), Field("id", \.id, .primaryKey))
}

struct UnsignedRow: KeyedRow {
    var id: UInt64
    static let schema = Schema("unsignedRow", Self.init(id:), Field("id", \.id, .primaryKey))
}

struct StringRow: KeyedRow {
    var id: String
    static let schema = Schema("stringRow", Self.init(id:), Field("id", \.id, .primaryKey))
}

struct UUIDRow: KeyedRow {
    var id: UUID
    static let schema = Schema("uuidRow", Self.init(id:), Field("id", \.id, .primaryKey))
}
