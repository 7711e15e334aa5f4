import DAOCore
import DAOSystemPostgres
import Foundation

/// The rows that a statement has returned, in binary form.
final class PostgresResult {
    /// libpq's result, which this object owns.
    let pointer: OpaquePointer
    /// The number of rows.
    let count: Int32
    let columnCount: Int
    /// The types of the columns.
    let types: UnsafeMutablePointer<UInt32>

    init(_ pointer: OpaquePointer) {
        self.pointer = pointer
        count = PQntuples(pointer)
        columnCount = Int(PQnfields(pointer))
        types = .allocate(capacity: columnCount)
        for column in 0..<columnCount { types[column] = PQftype(pointer, Int32(column)) }
    }

    deinit {
        types.deallocate()
        PQclear(pointer)
    }

    /// Whether it has columns of these types.
    func hasColumns(_ types: [UInt32]) -> Bool {
        columnCount == types.count && types.indices.allSatisfy { self.types[$0] == types[$0] }
    }

    /// The number of affected rows.
    var affected: Int { Int(String(cString: PQcmdTuples(pointer))) ?? 0 }

    /// The bytes of a value; nil for null. They are valid as long as the result.
    @inline(__always) func bytes(_ row: Int32, _ column: Int32) -> UnsafeRawBufferPointer? {
        let length = Int(PQgetlength(pointer, row, column))
        if length == 0, PQgetisnull(pointer, row, column) == 1 { return nil }
        return UnsafeRawBufferPointer(start: PQgetvalue(pointer, row, column), count: length)
    }

    /// The integer in a column; nil for null and for other types.
    func integer(_ row: Int32, _ column: Int32) -> Int64? {
        guard column < columnCount, let bytes = bytes(row, column) else { return nil }
        return Self.integer(bytes, types[Int(column)])
    }

    @inline(__always) static func integer(_ bytes: UnsafeRawBufferPointer, _ type: UInt32) -> Int64? {
        switch (type, bytes.count) {
        case (TypeID.int8, 8): Int64(bigEndian: bytes.loadUnaligned(as: Int64.self))
        case (TypeID.int4, 4): Int64(Int32(bigEndian: bytes.loadUnaligned(as: Int32.self)))
        case (TypeID.int2, 2): Int64(Int16(bigEndian: bytes.loadUnaligned(as: Int16.self)))
        case (TypeID.bool, 1): Int64(bytes[0])
        case (TypeID.numeric, _): NumericForm.text(of: bytes).flatMap { Int64($0) }
        default: nil
        }
    }

    /// The UUID in a column; nil for null and for other types.
    func uuid(_ row: Int32, _ column: Int32) -> UUID? {
        guard column < columnCount, let bytes = bytes(row, column) else { return nil }
        return Self.uuid(bytes, types[Int(column)])
    }

    @inline(__always) static func uuid(_ bytes: UnsafeRawBufferPointer, _ type: UInt32) -> UUID? {
        type == TypeID.uuid && bytes.count == 16 ? UUID(uuid: bytes.loadUnaligned(as: uuid_t.self)) : nil
    }

    /// The text in a column; nil for null and for other types.
    func text(_ row: Int32, _ column: Int32) -> String? {
        guard column < columnCount, let bytes = bytes(row, column) else { return nil }
        return Self.text(bytes, types[Int(column)])
    }

    @inline(__always) static func text(_ bytes: UnsafeRawBufferPointer, _ type: UInt32) -> String? {
        switch type {
        case TypeID.text, TypeID.varchar, TypeID.name: TextEscape.text(of: bytes.bindMemory(to: UInt8.self))
        case TypeID.numeric: NumericForm.text(of: bytes)
        default: nil
        }
    }
}
