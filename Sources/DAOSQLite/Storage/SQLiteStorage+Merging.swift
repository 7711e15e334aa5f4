import CSQLite
import DAOCore
import DAOSQL

extension SQLiteStorage {
    func merge(keys: [Key], _ body: (Int, inout Record?) throws -> Void) throws -> Int {
        if keys.isEmpty { return try writing(isStep: true) { _ in 0 } }
        return try writing(callsOut: true) { connection in
            let rows = try connection.rows(number, table)
            let select = try rows.takeSelect()
            defer { select.finish() }
            let detector = rows.detector(select)
            var stored = 0
            for (index, key) in keys.enumerated() {
                let row = try row(key, select, connection)
                var record = try row.map { try schema.decode($0) }
                try body(index, &record)
                if var record {
                    try schema.checkKey(of: record, is: key)
                    try store(&record, key, isNew: row == nil, rows, detector, connection, select)
                    stored += 1
                }
                sqlite3_reset(select.pointer)
            }
            return stored
        }
    }

    func update(_ query: Query<Record>, _ body: (inout Record) throws -> Void) throws -> Int {
        let resolved = try query.resolved()
        if resolved.isEmpty { return try writing(isStep: true) { _ in 0 } }
        return try writing(callsOut: true) { connection in
            try merge(keys: try keys(resolved, connection)) { _, record in
                guard var changed = record else { return }
                try body(&changed)
                record = changed
            }
        }
    }

    /// Stores a merged row: whole when it is new, else the columns that differ from the row that the detector's statement stands on.
    private func store(
        _ record: inout Record, _ key: Key, isNew: Bool, _ rows: RowStatements, _ detector: ChangeDetector,
        _ connection: SQLiteConnection, _ select: Statement
    ) throws {
        if isNew {
            try check(record)
            try checkOrder([record])
            let insert = try rows.insert()
            insert.writer.begin()
            try schema.encode(record, to: insert.writer)
            try step(insert.statement, record, connection)
            return
        }
        detector.begin()
        try withUnsafePointer(to: &record) { try schema.encode(at: $0, to: detector) }
        if detector.changes.isEmpty { return }
        // The row is not needed any more, and a statement that does not stand on it makes writing it cheaper.
        sqlite3_reset(select.pointer)
        let update = try rows.update(detector.changes)
        update.writer.begin()
        try withUnsafePointer(to: &record) { try schema.encode(at: $0, to: update.writer) }
        let code = update.statement.bind(key, at: update.writer.count + 1, connection.arena)
        if code != SQLITE_OK { throw connection.failure(code, entity: entity.name) }
        try step(update.statement, record, connection)
    }

    private func step(_ statement: Statement, _ record: Record, _ connection: SQLiteConnection) throws {
        let code = sqlite3_step(statement.pointer)
        if code != SQLITE_DONE { throw failure(code, record, statement, connection) }
        sqlite3_reset(statement.pointer)
    }
}
