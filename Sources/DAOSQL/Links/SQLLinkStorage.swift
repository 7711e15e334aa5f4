import DAOCore

/// The links of one relationship: a join table, or a column of the parents for a to-one relationship. A missing
/// table has no links.
struct SQLLinkStorage: LinkStorage {
    let owner: SQLDatabase
    let links: SQLLinks
    /// The number of the table within the instance.
    let number: Int

    var relation: RelationDescription { links.relation }

    var isInRows: Bool { links.isInRows }

    func children(of parents: [Key]) throws -> LinkedKeys {
        var counts = Array(repeating: 0, count: parents.count)
        if parents.isEmpty { return LinkedKeys() }
        let keys: [Key] = try reading([]) { session in
            var keys: [Key] = []
            try forEachRow(links.select, parents, session) { row in
                counts[try number(in: row, of: counts.count)] += 1
                keys.append(try key(in: row, 2, relation.targetKeyKind))
            }
            return keys
        }
        return LinkedKeys(counts: counts, keys: keys)
    }

    func parents(of children: [Key]) throws -> [Key] {
        if children.isEmpty { return [] }
        return try reading([]) { session in
            var parents: [Key] = []
            try forEachRow(links.selectParents, children, session) { parents.append(try key(in: $0, 0, relation.keyKind)) }
            return parents
        }
    }

    func counts() throws -> [(parent: Key, count: Int)] {
        try reading([]) { session in
            var counts: [(parent: Key, count: Int)] = []
            try forEachRow(links.selectCounts, nil, session) {
                counts.append((try key(in: $0, 0, relation.keyKind), Int($0.integer(inColumn: 1))))
            }
            return counts
        }
    }

    func parentCounts() throws -> [(child: Key, count: Int)] {
        try reading([]) { session in
            var counts: [(child: Key, count: Int)] = []
            try forEachRow(links.selectParentCounts, nil, session) {
                counts.append((try key(in: $0, 0, relation.targetKeyKind), Int($0.integer(inColumn: 1))))
            }
            return counts
        }
    }

    func parents(ofEach children: [Key], limit: Int?) throws -> LinkedKeys {
        guard limit == 1 else { return try eachParent(of: children) }
        var parents: [Key?] = Array(repeating: nil, count: children.count)
        if children.isEmpty { return LinkedKeys() }
        try reading(()) { session in
            try forEachRow(links.selectParent, children, session) { row in
                parents[try number(in: row, of: children.count)] = try key(in: row, 1, relation.keyKind)
            }
        }
        return parents.reduce(into: LinkedKeys()) { $0.append($1.map { [$0] } ?? []) }
    }

    private func eachParent(of children: [Key]) throws -> LinkedKeys {
        if children.isEmpty { return LinkedKeys() }
        var (counts, isAscending) = (Array(repeating: 0, count: children.count), true)
        let parents: [Key] = try reading([]) { session in
            var (parents, last): ([Key], Int?) = ([], nil)
            try forEachRow(links.selectEachParent, children, session) { row in
                let (number, parent) = (try number(in: row, of: counts.count), try key(in: row, 1, relation.keyKind))
                if number == last, let previous = parents.last {
                    if previous == parent { return }
                    // The order of an index on the children is that of the engine.
                    if parent < previous { isAscending = false }
                }
                (last, counts[number]) = (number, counts[number] + 1)
                parents.append(parent)
            }
            return parents
        }
        let linked = LinkedKeys(counts: counts, keys: parents)
        return isAscending ? linked : linked.lists.reduce(into: LinkedKeys()) { $0.append(Set($1).sorted()) }
    }

    func forEachList<Child: Model>(
        of parents: [Key], in storage: any Storage<Child>, _ body: (Int, [Child]) throws -> Void
    ) throws {
        // Rows of another database would not be on the same connection.
        guard !isInRows, let storage = storage as? SQLStorage<Child>, storage.owner === owner else {
            let linked = try children(of: parents)
            return try linked.forEachList(of: storage.read(keys: linked.keys, includesSubentities: false), body)
        }
        if parents.isEmpty { return }
        let run = DenseRun(parents)
        try reading(()) { session in
            let known = try storage.current(session)
            let version = known.version.load(ordering: .relaxed)
            let (table, entity) = (known.table, known.table.entity)
            let sql =
                run.map { SQLText(links.selectRowsInRange(of: table), [.value(.integer($0.first)), .value(.integer($0.last))]) }
                ?? SQLText(links.selectRows(of: table), [.list(parents.map(\.value))])
            let statement = try session.statement(sql, entity: entity.name)
            defer { statement.giveBack() }
            let reader = statement.makeReader(of: entity, firstField: -1, keyColumn: entity.keyIndex + 1)
            let lists = RowLists(run)
            reader.selection = lists
            var capacity = 0
            while let number = try lists.begin(reader), parents.indices.contains(number) {
                var rows: [Child] = []
                try storage.schema.decode(reader, expecting: capacity, into: &rows)
                // Lists often have the same length. The limit keeps a long list from reserving much memory
                // for the next one.
                capacity = min(rows.count, 64)
                try body(number, rows)
            }
            if try !session.hasRead(version) { try owner.instance.compareAfterRead(known, session) }
        }
    }
}

// MARK: Reading

extension SQLLinkStorage {
    /// Runs a closure that reads on one connection. It may run twice when a table was changed the first time.
    ///
    /// - Parameter none: The result when the table is missing.
    private func reading<Result>(_ none: Result, _ body: (SQLSession) throws -> Result) throws -> Result {
        try owner.lifetime.call {
            try SQLMissingTable.repeating {
                do {
                    return try owner.instance.coordinator.read(body)
                } catch let missing as SQLMissingTable {
                    if missing.isTable { return none }
                    // Another process has changed the related entity.
                    owner.instance.forget([relation.target])
                    throw missing
                }
            }
        }
    }

    /// Runs a statement over a list of keys.
    func forEachRow(_ text: String, _ keys: [Key]?, _ session: SQLSession, _ body: (SQLRowReader) throws -> Void) throws {
        try session.forEachRow(SQLText(text, keys.map { [.list($0.map(\.value))] } ?? []), entity: relation.entity, body)
    }

    /// Returns the number of a key in the list, which the statement gives in its first column.
    func number(in row: SQLRowReader, of count: Int) throws -> Int {
        let number = Int(row.integer(inColumn: 0))
        guard number < count else { throw corrupted("gives more than it was asked for") }
        return number
    }

    /// Returns the key in a column.
    ///
    /// - Throws: `.corruptedValue` when the value cannot be a key.
    func key(in row: SQLRowReader, _ column: Int, _ kind: ValueKind) throws -> Key {
        guard let key = row.key(inColumn: column, of: kind) else {
            throw corrupted("holds something that is not a key of type \(kind.rawValue)")
        }
        return key
    }

    private func corrupted(_ what: String) -> StorageError {
        StorageError(
            .corruptedValue, "the table '\(links.name)' \(what)", entity: relation.entity, field: relation.field,
            path: owner.instance.path)
    }
}
