import Foundation

/// Keeps the fields of a row as values, in the primitive form a writer is given: dates as numbers, decimals as text.
///
/// Two rows that store the same have equal `values`.
package final class ValueRowWriter: RowWriter {
    /// The fields written so far.
    package var values: [Value]
    /// Added to every position.
    package var offset = 0

    /// Creates a writer of a row of null values.
    package init(count: Int) { values = Array(repeating: .null, count: count) }

    package override func writeNull(at index: Int) throws { values[offset + index] = .null }
    package override func writeInt64(_ value: Int64, at index: Int) throws { values[offset + index] = .integer(value) }
    package override func writeUInt64(_ value: UInt64, at index: Int) throws {
        values[offset + index] = Int64(exactly: value).map(Value.integer) ?? .unsigned(value)
    }
    package override func writeDouble(_ value: Double, at index: Int) throws { values[offset + index] = .double(value) }
    package override func writeString(_ value: String, at index: Int) throws { values[offset + index] = .string(value) }
    package override func writeData(_ value: Data, at index: Int) throws { values[offset + index] = .data(value) }
    package override func writeUUID(_ value: UUID, at index: Int) throws { values[offset + index] = .uuid(value) }
}
