import DAOCore

extension SQLStorage {
    func cursor(_ query: Query<Record>) throws -> RowCursor<Record> {
        let resolved = try query.resolvedWithRelated()
        if resolved.isEmpty { return ArrayCursor(try read(query)) }
        return try owner.lifetime.call {
            // Inside a transaction the rows are read at once. A statement would see rows that are written
            // while it runs, and would end with the transaction.
            guard let session = try owner.instance.coordinator.beginLongRead() else { return ArrayCursor(try read(query)) }
            do {
                try session.connection.beginSnapshot()
                let known = try current(session)
                let table = known.table.using(try PathChoice(resolved, known, session))
                let (statement, selection) = try evaluatingRelated(resolved) {
                    let divided = try resolved.divided(for: table)
                    let sql = try table.select(divided.query, tables(session, resolved))
                    let statement = try session.statement(sql, entity: entity.name)
                    try statement.stream()
                    return (statement, divided.selection)
                }
                return SQLCursor(owner, schema, reader(of: statement, table, selection), CursorLease(session, statement))
            } catch {
                session.rollback()
                if error is SQLMissingTable { return ArrayCursor(try read(query)) }
                throw error
            }
        }
    }
}

/// Reads the rows of a statement on a session that only the cursor uses.
private final class SQLCursor<Record: Model>: RowCursor<Record> {
    private let database: SQLDatabase
    private let schema: Schema<Record>
    private let reader: SQLRowReader
    private let snapshot: Int
    private let session: SQLSession
    private var isAtEnd = false
    /// Whether a closure runs on the snapshot. When the cursor ends meanwhile, the snapshot is released after
    /// the closure.
    private var isHeld = false

    init(_ database: SQLDatabase, _ schema: Schema<Record>, _ reader: SQLRowReader, _ lease: CursorLease) {
        self.database = database
        self.schema = schema
        self.reader = reader
        session = lease.session
        snapshot = database.lifetime.keepSnapshot { lease.end() }
        super.init()
    }

    deinit { close() }

    override func next(_ count: Int) throws -> [Record] {
        try database.lifetime.call {
            if isAtEnd || count <= 0 { return [] }
            var records: [Record] = []
            do {
                try schema.decode(reader, limit: count, into: &records)
            } catch {
                close()
                throw (error as? SQLMissingTable)?.underlying ?? error
            }
            if records.count < count { close() }
            return records
        }
    }

    override var holdsSnapshot: Bool { true }

    override var pinnedBytes: Int? { try? database.lifetime.call { isAtEnd ? nil : session.pinnedBytes } }

    override func withSnapshot<Result>(_ body: () throws -> Result) throws -> Result {
        try database.lifetime.call {
            if isAtEnd || isHeld { return try body() }
            isHeld = true
            defer {
                isHeld = false
                if isAtEnd { close() }
            }
            return try database.instance.coordinator.within(session, body)
        }
    }

    override func close() {
        // The reader is not used after this: its statement and session go back to the pool.
        isAtEnd = true
        if isHeld { return }
        database.lifetime.endSnapshot(snapshot)
    }
}

/// The session and the statement of a cursor.
private final class CursorLease: @unchecked Sendable {
    // Sendable because only the cursor's thread and the thread that closes the database use it. Only one of
    // them ends it, and closing does so while no call of the cursor runs.
    let session: SQLSession
    let statement: SQLStatement

    init(_ session: SQLSession, _ statement: SQLStatement) {
        self.session = session
        self.statement = statement
    }

    func end() {
        statement.giveBack()
        session.rollback()
    }
}
