import DAOCore

/// A connection with the statements that were prepared on it: what a ``DAOCore/TransactionCoordinator`` runs.
///
/// It is the one that writes, or one that reads and that somebody has taken from the pool.
package final class SQLSession: @unchecked Sendable {
    // Sendable because one thread uses it at a time: the writer under the coordinator's lock, a reader
    // between being taken from the pool and put back, both of which order memory.

    /// The engine's connection.
    package let connection: any SQLConnection
    /// The path that errors name.
    let path: String
    /// Whether it is the one that writes.
    let isWriter: Bool
    /// Learns which commits this session made; only the writer's.
    private let observations: ObservationHub?
    /// Whether the running write transaction has compared the known tables with the catalog.
    var hasCheckedCatalog = false
    /// What to do with a reader that is not needed any more.
    var release: ((SQLSession) -> Void)?

    /// The statements that storages use for every row, by table.
    private var rowStatements: [RowStatements?] = []
    /// The statements of queries, by their text, which is their shape.
    private var cache = StatementCache()

    /// - Parameters:
    ///   - connection: The engine's connection.
    ///   - path: The path that errors name.
    ///   - observations: Learns of commits, for the session that writes; nil for one that reads.
    init(_ connection: any SQLConnection, path: String, observations: ObservationHub? = nil) {
        self.connection = connection
        self.path = path
        self.observations = observations
        isWriter = observations != nil
    }

    deinit {
        // Statements go first: the connection outlives them.
        rowStatements = []
        cache.removeAll()
    }

    /// The statements of a table's rows.
    ///
    /// - Parameters:
    ///   - number: The table's small number in its instance.
    ///   - table: Makes the statements' text.
    @inline(__always) func rows(_ number: Int, _ table: SQLTable) throws -> RowStatements {
        try connection.checkTransaction()
        if number < rowStatements.count, let statements = rowStatements[number] { return statements }
        while rowStatements.count <= number { rowStatements.append(nil) }
        let statements = RowStatements(connection, table)
        rowStatements[number] = statements
        return statements
    }

    /// A statement for a query, bound: from the cache when one of its shape is free.
    /// ``SQLStatement/giveBack()`` has to follow.
    func statement(_ sql: SQLText, entity: String) throws -> SQLStatement {
        try connection.checkTransaction()
        let statement: SQLStatement
        if let cached = cache.take(sql.text) {
            statement = cached
        } else {
            statement = try connection.prepare(sql.text, entity: entity)
            statement.isInUse = true
            cache.add(statement, sql.text)
        }
        do {
            try statement.bind(sql.bindings)
            return statement
        } catch {
            statement.giveBack()
            throw error
        }
    }

    /// How often a query's statement was found and not found in the cache.
    package var cacheStatistics: (hits: Int, misses: Int) { (cache.hits, cache.misses) }

    /// Runs a statement for its writes.
    ///
    /// - Returns: How many rows it touched.
    @discardableResult func run(_ sql: SQLText, entity: String) throws -> Int {
        let statement = try statement(sql, entity: entity)
        defer { statement.giveBack() }
        return try statement.run()
    }

    /// Gives every row of a statement to a body.
    ///
    /// - Parameters:
    ///   - sql: The statement.
    ///   - entity: What it is about, for errors.
    ///   - body: Gets a reader that stands on the row, and reads it by its columns.
    func forEachRow(_ sql: SQLText, entity: String, _ body: (SQLRowReader) throws -> Void) throws {
        let statement = try statement(sql, entity: entity)
        defer { statement.giveBack() }
        let reader = statement.makeReader(of: EntityDescription(name: entity, fields: []), keyColumn: -1)
        while try reader.advance() { try body(reader) }
    }
}

extension SQLSession: TransactionHandle {
    package func commit() throws {
        hasCheckedCatalog = false
        let isObserved = observations?.isObserved == true
        if let counts = try connection.commit(isObserved: isObserved) {
            observations?.didCommitHere(from: counts.before, to: counts.after)
        }
    }

    package func rollback() {
        hasCheckedCatalog = false
        connection.rollback()
        release?(self)
    }

    package func beginSavepoint() throws { try connection.beginSavepoint() }

    package func releaseSavepoint() throws { try connection.releaseSavepoint() }

    package func rollbackSavepoint() throws { try connection.rollbackSavepoint() }
}
