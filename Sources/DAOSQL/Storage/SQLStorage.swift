import DAOCore

/// The rows of one model in a table.
final class SQLStorage<Record: Model>: RelatedEvaluating {
    /// How many of the first written rows are checked for swapped fields.
    private static var checkedRows: Int { 16 }

    let owner: SQLDatabase
    // The owner's, so that a call that reads does not count references to what it is found through.
    let lifetime: DatabaseLifetime<SQLSession>
    let coordinator: TransactionCoordinator<SQLSession>
    let schema: Schema<Record>
    /// The entity as the model declares it.
    let entity: EntityDescription
    private let initialTable: KnownTable
    /// The table that replaced the initial table, because the stored entity has changed.
    private let laterTable = Lock<KnownTable?>(nil)
    private let written = Atomic<Int>(0)
    private let hasTextKey: Bool

    init(_ database: SQLDatabase, _ known: KnownTable) {
        owner = database
        lifetime = database.lifetime
        coordinator = database.lifetime.transactions
        initialTable = known
        entity = known.declaration.description
        schema = Record.schema
        hasTextKey = entity.keyKind == .string
    }

    var database: any Database { owner }

    var findsFewInLists: Bool { owner.instance.hasSearchPaths }

    func sorts(by term: SortTerm) -> Bool {
        let dialect = initialTable.table.dialect
        switch term.subject {
        case .field: return true
        case .folded: return dialect.folded("", []) != nil
        case .condition(let filter, _):
            return dialect.callsFunctions || filter.isEvaluated(by: dialect, of: initialTable.table.entity)
        }
    }

    /// The table, as a session sees the stored entity.
    ///
    /// - Throws: `.schemaMismatch` when the model cannot use the entity as it is stored.
    @inline(__always) func current(_ session: SQLSession) throws -> KnownTable {
        initialTable.isKnown(at: session.connection.snapshotVersion) ? initialTable : try later(session)
    }

    /// Runs a closure with the table.
    @inline(__always) private func withCurrent<Result>(
        _ session: SQLSession, _ body: (SQLSession, KnownTable) throws -> Result
    ) throws -> Result {
        // Two calls, since threads that count references to a table wait for each other.
        if initialTable.isKnown(at: session.connection.snapshotVersion) { return try body(session, initialTable) }
        return try body(session, later(session))
    }

    /// Runs a closure that reads with a table, and checks that it has seen the catalog of the table.
    @inline(__always) private func checking<Result>(
        _ session: SQLSession, _ known: KnownTable, _ body: (SQLSession, KnownTable) throws -> Result
    ) throws -> Result {
        let version = known.version.load(ordering: .relaxed)
        let result: Result
        do {
            result = try body(session, known)
        } catch {
            // What was taken for a damaged value can be one of another type.
            if !(error is SQLMissingTable) { try checkRead(version, known, session) }
            throw error
        }
        try checkRead(version, known, session)
        return result
    }

    @inline(__always) private func checkRead(_ version: UInt64, _ known: KnownTable, _ session: SQLSession) throws {
        if try !session.hasRead(version) { try owner.instance.compareAfterRead(known, session) }
    }

    @inline(never) private func later(_ session: SQLSession) throws -> KnownTable {
        let version = session.connection.snapshotVersion
        if let later = laterTable.withLock({ $0 }), later.isKnown(at: version) { return later }
        let table = try owner.instance.table(for: initialTable.declaration, in: session)
        laterTable.withLock { $0 = table }
        return table
    }

    /// Runs a closure that reads on one connection. The closure runs twice when the table was changed or
    /// missing the first time.
    func reading<Result>(_ body: (SQLSession, KnownTable) throws -> Result) throws -> Result {
        try lifetime.call {
            try repeating { try coordinator.read { try withCurrent($0) { try checking($0, $1, body) } } }
        }
    }

