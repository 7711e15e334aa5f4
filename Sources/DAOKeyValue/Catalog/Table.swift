import DAOCore
import Synchronization

/// The location of the rows and indexes of an entity in the store. A table is immutable; another version of
/// an entity has another table.
final class Table: Sendable {
    /// The state of the catalog entry of the table.
    enum State: UInt8, AtomicRepresentable {
        /// It is committed.
        case stored
        /// It was written by a write transaction that is still running.
        case provisional
        /// It does not exist: it was rolled back, or never written.
        case void
    }

    /// The entity.
    let description: EntityDescription
    /// The database's file, for errors.
    let path: String?
    /// The keyspace of the rows.
    let keyspace: UInt32
    /// The indexes, in the order of their fields.
    let indexes: [Index]
    /// Whether any index is unique.
    let hasUniqueIndexes: Bool
    /// The number of slots of a record.
    let slotCount: Int
    /// The values of fields that a record does not have yet: a record with every slot; nil when no record
    /// lacks a field.
    let defaults: Blob?
    /// The encoding of primary keys.
    let keyForm: KeyForm
    /// The position of the primary key among the fields.
    let keyField: Int
    /// The state of the catalog entry.
    let state: Atomic<State>
    /// The number of fields.
    let fieldCount: Int
    // Written once, in the initializer, and only read afterwards, so it can be shared.
    /// The slot of every field; valid as long as the table.
    nonisolated(unsafe) let slots: UnsafePointer<Int>

    /// An index of a table. It has no references, because every row iterates over all indexes.
    struct Index: Sendable, Hashable {
        /// The keyspace of the entries.
        let keyspace: UInt32
        /// The position of the field.
        let field: Int
        /// The field's slot.
        let slot: Int
        /// The encoding of values.
        let form: KeyForm
        /// Whether the index is unique.
        let isUnique: Bool
    }

    /// Creates a table from a catalog entry.
    ///
    /// - Throws: `.corrupted` when the entry is inconsistent.
    init(_ entity: StoredEntity, state: State, path: String? = nil) throws {
        let description = entity.description
        func damaged(_ what: String) -> StorageError {
            StorageError(
                .corrupted, "the catalog entry of '\(description.name)' is damaged: \(what)", entity: description.name,
                path: path)
        }
        guard entity.slots.count == description.fields.count, Set(entity.slots).count == entity.slots.count,
            entity.slots.allSatisfy({ (0..<entity.slotCount).contains($0) }), entity.slotCount <= Int(UInt16.max)
        else { throw damaged("its slots") }
        guard let keyForm = KeyForm(description.keyKind), keyForm != .floating, keyForm != .decimal else {
            throw damaged("its key")
        }
        defaults = entity.defaults.map { $0.withUnsafeBytes { Blob(copying: $0) } }
        let noKey = UnsafeRawBufferPointer(start: nil, count: 0)
        if let defaults, RecordView(defaults.bytes, key: noKey, verifies: false)?.slotCount != entity.slotCount {
            throw damaged("its defaults")
        }
        self.description = description
        self.path = path
        self.keyForm = keyForm
        keyspace = entity.keyspace
        slotCount = entity.slotCount
        fieldCount = entity.slots.count
        let slots = UnsafeMutablePointer<Int>.allocate(capacity: entity.slots.count)
        slots.initialize(from: entity.slots, count: entity.slots.count)
        self.slots = UnsafePointer(slots)
        keyField = description.keyIndex
        self.state = Atomic(state)
        let indexes: [Index] = try description.fields.enumerated().compactMap { position, field in
            guard field.isIndexed, !field.isPrimaryKey else { return nil }
            guard let keyspace = entity.indexes[field.name], let form = KeyForm(field.type.kind) else {
                throw damaged("its index on '\(field.name)'")
            }
            return Index(
                keyspace: keyspace, field: position, slot: entity.slots[position], form: form, isUnique: field.isUnique)
        }
        self.indexes = indexes
        hasUniqueIndexes = indexes.contains(where: \.isUnique)
    }

    deinit { slots.deallocate() }

    /// The slot of a field. For a position that is not a field, it is a slot that no record has.
    @inline(__always) func slot(of field: Int) -> Int {
        UInt(bitPattern: field) < UInt(bitPattern: fieldCount) ? slots[field] : .max
    }

    /// The value of a slot: in the record, or among the defaults for a record that is older than the slot.
    @inline(__always) func span(_ slot: Int, of record: RecordView) -> RecordView.Span {
        let span = record.span(slot)
        return span.isAbsent ? defaultSpan(slot) ?? span : span
    }

    private func defaultSpan(_ slot: Int) -> RecordView.Span? {
        let noKey = UnsafeRawBufferPointer(start: nil, count: 0)
        // The blob lives as long as the table.
        return defaults.flatMap { RecordView($0.bytes, key: noKey, verifies: false)?.span(slot) }
    }

    /// The name of the field of an index.
    func name(of index: Index) -> String { description.fields[index.field].name }
}

extension Table {
    /// The error for a record with invalid bytes.
    func corruptedRecord(_ key: UnsafeRawBufferPointer) -> StorageError {
        StorageError(
            .corrupted, "a stored row of '\(description.name)' is damaged: restore it from a copy",
            entity: description.name, key: KeyParser.key(key, form: keyForm).map { UniqueID($0) }, path: path)
    }

    /// The error for an index that does not match its table.
    func corruptedIndex(_ index: Index) -> StorageError {
        StorageError(
            .corrupted, "the index on '\(name(of: index))' of '\(description.name)' is damaged", entity: description.name,
            field: name(of: index), path: path)
    }

    /// The error for a field whose bytes are not a value of its type.
    func corruptedValue(field: Int, _ key: UnsafeRawBufferPointer) -> StorageError {
        StorageError(
            .corruptedValue, "the stored value cannot be read as \(description.fields[field].type)", entity: description.name,
            key: KeyParser.key(key, form: keyForm).map { UniqueID($0) }, field: description.fields[field].name, path: path)
    }

    /// The error for a key that no row of the table can have.
    func invalidKey(_ key: Key) -> StorageError {
        if case .string(let text) = key, keyForm == .bytes {
            return StorageError(
                .invalidKey, "a string key has at most \(Key.maximumLength) UTF-8 bytes, this one has \(text.utf8.count)",
                entity: description.name)
        }
        return StorageError(
            .invalidKey,
            "the keys of '\(description.name)' are of type \(description.keyKind.rawValue), and this is not one of them",
            entity: description.name, key: UniqueID(key))
    }
}
