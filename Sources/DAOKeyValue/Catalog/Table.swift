import DAOCore

/// The location of the rows and indexes of an entity in the store, with the fields in the order of one model. A
/// table is immutable; another version of an entity has another table.
final class Table: Sendable {
    /// A catalog entry, which the tables of several models can share.
    final class Entry: Sendable {
        /// The entry.
        let stored: StoredEntity
        /// The state of the entry.
        let state: Atomic<State>

        init(_ stored: StoredEntity, _ state: State) {
            self.stored = stored
            self.state = Atomic(state)
        }
    }

    /// The state of a catalog entry.
    enum State: UInt8, AtomicRepresentable {
        /// It is committed.
        case stored
        /// It was written by a write transaction that is still running.
        case provisional
        /// It does not exist: it was rolled back, or never written.
        case void
    }

    /// The catalog entry.
    let entry: Entry
    /// The entity in the form of its rows. The fields of the model come first, in its order, then the retired
    /// fields.
    let description: EntityDescription
    /// The retired fields with values: those that the model does not declare.
    let retired: [RetiredField]
    /// The database's file, for errors.
    let path: String?
    /// The keyspace of the rows.
    let keyspace: Keyspace
    /// The indexes, in the order of ``EntityDescription/allIndexes``.
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
    /// The number of fields.
    let fieldCount: Int
    // Written once, in the initializer, and only read afterwards, so they can be shared.
    /// The slot of every field; valid as long as the table.
    nonisolated(unsafe) let slots: UnsafePointer<Int>
    /// The fields of all indexes.
    nonisolated(unsafe) private let components: UnsafeMutableBufferPointer<Index.Component>
    /// The descriptions of the indexes.
    private let indexDescriptions: [IndexDescription]
    /// The conditions of the indexes, in their order; nil for an index of all rows.
    private let conditions: [Filter?]
    /// Whether any index is partial.
    let hasPartialIndexes: Bool

    /// An index of a table. It has no references, because every row iterates over all indexes.
    struct Index: Sendable, Hashable {
        /// A field of an index.
        struct Component: Sendable {
            /// The position of the field.
            let field: Int
            /// The field's slot.
            let slot: Int
            /// The encoding of values.
            let form: KeyForm
            /// Whether the values ascend.
            let isAscending: Bool
            /// The maximum number of escaped bytes of a value.
            let limit: Int
        }

        /// The keyspace of the entries.
        let keyspace: Keyspace
        /// The position among the table's indexes.
        let number: Int
        // Written once, before the index is made, and only read afterwards, so it can be shared.
        /// The fields, in order; valid as long as the table.
        nonisolated(unsafe) let components: UnsafeBufferPointer<Component>
        /// Whether the index is unique.
        let isUnique: Bool
        /// Whether the index has only the rows that meet its condition; see ``Table/condition(of:)``.
        let isPartial: Bool
        /// The kind of the elements, in an index that has a row once for each different element of an array; otherwise nil.
        let elements: ValueKind?

        /// Finds the end of the first values in an entry; nil when the entry is damaged. A truncated value is the
        /// last: between entries that are equal until its end, the later values are in no order.
        ///
        /// - Parameters:
        ///   - entry: The whole entry.
        ///   - fixed: The number of leading fields with one value in all rows; it does not matter whether it is
        ///     truncated.
        ///   - count: The number of values.
        func values(in entry: UnsafeRawBufferPointer, fixed: Int, count: Int) -> KeyParser.IndexedValue? {
            var value = KeyParser.IndexedValue(end: keyspace.length, isCut: false)
            for number in 0..<count {
                let component = components[number]
                guard
                    let next = KeyParser.indexedValue(
                        in: entry, from: value.end, form: component.form, isAscending: component.isAscending)
                else { return nil }
                value.end = next.end
                if next.isCut, number >= fixed {
                    value.isCut = true
                    break
                }
            }
            return value
        }

        /// The position of the primary key in an entry; nil when the entry is damaged.
        @inline(__always) func keyOffset(in entry: UnsafeRawBufferPointer) -> Int? {
            var end = keyspace.length
            for component in components {
                guard
                    let value = KeyParser.indexedValue(
                        in: entry, from: end, form: component.form, isAscending: component.isAscending)
                else { return nil }
                end = value.end
            }
            return end
        }

        static func == (left: Index, right: Index) -> Bool { left.keyspace == right.keyspace }

        func hash(into hasher: inout Hasher) { hasher.combine(keyspace) }
    }

    /// A field that the model does not declare.
    struct RetiredField: Sendable {
        /// The position of the field.
        let field: Int
        /// The field's slot.
        let slot: Int
        /// The value of the field in a new row.
        let defaultValue: Value
    }

    /// Creates a table from a catalog entry, with the fields in the order of the entry.
    ///
    /// - Throws: `.corrupted` when the entry is inconsistent.
    convenience init(_ entity: StoredEntity, state: State, path: String? = nil) throws {
        try self.init(Entry(entity, state), entity.description.rowForm, slots: entity.slots, retired: [], path: path)
    }

    /// Returns the table with the fields in the order of a model; nil when the model cannot use the entity as
    /// it is stored.
    func laidOut(for declaration: EntityDeclaration) throws -> Table? {
        let stored = entry.stored
        guard let layout = RowLayout(of: stored.description, for: declaration) else { return nil }
        if layout.retired.isEmpty, layout.entity == description { return self }
        let slots = layout.positions.map { stored.slots[$0] }
        let retired = zip(layout.retired, layout.retiredDefaults).compactMap { field, value in
            layout.entity.fields[field].type.kind.isRelationship
                ? nil : RetiredField(field: field, slot: slots[field], defaultValue: value)
        }
        return try Table(entry, layout.entity, slots: slots, retired: retired, path: path)
    }

