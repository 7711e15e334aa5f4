import DAOCore

/// Stores and removes single rows with their index entries, inside one write call.
///
/// All checks run before the first write, so a failed step changes nothing.
struct RowUpdate {
    private let handle: KeyValueHandle
    private let table: Table
    private let scratch: WriteScratch
    /// The conditions of the table's partial indexes; nil when there are none.
    private let conditions: IndexConditions?
    private let verifies: Bool

    /// Creates an update.
    ///
    /// - Parameters:
    ///   - handle: The write transaction.
    ///   - table: The table.
    ///   - scratch: Buffers of this call.
    ///   - verifies: Whether checksums are verified.
    init(_ handle: KeyValueHandle, _ table: Table, _ scratch: WriteScratch, verifies: Bool) {
        self.handle = handle
        self.table = table
        self.scratch = scratch
        conditions = scratch.conditions(of: table)
        self.verifies = verifies
    }

    /// An encoded row: its key and its record, both in the call's buffers.
    struct Encoded {
        /// The key in the store.
        let key: UnsafeRawBufferPointer
        /// The stored bytes.
        let record: UnsafeRawBufferPointer
        /// The primary key, the last component of the key.
        let primaryKey: UnsafeRawBufferPointer

        /// Creates an encoded row of a table.
        @inline(__always) init(_ key: UnsafeRawBufferPointer, _ record: UnsafeRawBufferPointer, of table: Table) {
            self.key = key
            self.record = record
            primaryKey = key.from(table.keyspace.length)
        }
    }

    /// The whole key of a row; valid until the next call.
    func storeKey(_ key: Key) throws -> UnsafeRawBufferPointer {
        var builder = KeyBuilder(scratch.storeKey)
        try builder.appendRow(key, of: table)
        return builder.bytes
    }

    /// Encodes a row. The result is valid until the next row is encoded.
    ///
    /// - Parameter encode: Writes the fields.
    /// - Throws: `.invalidKey` for a string key that is too long; the error of `encode`.
    @inline(__always) func encode(_ encode: (RecordWriter) throws -> Void) throws -> Encoded {
        scratch.writer.begin(table)
        try encode(scratch.writer)
        guard let row = try encoded() else { throw invalidKey }
        return row
    }

    /// The encoded row; nil when its key cannot be stored.
    private func encoded() throws -> Encoded? {
        var key = KeyBuilder(scratch.rowKey)
        key.append(table.keyspace)
        guard let span = scratch.writer.bytes(at: table.keyField), key.append(primaryKey: span, as: table.keyForm) else {
            return nil
        }
        if !table.retired.isEmpty { try writeRetiredFields(of: key.bytes) }
        return Encoded(key.bytes, try scratch.writer.finish(key: key.bytes.from(table.keyspace.length)), of: table)
    }

    /// Writes the fields that the model does not declare: their stored values, or their defaults in a new row.
    private func writeRetiredFields(of key: UnsafeRawBufferPointer) throws {
        guard let stored = try handle.transaction.get(key) else {
            for retired in table.retired {
                try table.description.write(retired.defaultValue, at: retired.field, to: scratch.writer)
            }
            return
        }
        let primaryKey = key.from(table.keyspace.length)
        guard let record = RecordView(stored, key: primaryKey, verifies: verifies) else {
            throw table.corruptedRecord(primaryKey)
        }
        for retired in table.retired {
            let span = table.span(retired.slot, of: record)
            guard span.isPresent || span.isNull || span.isAbsent else {
                throw table.corruptedValue(field: retired.field, primaryKey)
            }
            try scratch.writer.write(span, at: retired.field)
        }
    }

    /// A row that is read and then written again.
    struct Found {
        fileprivate let key: UnsafeRawBufferPointer
        /// Its bytes in the store's memory.
        fileprivate let stored: UnsafeRawBufferPointer?
        /// A copy of its bytes, which outlives writes of other calls; nil where none is needed.
        fileprivate let copy: UnsafeRawBufferPointer?
        fileprivate let writeCount: Int
        /// Whether the row waits for the end of the call.
        fileprivate let isWaiting: Bool

        /// Whether there is such a row. The reader is on it.
        var isStored: Bool { stored != nil || isWaiting }
    }

