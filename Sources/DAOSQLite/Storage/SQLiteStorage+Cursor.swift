import DAOCore

extension SQLiteStorage {
    func cursor(_ query: Query<Record>) throws -> RowCursor<Record> {
        let resolved = try query.resolved()
        if resolved.isEmpty { return ArrayCursor(try read(query)) }
        let sql = try table.select(resolved)
        return try owner.call {
            try checkCurrent()
            // Inside a transaction the rows are read at once: a statement would see what is written while it runs, and end with the transaction.
            guard let connection = try owner.engine.coordinator.beginLongRead() else { return ArrayCursor(try read(query)) }
            do {
                try connection.beginSnapshot()
                let statement = try connection.statement(sql, entity: entity.name)
                return SQLiteCursor(owner, schema, reader(of: statement, connection), CursorLease(connection, statement))
            } catch {
                connection.rollback()
                if error is MissingTable { return ArrayCursor(try read(query)) }
                throw error
            }
        }
    }
}

/// Rows out of a statement on a connection that the cursor has for itself.
private final class SQLiteCursor<Record: Model>: RowCursor<Record> {
    private let database: SQLiteDatabase
    private let schema: Schema<Record>
    private let reader: SQLiteRowReader
    private let number: Int
    private let connection: SQLiteConnection
    private var isAtEnd = false
    /// Whether a body runs on the snapshot, which is let go of after it if the cursor ends meanwhile.
    private var isHeld = false

    init(_ database: SQLiteDatabase, _ schema: Schema<Record>, _ reader: SQLiteRowReader, _ lease: CursorLease) {
        self.database = database
        self.schema = schema
        self.reader = reader
        connection = lease.connection
        number = database.cursors.add(lease)
        super.init()
    }

    deinit { close() }

    override func next(_ count: Int) throws -> [Record] {
        try database.call {
            if isAtEnd || count <= 0 { return [] }
            var records: [Record] = []
            do {
                try schema.decode(reader, limit: count, into: &records)
            } catch {
                close()
                throw (error as? MissingTable)?.underlying ?? error
            }
            if records.count < count { close() }
            return records
        }
    }

    override var holdsSnapshot: Bool { true }

    override func withSnapshot<Result>(_ body: () throws -> Result) throws -> Result {
        try database.call {
            if isAtEnd || isHeld { return try body() }
            isHeld = true
            defer {
                isHeld = false
                if isAtEnd { close() }
            }
            return try database.engine.coordinator.within(connection, body)
        }
    }

    override func close() {
        // The reader is not used after this: what it stands on goes back to the pool.
        isAtEnd = true
        if isHeld { return }
        database.cursors.end(number)
    }
}
