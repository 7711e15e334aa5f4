import DAOCore
import DAOSQL
import Foundation

/// The values of a statement's parameters, in the binary form of their types.
///
/// An appended value follows its length, as in arrays and in COPY. Rows that begin with ``beginRow(_:)`` are the data of COPY.
struct Parameters {
    /// The bytes of all values.
    private(set) var bytes: [UInt8] = []
    /// The places of the values among the bytes; nil for null.
    private(set) var places: [Range<Int>?] = []

    var count: Int { places.count }

    mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
        places.removeAll(keepingCapacity: true)
    }

    /// The end of the data of COPY.
    static let endOfCopy: [CChar] = [-1, -1]

    /// Begins a row of values.
    ///
    /// - Parameter width: The number of its values.
    mutating func beginRow(_ width: Int) {
        if bytes.isEmpty { bytes += "PGCOPY\n".utf8 + [0xFF, 0x0D, 0x0A, 0] + Array(repeating: 0, count: 8) }
        Self.append(Int16(width), to: &bytes)
    }

    /// Removes all values but the first ones.
    ///
    /// - Parameters:
    ///   - count: The number of values that are kept.
    ///   - length: The number of their bytes.
    mutating func truncate(to count: Int, length: Int) {
        places.removeLast(places.count - count)
        bytes.removeLast(bytes.count - length)
    }

    /// Creates some of the values of others.
    init(_ all: Parameters, _ range: Range<Int>) {
        places = all.places[range].map { place in
            guard let place else { return nil }
            bytes.append(contentsOf: all.bytes[place])
            return bytes.count - place.count..<bytes.count
        }
    }

    /// Makes one array of each column of some rows.
    ///
    /// - Parameters:
    ///   - rows: The values of the rows, one row after another.
    ///   - types: The types of the columns.
    ///   - only: The number of the only column to make an array of; nil for all.
    init(arraysOf rows: Parameters, _ types: [UInt32], only: Int? = nil) {
        let count = rows.count / types.count
        if only == nil { bytes.reserveCapacity(rows.bytes.count + types.count * 20) }
        for (column, type) in types.enumerated() where column == only ?? column {
            let start = bytes.count
            // One dimension with nulls, whose elements are counted from one.
            for number in [1, 1, Int32(bitPattern: type), Int32(count), 1] { Self.append(number, to: &bytes) }
            for row in 0..<count { appendElement(of: rows, row * types.count + column) }
            places.append(start..<bytes.count)
        }
    }

    /// Appends the length and the bytes of an appended value of others, without a place for them.
    private mutating func appendElement(of others: Parameters, _ number: Int) {
        guard let place = others.places[number] else { return Self.append(-1 as Int32, to: &bytes) }
        bytes.append(contentsOf: others.bytes[place.lowerBound - 4..<place.upperBound])
    }

    init() {}

    /// The values of parameters of the type `uuid`.
    init(_ ids: UUID...) {
        for id in ids {
            withUnsafeBytes(of: id.uuid) { bytes.append(contentsOf: $0) }
            places.append(bytes.count - 16..<bytes.count)
        }
    }

    mutating func appendNull() {
        Self.append(-1 as Int32, to: &bytes)
        places.append(nil)
    }

    /// Appends a value.
    ///
    /// - Parameters:
    ///   - type: The type of the parameter.
    ///   - append: A closure that appends the value's bytes. It returns false when the type cannot hold the value.
    private mutating func append(_ type: UInt32, _ append: (inout [UInt8]) -> Bool) throws {
        let start = bytes.count + 4
        Self.append(0 as Int32, to: &bytes)
        guard append(&bytes) else {
            throw StorageError(
                .schemaMismatch,
                "a column of the table has the type \(type), which cannot hold the values of its field; ask the database for the "
                    + "storage again")
        }
        Self.setLength(before: start, in: &bytes)
        places.append(start..<bytes.count)
    }

    mutating func append(_ value: Int64, as type: UInt32) throws { try append(type) { Self.append(value, as: type, to: &$0) } }

    mutating func append(_ value: UInt64, as type: UInt32) throws {
        if let small = Int64(exactly: value) { return try append(small, as: type) }
        try append(type) {
            guard type == TypeID.numeric else { return false }
            NumericForm.append(String(value), to: &$0)
            return true
        }
    }

    mutating func append(_ value: Double, as type: UInt32) throws { try append(type) { Self.append(value, as: type, to: &$0) } }

    mutating func append(_ value: String, as type: UInt32) throws { try append(type) { Self.append(value, as: type, to: &$0) } }

    mutating func append(_ value: Data, as type: UInt32) throws {
        try append(type) {
            $0.append(contentsOf: value)
            return type == TypeID.bytea
        }
    }

    mutating func append(_ value: UUID, as type: UInt32) throws {
        try append(type) { bytes in
            withUnsafeBytes(of: value.uuid) { bytes.append(contentsOf: $0) }
            return type == TypeID.uuid
        }
    }

    mutating func append(_ key: Key, as type: UInt32) throws {
        switch key {
        case .integer(let value): try append(value, as: type)
        case .unsigned(let value): try append(value, as: type)
        case .string(let value): try append(value, as: type)
        case .uuid(let value): try append(value, as: type)
        }
    }

    mutating func append(_ binding: SQLBinding, as type: UInt32) throws {
        switch binding {
        case .value(.null), .count(nil): appendNull()
        case .value(let value): try append(type) { Self.append(value, as: type, to: &$0) }
        case .count(let count?): try append(Int64(count), as: type)
        case .set(let set): try append(set.values, as: type)
        case .list(let values): try append(values, as: type)
        case .pattern, .filter:
            throw StorageError(.unsupported, "PostgreSQL does not evaluate this condition; report it as a bug of swift-dao")
        }
    }

    /// Appends an array.
    private mutating func append(_ values: [Value], as type: UInt32) throws {
        try append(type) { bytes in
            guard let element = TypeID.elements[type] else { return false }
            Self.append(Int32(values.isEmpty ? 0 : 1), to: &bytes)
            Self.append(0 as Int32, to: &bytes)
            Self.append(element, to: &bytes)
            if values.isEmpty { return true }
            Self.append(Int32(values.count), to: &bytes)
            Self.append(1 as Int32, to: &bytes)
            for value in values {
                let start = bytes.count + 4
                Self.append(0 as Int32, to: &bytes)
                guard Self.append(value, as: element, to: &bytes) else { return false }
                Self.setLength(before: start, in: &bytes)
            }
            return true
        }
    }

    // MARK: Forms

    /// Stores the length of a value that begins at a place and ends with the bytes.
    private static func setLength(before start: Int, in bytes: inout [UInt8]) {
        let length = Int32(bytes.count - start).bigEndian
        bytes.withUnsafeMutableBytes { $0.storeBytes(of: length, toByteOffset: start - 4, as: Int32.self) }
    }

    private static func append<Number: FixedWidthInteger>(_ number: Number, to bytes: inout [UInt8]) {
        withUnsafeBytes(of: number.bigEndian) { bytes.append(contentsOf: $0) }
    }

    private static func append(_ value: Value, as type: UInt32, to bytes: inout [UInt8]) -> Bool {
        switch value {
        case .null: return false
        case .bool(let flag): return append(flag ? 1 : 0 as Int64, as: type, to: &bytes)
        case .integer(let number): return append(number, as: type, to: &bytes)
        case .unsigned(let number):
            NumericForm.append(String(number), to: &bytes)
            return type == TypeID.numeric
        case .double(let number): return append(number, as: type, to: &bytes)
        case .date(let date): return append(date.timeIntervalSinceReferenceDate, as: type, to: &bytes)
        case .decimal(let number): return append(number.storedText, as: type, to: &bytes)
        case .string(let text): return append(text, as: type, to: &bytes)
        case .data(let data):
            bytes.append(contentsOf: data)
            return type == TypeID.bytea
        case .uuid(let id):
            withUnsafeBytes(of: id.uuid) { bytes.append(contentsOf: $0) }
            return type == TypeID.uuid
        }
    }

    private static func append(_ value: Int64, as type: UInt32, to bytes: inout [UInt8]) -> Bool {
        switch type {
        case TypeID.int8: append(value, to: &bytes)
        case TypeID.bool: bytes.append(value == 0 ? 0 : 1)
        case TypeID.numeric: NumericForm.append(String(value), to: &bytes)
        case TypeID.int4:
            guard let value = Int32(exactly: value) else { return false }
            append(value, to: &bytes)
        case TypeID.int2:
            guard let value = Int16(exactly: value) else { return false }
            append(value, to: &bytes)
        default: return false
        }
        return true
    }

    private static func append(_ value: Double, as type: UInt32, to bytes: inout [UInt8]) -> Bool {
        append(value.bitPattern, to: &bytes)
        return type == TypeID.float8
    }

    private static func append(_ value: String, as type: UInt32, to bytes: inout [UInt8]) -> Bool {
        switch type {
        case TypeID.text, TypeID.varchar, TypeID.name:
            var value = value
            value.withUTF8 { TextEscape.append($0, to: &bytes) }
        case TypeID.numeric: NumericForm.append(value, to: &bytes)
        default: return false
        }
        return true
    }
}
