import Foundation

/// Reads the fields of a row, in any storage form. A row reader has one current row at a time. Every backend
/// has one subclass.
///
/// Fields are identified by their position in the schema. The reader is a class and not a protocol, so that
/// the decoder of a ``Schema`` is compiled once, in the application's module, and costs one virtual call for
/// each field.
///
/// A reader belongs to one call on one thread and is never stored.
open class RowReader {

    /// The entity of the rows, for error messages.
    public final let entity: EntityDescription

    /// Whether related models and References are at hand as values. Otherwise no call is needed to read them, except for a key.
    @usableFromInline final let hasRelatedValues: Bool

    /// Creates a reader that is before the first row.
    ///
    /// - Parameter entity: The entity of the rows.
    public init(entity: EntityDescription) {
        self.entity = entity
        hasRelatedValues = false
    }

    /// Creates a reader of values, before the first row.
    init(ofValues entity: EntityDescription) {
        self.entity = entity
        hasRelatedValues = true
    }

    /// Moves to the next row. The base class has no rows.
    ///
    /// - Returns: False when there are no more rows.
    open func advance() throws -> Bool { false }

    /// The key of the current row, for error messages; nil when it is unknown.
    open var currentKey: Key? { nil }

    /// Returns whether the field is nil.
    open func isNull(at index: Int) -> Bool { true }

    /// Returns the field as an integer.
    open func readInt64(at index: Int) throws -> Int64 { throw notStored(at: index) }

    /// Returns the field as an unsigned integer.
    open func readUInt64(at index: Int) throws -> UInt64 { throw notStored(at: index) }

    /// Returns the field as a floating-point number.
    open func readDouble(at index: Int) throws -> Double { throw notStored(at: index) }

    /// Returns the field as text.
    open func readString(at index: Int) throws -> String { throw notStored(at: index) }

    /// Returns the field as bytes.
    open func readData(at index: Int) throws -> Data { throw notStored(at: index) }

    /// Returns the field as a UUID.
    open func readUUID(at index: Int) throws -> UUID { throw notStored(at: index) }

    /// Returns the models of a relationship field, in order; at most one for a to-one relationship.
    ///
    /// That of a backend is nil, which says that they were not read. Related rows are read together later.
    ///
    /// - Parameters:
    ///   - type: The related model.
    ///   - index: The position of the field.
    public func readRelated<Related: Model>(_ type: Related.Type, at index: Int) throws -> [Related]? { nil }

    /// Returns the ``Reference`` of a to-one relationship; nil where the row has no key.
    ///
    /// The key is read as a value of its type.
    ///
    /// - Parameters:
    ///   - type: The related model.
    ///   - index: The position of the field.
    public func readReference<Related: Model>(_ type: Related.Type, at index: Int) throws -> Reference<Related>? {
        try readKey(at: index, of: Related.schema.keyKind).map { Reference(key: $0) }
    }

    /// Returns the key of a related row, of a kind; nil where the row has no key.
    @usableFromInline package final func readKey(at index: Int, of kind: ValueKind) throws -> Key? {
        if isNull(at: index) { return nil }
        if kind == .int64 { return .integer(try readInt64(at: index)) }
        guard let key = Key(try readValue(at: index, as: kind), of: kind) else {
            throw corruptedValue(at: index, "it is no key of type \(kind.rawValue)")
        }
        return key
    }

    /// Returns the error for a stored value that cannot be read as the type of its field.
    ///
    /// - Parameters:
    ///   - index: The position of the field.
    ///   - reason: A description of the stored value, without the value itself.
    open func corruptedValue(at index: Int, _ reason: String) -> StorageError {
        StorageError.corruptedValue(entity, key: currentKey.map { UniqueID($0) }, field: index, reason)
    }

    /// Returns the key of the related row of a field whose type is not known to the reader; null by default.
    func relatedKey(at index: Int) -> Value { .null }

    private func notStored(at index: Int) -> StorageError { corruptedValue(at: index, "nothing is stored") }
}

extension RowReader {
    /// Returns the field as a value of the type in the schema.
    ///
    /// - Parameter index: The position of the field.
    /// - Returns: The value; `.null` when the field is nil. A to-one relationship is the key of the related row,
    ///   where rows contain it.
    public final func readValue(at index: Int) throws -> Value {
        if isNull(at: index) { return .null }
        let kind = entity.fields[index].type.kind
        return try readValue(at: index, as: kind == .toOne ? entity.fields[index].relation?.keyKind ?? kind : kind)
    }

    /// Returns the field as a value of a kind. It is not nil. It refuses what the Swift type of the kind refuses, so that every way
    /// to read a value has one answer (contract V3).
    final func readValue(at index: Int, as kind: ValueKind) throws -> Value {
        switch kind {
        case .bool: return .bool(try Bool.read(from: self, at: index))
        case .int8: return try Int8.read(from: self, at: index).fieldValue
        case .int16: return try Int16.read(from: self, at: index).fieldValue
        case .int32: return try Int32.read(from: self, at: index).fieldValue
        case .int64: return .integer(try readInt64(at: index))
        case .uint8: return try UInt8.read(from: self, at: index).fieldValue
        case .uint16: return try UInt16.read(from: self, at: index).fieldValue
        case .uint32: return try UInt32.read(from: self, at: index).fieldValue
        case .uint64: return try UInt64.read(from: self, at: index).fieldValue
        case .float: return .double(Double(try Float.read(from: self, at: index)))
        case .double: return .double(try readDouble(at: index))
        case .decimal: return .decimal(try Decimal.read(from: self, at: index))
        case .string, .embedded: return .string(try readString(at: index))
        case .url:
            let text = try readString(at: index)
            guard URL(string: text) != nil else { throw corruptedValue(at: index, "text that is not a URL") }
            return .string(text)
        case .data: return .data(try readData(at: index))
        case .uuid: return .uuid(try readUUID(at: index))
        case .date: return .date(Date(timeIntervalSinceReferenceDate: try readDouble(at: index)))
        case .toOne: return relatedKey(at: index)
        case .toMany: return .null
        }
    }
}