    /// Reads a row, and begins to write it. ``store(_:)`` can follow.
    ///
    /// - Parameters:
    ///   - key: The whole key in the store. Its bytes must not be in the store's memory.
    ///   - reader: Is moved to the stored row.
    ///   - keepsCopy: Whether code of the application, which can write, runs before the row is written.
    func find(_ key: UnsafeRawBufferPointer, _ reader: RecordReader, keepsCopy: Bool = false) throws -> Found {
        let stored = try handle.transaction.get(key)
        let primaryKey = key.from(table.keyspace.length)
        // A row that the call gives again is as it has left it.
        let waiting = scratch.waiting == nil ? nil : waitingRecord(primaryKey)
        if let shown = waiting?.record.bytes ?? stored { try reader.show(shown, key: primaryKey) }
        scratch.writer.begin(table)
        let copy = keepsCopy ? (waiting.map { $0.original?.bytes } ?? stored).map(scratch.keep) : nil
        return Found(key: key, stored: stored, copy: copy, writeCount: handle.writeCount, isWaiting: waiting != nil)
    }

    /// Writes the fields of a found row.
    var writer: RecordWriter { scratch.writer }

    /// Stores the differences of a found row whose fields have been written. Other calls can have written since: fields that
    /// were written as they were found are then as they are stored now (contract W9).
    ///
    /// - Parameters:
    ///   - found: The row.
    ///   - reader: The reader that was moved to it.
    ///   - isStoredAgain: Whether a row is stored again that was erased since.
    /// - Returns: Whether the row is stored.
    /// - Throws: `.keyChanged` when the written row has another key.
    @discardableResult
    func store(_ found: Found, _ reader: RecordReader, isStoredAgain: Bool = true) throws -> Bool {
        if handle.writeCount != found.writeCount {
            return try storeAfterWrites(found, reader, isStoredAgain: isStoredAgain)
        }
        try upsert(rewritten(found), over: found.stored, original: found.copy, verifies: false)
        return true
    }

    private func rewritten(_ found: Found) throws -> Encoded {
        guard let row = try encoded(), row.key.order(against: found.key) == 0 else {
            throw keyChanged(found.key.from(table.keyspace.length))
        }
        return row
    }

    private func storeAfterWrites(_ found: Found, _ reader: RecordReader, isStoredAgain: Bool) throws -> Bool {
        let stored = try handle.transaction.get(found.key)
        if stored == nil, found.stored != nil, !isStoredAgain { return false }
        if let stored, let copy = found.copy { try follow(stored, found.key.from(table.keyspace.length), readAs: copy, reader) }
        try upsert(rewritten(found), over: stored, original: nil, verifies: verifies)
        return true
    }

    /// Gives the fields that were written as they were read what is stored in them now.
    private func follow(
        _ stored: UnsafeRawBufferPointer, _ key: UnsafeRawBufferPointer, readAs original: UnsafeRawBufferPointer,
        _ reader: RecordReader
    ) throws {
        // The retired fields follow the declared fields, and are those of the stored row anyway.
        let declared = (0..<(table.retired.first?.field ?? table.fieldCount)).filter { $0 != table.keyField }
        func fields(of record: UnsafeRawBufferPointer) throws -> RecordWriter {
            let fields = RecordWriter(table: table, isChecked: false)
            fields.begin(table)
            try reader.show(record, key: key)
            for index in declared { try reader.copy(index, to: fields) }
            return fields
        }
        let (old, now) = try (fields(of: original), fields(of: stored))
        for index in declared where writer.hasSameValue(as: old, at: index) { try writer.copy(index, of: now) }
    }

