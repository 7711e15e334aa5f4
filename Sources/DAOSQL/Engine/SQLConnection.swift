import DAOCore

/// A connection of an ``SQLEngine``. One thread uses it at a time.
///
/// ``SQLDatabase`` keeps the prepared statements for as long as the connection. Every method throws
/// `StorageError`, or ``SQLMissingTable`` with a `StorageError` inside when a table does not exist.
public protocol SQLConnection: AnyObject {

    // MARK: Transactions

    /// Begins a read transaction, unless a transaction is running. All its reads see the commit that is the last one when the
    /// first of them begins, or now.
    ///
    /// Single statements run outside of a transaction.
    func beginReading() throws

    /// Begins a read transaction whose reads see the commit that is the last one now, unless a transaction is running. By default
    /// the same as ``beginReading()``.
    func beginSnapshot() throws

    /// Begins a write transaction, unless a transaction is running.
    ///
    /// - Parameter write: What the transaction does. When its scope is known, the engine may delay `BEGIN`
    ///   and send it together with the statement and `COMMIT`.
    func beginWriting(_ write: SQLWrite) throws

    /// Says that the next rows that a batch sends end the call. Where the transaction is that call, the engine may commit them at
    /// once. By default it does nothing.
    func lastWriteFollows()

    /// Whether such rows have committed the running call. By default false.
    var hasCommitted: Bool { get }

    /// Commits the running transaction, if there is one. A transaction that cannot continue is rolled back.
    ///
    /// - Parameter isObserved: Whether observers need the change of ``SQLEngine/commitCounter``.
    /// - Returns: The commit count before and after this commit, if no other process committed in between;
    ///   nil otherwise, or when the engine cannot tell.
    func commit(isObserved: Bool) throws -> (before: UInt64, after: UInt64)?

    /// Rolls back the running transaction, if there is one. A connection that reads may keep what its reads saw, for the next
    /// ones; see ``keepsSnapshot``.
    func rollback()

    /// Begins a savepoint; they nest.
    func beginSavepoint() throws

    /// Ends the innermost savepoint and keeps its writes.
    func releaseSavepoint() throws

    /// Ends the innermost savepoint and undoes its writes.
    func rollbackSavepoint() throws

    /// What snapshots keep, as `TransactionHandle.pinnedBytes` says it for the running transaction. By default nil.
    var pinnedBytes: Int? { get }

    /// Whether the planner would profit from ``optimize()``. It is asked after every commit of the connection for
    /// writing. By default false.
    var needsOptimizing: Bool { get }

    /// Begins a write transaction and gathers statistics for the planner, in bounded time and without waiting for
    /// other processes. By default it does nothing.
    func optimize() throws

    /// Whether the connection for writing holds memory or other resources that it gives back in ``rest()``. It is asked after
    /// every commit. By default false.
    var needsRest: Bool { get }

    /// Gives back what the connection needs for its work only. It is called a second after a commit that left
    /// ``needsRest``, while no transaction is running.
    ///
    /// - Returns: False when the connection has worked meanwhile; it is then asked again a second later. By default true.
    func rest() -> Bool

    /// Makes the file as small as its content allows. No transaction is running. By default there is nothing to do.
    func compact(_ settings: SQLWriteSettings) throws -> CompactionReport

    /// Prepares the connection for writing to be closed. No transaction is running. By default it does nothing.
    func willClose()

    /// Throws if the running transaction cannot continue, because the engine or a user of its handle has
    /// ended it.
    func checkTransaction() throws

    /// Prepares an idle connection that reads for its next read. What it sees from now on includes all commits that have returned.
    ///
    /// - Returns: False when it cannot be used again. By default true.
    func canReadAgain() -> Bool

    /// Whether an idle connection that reads has kept a snapshot. By default false.
    var keepsSnapshot: Bool { get }

    /// Ends the snapshot that an idle connection that reads has kept. By default there is none.
    func endSnapshot()

    /// Whether a connection to a replica sees all commits that this process has seen. It may wait for them, for a short time. It
    /// is asked before every read. By default true.
    func hasCaughtUp() -> Bool

    /// Whether a read that failed with an error may succeed on a connection to the database itself. By default false.
    func shouldReadAgain(after error: any Error) -> Bool

