import DAOCore
import Foundation

/// Reads the fields of rows directly from the store's memory.
///
/// It is used only by one call, while the call's transaction runs and nothing is written. No property is read
/// during a change, because each is set as a whole. The run-time check for exclusive access is therefore
/// disabled.
final class RecordReader: RowReader {
    /// The table whose rows are read.
    let table: Table
    /// The model whose defaults it has; nil for none.
    let model: ObjectIdentifier?
    /// Whether checksums are verified.
    let verifies: Bool
    /// The source of the rows for ``advance()``.
    @exclusivity(unchecked) var source: RowSource? {
        didSet { moving = source.map(Unmanaged.passUnretained) }
    }
    // The same source. It is not replaced while it moves the reader, so a row needs no reference to it.
    @exclusivity(unchecked) private var moving: Unmanaged<RowSource>?
    /// The record of the current row.
    @exclusivity(unchecked) private(set) var view: RecordView
    /// The stored bytes of the current row.
    @exclusivity(unchecked) private(set) var record: UnsafeRawBufferPointer
    /// The primary key of the current row, as in the store's key.
    @exclusivity(unchecked) private(set) var key: UnsafeRawBufferPointer
    /// The entry of the index that led to a key without a record; empty for a key of a row.
    @exclusivity(unchecked) private var entryOfKey = UnsafeRawBufferPointer(start: nil, count: 0)
    /// How many rows and keys were looked at.
    @exclusivity(unchecked) var lookedAt = 0
    /// How the rows are found; nil for rows by their keys.
    @exclusivity(unchecked) var plan: Plan?
    /// The values of fields that are missing in the record, created for the first such record.
    private var defaults: RowReader?
    // Belongs to the table, which lives as long as the reader.
    private let slots: UnsafePointer<Int>
    private let fieldCount: Int
    private let makeDefaults: () throws -> RowReader

    /// Creates a reader without a current row.
    ///
    /// - Parameters:
    ///   - table: The table whose rows are read.
    ///   - model: The model whose defaults `defaults` has; nil, as by default, when the reader is not kept for other calls.
    ///   - verifies: Whether to verify checksums.
    ///   - defaults: Creates a reader for the values of fields that a record does not have yet.
    init(table: Table, of model: ObjectIdentifier? = nil, verifies: Bool, defaults: @escaping () throws -> RowReader) {
        self.table = table
        self.model = model
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
    /// - Throws: `.corrupted` when the bytes are not a record or the checksum does not match.
    @inline(__always) func show(_ record: UnsafeRawBufferPointer, key: UnsafeRawBufferPointer) throws {
        lookedAt &+= 1
        try show(record, key: key, verifies: verifies)
    }

    /// Moves to a row whose checksum was verified before, in the same transaction.
    func show(verified record: UnsafeRawBufferPointer, key: UnsafeRawBufferPointer) throws {
        try show(record, key: key, verifies: false)
    }

    @inline(__always) private func show(
        _ record: UnsafeRawBufferPointer, key: UnsafeRawBufferPointer, verifies: Bool
    ) throws {
        self.key = key
        guard let view = RecordView(record, key: key, verifies: verifies) else { throw table.corruptedRecord(key) }
        self.view = view
        self.record = record
    }

    /// Moves to a key without a record.
    func show(key: UnsafeRawBufferPointer) { show(entry: UnsafeRawBufferPointer(start: nil, count: 0), key: key) }

    /// Moves to the key in an entry of an index, without its record.
    func show(entry: UnsafeRawBufferPointer, key: UnsafeRawBufferPointer) {
        self.key = key
        lookedAt &+= 1
        view = .empty
        entryOfKey = entry
    }

    /// The entry of the index that led to the current key; nil when the current row has its record.
    var entry: UnsafeRawBufferPointer? { view.slotCount == 0 && !entryOfKey.isEmpty ? entryOfKey : nil }

    override func advance() throws -> Bool {
        guard let moving else { return false }
        return try moving._withUnsafeGuaranteedRef { try $0.next(self) }
    }

    /// Moves before the first row, for the next call.
    func rest() {
        // Most are nil, and to look costs less than to set them.
        if source != nil { source = nil }
        if plan != nil { plan = nil }
        // Its row points to the key of a row of this call.
        if defaults != nil { defaults = nil }
        show(key: UnsafeRawBufferPointer(start: nil, count: 0))
        lookedAt = 0
    }

    override var currentKey: Key? { KeyParser.key(key, form: table.keyForm) }

    /// The stored value of a field.
    @inline(__always) func span(at index: Int) -> RecordView.Span {
        view.span(UInt(bitPattern: index) < UInt(bitPattern: fieldCount) ? slots[index] : .max)
    }

    override func isNull(at index: Int) -> Bool {
        let span = span(at: index)
        if span.isPresent { return false }
        return span.isAbsent ? ((try? defaultRow(at: index))?.isNull(at: index) ?? false) : span.isNull
    }

    override func readInt64(at index: Int) throws -> Int64 {
        try read(at: index, { $0.signed }, default: { try $0.readInt64(at: index) })
    }

    override func readUInt64(at index: Int) throws -> UInt64 {
        try read(at: index, { $0.unsigned }, default: { try $0.readUInt64(at: index) })
    }

    override func readDouble(at index: Int) throws -> Double {
        try read(at: index, { $0.floating }, default: { try $0.readDouble(at: index) })
    }

    override func readString(at index: Int) throws -> String {
        try read(
            at: index,
            { span in
                guard span.isPresent else { return nil }
                guard let text = span.text else { throw corruptedValue(at: index, "text that is not UTF-8") }
                return text
            }, default: { try $0.readString(at: index) })
    }

    override func readData(at index: Int) throws -> Data {
        try read(at: index, { $0.isPresent ? Data($0.bytes) : nil }, default: { try $0.readData(at: index) })
    }

    override func readUUID(at index: Int) throws -> UUID {
        try read(at: index, { $0.uuid }, default: { try $0.readUUID(at: index) })
    }

    /// Reads a field: the stored value, or the default in a record that is older than the field.
    @inline(__always) private func read<Result>(
        at index: Int, _ value: (RecordView.Span) throws -> Result?, default: (RowReader) throws -> Result
    ) throws -> Result {
        let span = span(at: index)
        if let value = try value(span) { return value }
        return try readAbsent(span, at: index, `default`)
    }

    // Apart from the fast path, which then needs no room for an error.
    @inline(never) private func readAbsent<Result>(
        _ span: RecordView.Span, at index: Int, _ default: (RowReader) throws -> Result
    ) throws -> Result {
        guard span.isAbsent else { throw damaged(span, at: index) }
        return try `default`(defaultRow(at: index))
    }

    /// Copies a field of the current row to a writer.
    func copy(_ index: Int, to writer: RecordWriter) throws {
        let span = span(at: index)
        if span.isPresent { return try writer.write(span, at: index) }
        if span.isAbsent { return try entity.write(readValue(at: index), at: index, to: writer) }
        guard span.isNull else { throw damaged(span, at: index) }
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
            // It has every slot, so this reader requires no further defaults.
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