    /// Changes fields of a stored row, and copies the stored bytes of the others.
    ///
    /// - Parameters:
    ///   - changes: What the fields get.
    ///   - counter: The position of an integer field that counts up by one; nil for none.
    ///   - key: The whole key in the store. Its bytes must not be in the store's memory.
    ///   - reader: Reads the stored row.
    func set(_ changes: [StoredChange], counting counter: Int?, _ key: UnsafeRawBufferPointer, _ reader: RecordReader) throws {
        let found = try find(key, reader)
        guard found.isStored else { return }
        // The retired fields follow the declared fields, and are written with every row.
        for index in 0..<(table.retired.first?.field ?? table.fieldCount) {
            if let change = changes.first(where: { $0.field == index }) {
                let value = try change.value(
                    after: reader.readValue(at: index),
                    of: Key(reader.readValue(at: table.keyField), of: table.description.keyKind))
                try table.description.write(value, at: index, to: writer)
            } else if index == counter {
                try writer.writeInt64(reader.readInt64(at: index) &+ 1, at: index)
            } else {
                try reader.copy(index, to: writer)
            }
        }
        try store(found, reader)
    }

    /// Stores a new row.
    ///
    /// - Parameters:
    ///   - row: The row.
    ///   - later: Gets the entries of indexes that are not unique; nil when all are written with the row.
    /// - Throws: `.duplicateKey`, `.uniqueViolation`.
    func insert(_ row: Encoded, _ later: LaterEntries? = nil) throws {
        if scratch.waiting != nil, waitingRecord(row.primaryKey) != nil { throw duplicateKey(row) }
        try insertNew(row, later)
    }

    private func insertNew(_ row: Encoded, _ later: LaterEntries? = nil) throws {
        scratch.beginEntries()
        if !table.indexes.isEmpty {
            let new = try view(row)
            if table.hasUniqueIndexes {
                if try handle.transaction.get(row.key) != nil { throw duplicateKey(row) }
                for index in table.indexes where try index.isUnique && has(index, row.record, row.primaryKey) {
                    if try collides(index, new, row) { return try wait(row, over: nil) }
                }
            }
            for (position, index) in table.indexes.enumerated() where try has(index, row.record, row.primaryKey) {
                try addEntry(index, position, new, row.primaryKey, later)
            }
        }
        guard try handle.transaction.insert(row.key, row.record) else { throw duplicateKey(row) }
        try writeEntries()
        if let later, later.isFull { try write(later) }
    }

    /// Calls a closure that stores new rows, and writes the entries that it has left for later.
    ///
    /// - Parameters:
    ///   - count: About how many rows.
    ///   - body: Gets what keeps the entries; nil where that does not pay.
    func withLaterEntries(ofRows count: Int, _ body: (LaterEntries?) throws -> Void) throws {
        if count < LaterEntries.manyRows || table.indexes.allSatisfy(\.isUnique) { return try body(nil) }
        let later = LaterEntries(indexCount: table.indexes.count, rowCount: count)
        try body(later)
        try write(later)
    }

    private func write(_ later: LaterEntries) throws {
        handle.writeCount += 1
        try later.removeAll(write)
    }

    /// Stores a new row, or updates an existing row; writes only the differences.
    func upsert(_ row: Encoded) throws {
        try upsert(row, over: handle.transaction.get(row.key), original: nil, verifies: verifies)
    }

    /// Stores a row over the existing bytes, which point into the store; nil for a new row.
    ///
    /// - Parameter original: The bytes of the row as it was read; nil when they are the existing ones.
    private func upsert(
        _ row: Encoded, over stored: UnsafeRawBufferPointer?, original: UnsafeRawBufferPointer?, verifies: Bool
    ) throws {
        if scratch.waiting != nil { stopWaiting(row.primaryKey) }
        guard let stored else { return try insertNew(row) }
        // While a row waited, others can have taken a unique value that it keeps.
        let hasWaited = isEnding
        if !hasWaited, stored.count == row.record.count, stored.order(against: row.record) == 0 { return }
        scratch.beginEntries()
        if !table.indexes.isEmpty {
            guard let old = RecordView(stored, key: row.primaryKey, verifies: verifies) else {
                throw table.corruptedRecord(row.primaryKey)
            }
            let new = try view(row)
            for index in table.indexes {
                let hasOld = try has(index, stored, row.primaryKey)
                let hasNew = try has(index, row.record, row.primaryKey)
                if hasOld == hasNew, !hasNew || hasSameValues(index, old, new) {
                    if hasWaited, hasNew, index.isUnique { _ = try collides(index, new, row) }
                    continue
                }
                if index.elements != nil {
                    try changeElements(index, old, new, row.primaryKey)
                    continue
                }
                if index.isUnique, hasNew, try collides(index, new, row) { return try wait(row, over: original ?? stored) }
                if hasOld { try addEntry(index, old, row.primaryKey, isRemoval: true) }
                if hasNew { try addEntry(index, new, row.primaryKey, isRemoval: false) }
            }
        }
        try handle.transaction.put(row.key, row.record)
        try writeEntries()
    }

