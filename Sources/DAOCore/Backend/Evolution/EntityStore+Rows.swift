/// A run of rows that is in memory at once.
struct RowBatch {
    /// How many rows at most.
    let rowLimit: Int
    /// How many bytes of values, about, before a batch is full.
    let byteLimit: Int
    /// The rows with their keys, in order.
    private(set) var rows: [(key: Key, values: [Value])] = []
    /// How many bytes their values have, about.
    private(set) var bytes = 0

    init(rowLimit: Int, byteLimit: Int) {
        self.rowLimit = rowLimit
        self.byteLimit = byteLimit
    }

    /// Takes a row, and says whether there is room for another.
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
    /// The entity with a name; nil when it is not stored.
    func entity(named name: String) throws -> EntityDescription? { try entities().first { $0.name.hasSameBytes(as: name) } }

    /// The rows behind a key, as many as are in memory at once.
    func batch(of entity: String, after key: Key?, rowLimit: Int = 1000, byteLimit: Int = 4 << 20) throws -> RowBatch {
        var batch = RowBatch(rowLimit: rowLimit, byteLimit: byteLimit)
        try forEachRow(of: entity, after: key) { batch.add($0, $1) }
        return batch
    }

    /// Gives all rows of an entity to a body, a batch at a time, so that it may write.
    func forEachBatch(of entity: String, after first: Key? = nil, _ body: (RowBatch) throws -> Void) throws {
        var last = first
        while true {
            let batch = try batch(of: entity, after: last)
            guard let key = batch.rows.last?.key else { return }
            try body(batch)
            last = key
        }
    }

    /// Makes a stored entity what it is to be.
    ///
    /// - Parameters:
    ///   - change: What is to change.
    ///   - path: The database's file, for errors.
    /// - Throws: `.schemaMismatch` when that takes a migration step.
    public func apply(_ change: EntityChange, path: String? = nil) throws {
        guard change.obstacles.isEmpty else { throw change.mismatch(path: path) }
        if change.isEmpty { return }
        if try !alter(change) { try rewrite(change.stored, as: change.wanted) { _, values in change.row(values) } }
        try moveLinks(change)
    }

    /// Writes the rows of an entity anew, with fields, types or a key of their own.
    ///
    /// - Parameters:
    ///   - stored: The entity as it is.
    ///   - wanted: The entity as it is to be, under the same name.
    ///   - onRow: Called after each batch with how many rows are done.
    ///   - transform: Gets the key and values of a row and gives those that it is to have; nil leaves it out.
    /// - Throws: What the closure throws, with the row's key where it is a `StorageError` without one.
    func rewrite(
        _ stored: EntityDescription, as wanted: EntityDescription, onRow: (Int) -> Void = { _ in },
        _ transform: (Key, [Value]) throws -> [Value]?
    ) throws {
        let old = "dao_old_\(stored.name)"
        try rename(stored.name, to: old)
        var bare = stored
        bare.name = old
        var indexed = bare
        for index in bare.fields.indices {
            (bare.fields[index].isIndexed, bare.fields[index].isUnique) = (false, false)
        }
        indexed.name = old
        // Indexes take names, and nobody needs these any more.
        _ = try alter(EntityChange(from: indexed, to: EntityDeclaration(bare)))
        try create(wanted)
        let isLinked = try isLinked(stored)
        var gone: [Key] = []
        var done = 0
        try forEachBatch(of: old) { batch in
            var rows: [[Value]] = []
            for (key, values) in batch.rows {
                try naming(key) {
                    guard let row = try transform(key, values) else {
                        if isLinked { gone.append(key) }
                        return
                    }
                    if isLinked, try wanted.key(of: row) != key { throw wanted.linkedKeyChanged }
                    rows.append(row)
                }
            }
            try store(rows, in: wanted.name, replaces: false)
            done += batch.rows.count
            onRow(done)
        }
        try drop(old)
        try removeLinks(of: wanted, gone)
    }
}

/// Adds the key of the row that was worked on to an error that does not name one.
func naming<Result>(_ key: Key, _ body: () throws -> Result) throws -> Result {
    do {
        return try body()
    } catch var error as StorageError where error.key == nil {
        error.key = UniqueID(key)
        throw error
    }
}
