import Foundation

/// Takes the fields of one row, to be stored. A backend subclasses it once.
///
/// Fields are addressed by their position in the schema and written in that order, each exactly once. Floating-point
/// values arrive normalised. The counterpart of ``RowReader``.
open class RowWriter {

    /// Creates a writer.
    public init() {}

    /// Stores that there is no value.
    open func writeNull(at index: Int) throws {}

    /// Stores an integer, or a Boolean as 0 or 1.
    open func writeInt64(_ value: Int64, at index: Int) throws {}

    /// Stores an unsigned integer.
    open func writeUInt64(_ value: UInt64, at index: Int) throws {}

    /// Stores a floating-point number; never `-0.0`, and NaN only in its one form.
    open func writeDouble(_ value: Double, at index: Int) throws {}

    /// Stores text.
    open func writeString(_ value: String, at index: Int) throws {}

    /// Stores bytes.
    open func writeData(_ value: Data, at index: Int) throws {}

    /// Stores a UUID.
    open func writeUUID(_ value: UUID, at index: Int) throws {}

    /// Takes the models that a relationship field refers to, in order: at most one for a to-one.
    ///
    /// A backend's writer does nothing with them, as the base class does: related rows and the links to them are written beside the row.
    open func writeRelated<Related: Model>(_ models: [Related], at index: Int) throws {}
}