    /// Removes a row.
    ///
    /// - Parameter key: The whole key in the store. Its bytes must not be in the store's memory.
    /// - Returns: Whether the row existed.
    func erase(_ key: UnsafeRawBufferPointer) throws -> Bool {
        if scratch.waiting != nil { stopWaiting(key.from(table.keyspace.length)) }
        scratch.beginEntries()
        if !table.indexes.isEmpty {
            guard let stored = try handle.transaction.get(key) else { return false }
            let primaryKey = key.from(table.keyspace.length)
            guard let old = RecordView(stored, key: primaryKey, verifies: verifies) else {
                throw table.corruptedRecord(primaryKey)
            }
            for index in table.indexes where try has(index, stored, primaryKey) {
                try addEntry(index, old, primaryKey, isRemoval: true)
            }
        }
        let wasThere = try handle.transaction.delete(key)
        try writeEntries()
        return wasThere
    }

    /// Adds the entries of a stored row to indexes that do not have them yet.
    ///
    /// - Parameters:
    ///   - indexes: The indexes.
    ///   - key: The whole key in the store. Its bytes must not be in the store's memory.
    ///   - later: Gets the entries of indexes that are not unique; nil when all are written with the row.
    /// - Throws: `.uniqueViolation` when an earlier row has the same value.
    func addEntries(to indexes: [Table.Index], for key: UnsafeRawBufferPointer, _ later: LaterEntries?) throws {
        guard let stored = try handle.transaction.get(key) else { return }
        let row = Encoded(key, stored, of: table)
        guard let record = RecordView(stored, key: row.primaryKey, verifies: verifies) else {
            throw table.corruptedRecord(row.primaryKey)
        }
        scratch.beginEntries()
        for (position, index) in indexes.enumerated() where try has(index, stored, row.primaryKey) {
            if index.isUnique { _ = try collides(index, record, row) }
            try addEntry(index, position, record, row.primaryKey, later)
        }
        try writeEntries()
        if let later, later.isFull { try write(later) }
    }

    private func view(_ row: Encoded) throws -> RecordView {
        guard let view = RecordView(row.record, key: row.primaryKey, verifies: false) else {
            throw table.corruptedRecord(row.primaryKey)
        }
        return view
    }
}

// MARK: Index entries

extension RowUpdate {
    /// Whether an index has a row: always, unless it is partial.
    @inline(__always) private func has(
        _ index: Table.Index, _ record: UnsafeRawBufferPointer, _ primaryKey: UnsafeRawBufferPointer
    ) throws -> Bool {
        guard index.isPartial, let conditions else { return true }
        return try conditions.meets(index, record, primaryKey)
    }

    /// Records an index entry, to write after all checks.
    private func addEntry(
        _ index: Table.Index, _ record: RecordView, _ primaryKey: UnsafeRawBufferPointer, isRemoval: Bool
    ) throws {
        if index.elements != nil {
            for entry in try table.elementEntries(of: index, record, primaryKey) { addEntry(entry, isRemoval: isRemoval) }
            return
        }
        try scratch.addEntry(isRemoval: isRemoval) { builder in
            try table.appendEntry(of: index, record, primaryKey, to: &builder)
        }
    }

    /// Records an index entry of a new row, to write after all checks, or after other rows unless the index is unique.
    private func addEntry(
        _ index: Table.Index, _ position: Int, _ record: RecordView, _ primaryKey: UnsafeRawBufferPointer, _ later: LaterEntries?
    ) throws {
        guard let later, !index.isUnique else { return try addEntry(index, record, primaryKey, isRemoval: false) }
        if index.elements == nil {
            return try later.add(to: position) { try table.appendEntry(of: index, record, primaryKey, to: &$0) }
        }
        for entry in try table.elementEntries(of: index, record, primaryKey) {
            later.add(to: position) { builder in entry.withUnsafeBytes { builder.append(raw: $0) } }
        }
    }