    /// The handle for direct engine access; nil when there is none.
    var underlyingHandle: (any UnderlyingHandle)? { get }

    // MARK: Statements

    /// Prepares a statement.
    ///
    /// - Parameters:
    ///   - text: One statement.
    ///   - entity: The entity of the statement, for errors.
    func prepare(_ text: String, entity: String) throws -> SQLStatement

    /// Prepares a batch that writes rows.
    ///
    /// - Parameters:
    ///   - write: How each row is written.
    ///   - table: The table. It supplies the text of a statement that writes a single row.
    func batch(_ write: SQLRowWrite, of table: SQLTable) throws -> SQLRowBatch

    /// Runs statements without parameters and results.
    func execute(_ text: String) throws

    /// Runs a closure that reads, and gives up after a number of steps of the engine. By default the closure runs to its end.
    ///
    /// - Returns: Nil when it was given up.
    func interrupting<Result>(afterSteps steps: Int, _ body: () throws -> Result) throws -> Result?

    /// The plan of a query. The caller sets ``/DAOCore/QueryPlan/filtersRows``.
    func explain(_ query: SQLText, of entity: EntityDescription) throws -> QueryPlan

    /// The paths to the rows of a table, between which the suite chooses by counting their entries where a query has several.
    /// By default there are none, and the engine chooses: it knows how the values are distributed.
    func searchPaths(of table: SQLTable) throws -> [SQLSearchPath]

    // MARK: Tables

    /// What keeps the contract from being kept in a table that another program has made, each in words that name the clause, the
    /// index or the trigger. By default nothing.
    ///
    /// - Parameters:
    ///   - table: The table, which has the columns of its entity.
    ///   - entities: The names of the entities that the database describes.
    func obstacles(to table: SQLTable, beside entities: [String]) throws -> [String]

    /// The columns of a table whose texts the engine itself does not compare by bytes, because another program has declared
    /// them so: ``SQLDialect/comparedByBytes(_:)`` is written for them. By default none.
    func columnsNotComparedByBytes(in table: String, _ entity: EntityDescription) throws -> Set<String>

    /// A version that changes with every change of the tables, also by other processes. Every write
    /// transaction asks for it once, after its beginning.
    func schemaVersion() throws -> UInt64

    /// The number of the running write transaction, where one can commit after others with greater numbers. By default nil: write
    /// transactions run one after another.
    func transactionNumber() throws -> Int64?

    /// The number below which every write transaction has ended, as the running snapshot sees it, and one that none of those that it sees has
    /// reached. By default nil, as ``transactionNumber()``.
    func transactionHorizon() throws -> (ended: Int64, next: Int64)?

    /// The ``schemaVersion()`` of the snapshot that the running reads share. By default nil: each statement sees the last commit, or
    /// tables cannot change as long as somebody reads them in a snapshot.
    var snapshotVersion: UInt64? { get }

    /// Whether the statement that has read last has seen the schema of a version. It may say that it did not where it cannot
    /// tell. By default true, for an engine that refuses statements which were prepared for another
    /// schema.
    func hasRead(_ version: UInt64) throws -> Bool

    /// Changes ``schemaVersion()`` after a change of the catalog's rows alone.
    func catalogDidChange() throws

    /// Whether a table with a name exists.
    func hasTable(_ name: String) throws -> Bool

    /// The table, view or other object with a name; nil when there is none. The engine decides whether names
    /// are case-sensitive.
    func storedTable(_ name: String) throws -> SQLStoredTable?

    /// The names of all objects in the namespace of tables and indexes, in lower case.
    func takenNames() throws -> Set<String>

    /// Renames an index that has the name of a table to be created.
    ///
    /// - Parameter table: The name of the table.
    func makeRoom(for table: String) throws

    /// Descriptions of the objects that other tools have attached to a table, such as triggers, and that are
    /// lost when the table is replaced.
    func ties(to table: String) throws -> [String]

    /// The indexes of a table without rows that are better filled after many rows were stored in it than row by row. By
    /// default there are none.
    ///
    /// They are dropped and created in the transaction of the rows, inside a savepoint.
    ///
    /// - Parameter table: The name of the table.
    /// - Returns: Nothing for a table with rows, and where the rows could not be stored without the indexes.
    func indexesToFillLater(of table: String) throws -> [SQLIndexStatements]