    /// Runs a closure that reads the rows of a query on one connection. It runs twice as that of ``reading(_:)`` does, unless
    /// the query has conditions on related rows.
    func reading<Result>(_ query: ResolvedQuery, _ body: (SQLSession, KnownTable) throws -> Result) throws -> Result {
        try reading { session, known in try evaluatingRelated(query) { try body(session, known) } }
    }

    /// Runs the statement of a query.
    ///
    /// - Throws: ``/DAOCore/RelatedConditionsUnavailable`` in place of the error of a missing table, when the query has
    ///   conditions on related rows.
    func evaluatingRelated<Result>(_ query: ResolvedQuery, _ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch is SQLMissingTable where query.filter.reachesRelated {
            throw RelatedConditionsUnavailable()
        }
    }

    /// Runs a closure that writes, atomically. The closure runs twice when the table was changed or missing
    /// the first time.
    ///
    /// - Parameters:
    ///   - scope: The statements that the closure runs. With any number of statements, the closure calls
    ///     application code.
    ///   - usesTable: Whether the body uses the table.
    ///   - body: The closure.
    func writing<Result>(
        _ scope: SQLWrite.Scope, usesTable: Bool = true, _ body: (SQLSession, KnownTable) throws -> Result
    ) throws -> Result {
        func run() throws -> Result {
            let kind: WriteKind =
                switch scope {
                case .statement: .statement
                case .rows: .call
                case .any: .body
                }
            return try coordinator.write(kind, touching: entity.name) { session in
                // The columns are compared with the catalog in the transaction of the rows.
                try owner.begin(session, scope == .statement && usesTable ? .rows : scope, isOneCall: true)
                do {
                    let known = try current(session)
                    try coordinator.engineState.checkLog(of: known.table.stored)
                    return try body(session, known)
                } catch {
                    // A call inside a closure of the application can have been the first to meet other tables.
                    do { try session.connection.checkTransaction() } catch let missing as SQLMissingTable { throw missing } catch
                    {}
                    throw error
                }
            }
        }
        return try lifetime.call {
            if owner.settings == nil { throw owner.instance.readOnly }
            return try repeating(run)
        }
    }

    /// Runs a closure, and again when the table was changed or missing: by another process, or because
    /// the transaction that created it was rolled back.
    @inline(__always) private func repeating<Result>(_ work: () throws -> Result) throws -> Result {
        try SQLMissingTable.repeating {
            do {
                return try work()
            } catch let error as SQLMissingTable {
                if error.isIndex {
                    owner.instance.leavePlanning(of: entity.name)
                } else {
                    owner.instance.forget([entity.name])
                    try owner.instance.make(initialTable.declaration, owner.settings)
                }
                throw error
            }
        }
    }

    /// Checks a row that is about to be stored.
    func check(_ record: Record) throws {
        if hasTextKey { _ = try schema.validKey(of: record) }
    }

    /// Checks the first rows that are stored for swapped fields.
    func checkOrder(_ records: [Record]) throws {
        guard written.load(ordering: .relaxed) < Self.checkedRows else { return }
        for record in records.prefix(Self.checkedRows) {
            try schema.checkOrder(with: record)
            written.add(1, ordering: .relaxed)
        }
    }

    /// Returns a reader of a statement that reads the declared columns. It is used from the first to the last
    /// row.
    func reader(
        of statement: SQLStatement, _ entity: EntityDescription, _ selection: RowSelection? = nil
    ) -> SQLRowReader {
        // Two versions of an entity may have the same query text.
        if let reader = statement.reader, reader.entity == entity {
            reader.selection = selection
            return reader
        }
        let reader = statement.makeReader(of: entity, keyColumn: entity.keyIndex)
        reader.selection = selection
        statement.reader = reader
        return reader
    }
}

extension SQLDatabase: DecodingDatabase {
    package final func decodes<Record: Model>(_ storage: any Storage<Record>) -> Bool { storage is SQLStorage<Record> }

    package final func evaluating<Record: Model>(_ storage: any Storage<Record>) -> (any RelatedEvaluating<Record>)? {
        storage as? SQLStorage<Record>
    }
}