    private func addEntry(_ entry: [UInt8], isRemoval: Bool) {
        scratch.addEntry(isRemoval: isRemoval) { builder in entry.withUnsafeBytes { builder.append(raw: $0) } }
    }

    /// Records the differences of the entries of a row in an index on elements.
    private func changeElements(
        _ index: Table.Index, _ old: RecordView, _ new: RecordView, _ primaryKey: UnsafeRawBufferPointer
    ) throws {
        let removed = try table.elementEntries(of: index, old, primaryKey)
        let added = try table.elementEntries(of: index, new, primaryKey)
        for entry in removed.subtracting(added) { addEntry(entry, isRemoval: true) }
        for entry in added.subtracting(removed) { addEntry(entry, isRemoval: false) }
    }

    /// Writes the recorded index entries.
    private func writeEntries() throws {
        handle.writeCount += 1
        try scratch.forEachEntry { entry, isRemoval in
            if isRemoval { _ = try handle.transaction.delete(entry) } else { try write(entry) }
        }
    }

    private func write(_ entry: UnsafeRawBufferPointer) throws {
        guard scratch.isChecked else {
            return try handle.transaction.put(entry, UnsafeRawBufferPointer(start: nil, count: 0))
        }
        try withUnsafeBytes(of: EntryFormat.checksum(entry)) { try handle.transaction.put(entry, $0) }
    }

    /// Whether a stored row and a new row have the same values in the fields of an index.
    @inline(__always) private func hasSameValues(_ index: Table.Index, _ old: RecordView, _ new: RecordView) -> Bool {
        for component in index.components
        where !table.span(component.slot, of: old).isSame(as: new.span(component.slot)) { return false }
        return true
    }

    /// Whether another row has the values of a unique index, and the row can wait for the end of the call.
    ///
    /// - Throws: `.uniqueViolation` when it cannot wait.
    private func collides(_ index: Table.Index, _ record: RecordView, _ row: Encoded) throws -> Bool {
        var builder = KeyBuilder(scratch.prefix)
        let values = try table.appendValues(of: index, record, row.primaryKey, to: &builder)
        if values.hasNull { return false }
        let prefix = builder.bytes
        let cursor = try handle.transaction.cursor()
        let check = EntryCheck(index, of: table, verifies: verifies)
        var isThere = try check?.seek(cursor, prefix) ?? cursor.seek(prefix)
        while isThere, cursor.key.count >= prefix.count,
            UnsafeRawBufferPointer(rebasing: cursor.key[..<prefix.count]).order(against: prefix) == 0
        {
            try check?.verify(cursor.key, cursor.value)
            let other = cursor.key.from(prefix.count)
            if other.order(against: row.primaryKey) != 0, !waits(other), try !values.isCut || hasValues(of: record, index, other)
            {
                if scratch.readers != nil, !isEnding { return true }
                throw StorageError.uniqueViolation(
                    table.description.name, field: table.description(of: index).fieldNames, key: uniqueID(row.primaryKey),
                    conflictingKey: uniqueID(other))
            }
            isThere = try cursor.next()
        }
        if isThere { try check?.verifyNeighbour(cursor) }
        return false
    }

    /// Whether a row has the values of another row, of which one is truncated in the index.
    private func hasValues(of row: RecordView, _ index: Table.Index, _ primaryKey: UnsafeRawBufferPointer) throws -> Bool {
        try KeyBuilder.with { key in
            key.append(table.keyspace)
            key.append(raw: primaryKey)
            guard let record = try handle.transaction.get(key.bytes),
                let view = RecordView(record, key: primaryKey, verifies: verifies)
            else { throw table.corruptedIndex(index) }
            return index.components.allSatisfy {
                table.span($0.slot, of: view).isSame(as: table.span($0.slot, of: row))
            }
        }
    }

    /// Whether a row is taken out of the unique indexes, because it is stored later, at the end of the call.
    private func waits(_ primaryKey: UnsafeRawBufferPointer) -> Bool {
        isEnding && waitingRecord(primaryKey) != nil
    }

