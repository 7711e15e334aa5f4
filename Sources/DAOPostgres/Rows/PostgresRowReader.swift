import DAOCore
import DAOSQL
import Foundation

/// Reads the rows of a statement, column by column, and refuses values that are not of their field's type.
final class PostgresRowReader: SQLRowReader {
    /// Keeps the reader, or is kept with it by the reading code.
    private unowned let statement: PostgresStatement
    private let path: String
    /// The difference between the position of a field and its column.
    private let shift: Int
    /// The rows of the statement, kept here because the fields of a row are read more often than any; nil after the last one.
    private var result: PostgresResult?
    private var row: Int32 = -1

    init(_ statement: PostgresStatement, path: String, _ entity: EntityDescription, firstField: Int, keyColumn: Int) {
        self.statement = statement
        self.path = path
        shift = firstField
        super.init(entity: entity, firstField: firstField, keyColumn: keyColumn)
    }

    override func step() throws -> Bool {
        if let result, row + 1 < result.count, statement.moves(to: row + 1, of: result) {
            row += 1
            return true
        }
        leave()
        guard try statement.step() else { return false }
        result = statement.result
        row = statement.row
        return true
    }

    /// Lets the rows go.
    func leave() {
        result = nil
        row = -1
    }

    /// The bytes and the type of a value; nil for null.
    @inline(__always) private func value(_ column: Int) -> (bytes: UnsafeRawBufferPointer, type: UInt32)? {
        guard let result, column >= 0, column < result.columnCount, let bytes = result.bytes(row, Int32(column)) else {
            return nil
        }
        return (bytes, result.types[column])
    }

    override func isNull(at index: Int) -> Bool { value(index - shift) == nil }

    override func readInt64(at index: Int) throws -> Int64 {
        guard let (bytes, type) = value(index - shift), let number = PostgresResult.integer(bytes, type) else {
            throw wrong(at: index)
        }
        return number
    }

    override func readUInt64(at index: Int) throws -> UInt64 {
        guard let (bytes, type) = value(index - shift) else { throw wrong(at: index) }
        if type == TypeID.numeric, let number = NumericForm.text(of: bytes).flatMap({ UInt64($0) }) { return number }
        guard let number = PostgresResult.integer(bytes, type) else { throw wrong(at: index) }
        guard let number = UInt64(exactly: number) else { throw corruptedValue(at: index, "a negative integer") }
        return number
    }

    override func readDouble(at index: Int) throws -> Double {
        guard let (bytes, type) = value(index - shift), type == TypeID.float8, bytes.count == 8 else { throw wrong(at: index) }
        let number = Double(bitPattern: UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)))
        return number.isNaN ? .nan : number
    }

    override func readString(at index: Int) throws -> String {
        guard let (bytes, type) = value(index - shift), let text = PostgresResult.text(bytes, type) else {
            throw wrong(at: index)
        }
        return text
    }

    override func readData(at index: Int) throws -> Data {
        guard let (bytes, type) = value(index - shift), type == TypeID.bytea else { throw wrong(at: index) }
        return Data(bytes)
    }

    override func readUUID(at index: Int) throws -> UUID {
        guard let (bytes, type) = value(index - shift), let id = PostgresResult.uuid(bytes, type) else { throw wrong(at: index) }
        return id
    }

    override func key(inColumn column: Int, of kind: ValueKind) -> Key? {
        guard let (bytes, type) = value(column) else { return nil }
        switch kind {
        case .string: return PostgresResult.text(bytes, type).map(Key.string)
        case .uuid: return PostgresResult.uuid(bytes, type).map(Key.uuid)
        default:
            if let number = PostgresResult.integer(bytes, type) {
                return kind.integerRange?.contains(number) == true ? .integer(number) : nil
            }
            guard kind == .uint64, type == TypeID.numeric else { return nil }
            return NumericForm.text(of: bytes).flatMap { UInt64($0) }.map { Int64(exactly: $0).map(Key.integer) ?? .unsigned($0) }
        }
    }

    override func integer(inColumn column: Int) -> Int64 {
        value(column).flatMap { PostgresResult.integer($0.bytes, $0.type) } ?? 0
    }

    override func text(inColumn column: Int) -> String { value(column).flatMap { PostgresResult.text($0.bytes, $0.type) } ?? "" }

    private func wrong(at index: Int) -> StorageError {
        let found =
            switch value(index - shift)?.type {
            case nil: "NULL"
            case TypeID.int2, TypeID.int4, TypeID.int8: "an integer"
            case TypeID.float4, TypeID.float8: "a floating-point number"
            case TypeID.text, TypeID.varchar: "text"
            default: "a value of another type"
            }
        return corruptedValue(at: index, found + " is stored")
    }
}
