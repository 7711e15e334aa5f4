import DAOCore
import DAOSQL
import DAOSystemSQLite

/// The links of one relationship in a join table. A table that is not there has no links.
struct SQLiteLinks: LinkStorage {
    let owner: SQLiteDatabase
    let links: SQLLinks

    var relation: RelationDescription { links.relation }

    func children(of parents: [Key]) throws -> LinkedKeys {
        var counts = Array(repeating: 0, count: parents.count)
        if parents.isEmpty { return LinkedKeys() }
        let keys: [Key] = try reading([]) { connection in
            var keys: [Key] = []
            try forEachRow(links.select, parents, connection) { row in
                counts[try number(in: row, of: counts.count)] += 1
                keys.append(try key(in: row, 2, relation.targetKeyKind))
            }
            return keys
        }
        return LinkedKeys(counts: counts, keys: keys)
    }

    func parents(of children: [Key]) throws -> [Key] {
        if children.isEmpty { return [] }
        return try reading([]) { connection in
            var parents: [Key] = []
            try forEachRow(links.selectParents, children, connection) { parents.append(try key(in: $0, 0, relation.keyKind)) }
            return parents
        }
    }

    func counts() throws -> [(parent: Key, count: Int)] {
        try reading([]) { connection in
            var counts: [(parent: Key, count: Int)] = []
            try forEachRow(links.selectCounts, nil, connection) {
                counts.append((try key(in: $0, 0, relation.keyKind), Int(sqlite3_column_int64($0, 1))))
            }
            return counts
        }
    }

    func linked(among children: [Key]) throws -> Set<Key> {
        if children.isEmpty { return [] }
        return try reading([]) { connection in
            var found: Set<Key> = []
            try forEachRow(links.selectLinked, children, connection) { row in
                found.insert(children[try number(in: row, of: children.count)])
            }
            return found
        }
    }

    func forEachList<Child: Model>(
        of parents: [Key], in storage: any Storage<Child>, _ body: (Int, [Child]) throws -> Void
    ) throws {
        // Rows of another database would not be on the same connection.
        guard let storage = storage as? SQLiteStorage<Child>, storage.owner === owner else {
            let linked = try children(of: parents)
            return try linked.forEachList(of: storage.read(keys: linked.keys, includesSubentities: false), body)
        }
        if parents.isEmpty { return }
        let run = DenseRun(parents)
        let sql =
            run.map {
                SQLText(links.selectRowsInRange(of: storage.table), [.value(.integer($0.first)), .value(.integer($0.last))])
            }
            ?? SQLText(links.selectRows(of: storage.table), [.list(parents.map(\.value))])
        try reading(()) { connection in
            let statement = try connection.statement(sql, entity: storage.entity.name)
            defer { statement.finish() }
            let reader = LinkedRowReader(statement, connection, storage.entity, run)
            var capacity = 0
            while let number = try reader.beginList(), parents.indices.contains(number) {
                var rows: [Child] = []
                rows.reserveCapacity(capacity)
                try storage.schema.decode(reader, into: &rows)
                // Lists are often of one length; a long one does not make the next one take much.
                capacity = min(rows.count, 64)
                try body(number, rows)
            }
        }
    }
}

// MARK: Reading

extension SQLiteLinks {
    /// Runs a body that reads on one connection.
    ///
    /// - Parameter none: The answer when the table is not there.
    private func reading<Result>(_ none: Result, _ body: (SQLiteConnection) throws -> Result) throws -> Result {
        try owner.lifetime.call {
            do {
                return try owner.engine.coordinator.read(body)
            } catch is MissingTable {
                return none
            }
        }
    }

    /// Runs a statement over a list of keys.
    func forEachRow(
        _ text: String, _ keys: [Key]?, _ connection: SQLiteConnection, _ body: (OpaquePointer) throws -> Void
    ) throws {
        let statement = try connection.statement(
            SQLText(text, keys.map { [.list($0.map(\.value))] } ?? []), entity: relation.entity)
        defer { statement.finish() }
        while true {
            let code = sqlite3_step(statement.pointer)
            if code == SQLITE_DONE { return }
            guard code == SQLITE_ROW else { throw connection.failure(code, entity: relation.entity) }
            try body(statement.pointer)
        }
    }

    /// The number of a key in the list, which the statement gives in its first column.
    func number(in row: OpaquePointer, of count: Int) throws -> Int {
        let number = Int(sqlite3_column_int64(row, 0))
        guard number < count else { throw corrupted("gives more than it was asked for") }
        return number
    }

    /// The key in a column.
    ///
    /// - Throws: `.corruptedValue` when no row can have it.
    func key(in row: OpaquePointer, _ column: Int32, _ kind: ValueKind) throws -> Key {
        guard let key = SQLiteRowReader.key(sqlite3_column_value(row, column), of: kind) else {
            throw corrupted("holds something that is not a key of type \(kind.rawValue)")
        }
        return key
    }

    private func corrupted(_ what: String) -> StorageError {
        StorageError(
            .corruptedValue, "the table '\(links.name)' \(what)", entity: relation.entity, field: relation.field,
            path: owner.engine.file.path)
    }
}

/// Ascending integer keys with few or no others between them: walking their range costs less than looking each up.
private struct DenseRun {
    let keys: [Int64]
    let first: Int64
    let last: Int64
    /// The place of the key that was found last.
    private var place = 0

    /// Nil for keys that are not so.
    init?(_ parents: [Key]) {
        guard parents.count > 8, case .integer(let first) = parents[0], case .integer(let last) = parents[parents.count - 1],
            let span = Optional(last.subtractingReportingOverflow(first)), !span.overflow, span.partialValue < 2 * parents.count
        else { return nil }
        var keys: [Int64] = []
        keys.reserveCapacity(parents.count)
        for parent in parents {
            guard case .integer(let key) = parent, keys.last.map({ $0 < key }) ?? true else { return nil }
            keys.append(key)
        }
        (self.keys, self.first, self.last) = (keys, first, last)
    }

    /// The number of a key, asked for in ascending order; nil for one between them.
    mutating func number(of key: Int64) -> Int? {
        while place < keys.count, keys[place] < key { place += 1 }
        return place < keys.count && keys[place] == key ? place : nil
    }
}

/// Reads the rows of a statement that gives the number of a list first, or the key of its parent: one list after another.
private final class LinkedRowReader: SQLiteRowReader {
    /// The number of the list that the statement's row belongs to; nil before the first row and after the last.
    private var number: Int?
    /// Whether the row that the statement stands on was not given out yet.
    private var isWaiting = false
    private var hasBegun = false
    /// The parents, where the statement gives their keys.
    private var run: DenseRun?

    init(_ statement: Statement, _ connection: SQLiteConnection, _ entity: EntityDescription, _ run: DenseRun?) {
        self.run = run
        super.init(statement, connection, entity, firstField: -1, keyColumn: entity.keyIndex + 1)
    }

    /// The number of the next list; nil when there are no more.
    func beginList() throws -> Int? {
        if !hasBegun {
            hasBegun = true
            try step()
        }
        return number
    }

    private func step() throws {
        number = nil
        while number == nil, try super.advance() {
            let first = sqlite3_column_int64(statement, 0)
            // Rows of a parent that nobody asked for are passed over.
            number = run == nil ? Int(first) : run?.number(of: first)
        }
        isWaiting = number != nil
    }

    /// Moves to the next row of the list.
    override func advance() throws -> Bool {
        if isWaiting {
            isWaiting = false
            return true
        }
        let list = number
        try step()
        guard number == list, number != nil else { return false }
        isWaiting = false
        return true
    }
}