    /// Checks the structure of the file, and compares the indexes with the tables. The values of rows are checked
    /// elsewhere. By default nothing is checked.
    ///
    /// - Returns: What is damaged.
    func problems() throws -> [SQLProblem]
}

extension SQLConnection {
    /// By default nil.
    public func transactionNumber() throws -> Int64? { nil }

    /// By default nil.
    public func transactionHorizon() throws -> (ended: Int64, next: Int64)? { nil }

    /// By default nothing.
    public func obstacles(to table: SQLTable, beside entities: [String]) throws -> [String] { [] }

    /// By default none.
    public func columnsNotComparedByBytes(in table: String, _ entity: EntityDescription) throws -> Set<String> { [] }

    /// By default the same as ``beginReading()``.
    public func beginSnapshot() throws { try beginReading() }

    /// Nil, because the engine does not tell.
    public var pinnedBytes: Int? { nil }

    /// By default it does nothing.
    public func lastWriteFollows() {}

    /// By default false.
    public var hasCommitted: Bool { false }

    /// By default false.
    public var needsOptimizing: Bool { false }

    /// By default there is nothing to do.
    public func optimize() throws {}

    /// By default false.
    public var needsRest: Bool { false }

    /// By default there is nothing to give back.
    public func rest() -> Bool { true }

    /// By default there is nothing to do.
    public func compact(_ settings: SQLWriteSettings) throws -> CompactionReport {
        CompactionReport(bytesBefore: 0, bytesAfter: 0)
    }

    /// By default there is nothing to do.
    public func willClose() {}

    /// By default true.
    public func canReadAgain() -> Bool { true }

    /// By default false.
    public var keepsSnapshot: Bool { false }

    /// By default there is none.
    public func endSnapshot() {}

    /// By default true.
    public func hasCaughtUp() -> Bool { true }

    /// By default false.
    public func shouldReadAgain(after error: any Error) -> Bool { false }

    /// By default there are none.
    public func indexesToFillLater(of table: String) throws -> [SQLIndexStatements] { [] }

    /// By default the closure runs to its end.
    public func interrupting<Result>(afterSteps steps: Int, _ body: () throws -> Result) throws -> Result? { try body() }

    /// By default nil.
    public var snapshotVersion: UInt64? { nil }

    /// By default true.
    public func hasRead(_ version: UInt64) throws -> Bool { true }

    /// By default there are none.
    public func searchPaths(of table: SQLTable) throws -> [SQLSearchPath] { [] }

    /// By default nothing is checked.
    public func problems() throws -> [SQLProblem] { [] }
}

/// The statements that drop an index and create it again.
public struct SQLIndexStatements: Sendable {
    /// The statement that drops the index.
    public let drop: String
    /// The statement that creates the index as it was.
    public let create: String

    /// Creates a pair of statements.
    public init(drop: String, create: String) {
        self.drop = drop
        self.create = create
    }
}

/// Damage that an engine has found.
public struct SQLProblem: Sendable {
    /// The table; nil when the engine does not name one.
    public var table: String?
    /// The columns of the index, separated by commas; nil when it is not in an index.
    public var columns: String?
    /// What follows the name of the table in a `SELECT` of the row; nil when the engine does not name one.
    public var row: String?
    /// The message of the engine.
    public var message: String

    /// Creates a problem.
    ///
    /// - Parameters:
    ///   - table: The table; nil when the engine does not name one.
    ///   - columns: The columns of the index, separated by commas; nil when it is not in an index.
    ///   - row: What follows the name of the table in a `SELECT` of the row; nil when the engine does not name one.
    ///   - message: The message of the engine.
    public init(table: String? = nil, columns: String? = nil, row: String? = nil, message: String) {
        self.table = table
        self.columns = columns
        self.row = row
        self.message = message
    }
}

/// A write transaction to be begun.
public struct SQLWrite: Sendable {
    /// The statements that the transaction runs.
    public enum Scope: Sendable {
        /// A single statement.
        case statement
        /// The rows of one ``SQLRowBatch``, or of one call of ``SQLStatement/run(forEach:)``.
        case rows
        /// Any number of statements.
        case any
    }

