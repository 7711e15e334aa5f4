import DAOCore

/// A connection with the statements that were prepared on it. A ``/DAOCore/TransactionCoordinator`` runs
/// sessions.
///
/// The session either writes or reads.
package final class SQLSession: @unchecked Sendable {
    // Sendable because one thread uses it at a time: the coordinator's lock protects the writer, and a reader
    // is used between being taken from the pool and put back. Lock and pool both order memory.

    /// The engine's connection.
    package let connection: any SQLConnection
    /// The path in errors.
    let path: String
    /// Whether this is the session that writes.
    let isWriter: Bool
    /// Is told which commits this session made; nil for a session that reads.
    private let observations: ObservationHub?
    /// The number of calls that could write.
    private(set) var writeCount = 0
    /// Whether the running write transaction has compared the known tables with the catalog.
    var hasCheckedCatalog = false
    /// Whether the session has seen the table in which the database describes itself.
    var hasSeenCatalog = false
    /// The pool that takes the session back when it is no longer needed; nil for a session that is not of a pool.
    var pool: SessionPool? { didSet { unownedPool = pool.map { .passUnretained($0) } } }
    // The same, so that a call does not count references to the pool, for which threads would wait.
    private var unownedPool: Unmanaged<SessionPool>?
    /// Forgets what is known of tables that the running transaction has changed, when it is undone.
    var forgetTables: (() -> Void)?
    /// Lets ``optimize()`` run later, after the transactions that wait now.
    var optimizeLater: (@Sendable () -> Void)?
    /// Lets the connection rest, when it has had nothing to do for a while.
    var restLater: (@Sendable () -> Void)?

    /// The statements that storages use for every row, by table.
    // Never accessed during another access, so that a row does not pay for the check of that.
    @exclusivity(unchecked) private var rowStatements: [RowStatements?] = []
    /// The statements of queries, by their text.
    private var cache = StatementCache()

    /// - Parameters:
    ///   - connection: The engine's connection.
    ///   - path: The path in errors.
    ///   - observations: Is told which commits the session made; nil for a session that reads.
    init(_ connection: any SQLConnection, path: String, observations: ObservationHub? = nil) {
        self.connection = connection
        self.path = path
        self.observations = observations
        isWriter = observations != nil
    }

    deinit {
        // The statements are released first: the connection has to outlive them.
        rowStatements = []
        cache.removeAll()
    }

    /// Counts a call that can write.
    @inline(__always) func willWrite() { writeCount &+= 1 }

    /// Returns the statements for single rows of a table.
    ///
    /// - Parameters:
    ///   - number: The number of the table within the instance.
    ///   - table: The source of the statements' text.
    @inline(__always) func rows(_ number: Int, _ table: SQLTable) throws -> RowStatements {
        try connection.checkTransaction()
        if number < rowStatements.count, let statements = rowStatements[number] { return statements }
        while rowStatements.count <= number { rowStatements.append(nil) }
        let statements = RowStatements(connection, table)
        rowStatements[number] = statements
        return statements
    }

    /// Takes a bound statement for a query. It is from the cache when a statement with the same text is free.
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

    /// Takes a bound statement for a query. When only some of its rows are read, in number unknown to the engine, they come
    /// one after another.
    func statement(_ sql: SQLText, entity: String, _ query: DividedQuery) throws -> SQLStatement {
        if query.selection != nil { try beginReading() }
        let statement = try statement(sql, entity: entity)
        if query.selection == nil { return statement }
        do {
            try statement.stream()
            return statement
        } catch {
            statement.giveBack()
            throw error
        }
    }

    /// Lets all statements of a call that reads see one commit. The transaction of a session that writes does already.
    func beginReading() throws { if !isWriter { try connection.beginReading() } }

    /// Whether what a call has read is of a version of the catalog. A session that writes has compared it at its beginning.
    @inline(__always) func hasRead(_ version: UInt64) throws -> Bool { try isWriter || connection.hasRead(version) }

    /// How often a query's statement was found and not found in the cache.
    package var cacheStatistics: (hits: Int, misses: Int) { (cache.hits, cache.misses) }

    /// Runs a statement that writes.
    ///
    /// - Returns: The number of affected rows.
    @discardableResult func run(_ sql: SQLText, entity: String) throws -> Int {
        let statement = try statement(sql, entity: entity)
        defer { statement.giveBack() }
        return try statement.run()
    }

    /// Calls a closure with every row of a statement.
    ///
    /// - Parameters:
    ///   - sql: The statement.
    ///   - entity: The entity of the statement, for errors.
    ///   - body: The closure. It gets a reader that is positioned on the row, and reads its columns.
    func forEachRow(_ sql: SQLText, entity: String, _ body: (SQLRowReader) throws -> Void) throws {
        let statement = try statement(sql, entity: entity)
        defer { statement.giveBack() }
        let reader = statement.makeReader(of: EntityDescription(name: entity, fields: []), keyColumn: -1)
        while try reader.advance() { try body(reader) }
    }

    /// Whether a statement has a row.
    func hasRow(_ sql: SQLText, entity: String) throws -> Bool {
        let statement = try statement(sql, entity: entity)
        defer { statement.giveBack() }
        return try statement.makeReader(of: EntityDescription(name: entity, fields: []), keyColumn: -1).advance()
    }
}

extension SQLSession: TransactionHandle {
    package func commit() throws {
        defer { putBack() }
        hasCheckedCatalog = false
        let isObserved = observations?.isObserved == true
        let forgetTables = self.forgetTables.take()
        let counts: (before: UInt64, after: UInt64)?
        do {
            counts = try connection.commit(isObserved: isObserved)
        } catch {
            forgetTables?()
            throw error
        }
        if let counts {
            observations?.didCommitHere(from: counts.before, to: counts.after)
        }
        if let optimizeLater, connection.needsOptimizing {
            // Once, until it has run.
            self.optimizeLater = nil
            optimizeLater()
        }
        if let restLater, connection.needsRest {
            self.restLater = nil
            restLater()
        }
    }

    package func rollback() {
        hasCheckedCatalog = false
        connection.rollback()
        forgetTables.take()?()
        putBack()
    }

    private func putBack() { unownedPool?._withUnsafeGuaranteedRef { $0.put(self) } }

    package func shouldReadAgain(after error: any Error) -> Bool { connection.shouldReadAgain(after: error) }

    package var hasCommitted: Bool { connection.hasCommitted }

    package var pinnedBytes: Int? { connection.pinnedBytes }

    package func beginSavepoint() throws { try connection.beginSavepoint() }

    package func releaseSavepoint() throws { try connection.releaseSavepoint() }

    package func rollbackSavepoint() throws {
        try connection.rollbackSavepoint()
        forgetTables?()
    }
}
