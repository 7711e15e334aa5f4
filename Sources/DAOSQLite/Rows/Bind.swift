import DAOCore
import DAOSystemSQLite
import Foundation

/// Tells SQLite to copy the bound value.
let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)

/// Binds values in the form that columns store. Every function returns SQLite's result code.
enum Bind {
    /// The maximum number of bytes of a stored text or data: SQLite's limit for a complete row, minus some
    /// space for the remaining columns.
    static let longestValue = 999_000_000

    /// The blob that stands for NaN: SQLite turns a NaN that is bound as a number into null.
    static let nan = Double.nan.bitPattern.bigEndian

    @inline(__always) static func integer(_ statement: OpaquePointer, _ position: Int32, _ value: Int64) -> Int32 {
        sqlite3_bind_int64(statement, position, value)
    }

    /// Binds an integer. Beyond `Int64.max` it is a blob of eight bytes, big-endian, which SQLite orders
    /// after every integer.
    @inline(__always) static func unsigned(
        _ statement: OpaquePointer, _ position: Int32, _ value: UInt64, _ arena: BindArena
    ) -> Int32 {
        if let small = Int64(exactly: value) { return sqlite3_bind_int64(statement, position, small) }
        return withUnsafeBytes(of: value.bigEndian) { bytes(statement, position, $0, arena) }
    }

    @inline(__always) static func double(
        _ statement: OpaquePointer, _ position: Int32, _ value: Double, _ arena: BindArena
    ) -> Int32 {
        if value.isNaN { return withUnsafeBytes(of: nan) { bytes(statement, position, $0, arena) } }
        return sqlite3_bind_double(statement, position, value)
    }

    @inline(__always) static func text(
        _ statement: OpaquePointer, _ position: Int32, _ value: String, _ arena: BindArena
    ) -> Int32 {
        value.withBytes { text(statement, position, $0.assumingMemoryBound(to: UInt8.self), arena) }
    }

    static func text(
        _ statement: OpaquePointer, _ position: Int32, _ bytes: UnsafeBufferPointer<UInt8>, _ arena: BindArena
    ) -> Int32 {
        // An empty buffer may have no address, which SQLite would take for null.
        guard let address = bytes.baseAddress, !bytes.isEmpty else {
            return sqlite3_bind_text64(statement, position, "", 0, transient, UInt8(SQLITE_UTF8))
        }
        if bytes.count > BindArena.longest {
            if bytes.count > longestValue { return SQLITE_TOOBIG }
            return address.withMemoryRebound(to: CChar.self, capacity: bytes.count) {
                sqlite3_bind_text64(statement, position, $0, UInt64(bytes.count), transient, UInt8(SQLITE_UTF8))
            }
        }
        let place = arena.store(address, bytes.count).assumingMemoryBound(to: CChar.self)
        return sqlite3_bind_text(statement, position, place, Int32(truncatingIfNeeded: bytes.count), nil)
    }

    static func bytes(
        _ statement: OpaquePointer, _ position: Int32, _ bytes: UnsafeRawBufferPointer, _ arena: BindArena
    ) -> Int32 {
        guard let address = bytes.baseAddress, !bytes.isEmpty else { return sqlite3_bind_zeroblob(statement, position, 0) }
        if bytes.count > BindArena.longest {
            if bytes.count > longestValue { return SQLITE_TOOBIG }
            return sqlite3_bind_blob64(statement, position, address, UInt64(bytes.count), transient)
        }
        let place = arena.store(address, bytes.count)
        return sqlite3_bind_blob(statement, position, place, Int32(truncatingIfNeeded: bytes.count), nil)
    }

    static func uuid(_ statement: OpaquePointer, _ position: Int32, _ value: UUID, _ arena: BindArena) -> Int32 {
        withUnsafeBytes(of: value.uuid) { bytes(statement, position, $0, arena) }
    }

    static func data(_ statement: OpaquePointer, _ position: Int32, _ value: Data, _ arena: BindArena) -> Int32 {
        value.withUnsafeBytes { bytes(statement, position, $0, arena) }
    }

    static func key(_ statement: OpaquePointer, _ position: Int32, _ key: Key, _ arena: BindArena) -> Int32 {
        switch key {
        case .integer(let value): integer(statement, position, value)
        case .unsigned(let value): unsigned(statement, position, value, arena)
        case .string(let value): text(statement, position, value, arena)
        case .uuid(let value): uuid(statement, position, value, arena)
        }
    }

    static func value(_ statement: OpaquePointer, _ position: Int32, _ value: Value, _ arena: BindArena) -> Int32 {
        switch value {
        case .null: sqlite3_bind_null(statement, position)
        case .bool(let value): integer(statement, position, value ? 1 : 0)
        case .integer(let value): integer(statement, position, value)
        case .unsigned(let value): unsigned(statement, position, value, arena)
        case .double(let value): double(statement, position, value, arena)
        case .date(let value): double(statement, position, value.timeIntervalSinceReferenceDate, arena)
        case .decimal(let value): text(statement, position, value.storedText, arena)
        case .string(let value): text(statement, position, value, arena)
        case .data(let value): data(statement, position, value, arena)
        case .uuid(let value): uuid(statement, position, value, arena)
        }
    }
}
