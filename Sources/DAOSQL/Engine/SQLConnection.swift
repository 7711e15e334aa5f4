import DAOCore

/// A connection of an ``SQLEngine``. One thread uses it at a time.
///
/// The database above keeps its prepared statements, so that they live as long as the connection. Every method throws `StorageError`, or
/// ``SQLMissingTable`` around one when a table is not there.
public protocol SQLConnection: AnyObject {

    // MARK: Transactions

    /// Begins a transaction that reads, unless one was begun. The last commit of now is what it sees.
    ///
    /// A single statement is run without one.
    func beginReading() throws

    /// Begins a transaction that writes, unless one was begun.
    ///
    /// - Parameter write: What for. Where it is known to be one statement, an engine may send it together with the beginning and the end.
    func beginWriting(_ write: SQLWrite) throws

    /// Makes the writes durable and ends the transaction, if one was begun. One that cannot go on is undone.
    ///
    /// - Parameter isObserved: Whether somebody wants to know what the commit made of the engine's ``SQLEngine/commitCounter``.
    /// - Returns: The count before and after it, when nobody else committed in between; nil when that is not known.
    func commit(isObserved: Bool) throws -> (before: UInt64, after: UInt64)?

    /// Undoes the writes and ends the transaction, if one was begun.
    func rollback()

    /// Begins a savepoint; they nest.
    func beginSavepoint() throws

    /// Ends the innermost savepoint and keeps its writes.
    func releaseSavepoint() throws

    /// Ends the innermost savepoint and undoes its writes.
    func rollbackSavepoint() throws

    /// Throws why the running transaction cannot go on, if the engine has ended it or whoever had its handle has.
    func checkTransaction() throws

    /// The engine's own handle of the connection; nil when there is none.
    var underlyingHandle: (any UnderlyingHandle)? { get }

    // MARK: Statements

    /// Prepares a statement.
    ///
    /// - Parameters:
    ///   - text: One statement.
    ///   - entity: What it is about, for errors.
    func prepare(_ text: String, entity: String) throws -> SQLStatement

    /// Prepares the writing of rows, each of them whole or in some of its columns.
    ///
    /// - Parameters:
    ///   - write: What becomes of a row.
    ///   - table: The table. It has the texts of statements that write one row.
    func batch(_ write: SQLRowWrite, of table: SQLTable) throws -> SQLRowBatch

    /// Runs statements that take no values and give no rows.
    func execute(_ text: String) throws

    /// How the engine would find the rows of a query. ``DAOCore/QueryPlan/filtersRows`` is left to the caller.
    func explain(_ query: SQLText, of entity: EntityDescription) throws -> QueryPlan

    // MARK: Tables

    /// A number that is another one whenever tables are others, whoever made them so.
    func schemaVersion() throws -> UInt64

    /// Changes ``schemaVersion()`` where the change was one of the catalog's rows only.
    func catalogDidChange() throws

    /// Whether there is a table of a name.
    func hasTable(_ name: String) throws -> Bool

    /// A table, or whatever else has the name, with its columns and indexes; nil when nothing has it. The case of names is the engine's affair.
    func storedTable(_ name: String) throws -> SQLStoredTable?

    /// The names of all tables and indexes, in lower case, where they share one space of names.
    func takenNames() throws -> Set<String>

    /// Gives another name to an index that stands in the way of a table.
    ///
    /// - Parameter table: The name that a table is to have.
    func makeRoom(for table: String) throws

    /// What other tools have tied to a table and would be lost when it is replaced, in words.
    func ties(to table: String) throws -> [String]
}

/// What a transaction that writes is for.
public struct SQLWrite: Sendable {
    /// How much of it there is.
    public enum Scope: Sendable {
        /// One statement, for one row or for those of a query, and nothing after it.
        case statement
        /// The rows of one ``SQLRowBatch`` or of one ``SQLStatement/run(forEach:)``, and nothing after them.
        case rows
        /// Any number of statements.
        case any
    }

    /// How much of it there is.
    public var scope: Scope
    /// What the database's configuration says about its writes.
    public var settings: SQLWriteSettings
    /// Whether somebody observes, so that the commit is to be told apart from those of others.
    public var isObserved: Bool
}

/// What a database's configuration says about its writes. Databases that share a connection may have different ones.
public struct SQLWriteSettings: Sendable, Equatable {
    /// What a commit survives.
    public let durability: DatabaseConfiguration.Durability
    /// How long to wait for other processes.
    public let busyTimeout: Duration
}

/// What becomes of a row that is written.
public enum SQLRowWrite: Sendable, Hashable {
    /// It is stored; a key that is there is refused.
    case insert
    /// It is stored, in place of the one with its key if there is one.
    case upsert
    /// Some of the columns of the row with its key are changed: those at these positions, ascending.
    case update([Int])
}

/// A table that is not there (any more): a storage makes it again and repeats what it was doing.
public struct SQLMissingTable: Error {
    /// What the engine says.
    public let underlying: StorageError

    /// Creates an error.
    ///
    /// - Parameter underlying: What the engine says.
    public init(_ underlying: StorageError) { self.underlying = underlying }
}

/// A row that cannot be stored because of another one.
public struct SQLRefusedRow: Error {
    /// What the rows have in common.
    public enum Reason: Sendable, Equatable {
        /// The key.
        case key
        /// The value of a unique field: its position, or nil when the engine does not tell.
        case value(field: Int?)
    }

    /// What the rows have in common.
    public let reason: Reason
    /// Which of the rows added since the batch was last sent it is, counted from zero; nil for the last one.
    public let number: Int?
    /// What the engine says.
    public let underlying: StorageError

    /// Creates an error.
    ///
    /// - Parameters:
    ///   - reason: What the rows have in common.
    ///   - number: Which of the rows added since the batch was last sent it is, counted from zero; nil for the last one.
    ///   - underlying: What the engine says.
    public init(_ reason: Reason, number: Int? = nil, _ underlying: StorageError) {
        self.reason = reason
        self.number = number
        self.underlying = underlying
    }
}