    private init(
        _ entry: Entry, _ description: EntityDescription, slots: [Int], retired: [RetiredField], path: String?
    ) throws {
        let entity = entry.stored
        func damaged(_ what: String) -> StorageError {
            .corrupted(path, "the catalog entry of '\(description.name)' is damaged: \(what)", entity: description.name)
        }
        guard (0...Int(UInt16.max)).contains(entity.slotCount), slots.count == description.fields.count,
            Set(slots).count == slots.count, slots.allSatisfy({ (0..<entity.slotCount).contains($0) })
        else { throw damaged("its slots") }
        guard let keyForm = KeyForm(description.keyKind), keyForm != .floating, keyForm != .decimal else {
            throw damaged("its key")
        }
        defaults = entity.defaults.map { $0.withUnsafeBytes { Blob(copying: $0) } }
        let noKey = UnsafeRawBufferPointer(start: nil, count: 0)
        if let defaults, RecordView(defaults.bytes, key: noKey, verifies: false)?.slotCount != entity.slotCount {
            throw damaged("its defaults")
        }
        self.entry = entry
        self.description = description
        self.retired = retired
        self.path = path
        self.keyForm = keyForm
        keyspace = Keyspace(entity.keyspace)
        slotCount = entity.slotCount
        fieldCount = slots.count
        keyField = description.keyIndex
        let indexDescriptions = description.allIndexes
        let conditions = indexDescriptions.map { $0.filter(of: description) }
        let parts = try indexDescriptions.map { index in
            let fields = try index.fields.map { field in
                guard let position = description.index(of: field.name),
                    let form = KeyForm(field.elements?.kind ?? description.fields[position].type.kind)
                else { throw damaged("its index on '\(index)'") }
                return (position, form, field.isAscending)
            }
            guard let keyspace = entity.indexes[index.description], !fields.isEmpty,
                fields.count <= IndexDescription.maximumFieldCount
            else { throw damaged("its index on '\(index)'") }
            return (Keyspace(keyspace), fields, KeyForm.limit(of: fields.map(\.1), primaryKey: keyForm))
        }
        // Nothing is thrown from here on, so `deinit` releases the memory.
        let places = UnsafeMutablePointer<Int>.allocate(capacity: slots.count)
        places.initialize(from: slots, count: slots.count)
        self.slots = UnsafePointer(places)
        let components = UnsafeMutableBufferPointer<Index.Component>.allocate(capacity: parts.reduce(0) { $0 + $1.1.count })
        var count = 0
        var indexes: [Index] = []
        for (number, (keyspace, fields, limit)) in parts.enumerated() {
            let start = count
            for (position, form, isAscending) in fields {
                components.initializeElement(
                    at: count,
                    to: Index.Component(
                        field: position, slot: slots[position], form: form, isAscending: isAscending, limit: limit))
                count += 1
            }
            indexes.append(
                Index(
                    keyspace: keyspace, number: number,
                    components: UnsafeBufferPointer(rebasing: components[start..<count]),
                    isUnique: indexDescriptions[number].isUnique, isPartial: conditions[number] != nil,
                    elements: indexDescriptions[number].elements?.kind))
        }
        self.components = components
        self.indexDescriptions = indexDescriptions
        self.conditions = conditions
        hasPartialIndexes = indexes.contains(where: \.isPartial)
        self.indexes = indexes
        hasUniqueIndexes = indexes.contains(where: \.isUnique)
    }

    deinit {
        slots.deallocate()
        components.deallocate()
    }

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

    /// Whether the catalog entry exists, as far as this process knows.
    @inline(__always) var isCurrent: Bool { entry.state.load(ordering: .acquiring) != .void }

    /// The description of an index.
    func description(of index: Index) -> IndexDescription { indexDescriptions[index.number] }

    /// The condition of the rows that an index has; nil for an index of all rows.
    func condition(of index: Index) -> Filter? { conditions[index.number] }
}

extension Table {
    /// The error for a record with invalid bytes.
    func corruptedRecord(_ key: UnsafeRawBufferPointer) -> StorageError {
        .corrupted(
            path, "a stored row of '\(description.name)' is damaged", entity: description.name,
            key: KeyParser.key(key, form: keyForm).map { UniqueID($0) })
    }

    /// The error for a row that is older than a field without a default.
    var lacksDefault: StorageError {
        .corrupted(
            path, "a stored row of '\(description.name)' lacks a field that has no default", entity: description.name)
    }

    /// The error for an index that does not match its table.
    func corruptedIndex(_ index: Index) -> StorageError {
        .corrupted(
            path, "the index on '\(description(of: index))' of '\(description.name)' is damaged", entity: description.name,
            field: description(of: index).fieldNames)
    }

    /// The error for a field whose bytes are not a value of its type.
    func corruptedValue(field: Int, _ key: UnsafeRawBufferPointer) -> StorageError {
        .corruptedValue(
            description, key: KeyParser.key(key, form: keyForm).map { UniqueID($0) }, field: field,
            "its bytes have no such value", path: path)
    }

    /// The error for a key that no row of the table can have.
    func invalidKey(_ key: Key) -> StorageError {
        if case .string(let text) = key, keyForm == .bytes {
            return .keyTooLong(description.name, length: text.utf8.count)
        }
        return .keyOfAnotherType(description.name, UniqueID(key), expected: description.keyKind)
    }
}
