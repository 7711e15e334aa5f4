import DAOCore
import Foundation

/// Reads the fields of rows straight from the store's memory.
///
/// It is used by one call while that call's transaction runs and nothing is written, and never longer. No property is read while it is
/// changed: each is set as a whole, which is why the run-time check for that is off.
final class RecordReader: RowReader {
    /// The table whose rows are read.
    let table: Table
    /// Whether checksums are verified.
    let verifies: Bool
    /// Where ``advance()`` gets the rows from.
    @exclusivity(unchecked) var source: RowSource?
    /// The record of the row it stands on.
    @exclusivity(unchecked) private(set) var view: RecordView
    /// The stored bytes of the row it stands on.
    @exclusivity(unchecked) private(set) var record: UnsafeRawBufferPointer
    /// The primary key of the row it stands on, as in the store's key.
    @exclusivity(unchecked) private(set) var key: UnsafeRawBufferPointer
    /// What fields read as that are not in the record, made when the first such record is met.
    private var defaults: RowReader?
    // The table's, which lives as long as the reader.
    private let slots: UnsafePointer<Int>
    private let fieldCount: Int
    private let makeDefaults: () throws -> RowReader

    /// Creates a reader that stands on no row.
    ///
    /// - Parameters:
    ///   - table: The table whose rows are read.
    ///   - verifies: Whether to verify checksums.
    ///   - defaults: Makes a reader of the values of fields that a record does not have yet.
    init(table: Table, verifies: Bool, defaults: @escaping () throws -> RowReader) {
        self.table = table
        self.verifies = verifies
        makeDefaults = defaults
        slots = table.slots
        fieldCount = table.fieldCount
        view = .empty
        record = UnsafeRawBufferPointer(start: nil, count: 0)
        key = UnsafeRawBufferPointer(start: nil, count: 0)
        super.init(entity: table.description)
    }

    /// Moves to a row.
    ///
    /// - Parameters:
    ///   - record: Its stored bytes.
    ///   - key: Its primary key as in the store's key.
    /// - Throws: `.corrupted` when the bytes are not a record or do not have their checksum.
    @inline(__always) func show(_ record: UnsafeRawBufferPointer, key: UnsafeRawBufferPointer) throws {
        self.key = key
        guard let view = RecordView(record, key: key, verifies: verifies) else { throw table.corruptedRecord(key) }
        self.view = view
        self.record = record
    }

    /// Moves to a row whose checksum was verified before, in the same transaction.
    func show(verified record: UnsafeRawBufferPointer, key: UnsafeRawBufferPointer) throws {
        self.key = key
        guard let view = RecordView(record, key: key, verifies: false) else { throw table.corruptedRecord(key) }
        self.view = view
        self.record = record
    }

    /// Moves to where a key is without a record.
    func show(key: UnsafeRawBufferPointer) {
        self.key = key
        view = .empty
    }

    override func advance() throws -> Bool { try source?.next(self) ?? false }

    override var currentKey: Key? { KeyParser.key(key, form: table.keyForm) }

    /// Where the value of a field is.
    @inline(__always) func span(at index: Int) -> RecordView.Span {
        view.span(UInt(bitPattern: index) < UInt(bitPattern: fieldCount) ? slots[index] : .max)
    }

    override func isNull(at index: Int) -> Bool {
        let span = span(at: index)
        if span.isPresent { return false }
        return span.isAbsent ? ((try? defaultRow(at: index))?.isNull(at: index) ?? false) : span.isNull
    }

    override func readInt64(at index: Int) throws -> Int64 {
        let span = span(at: index)
        if let value = span.signed { return value }
        if span.isAbsent { return try defaultRow(at: index).readInt64(at: index) }
        throw damaged(span, at: index)
    }

    override func readUInt64(at index: Int) throws -> UInt64 {
        let span = span(at: index)
        if let value = span.unsigned { return value }
        if span.isAbsent { return try defaultRow(at: index).readUInt64(at: index) }
        throw damaged(span, at: index)
    }

    override func readDouble(at index: Int) throws -> Double {
        let span = span(at: index)
        if let value = span.floating { return value }
        if span.isAbsent { return try defaultRow(at: index).readDouble(at: index) }
        throw damaged(span, at: index)
    }

    override func readString(at index: Int) throws -> String {
        let span = span(at: index)
        if span.isPresent {
            guard let text = span.text else { throw corruptedValue(at: index, "text that is not UTF-8") }
            return text
        }
        if span.isAbsent { return try defaultRow(at: index).readString(at: index) }
        throw damaged(span, at: index)
    }

    override func readData(at index: Int) throws -> Data {
        let span = span(at: index)
        if span.isPresent { return Data(span.bytes) }
        if span.isAbsent { return try defaultRow(at: index).readData(at: index) }
        throw damaged(span, at: index)
    }

    override func readUUID(at index: Int) throws -> UUID {
        let span = span(at: index)
        if let value = span.uuid { return value }
        if span.isAbsent { return try defaultRow(at: index).readUUID(at: index) }
        throw damaged(span, at: index)
    }

    /// The error for a field whose bytes are not a value of its type.
    func damaged(_ span: RecordView.Span, at index: Int) -> StorageError {
        let reason =
            span.isNull
            ? "nothing is stored" : (span.isPresent ? "\(span.count) bytes are stored" : "it is outside of the record")
        return corruptedValue(at: index, reason)
    }

    private func defaultRow(at index: Int) throws -> RowReader {
        guard table.description.fields.indices.contains(index) else {
            throw corruptedValue(at: index, "its type reads a field that is not its own")
        }
        if let defaults { return defaults }
        let made: RowReader
        if let record = table.defaults {
            // It has every slot: this reader will not ask for another.
            let reader = RecordReader(table: table, verifies: false, defaults: makeDefaults)
            try reader.show(record.bytes, key: key)
            made = reader
        } else {
            made = try makeDefaults()
        }
        defaults = made
        return made
    }
}
