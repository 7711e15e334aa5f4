/// A batch of rows in memory.
struct RowBatch {
    /// The maximum number of rows.
    let rowLimit: Int
    /// The approximate number of bytes of values after which the batch is full.
    let byteLimit: Int
    /// The rows with their keys, in order.
    private(set) var rows: [(key: Key, values: [Value])] = []
    /// The approximate number of bytes of the values.
    private(set) var bytes = 0

    init(rowLimit: Int, byteLimit: Int) {
        self.rowLimit = rowLimit
        self.byteLimit = byteLimit
    }

    /// Adds a row, and returns whether the batch has room for another row.
    mutating func add(_ key: Key, _ values: [Value]) -> Bool {
        rows.append((key, values))
        for value in values {
            switch value {
            case .string(let text): bytes += text.utf8.count
            case .data(let data): bytes += data.count
            default: bytes += 8
            }
        }
        return rows.count < rowLimit && bytes < byteLimit
    }
}

extension EntityStore {
    /// Returns the entity with a name; nil when it is not stored.
    package func entity(named name: String) throws -> EntityDescription? {
        try entities().first { $0.name.hasSameBytes(as: name) }
    }

    /// Returns a batch of the rows after a key.
    func batch(of entity: String, after key: Key?, rowLimit: Int = 1000, byteLimit: Int = 4 << 20) throws -> RowBatch {
        var batch = RowBatch(rowLimit: rowLimit, byteLimit: byteLimit)
        try forEachRow(of: entity, after: key) { batch.add($0, $1) }
        return batch
    }

    /// Calls a closure with all rows of an entity, in batches. The closure can write.
    func forEachBatch(of entity: String, after first: Key? = nil, _ body: (RowBatch) throws -> Void) throws {
        var last = first
        while true {
            let batch = try batch(of: entity, after: last)
            guard let key = batch.rows.last?.key else { return }
            try body(batch)
            last = key
        }
    }

    /// Changes a stored entity to its wanted description.
    ///
    /// - Parameters:
    ///   - change: The change of the entity.
    ///   - path: The path of the database's file, for errors.
    /// - Throws: `.schemaMismatch` when the change needs a migration step.
    public func apply(_ change: EntityChange, path: String? = nil) throws {
        guard change.obstacles.isEmpty else { throw change.mismatch(path: path) }
        if change.isEmpty { return }
        if try !alter(change) {
            try rewrite(change.stored, as: change.wanted) { _, values in change.row(values) }
        } else if change.recodesRows {
            try recode(change)
        }
        try moveLinks(change)
    }

    /// Writes the rows again whose embedded values have another text as JSON of what their fields contain.
    private func recode(_ change: EntityChange) throws {
        let wanted = change.wanted
        try forEachBatch(of: wanted.name) { batch in
            let changed = batch.rows.compactMap { _, values in
                let row = change.recoded(values)
                return row == values ? nil : row
            }
            if !changed.isEmpty { try store(changed, in: wanted.name, replaces: true) }
        }
    }

    /// Rewrites the rows of an entity with different fields, types or keys.
    ///
    /// - Parameters:
    ///   - stored: The stored description of the entity.
    ///   - wanted: The wanted description of the entity, with the same name.
    ///   - onRow: A closure that is called after each batch with the number of rows that are done.
    ///   - transform: A closure that gets the key and values of a row and returns its new values; nil omits
    ///     the row.
    /// - Throws: Any error of the closure. A `StorageError` without a key gets the key of the row.
    func rewrite(
        _ stored: EntityDescription, as wanted: EntityDescription, onRow: (Int) -> Void = { _ in },
        _ transform: (Key, [Value]) throws -> [Value]?
    ) throws {
        let old = EntityDescription.rewrittenPrefix + stored.name
        try rename(stored.name, to: old)
        var indexed = stored
        indexed.name = old
        // The old indexes occupy the names of the new indexes, and nothing needs them any longer.
        _ = try alter(EntityChange(from: indexed, to: EntityDeclaration(indexed.withoutIndexes)))
        try create(wanted)
        var erasure = try WalkedErasure(of: stored, in: self)
        var done = 0
        try forEachBatch(of: old) { batch in
            var rows: [[Value]] = []
            for (key, values) in batch.rows {
                try naming(key) {
                    guard let row = try transform(key, values) else {
                        return erasure.note(key, values)
                    }
                    if erasure.isLinked, try wanted.key(of: row) != key { throw wanted.linkedKeyChanged }
                    rows.append(row)
                }
            }
            try store(rows, in: wanted.name, replaces: false)
            done += batch.rows.count
            onRow(done)
        }
        try drop(old)
        try erasure.follow(in: self)
    }
}

extension EntityDescription {
    /// The entity without its declared indexes.
    var withoutIndexes: EntityDescription {
        var bare = self
        for index in bare.fields.indices {
            (bare.fields[index].isIndexed, bare.fields[index].isUnique) = (false, false)
        }
        bare.indexes = []
        return bare
    }
}

/// Adds the key of a row to an error without a key.
func naming<Result>(_ key: Key?, _ body: () throws -> Result) throws -> Result {
    do {
        return try body()
    } catch var error as StorageError where error.key == nil {
        error.key = key.map { UniqueID($0) }
        throw error
    }
}

extension EntityDescription {
    /// How the name of an entity begins whose rows are being written into its new form.
    static let rewrittenPrefix = "dao_old_"
}
