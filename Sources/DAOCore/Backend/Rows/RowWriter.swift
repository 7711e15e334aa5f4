import Foundation

/// Writes the fields of a row into storage. Every backend has one subclass.
///
/// Fields are identified by their position in the schema and are written in that order, each exactly once.
/// Floating-point values are normalised. The counterpart is ``RowReader``.
open class RowWriter {

    /// Creates a writer.
    public init() {}

    /// Writes nil.
    open func writeNull(at index: Int) throws {}

    /// Writes an integer, or a Boolean as 0 or 1.
    open func writeInt64(_ value: Int64, at index: Int) throws {}

    /// Writes an unsigned integer.
    open func writeUInt64(_ value: UInt64, at index: Int) throws {}

    /// Writes a floating-point number. It is never `-0.0`, and NaN has only one form.
    open func writeDouble(_ value: Double, at index: Int) throws {}

    /// Writes text.
    open func writeString(_ value: String, at index: Int) throws {}

    /// Writes bytes.
    open func writeData(_ value: Data, at index: Int) throws {}

    /// Writes a UUID.
    open func writeUUID(_ value: UUID, at index: Int) throws {}

    /// Writes the model of a to-one relationship, or nil.
    ///
    /// The base class writes its key as the value of the field, or null. A backend that does not keep the key in
    /// the row (``LinkStorage/isInRows``) can ignore it.
    ///
    /// - Throws: `.invalidKey` when the key of the model is too long.
    open func writeReference<Related: Model>(_ model: Related?, at index: Int) throws {
        guard let model else { return try writeNull(at: index) }
        try write(Related.schema.validKey(of: model), of: Related.schema.keyKind, at: index)
    }

    /// Writes the key of a ``Reference``, or nil.
    ///
    /// The writer of a backend uses the implementation of the base class, which writes the key as the value of the
    /// field. The row has the key also where the backend keeps links beside the rows.
    ///
    /// - Throws: `.invalidKey` when the key has another type than the keys of the model, or is too long.
    open func writeReference<Related: Model>(_ reference: Reference<Related>?, at index: Int) throws {
        guard let reference else { return try writeNull(at: index) }
        try write(reference.validKey(), of: Related.schema.keyKind, at: index)
    }

    /// Writes the models of a to-many relationship, in order; nil where they were not read.
    ///
    /// The writer of a backend uses the implementation of the base class, which does nothing. Related rows
    /// and the links to them are written separately.
    open func writeRelated<Related: Model>(_ models: [Related]?, at index: Int) throws {}

    /// Writes a key as the value of a field of a kind.
    public final func write(_ key: Key, of kind: ValueKind, at index: Int) throws {
        switch key {
        case .integer(let value) where kind.integerRange?.lowerBound == 0:
            try writeUInt64(UInt64(bitPattern: value), at: index)
        case .integer(let value): try writeInt64(value, at: index)
        case .unsigned(let value): try writeUInt64(value, at: index)
        case .string(let value): try writeString(value, at: index)
        case .uuid(let value): try writeUUID(value, at: index)
        }
    }
}
