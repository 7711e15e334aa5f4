/// The rows of one model in a database. A ``DAO`` uses a storage for its reads and writes.
///
/// A backend implements ``database`` and the first five methods. The other methods have default
/// implementations that use these; a backend can replace a default by a faster implementation. Every method
/// is an atomic call. It joins the transaction that it runs in, or runs as a separate transaction.
///
/// A method throws a ``StorageError``, or rethrows the error of a closure that the caller passed, unchanged.
public protocol Storage<Record>: Sendable {
    /// The model of the rows.
    associatedtype Record: Model

    /// The database of the rows.
    var database: any Database { get }

    /// Returns the rows of a query, in its order.
    func read(_ query: Query<Record>) throws -> [Record]

    /// Returns the rows with the given keys, in the given order, each key once. Keys that are not stored are
    /// skipped.
    func read(keys: [Key], includesSubentities: Bool) throws -> [Record]

    /// Stores new rows.
    ///
    /// - Throws: `.duplicateKey` when a key is already stored or is repeated. Nothing is stored in that case.
    func insert(_ records: [Record]) throws

    /// Stores rows completely. It replaces rows with the same keys. The last row of a repeated key wins. Unique values are judged when
    /// the call ends (contract W6).
    func upsert(_ records: [Record]) throws

    /// Erases the rows with the given keys.
    ///
    /// - Returns: The number of erased rows.
    func erase(keys: [Key]) throws -> Int

    // MARK: With defaults

    /// Stores new rows, which a closure makes inside the transaction.
    ///
    /// - Throws: The errors of ``insert(_:)``; any error of the closure.
    func insert(making records: () throws -> [Record]) throws

    /// Stores rows, which a closure makes inside the transaction. It replaces rows with the same keys.
    func upsert(making records: () throws -> [Record]) throws

    /// Returns the row with a key; nil when the key is not stored.
    func read(key: Key) throws -> Record?

    /// Returns whether a key is stored.
    func contains(key: Key) throws -> Bool

    /// Returns the keys of the rows of a query, in its order, those of unreadable rows included (contract Q8).
    /// The default reads the rows; a backend replaces it to keep this rule.
    func keys(_ query: Query<Record>) throws -> [Key]

    /// Returns the number of rows of a query.
    func count(_ query: Query<Record>) throws -> Int

    /// Reads some fields of the rows of a query, in its order. The default reads whole rows.
    ///
    /// - Parameters:
    ///   - fields: The positions of the fields in the schema. They are not relationships.
    ///   - query: The query.
    ///   - body: A closure that is called with a reader at each row. It reads these fields only, at their positions, and
    ///     does not use the database.
    func readFields(_ fields: [Int], _ query: Query<Record>, _ body: (RowReader) throws -> Void) throws

    /// Groups the rows that meet a condition by the values of some fields, and counts in each group. The default does so in
    /// memory.
    ///
    /// - Parameters:
    ///   - query: The fields, the counts and the condition.
    ///   - body: A closure that is called for each group with a reader of the fields, at their positions, and the counts, in
    ///     their order. Groups are in the order of the query, then ascend by the fields in turn, as ``Value/order(_:_:)`` says.
    func groups(_ query: GroupQuery<Record>, _ body: (RowReader, [Int]) throws -> Void) throws

    /// Reads rows by key, lets a closure create or change them, and stores the changes.
    ///
    /// The closure can write, also the row whose turn it is. A field that it leaves as it was read then follows what is
    /// stored, and a row that it has erased is stored again (contract W9).
    ///
    /// - Parameters:
    ///   - keys: The keys, in order. At a repeated key, the closure gets the row that it left before.
    ///   - body: A closure that gets the position in `keys` and the stored row, or nil. The row that it
    ///     leaves is stored; nil is not.
    /// - Returns: The number of stored rows.
    /// - Throws: `.keyChanged` when the closure changed the key of a row. Nothing is stored in that case.
    func merge(keys: [Key], _ body: (Int, inout Record?) throws -> Void) throws -> Int

    /// Changes the rows of a query.
    ///
    /// The closure can write, as that of ``merge(keys:_:)``. A row that it has erased stays erased.
    ///
    /// - Returns: The number of rows that were stored: those of the query, without those that the closure has erased.
    /// - Throws: `.keyChanged` when the closure changed the key of a row. Nothing is stored in that case.
    func update(_ query: Query<Record>, _ body: (inout Record) throws -> Void) throws -> Int

    /// Changes fields in the rows that meet a condition, without reading them as records.
    ///
    /// The default does nothing and returns nil: ``update(_:_:)`` then changes the rows. A storage that sets the fields
    /// itself obeys all that an update obeys, and keeps related rows and retired fields.
    ///
    /// - Parameters:
    ///   - changes: What different fields get.
    ///   - counter: The position of an integer field that counts up by one in each of the rows; nil for none.
    ///   - condition: The condition that rows must meet.
    /// - Returns: The number of rows that met the condition; nil when nothing was changed, and `update` has to do it.
    func set(_ changes: [StoredChange], counting counter: Int?, where condition: Condition<Record>) throws -> Int?

    /// Erases the rows of a query.
    ///
    /// - Returns: The number of erased rows.
    func erase(_ query: Query<Record>) throws -> Int

    /// Returns a cursor that reads the rows of a query in batches, from one snapshot.
    func cursor(_ query: Query<Record>) throws -> RowCursor<Record>

    /// Returns the plan of a query: the index that it uses, and whether rows are filtered and sorted.
    func explain(_ query: Query<Record>) throws -> QueryPlan
}
