import DAOCore
import Foundation

/// Compares the fields of a row that is being written with the stored row that a reader is positioned on, and
/// remembers which fields differ.
///
/// Most rows of a call change the same columns. Different fields are therefore written at once to the update
/// that was used last. When exactly the columns of this update differ, it can be added.
final class ChangeDetector: RowWriter {
    /// Positioned on the stored row.
    private let row: SQLRowReader
    /// The fields that differ.
    // No variable is accessed during another access, so that a field does not pay for the check of that.
    @exclusivity(unchecked) private(set) var changes = FieldSet()
    /// The update that the row is expected to need.
    @exclusivity(unchecked) private var guess: SQLRowBatch?
    @exclusivity(unchecked) private var guessed = FieldSet()

    init(_ row: SQLRowReader) {
        self.row = row
        super.init()
    }

    /// Begins the next row.
    ///
    /// - Parameter update: The update that the row is expected to need.
    func begin(_ update: RowUpdate?) {
        update?.batch.begin()
        changes.removeAll()
        guess = update?.batch
        guessed = update?.fields ?? FieldSet()
    }

    /// Remembers that a field differs. Returns the batch of the expected update; nil when this update does
    /// not contain the field.
    @inline(__always) private func change(_ index: Int) -> SQLRowBatch? {
        changes.insert(index)
        return guessed.contains(index) ? guess : nil
    }

    override func writeNull(at index: Int) throws {
        if !row.isNull(at: index) { try change(index)?.writeNull(at: index) }
    }

    override func writeInt64(_ new: Int64, at index: Int) throws {
        if !row.holds(new, at: index) { try change(index)?.writeInt64(new, at: index) }
    }

    override func writeUInt64(_ new: UInt64, at index: Int) throws {
        if !row.holds(new, at: index) { try change(index)?.writeUInt64(new, at: index) }
    }

    override func writeDouble(_ new: Double, at index: Int) throws {
        if !row.holds(new, at: index) { try change(index)?.writeDouble(new, at: index) }
    }

    override func writeString(_ new: String, at index: Int) throws {
        if !row.holds(new, at: index) { try change(index)?.writeString(new, at: index) }
    }

    override func writeData(_ new: Data, at index: Int) throws {
        if !row.holds(new, at: index) { try change(index)?.writeData(new, at: index) }
    }

    override func writeUUID(_ new: UUID, at index: Int) throws {
        if !row.holds(new, at: index) { try change(index)?.writeUUID(new, at: index) }
    }
}
