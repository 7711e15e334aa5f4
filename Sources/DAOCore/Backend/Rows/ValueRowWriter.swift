import Foundation

/// Collects the fields of a row as values, in the primitive form of a writer: dates as numbers, decimals as
/// text.
///
/// Two rows with the same stored form have equal `values`.
public final class ValueRowWriter: RowWriter {
    /// The fields written so far.
    public var values: [Value]
    /// The offset that is added to every position.
    public var offset = 0
    /// The related models, by the positions of their fields.
    var related: [Int: any Sendable] = [:]

    /// Creates a writer of a row whose values are all null.
    public init(count: Int) { values = Array(repeating: .null, count: count) }

    public override func writeNull(at index: Int) throws { values[offset + index] = .null }
    public override func writeInt64(_ value: Int64, at index: Int) throws { values[offset + index] = .integer(value) }
    public override func writeUInt64(_ value: UInt64, at index: Int) throws {
        values[offset + index] = Int64(exactly: value).map(Value.integer) ?? .unsigned(value)
    }
    public override func writeDouble(_ value: Double, at index: Int) throws { values[offset + index] = .double(value) }
    public override func writeString(_ value: String, at index: Int) throws { values[offset + index] = .string(value) }
    public override func writeData(_ value: Data, at index: Int) throws { values[offset + index] = .data(value) }
    public override func writeUUID(_ value: UUID, at index: Int) throws { values[offset + index] = .uuid(value) }
    public override func writeReference<Related: Model>(_ model: Related?, at index: Int) throws {
        let models: [Related] = model.map { [$0] } ?? []
        related[offset + index] = models
        try super.writeReference(model, at: index)
    }
    public override func writeReference<Related: Model>(_ reference: Reference<Related>?, at index: Int) throws {
        related[offset + index] = reference
        try super.writeReference(reference, at: index)
    }
    public override func writeRelated<Related: Model>(_ models: [Related]?, at index: Int) throws {
        related[offset + index] = models
    }
}
