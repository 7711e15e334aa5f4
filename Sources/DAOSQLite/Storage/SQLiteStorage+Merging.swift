import DAOCore
import DAOSQL
import DAOSystemSQLite

extension SQLiteStorage {
    func merge(keys: [Key], _ body: (Int, inout Record?) throws -> Void) throws -> Int {
        if keys.isEmpty { return try writing(.statement) { _ in 0 } }
        return try writing(.body) { connection in
            let rows = try connection.rows(number, table)
            let select = try rows.takeSelect()
            defer { select.finish() }
            let detector = rows.detector(select)
            var stored = 0
            for (index, key) in keys.enumerated() {
                let row = try row(key, select, connection)
                var record: Record?
                if let row { record = try schema.decode(row) }
                try body(index, &record)
                if let record {
                    try withUnsafePointer(to: record) {
                        try row == nil ? insert($0, key, rows, connection) : update($0, key, rows, detector, select, connection)
                    }
                    stored += 1
                }
                sqlite3_reset(select.pointer)
            }
            return stored
        }
    }

    func update(_ query: Query<Record>, _ body: (inout Record) throws -> Void) throws -> Int {
        let resolved = try query.resolved()
        if resolved.isEmpty { return try writing(.statement) { _ in 0 } }
        return try writing(.body) { connection in
            try merge(keys: try keys(resolved, connection)) { _, record in
                guard var changed = record else { return }
                try body(&changed)
                record = changed
            }
        }
    }

    /// Stores a merged row that was not there.
    private func insert(_ record: UnsafePointer<Record>, _ key: Key, _ rows: RowStatements, _ connection: SQLiteConnection) throws
    {
        try schema.checkKey(of: record.pointee, is: key)
        try check(record.pointee)
        try checkOrder([record.pointee])
        let insert = try rows.insert()
        insert.writer.begin()
        try schema.encode(at: record, to: insert.writer)
        try step(insert.statement, record, connection)
    }

    /// Stores the columns of a merged row that differ from the row that a statement stands on.
    private func update(
        _ record: UnsafePointer<Record>, _ key: Key, _ rows: RowStatements, _ detector: ChangeDetector, _ select: Statement,
        _ connection: SQLiteConnection
    ) throws {
        let guess = rows.lastUpdate
        detector.begin(guess)
        try schema.encode(at: record, to: detector)
        if detector.changes.isEmpty { return }
        if detector.changes.contains(entity.keyIndex) { try schema.checkKey(of: record.pointee, is: key) }
        // The row is not needed any more, and a statement that does not stand on it makes writing it cheaper.
        sqlite3_reset(select.pointer)
        let update = try rows.update(detector.changes)
        var count = detector.count
        if update !== guess {
            update.writer.begin()
            try schema.encode(at: record, to: update.writer)
            count = update.writer.count
        }
        let code = update.statement.bind(key, at: count + 1, connection.arena)
        if code != SQLITE_OK { throw connection.failure(code, entity: entity.name) }
        try step(update.statement, record, connection)
    }

    private func step(_ statement: Statement, _ record: UnsafePointer<Record>, _ connection: SQLiteConnection) throws {
        let code = sqlite3_step(statement.pointer)
        if code != SQLITE_DONE { throw failure(code, record.pointee, statement, connection) }
        sqlite3_reset(statement.pointer)
    }
}
