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

    /// Writes the models of a relationship field, in order; at most one for a to-one relationship.
    ///
    /// The writer of a backend uses the implementation of the base class, which does nothing. Related rows
    /// and the links to them are written separately.
    open func writeRelated<Related: Model>(_ models: [Related], at index: Int) throws {}
}
