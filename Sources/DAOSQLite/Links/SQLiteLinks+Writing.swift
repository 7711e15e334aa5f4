import DAOCore
import DAOSQL
import DAOSystemSQLite

extension SQLiteLinks {
    func set(_ children: LinkedKeys, of parents: [Key]) throws {
        let lists = children.lastLists(of: parents)
        if lists.isEmpty { return }
        try writing(.call) { connection in
            let insert = try connection.statement(links.insert, entity: relation.entity)
            defer { insert.finish() }
            for (list, tail) in zip(lists, try tails(lists, children, connection)) {
                if tail.isStored { try remove(list.parent, from: tail.position, connection) }
                var position = tail.position
                for child in children.keys[list.range.dropFirst(tail.same)] {
                    insert.arena.reset()
                    try bind(list.parent, at: 1, of: insert, connection)
                    try check(sqlite3_bind_int64(insert.pointer, 2, position), connection)
                    try bind(child, at: 3, of: insert, connection)
                    try step(insert, connection)
                    position += 1
                }
            }
        }
    }

    func remove(children: [Key]) throws { try remove(links.deleteChildren, children) }

    func remove(parents: [Key]) throws { try remove(links.deleteParents, parents) }

    private func remove(_ text: String, _ keys: [Key]) throws {
        do {
            try writing(.statement, makesTable: false) { connection in
                if keys.isEmpty { return }
                let statement = try connection.statement(SQLText(text, [.list(keys.map(\.value))]), entity: relation.entity)
                defer { statement.finish() }
                try step(statement, connection)
            }
        } catch is MissingTable {
            // There is nothing to remove.
        }
    }

    /// How a stored list goes on where it differs from the list that is to be stored.
    private struct Tail {
        /// How many links both begin with.
        var same = 0
        /// The first position behind those.
        var position: Int64 = 0
        /// Whether there are more links from that position on.
        var isStored = false
    }

    /// Compares stored lists with what they are to be.
    private func tails(_ lists: [LinkedKeys.List], _ children: LinkedKeys, _ connection: SQLiteConnection) throws -> [Tail] {
        var tails = Array(repeating: Tail(), count: lists.count)
        try forEachRow(links.select, lists.map(\.parent), connection) { row in
            let number = try number(in: row, of: tails.count)
            if tails[number].isStored { return }
            let place = lists[number].range.lowerBound + tails[number].same
            let child = SQLiteRowReader.key(sqlite3_column_value(row, 2), of: relation.targetKeyKind)
            if place < lists[number].range.upperBound, child == children.keys[place] {
                tails[number].same += 1
                tails[number].position = sqlite3_column_int64(row, 1) + 1
            } else {
                tails[number].isStored = true
            }
        }
        return tails
    }

    private func remove(_ parent: Key, from position: Int64, _ connection: SQLiteConnection) throws {
        let statement = try connection.statement(links.deleteTail, entity: relation.entity)
        defer { statement.finish() }
        statement.arena.reset()
        try bind(parent, at: 1, of: statement, connection)
        try check(sqlite3_bind_int64(statement.pointer, 2, position), connection)
        try step(statement, connection)
    }

    /// Runs a body that writes, atomically. It may run twice when the table was gone the first time.
    ///
    /// - Parameters:
    ///   - kind: What the body does.
    ///   - makesTable: Whether a missing table is made; else it is a `MissingTable`.
    ///   - body: The writes.
    private func writing(_ kind: WriteKind, makesTable: Bool = true, _ body: (SQLiteConnection) throws -> Void) throws {
        try owner.lifetime.call {
            guard let settings = owner.settings else {
                throw StorageError(
                    .readOnly, "the database can only be read", entity: relation.entity, path: owner.engine.file.path)
            }
            func run() throws {
                try owner.engine.coordinator.write(kind, touching: relation.entity) { connection in
                    if kind == .statement { try connection.apply(settings) } else { try owner.begin(connection) }
                    try body(connection)
                }
            }
            do {
                return try run()
            } catch let missing as MissingTable {
                guard makesTable else { throw missing }
                try owner.engine.make(links, settings)
            }
            do {
                try run()
            } catch let missing as MissingTable {
                throw missing.underlying
            }
        }
    }

    private func bind(_ key: Key, at position: Int32, of statement: Statement, _ connection: SQLiteConnection) throws {
        try check(statement.bind(key, at: position, statement.arena), connection)
    }

    private func check(_ code: Int32, _ connection: SQLiteConnection) throws {
        if code != SQLITE_OK { throw connection.failure(code, entity: relation.entity) }
    }

    private func step(_ statement: Statement, _ connection: SQLiteConnection) throws {
        let code = sqlite3_step(statement.pointer)
        if code != SQLITE_DONE { throw connection.failure(code, entity: relation.entity) }
        sqlite3_reset(statement.pointer)
    }
}
