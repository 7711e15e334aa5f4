import DAOCore

/// The links of a to-one relationship: the values of its field in the rows of the parents.
struct KeyValueReferences: LinkStorage {
    let database: KeyValueDatabase
    let relation: RelationDescription

    var isInRows: Bool { true }

    // MARK: Reading

    func children(of parents: [Key]) throws -> LinkedKeys {
        var linked = LinkedKeys(counts: Array(repeating: 0, count: parents.count))
        try read { rows in
            for (index, parent) in parents.enumerated() {
                guard try rows.find(parent), let child = try rows.child() else { continue }
                linked.counts[index] = 1
                linked.keys.append(child)
            }
        }
        return linked
    }

    func parents(of children: [Key]) throws -> [Key] {
        var parents: [Key] = []
        try read { try $0.forEach(holding: children) { parents.append(try $0.key()) } }
        return parents.sorted()
    }

    func counts() throws -> [(parent: Key, count: Int)] {
        var counts: [(parent: Key, count: Int)] = []
        try read { rows in
            try rows.forEach(.isNull(field: rows.field, false)) { counts.append((try $0.key(), 1)) }
        }
        return counts.sorted { $0.parent < $1.parent }
    }

    func parents(ofEach children: [Key], limit: Int?) throws -> LinkedKeys {
        var linked = LinkedKeys(counts: Array(repeating: 0, count: children.count))
        try read { rows in
            for (index, child) in children.enumerated() {
                try rows.forEach(.compare(field: rows.field, .equal, child.value), limit: limit) { row in
                    linked.keys.append(try row.key())
                    linked.counts[index] += 1
                }
            }
        }
        return linked
    }

    // MARK: Writing

    func set(_ children: LinkedKeys, of parents: [Key]) throws {
        let lists = children.lastLists(of: parents)
        if lists.isEmpty { return }
        try write { rows, update in
            for list in lists { try rows.set(list.range.last.map { children.keys[$0] }, of: list.parent, update) }
        }
    }

    func remove(children: [Key]) throws {
        if children.isEmpty { return }
        try write { rows, update in
            var parents: [Key] = []
            try rows.forEach(holding: children) { parents.append(try $0.key()) }
            for parent in parents { try rows.set(nil, of: parent, update) }
        }
    }

    func remove(parents: [Key]) throws {
        if parents.isEmpty { return }
        try write { rows, update in for parent in parents { try rows.set(nil, of: parent, update) } }
    }

    // MARK: Shared functions

    /// Runs a closure that reads the rows of the parents, unless there is no such entity.
    private func read(_ body: (ReferenceRows) throws -> Void) throws {
        try database.read { handle in
            guard let rows = try rows(handle) else { return }
            let timer = StatementTimer.begin()
            defer { timer?.end("links of \(relation.entity).\(relation.field)", rowsLookedAt: rows.lookedAt) }
            try body(rows)
        }
    }

    /// Runs a closure that writes rows of the parents, atomically, unless there is no such entity.
    private func write(_ body: (ReferenceRows, RowUpdate) throws -> Void) throws {
        try database.write(.call, touching: relation.entity) { handle in
            guard let rows = try rows(handle) else { return }
            try database.withUpdate(of: rows.table, handle) { try body(rows, $0) }
        }
    }

    /// The rows of the parents; nil when the database does not have them, or not the field.
    private func rows(_ handle: KeyValueHandle) throws -> ReferenceRows? {
        guard let table = try database.engine.table(named: relation.entity, in: handle),
            let field = table.description.index(of: relation.field)
        else { return nil }
        let kind = table.description.fields[field].type.kind
        guard kind == relation.targetKeyKind else {
            throw StorageError(
                .schemaMismatch,
                "the stored links of '\(relation.entity).\(relation.field)' lead to keys of type \(kind.rawValue), the declared ones to "
                    + "\(relation.targetKeyKind.rawValue)",
                entity: relation.entity, field: relation.field, path: database.engine.store.traits.path)
        }
        return ReferenceRows(table, field: field, handle, verifies: database.options.usesChecksums)
    }
}

/// The rows of an entity with a to-one relationship, in one transaction.
private struct ReferenceRows {
    let table: Table
    /// The position of the relationship.
    let field: Int
    private let transaction: any KeyValueTransaction
    private let reader: RecordReader
    private let verifies: Bool

    init(_ table: Table, field: Int, _ handle: KeyValueHandle, verifies: Bool) {
        self.table = table
        self.field = field
        transaction = handle.transaction
        self.verifies = verifies
        reader = RecordReader(table: table, verifies: verifies) { throw table.lacksDefault }
    }

    /// The number of rows and entries that were read.
    var lookedAt: Int { reader.lookedAt }

    /// Reads the row with a key.
    ///
    /// - Returns: Whether it exists.
    func find(_ key: Key) throws -> Bool {
        try KeyBuilder.with { builder in
            try builder.appendRow(key, of: table)
            guard let record = try transaction.get(builder.bytes) else { return false }
            try reader.show(record, key: builder.bytes.from(table.keyspace.length))
            return true
        }
    }

    /// The key of the current row.
    func key() throws -> Key {
        guard let key = reader.currentKey else { throw table.corruptedRecord(reader.key) }
        return key
    }

    /// The key of the row that the current row refers to.
    func child() throws -> Key? {
        let value = try reader.readValue(at: field)
        return value.isNull
            ? nil
            : try Key(value, of: table.description.fields[field].type.kind)
                ?? { throw table.corruptedValue(field: field, reader.key) }()
    }

    /// Calls a closure on the key of each row that refers to one of the given rows.
    func forEach(holding children: [Key], _ body: (ReferenceRows) throws -> Void) throws {
        try forEach(.isIn(field: field, ValueSet(children.map(\.value)), isNegated: false), body)
    }

    /// Calls a closure on the key of each row that matches a filter.
    func forEach(_ filter: Filter, limit: Int? = nil, _ body: (ReferenceRows) throws -> Void) throws {
        let query = ResolvedQuery(
            filter: filter, order: [SortTerm(.field(table.keyField), isAscending: true)], limit: limit)
        let run = QueryRun(table: table, query: query, transaction: transaction, verifies: verifies)
        guard let source = try run.source(reader) else { return }
        var remaining = limit ?? .max
        while remaining > 0, try source.nextKey(reader) {
            try body(self)
            remaining -= 1
        }
    }

    /// Sets the related row of a stored row.
    func set(_ child: Key?, of parent: Key, _ update: RowUpdate) throws {
        guard try find(parent) else { return }
        var values = try table.description.fields.indices.map { try reader.readValue(at: $0) }
        values[field] = child?.value ?? .null
        try update.upsert(update.encode { try table.description.write(values, to: $0) })
    }
}
