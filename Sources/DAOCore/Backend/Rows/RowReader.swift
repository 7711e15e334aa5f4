import Foundation

/// Reads the fields of one row at a time, wherever it is stored. A backend subclasses it once.
///
/// Fields are addressed by their position in the schema. It is a class, not a protocol, so that the decoder made from a
/// ``Schema`` is compiled once, in the application's own module, and costs one virtual call a field.
///
/// A reader belongs to one call on one thread and is never stored.
open class RowReader {

    /// The entity whose rows are read, for error messages.
    public final let entity: EntityDescription

    /// Creates a reader that stands before the first row.
    ///
    /// - Parameter entity: The entity whose rows are read.
    public init(entity: EntityDescription) { self.entity = entity }

    /// Moves to the next row. The base class has no rows.
    ///
    /// - Returns: False when there are no more.
    open func advance() throws -> Bool { false }

    /// The key of the row the reader stands on, for error messages; nil when it cannot be told.
    open var currentKey: Key? { nil }

    /// Whether nothing is stored in the field.
    open func isNull(at index: Int) -> Bool { true }

    /// The field as an integer.
    open func readInt64(at index: Int) throws -> Int64 { throw notStored(at: index) }

    /// The field as an unsigned integer.
    open func readUInt64(at index: Int) throws -> UInt64 { throw notStored(at: index) }

    /// The field as a floating-point number.
    open func readDouble(at index: Int) throws -> Double { throw notStored(at: index) }

    /// The field as text.
    open func readString(at index: Int) throws -> String { throw notStored(at: index) }

    /// The field as bytes.
    open func readData(at index: Int) throws -> Data { throw notStored(at: index) }

    /// The field as a UUID.
    open func readUUID(at index: Int) throws -> UUID { throw notStored(at: index) }

    /// The models that a relationship field refers to, in order: at most one for a to-one.
    ///
    /// A backend's reader gives what the base class gives, an array that says it was not read: related rows are read together afterwards.
    ///
    /// - Parameters:
    ///   - type: The related model.
    ///   - index: The position of the field.
    open func readRelated<Related: Model>(_ type: Related.Type, at index: Int) throws -> [Related] { Related.schema.unread }

    /// The error for a stored value that cannot be read as its field's type.
    ///
    /// - Parameters:
    ///   - index: The position of the field.
    ///   - reason: What was found, without the value itself.
    open func corruptedValue(at index: Int, _ reason: String) -> StorageError {
        let field = entity.fields.indices.contains(index) ? entity.fields[index] : nil
        return StorageError(
            .corruptedValue,
            "the stored value cannot be read as \(field?.type.description ?? "its field's type"): \(reason)",
            entity: entity.name, key: currentKey.map { UniqueID($0) }, field: field?.name)
    }

    private func notStored(at index: Int) -> StorageError { corruptedValue(at: index, "nothing is stored") }
}

extension RowReader {
    /// The field as a value, by the type the schema gives it.
    ///
    /// - Parameter index: The position of the field.
    /// - Returns: `.null` when nothing is stored.
    public final func readValue(at index: Int) throws -> Value {
        if isNull(at: index) { return .null }
        switch entity.fields[index].type.kind {
        case .bool: return .bool(try readInt64(at: index) != 0)
        case .int8, .int16, .int32, .int64: return .integer(try readInt64(at: index))
        case .uint8, .uint16, .uint32, .uint64:
            let value = try readUInt64(at: index)
            return Int64(exactly: value).map(Value.integer) ?? .unsigned(value)
        case .float, .double: return .double(try readDouble(at: index))
        case .decimal: return .decimal(try Decimal.read(from: self, at: index))
        case .string, .url, .embedded: return .string(try readString(at: index))
        case .data: return .data(try readData(at: index))
        case .uuid: return .uuid(try readUUID(at: index))
        case .date: return .date(Date(timeIntervalSinceReferenceDate: try readDouble(at: index)))
        case .toOne, .toMany: return .null
        }
    }
}
