import DAOCore

extension SQLStorage {
    func cursor(_ query: Query<Record>) throws -> RowCursor<Record> {
        let resolved = try schema.resolved(query, withRelated: true)
        if resolved.isEmpty { return ArrayCursor(try read(query)) }
        return try lifetime.call {
            // Inside a transaction the rows are read at once. A statement would see rows that are written
            // while it runs, and would end with the transaction.
            guard let session = try coordinator.beginLongRead() else { return ArrayCursor(try read(query)) }
            do {
                try session.connection.beginSnapshot()
                let known = try current(session)
                let (statement, selection) = try evaluatingRelated(resolved) {
                    let shaped = try ShapedQuery(resolved, of: known, tables(session, resolved, known))
                    let divided = try resolved.divided(for: known.table)
                    let sql = try text(.rows, shaped, session, known) { try $0.select(divided.query, shaped.related) }
                    let statement = try session.statement(sql, entity: entity.name)
                    try statement.stream()
                    return (statement, divided.selection)
                }
                let lease = CursorLease(session, statement, reader(of: statement, known.table.entity, selection))
                return SQLCursor(owner, schema, lease)
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
    private let lease: CursorLease
    private let snapshot: Int
    private var isAtEnd = false
    /// Whether a closure runs on the snapshot. When the cursor ends meanwhile, the snapshot is released after
    /// the closure.
    private var isHeld = false

    init(_ database: SQLDatabase, _ schema: Schema<Record>, _ lease: CursorLease) {
        self.database = database
        self.schema = schema
        self.lease = lease
        snapshot = database.lifetime.keepSnapshot { lease.end() }
        super.init()
    }

    deinit { close() }

    override func next(_ count: Int) throws -> [Record] {
        try database.lifetime.call {
            guard !isAtEnd, count > 0, let reader = lease.used?.reader else { return [] }
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

    override var pinnedBytes: Int? { try? database.lifetime.call { isAtEnd ? nil : lease.used?.session.pinnedBytes } }

    override func withSnapshot<Result>(_ body: () throws -> Result) throws -> Result {
        try database.lifetime.call {
            guard !isAtEnd, !isHeld, let session = lease.used?.session else { return try body() }
            isHeld = true
            defer {
                isHeld = false
                if isAtEnd { close() }
            }
            return try database.instance.coordinator.within(session, body)
        }
    }

    override func close() {
        isAtEnd = true
        if isHeld { return }
        database.lifetime.endSnapshot(snapshot)
    }
}

/// The session, the statement and the reader of a cursor, until it ends. A cursor that the application keeps after that keeps
/// no file open.
private final class CursorLease: @unchecked Sendable {
    // Sendable because only the cursor's thread and the thread that closes the database use it. Only one of
    // them ends it, and closing does so while no call of the cursor runs.
    private(set) var used: (session: SQLSession, statement: SQLStatement, reader: SQLRowReader)?

    init(_ session: SQLSession, _ statement: SQLStatement, _ reader: SQLRowReader) { used = (session, statement, reader) }

    func end() {
        guard let (session, statement, _) = used.take() else { return }
        statement.giveBack()
        session.rollback()
    }
}