    /// Whether the call ends, and stores the rows that have waited.
    private var isEnding: Bool { scratch.waiting?.isEnding == true }

    private func uniqueID(_ primaryKey: UnsafeRawBufferPointer) -> UniqueID? {
        KeyParser.key(primaryKey, form: table.keyForm).map { UniqueID($0) }
    }

    private func duplicateKey(_ row: Encoded) -> StorageError {
        .duplicateKey(table.description, uniqueID(row.primaryKey))
    }

    private var invalidKey: StorageError {
        .keyTooLong(table.description.name, length: scratch.writer.bytes(at: table.keyField)?.count ?? 0)
    }

    private func keyChanged(_ primaryKey: UnsafeRawBufferPointer) -> StorageError {
        .keyChanged(table.description, uniqueID(primaryKey))
    }
}

// MARK: Rows that wait

extension RowUpdate {
    private func waitingRecord(_ primaryKey: UnsafeRawBufferPointer) -> WaitingRecord? {
        guard let waiting = scratch.waiting, !waiting.isEmpty, let key = KeyParser.key(primaryKey, form: table.keyForm) else {
            return nil
        }
        return waiting[table.description.name, key] as? WaitingRecord
    }

    private func stopWaiting(_ primaryKey: UnsafeRawBufferPointer) {
        guard let waiting = scratch.waiting, !waiting.isEmpty, let key = KeyParser.key(primaryKey, form: table.keyForm) else {
            return
        }
        waiting.remove(table.description.name, key)
    }

    /// Lets a row wait for the end of the call.
    ///
    /// - Parameter original: The bytes of the row that it replaces; nil for a new row.
    private func wait(_ row: Encoded, over original: UnsafeRawBufferPointer?) throws {
        guard let readers = scratch.readers, let key = KeyParser.key(row.primaryKey, form: table.keyForm) else {
            throw table.corruptedRecord(row.primaryKey)
        }
        let waiting = scratch.waiting ?? WaitingRows()
        scratch.waiting = waiting
        waiting.add(
            WaitingRecord(
                table: table, key: key, storeKey: Blob(copying: row.key), record: Blob(copying: row.record),
                original: original.map(Blob.init(copying:)), handle: handle, readers: readers, waiting: waiting))
    }

    /// Stores a row that has waited.
    fileprivate func store(_ row: WaitingRecord) throws {
        let key = row.storeKey.bytes
        let stored = try handle.transaction.get(key)
        guard let original = row.original, let now = stored, now.order(against: original.bytes) != 0 else {
            // Code that ran since may have erased the row.
            if row.original != nil, stored == nil { return }
            return try upsert(Encoded(key, row.record.bytes, of: table), over: stored, original: nil, verifies: verifies)
        }
        // Code that ran since has written the row.
        let reader = row.readers.reader(table)
        let primaryKey = key.from(table.keyspace.length)
        writer.begin(table)
        try reader.show(row.record.bytes, key: primaryKey)
        for index in 0..<(table.retired.first?.field ?? table.fieldCount) { try reader.copy(index, to: writer) }
        try follow(now, primaryKey, readAs: original.bytes, reader)
        if let index = row.readers.revisionIndex {
            func revision(of record: UnsafeRawBufferPointer) throws -> Int64 {
                try reader.show(record, key: primaryKey)
                return try reader.readInt64(at: index)
            }
            let count = try revision(of: row.record.bytes) &- revision(of: original.bytes)
            try writer.writeInt64(revision(of: now) &+ count, at: index)
        }
        guard let rewritten = try encoded() else { throw invalidKey }
        try upsert(rewritten, over: now, original: nil, verifies: verifies)
    }
}

/// A row that waits for the end of its call. Index entries end with the key, so that two rows can collide until then.
private final class WaitingRecord: WaitingRow {
    let table: Table
    let key: Key
    let storeKey: Blob
    let record: Blob
    /// The row that it replaces, as it was read.
    let original: Blob?
    private let handle: KeyValueHandle
    let readers: any RecordReaders
    private unowned let waiting: WaitingRows

