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
    /// The update that the row is expected to need. Its caller keeps it while the row is written.
    @exclusivity(unchecked) private var guess: Unmanaged<RowUpdate>?

    init(_ row: SQLRowReader) {
        self.row = row
        super.init()
    }

    /// Begins the next row.
    ///
    /// - Parameter update: The update that the row is expected to need.
    func begin(_ update: Unmanaged<RowUpdate>?) {
        update?._withUnsafeGuaranteedRef { $0.batch.begin() }
        changes.removeAll()
        guess = update
    }

    /// Whether an update is the one that the row needs.
    func needs(_ update: RowUpdate) -> Bool { changes == update.fields }

    /// Remembers that a field differs, and writes it to the expected update when that contains the field.
    @inline(__always) private func change(_ index: Int, _ write: (SQLRowBatch) throws -> Void) throws {
        changes.insert(index)
        try guess?._withUnsafeGuaranteedRef { if $0.fields.contains(index) { try write($0.batch) } }
    }

    override func writeNull(at index: Int) throws {
        if !row.isNull(at: index) { try change(index) { try $0.writeNull(at: index) } }
    }

    override func writeInt64(_ new: Int64, at index: Int) throws {
        if !row.holds(new, at: index) { try change(index) { try $0.writeInt64(new, at: index) } }
    }

    override func writeUInt64(_ new: UInt64, at index: Int) throws {
        if !row.holds(new, at: index) { try change(index) { try $0.writeUInt64(new, at: index) } }
    }

    override func writeDouble(_ new: Double, at index: Int) throws {
        if !row.holds(new, at: index) { try change(index) { try $0.writeDouble(new, at: index) } }
    }

    override func writeString(_ new: String, at index: Int) throws {
        if row.holds(new, at: index) { return }
        // The same JSON that another program wrote in another form is no change.
        if row.entity.fields[index].type.kind == .embedded, let old = try? row.readString(at: index),
            row.entity.canonicalOrSame(.string(old), at: index) == .string(new)
        {
            return
        }
        try change(index) { try $0.writeString(new, at: index) }
    }

    override func writeData(_ new: Data, at index: Int) throws {
        if !row.holds(new, at: index) { try change(index) { try $0.writeData(new, at: index) } }
    }

    override func writeUUID(_ new: UUID, at index: Int) throws {
        if !row.holds(new, at: index) { try change(index) { try $0.writeUUID(new, at: index) } }
    }
}
