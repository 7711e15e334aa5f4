extension RowLayout {
    /// Stores rows, and judges them when the call ends (contract W6). A storage without indexes of its own calls it inside a
    /// transaction.
    ///
    /// A row that has a unique value of another row waits. The closures are called again at the end of the call, and when it is part
    /// of a larger one, such as a row with its related rows, at the end of that.
    ///
    /// - Parameters:
    ///   - declared: The rows with their keys, as ``Schema/encode(_:to:)`` writes them into a ``ValueRowWriter``.
    ///   - mayReplace: Whether a row replaces the stored one with its key.
    ///   - storage: The storage.
    ///   - find: Returns the stored row with a key; nil when there is none.
    ///   - rows: Returns all stored rows, in any order.
    ///   - put: Stores a row, over the one with its key, in the order of the stored entity.
    /// - Throws: `.duplicateKey`, `.uniqueViolation`; any error of a closure.
    public func store<Record: Model>(
        _ declared: [(key: Key, values: [Value])], mayReplace: Bool, in storage: some Storage<Record>,
        find: @escaping (Key) throws -> [Value]?, rows: @escaping () throws -> any Sequence<(key: Key, value: [Value])>,
        put: @escaping (Key, [Value]) throws -> Void
    ) throws {
        let larger = storage.database.waitingRows
        let waiting = larger ?? WaitingRows()
        let (wholeEntity, revision) = (storedEntity, Record.schema.revisionIndex.map { positions[$0] })
        for (key, values) in declared {
            let stored = try find(key)
            if !mayReplace, stored != nil || waiting[entity.name, key] != nil {
                throw StorageError.duplicateKey(entity, UniqueID(key))
            }
            let row = LayoutRow(
                key, try self.values(of: values, replacing: stored), over: stored, wholeEntity, counting: revision, waiting,
                find: find, rows: rows, put: put)
            if try row.collides() { waiting.add(row) } else { try row.put() }
        }
        if larger == nil { try waiting.end() }
    }
}

/// A row of a storage without indexes, which may have to wait.
private final class LayoutRow: WaitingRow {
    let key: Key
    private var values: [Value]
    private let original: [Value]?
    private let description: EntityDescription
    /// The position of the field that counts the writes of the row.
    private let revision: Int?
    private unowned let waiting: WaitingRows
    private let find: (Key) throws -> [Value]?
    private let rows: () throws -> any Sequence<(key: Key, value: [Value])>
    private let putRow: (Key, [Value]) throws -> Void

    init(
        _ key: Key, _ values: [Value], over original: [Value]?, _ description: EntityDescription, counting revision: Int?,
        _ waiting: WaitingRows, find: @escaping (Key) throws -> [Value]?,
        rows: @escaping () throws -> any Sequence<(key: Key, value: [Value])>, put: @escaping (Key, [Value]) throws -> Void
    ) {
        (self.key, self.values, self.original) = (key, values, original)
        (self.description, self.revision, self.waiting) = (description, revision, waiting)
        (self.find, self.rows, putRow) = (find, rows, put)
    }

    var entity: String { description.name }

    /// Whether the row has to wait.
    func collides() throws -> Bool {
        do {
            try check()
            return false
        } catch let error as StorageError where error.kind == .uniqueViolation {
            return true
        }
    }

    private func check() throws { if !description.uniqueIndexes.isEmpty { try check(among: rows()) } }

    private func check(among rows: some Sequence<(key: Key, value: [Value])>) throws {
        guard waiting.isEnding else { return try description.checkUnique(values, of: key, among: rows) }
        try description.checkUnique(values, of: key, among: rows.lazy.filter { [self] in waiting[entity, $0.key] == nil })
    }

    func put() throws {
        waiting.remove(entity, key)
        try putRow(key, values)
    }

    // Indexes are searched in the rows, so those that still wait are left out.
    func release() {}

    func store() throws {
        let now = try find(key)
        if let original {
            // Code that ran since has erased the row.
            guard let now else { return }
            for index in values.indices where values[index] == original[index] { values[index] = now[index] }
            if let revision, case .integer(let before) = original[revision], case .integer(let stored) = now[revision],
                case .integer(let count) = values[revision]
            {
                values[revision] = .integer(count &+ stored &- before)
            }
        }
        try check()
        try put()
    }
}
