import DAOCore
import DAOSQL
import Foundation

/// The values of a statement's parameters, in the binary form of their types.
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

    /// Removes all values but the first ones.
    mutating func truncate(to count: Int) {
        guard count < places.count else { return }
        if let first = places[count...].lazy.compactMap({ $0 }).first {
            bytes.removeLast(bytes.count - first.lowerBound)
        }
        places.removeLast(places.count - count)
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
    init(arraysOf rows: Parameters, _ types: [UInt32]) {
        let count = rows.count / types.count
        bytes.reserveCapacity(rows.bytes.count + rows.count * 4 + types.count * 20)
        for (column, type) in types.enumerated() {
            let start = bytes.count
            // One dimension with nulls, whose elements are counted from one.
            for number in [1, 1, Int32(bitPattern: type), Int32(count), 1] { Self.append(number, to: &bytes) }
            for row in 0..<count { appendElement(of: rows, row * types.count + column) }
            places.append(start..<bytes.count)
        }
    }

    /// Returns the values, which are those of rows, one row after another, in the binary form of COPY.
    ///
    /// - Parameter width: The number of values of a row.
    func copied(_ width: Int) -> [UInt8] {
        var form = Parameters()
        form.bytes.reserveCapacity(bytes.count + 4 * count + 2 * count / width + 32)
        form.bytes += "PGCOPY\n".utf8 + [0xFF, 0x0D, 0x0A, 0] + Array(repeating: 0, count: 8)
        for number in places.indices {
            if number % width == 0 { Self.append(Int16(width), to: &form.bytes) }
            form.appendElement(of: self, number)
        }
        Self.append(-1 as Int16, to: &form.bytes)
        return form.bytes
    }

    /// Appends the length and the bytes of a value of others, without a place for them.
    private mutating func appendElement(of others: Parameters, _ number: Int) {
        let place = others.places[number]
        Self.append(place.map { Int32($0.count) } ?? -1, to: &bytes)
        if let place { bytes.append(contentsOf: others.bytes[place]) }
    }

    init() {}

    /// The values of parameters of the type `uuid`.
    init(_ ids: UUID...) {
        for id in ids {
            withUnsafeBytes(of: id.uuid) { bytes.append(contentsOf: $0) }
            places.append(bytes.count - 16..<bytes.count)
        }
    }

    mutating func appendNull() { places.append(nil) }

    /// Appends a value.
    ///
    /// - Parameters:
    ///   - type: The type of the parameter.
    ///   - append: A closure that appends the value's bytes. It returns false when the type cannot hold the value.
    private mutating func append(_ type: UInt32, _ append: (inout [UInt8]) -> Bool) throws {
        let start = bytes.count
        guard append(&bytes) else {
            throw StorageError(
                .schemaMismatch,
                "a column of the table has the type \(type), which cannot hold the values of its field; ask the database for the "
                    + "storage again")
        }
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
                let start = bytes.count
                Self.append(0 as Int32, to: &bytes)
                guard Self.append(value, as: element, to: &bytes) else { return false }
                withUnsafeBytes(of: Int32(bytes.count - start - 4).bigEndian) { length in
                    for index in 0..<4 { bytes[start + index] = length[index] }
                }
            }
            return true
        }
    }

    // MARK: Forms

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
