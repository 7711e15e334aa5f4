/// The rows of one model in one database: what a ``DAO`` stands on.
///
/// A backend of one's own needs the first five requirements; everything else has a default made of them, and a backend replaces those
/// that it can do better. Every method is one atomic call: it joins the transaction that runs around it, or is one of its own.
///
/// Errors are ``StorageError``s, or whatever a closure given by the caller throws, unchanged.
public protocol Storage<Record>: Sendable {
    /// The model whose rows these are.
    associatedtype Record: Model

    /// The database the rows are in.
    var database: any Database { get }

    /// The rows of a query, in its order.
    func read(_ query: Query<Record>) throws -> [Record]

    /// The rows with these keys, in the order asked, each once; keys that are not there are left out.
    func read(keys: [Key], includesSubentities: Bool) throws -> [Record]

    /// Stores rows that must not be there yet.
    ///
    /// - Throws: `.duplicateKey` when a key is stored already or given twice; nothing is stored then.
    func insert(_ records: [Record]) throws

    /// Stores rows whole, replacing those with the same keys; of a repeated key the last wins.
    func upsert(_ records: [Record]) throws

    /// Removes the rows with these keys.
    ///
    /// - Returns: How many there were.
    func erase(keys: [Key]) throws -> Int

    // MARK: With defaults

    /// Stores rows that a closure makes inside the transaction, and that must not be there yet.
    ///
    /// - Throws: As ``insert(_:)``, and what the closure throws.
    func insert(making records: () throws -> [Record]) throws

    /// Stores rows that a closure makes inside the transaction, replacing those with the same keys.
    func upsert(making records: () throws -> [Record]) throws

    /// The row with a key, or nil.
    func read(key: Key) throws -> Record?

    /// Whether there is a row with a key.
    func contains(key: Key) throws -> Bool

    /// The keys of a query's rows, in its order.
    func keys(_ query: Query<Record>) throws -> [Key]

    /// How many rows a query has.
    func count(_ query: Query<Record>) throws -> Int

    /// One field of each row of a query, in its order.
    ///
    /// - Parameters:
    ///   - field: The position of the field in the schema.
    ///   - query: Which rows.
    ///   - body: Called with each value.
    func values(of field: Int, _ query: Query<Record>, _ body: (Value) throws -> Void) throws

    /// Reads rows by key, lets a closure make or change them, and stores what changed.
    ///
    /// - Parameters:
    ///   - keys: The keys, in order; a repeated key sees what was made of it before.
    ///   - body: Gets the position in `keys` and the stored row or nil; what it leaves is stored, nil is not.
    /// - Returns: How many rows were stored.
    /// - Throws: `.keyChanged` when the closure changed the key of a row; nothing is stored then.
    func merge(keys: [Key], _ body: (Int, inout Record?) throws -> Void) throws -> Int

    /// Changes the rows of a query.
    ///
    /// - Returns: How many rows the query had.
    /// - Throws: `.keyChanged` when the closure changed the key of a row; nothing is stored then.
    func update(_ query: Query<Record>, _ body: (inout Record) throws -> Void) throws -> Int

    /// Removes the rows of a query.
    ///
    /// - Returns: How many there were.
    func erase(_ query: Query<Record>) throws -> Int

    /// The rows of a query a batch at a time, on one snapshot.
    func cursor(_ query: Query<Record>) throws -> RowCursor<Record>

    /// How a query would be answered: which index serves it, what is left to sort and filter.
    func explain(_ query: Query<Record>) throws -> QueryPlan
}