    init(
        table: Table, key: Key, storeKey: Blob, record: Blob, original: Blob?, handle: KeyValueHandle,
        readers: any RecordReaders, waiting: WaitingRows
    ) {
        (self.table, self.key, self.storeKey, self.record) = (table, key, storeKey, record)
        (self.original, self.handle, self.readers, self.waiting) = (original, handle, readers, waiting)
    }

    var entity: String { table.description.name }

    func release() {}

    func store() throws {
        try readers.keyValueDatabase.withUpdate(of: table, handle, ending: waiting) { try $0.store(self) }
    }
}

extension Table {
    /// What is known of the values in an index entry.
    struct AppendedValues {
        /// Whether one of them is nil.
        var hasNull = false
        /// Whether one of them was truncated.
        var isCut = false
    }

    /// Appends the index entry of a row.
    @inline(__always) func appendEntry(
        of index: Index, _ record: RecordView, _ primaryKey: UnsafeRawBufferPointer, to builder: inout KeyBuilder
    ) throws {
        _ = try appendValues(of: index, record, primaryKey, to: &builder)
        builder.append(raw: primaryKey)
    }

    /// The entries of a row in an index: one, or one for each different element of an array.
    func entries(
        of index: Index, _ record: RecordView, _ primaryKey: UnsafeRawBufferPointer
    ) throws -> Set<[UInt8]> {
        if index.elements != nil { return try elementEntries(of: index, record, primaryKey) }
        return try KeyBuilder.with { builder in
            try appendEntry(of: index, record, primaryKey, to: &builder)
            return [Array(builder.bytes)]
        }
    }

    /// The entries of a row in an index on the elements of an array. Long elements with the same beginning have one entry.
    func elementEntries(
        of index: Index, _ record: RecordView, _ primaryKey: UnsafeRawBufferPointer
    ) throws -> Set<[UInt8]> {
        guard let kind = index.elements, let component = index.components.first else { return [] }
        let span = span(component.slot, of: record)
        if span.isNull { return [] }
        guard span.isPresent else { throw corruptedValue(field: component.field, primaryKey) }
        let json = String(decoding: UnsafeRawBufferPointer(start: span.start, count: span.count), as: UTF8.self)
        var entries: Set<[UInt8]> = []
        // Reading the row reports a text that is no array.
        for value in EmbeddedPart.elements(of: json, kind) ?? [] {
            try KeyBuilder.with { builder in
                builder.append(index.keyspace)
                if value.isNull {
                    builder.append(byte: 0)
                } else {
                    builder.append(byte: 1)
                    guard builder.append(value, as: component.form, limit: component.limit) != nil else {
                        throw corruptedValue(field: component.field, primaryKey)
                    }
                }
                builder.append(raw: primaryKey)
                entries.insert(Array(builder.bytes))
            }
        }
        return entries
    }

    /// Appends the common prefix of the index entries of equal values.
    @inline(__always) func appendValues(
        of index: Index, _ record: RecordView, _ primaryKey: UnsafeRawBufferPointer, to builder: inout KeyBuilder
    ) throws -> AppendedValues {
        builder.append(index.keyspace)
        var values = AppendedValues()
        for component in index.components {
            let span = span(component.slot, of: record)
            guard !span.isNull else {
                builder.append(byte: component.isAscending ? 0 : 2)
                values.hasNull = true
                continue
            }
            builder.append(byte: 1)
            let start = builder.count
            guard span.isPresent, let isCut = builder.append(span, as: component.form, limit: component.limit),
                component.form != .decimal || builder.count - start <= component.form.largestSize
            else { throw corruptedValue(field: component.field, primaryKey) }
            if !component.isAscending { builder.invert(from: start) }
            if isCut { values.isCut = true }
        }
        return values
    }
}

extension KeyBuilder {
    /// Appends a primary key from its bytes in a record.
    ///
    /// - Returns: False, with nothing appended, when the bytes are not a key.
    @inline(__always) mutating func append(primaryKey bytes: UnsafeRawBufferPointer, as form: KeyForm) -> Bool {
        if form == .bytes {
            guard bytes.count <= Key.maximumLength else { return false }
            append(raw: bytes)
            return true
        }
        return append(RecordView.Span(bytes), as: form) != nil
    }
}