    /// The statements that the transaction runs.
    public var scope: Scope
    /// The settings of writes in the database's configuration.
    public var settings: SQLWriteSettings
    /// Whether the database is observed, so that ``SQLConnection/commit(isObserved:)`` has to return the
    /// count.
    public var isObserved: Bool
    /// Whether it is begun to change tables. No other write transaction may run beside it.
    public var changesTables = false
    /// The version of the schema that the known tables agree with, where the transaction is one call of a storage; otherwise nil.
    ///
    /// The engine may then begin it with the first statement. Where the version turns out to be another one, it throws
    /// ``SQLMissingTable``, and compares it in ``SQLConnection/beginWriting(_:)`` the next time.
    public var knownVersion: UInt64?
}

/// The settings of writes in a database's configuration. They may differ between databases that share a
/// connection.
public struct SQLWriteSettings: Sendable, Equatable {
    /// The failures that a commit survives.
    public let durability: DatabaseConfiguration.Durability
    /// How long to wait for other processes.
    public var busyTimeout: Duration
}

/// How a row is written.
public enum SQLRowWrite: Sendable, Hashable {
    /// The row is inserted. An existing key is refused.
    case insert
    /// The row is inserted, or replaces the row with the same key.
    case upsert
    /// The fields at these positions, in ascending order, are changed in the row with the same key.
    case update([Int])
}

/// A table, a column, an index or a prepared statement does not exist or was dropped. The storage creates a missing table and
/// repeats the call with the columns that the catalog describes, without ``SQLSearchPath/hint`` where an index is missing.
public struct SQLMissingTable: Error {
    /// The error of the engine.
    public let underlying: StorageError
    /// Whether the table exists and lacks a column.
    public let isColumn: Bool
    /// Whether the table exists and lacks an index that a statement names.
    public let isIndex: Bool
    /// Whether the connection no longer has a prepared statement, or has it for the table as it was. The tables need not have
    /// changed: the call is repeated.
    public let isStatement: Bool
    /// Whether the table itself is missing.
    public var isTable: Bool { !isColumn && !isIndex && !isStatement }

    /// Creates an error.
    ///
    /// - Parameters:
    ///   - underlying: The error of the engine.
    ///   - isColumn: Whether the table exists and lacks a column.
    ///   - isIndex: Whether the table exists and lacks an index that a statement names.
    ///   - isStatement: Whether a prepared statement is missing, or outdated.
    public init(_ underlying: StorageError, isColumn: Bool = false, isIndex: Bool = false, isStatement: Bool = false) {
        self.underlying = underlying
        self.isColumn = isColumn
        self.isIndex = isIndex
        self.isStatement = isStatement
    }

    /// How often a call runs that meets the error: each time, somebody has changed the tables again.
    private static let attempts = 8

    /// Runs a closure, and runs it again when it met tables that were changed or missing.
    ///
    /// - Throws: The error of the engine, in place of this one.
    @inline(__always) static func repeating<Result>(_ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch is SQLMissingTable {
            return try repeatingLater(body)
        }
    }

    @inline(never) private static func repeatingLater<Result>(_ body: () throws -> Result) throws -> Result {
        var attempts = 1
        while true {
            CallTrace.willRunAgain()
            do {
                return try body()
            } catch let missing as SQLMissingTable {
                attempts += 1
                if attempts == Self.attempts { throw missing.underlying }
            }
        }
    }
}

/// A row was refused because of a conflict with a stored row.
public struct SQLRefusedRow: Error {
    /// The value that both rows have.
    public enum Reason: Sendable, Equatable {
        /// The key.
        case key
        /// The values of a unique index, by the positions of its fields; nil when the engine does not report them.
        case values(of: [Int]?)
    }

    /// The value that both rows have.
    public let reason: Reason
    /// The number of the row among those added since the batch was last sent, from zero; nil for the last
    /// row.
    public let number: Int?
    /// The error of the engine.
    public let underlying: StorageError

    /// Creates an error.
    ///
    /// - Parameters:
    ///   - reason: The value that both rows have.
    ///   - number: The number of the row among those added since the batch was last sent, from zero; nil
    ///     for the last row.
    ///   - underlying: The error of the engine.
    public init(_ reason: Reason, number: Int? = nil, _ underlying: StorageError) {
        self.reason = reason
        self.number = number
        self.underlying = underlying
    }
}
