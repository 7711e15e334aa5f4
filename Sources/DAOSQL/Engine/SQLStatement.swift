import DAOCore

/// A prepared statement of one connection. An engine subclasses it once.
///
/// It is bound, then run or read through a reader, and finished; then it may be bound anew.
open class SQLStatement {
    /// Whether somebody is between taking and finishing it.
    final var isInUse = false
    /// When it was last taken, by the clock of the cache.
    final var lastUse = 0
    /// The reader that is made for the rows of its entity once.
    final var reader: SQLRowReader?

    /// Creates a statement.
    public init() {}

    /// Binds all of its placeholders, in order. The base class does nothing.
    open func bind(_ bindings: [SQLBinding]) throws {}

    /// Binds the one key that it takes. By default by ``bind(_:)-([SQLBinding])``.
    open func bind(_ key: Key) throws { try bind([.value(key.value)]) }

    /// Says which keys are about to be bound one after another, so that the engine can ask for all of their rows at once. By default nothing is
    /// done.
    ///
    /// A row that is written after this is read as it was written.
    open func prefetch(_ keys: [Key]) throws {}

    /// Makes a reader of its rows, as it is bound. The base class's has none.
    ///
    /// - Parameters:
    ///   - entity: Whose fields the columns hold.
    ///   - firstField: The field in the first column; the others follow.
    ///   - keyColumn: Where the key is; -1 when it is not read.
    open func makeReader(of entity: EntityDescription, firstField: Int = 0, keyColumn: Int) -> SQLRowReader {
        SQLRowReader(entity: entity, firstField: firstField, keyColumn: keyColumn)
    }

    /// Runs it, for its writes.
    ///
    /// - Returns: How many rows it touched.
    open func run() throws -> Int { 0 }

    /// Runs it for every key that it is to be bound to: one round trip, where an engine has them. By default one by one.
    ///
    /// - Returns: How many rows it touched in all.
    open func run(forEach keys: [Key]) throws -> Int {
        var count = 0
        for key in keys {
            try bind(key)
            count += try run()
            reset()
        }
        return count
    }

    /// Lets go of the row that it stands on, so that it can be bound anew. By default nothing is done.
    open func reset() {}

    /// Makes it ready for the next use, and lets go of what was bound.
    open func finish() {}

    /// Ends what began with taking it.
    final func giveBack() {
        finish()
        isInUse = false
    }
}

/// Rows on their way into a table, written field by field. An engine subclasses it once.
///
/// Rows are begun, written and added one after another; the engine may hold them back until ``send()``, or until its connection runs anything else, and
/// store them with one statement.
open class SQLRowBatch: RowWriter {
    /// Whether rows are held back that were added. One that is refused is told by its ``SQLRefusedRow/number`` then. By default there are none.
    open var isHolding: Bool { false }

    /// Begins the next row; what was written of one that was not added is dropped. The base class does nothing.
    ///
    /// Of an update the fields are written that are not among its columns, too; the batch leaves them out.
    open func begin() {}

    /// Adds the row that was written.
    ///
    /// - Throws: ``SQLRefusedRow``, now or when it is sent.
    open func add() throws {}

    /// Adds what was written as the change of the row with a key.
    ///
    /// - Throws: ``SQLRefusedRow``, now or when it is sent.
    open func add(changing key: Key) throws {}

    /// Stores what has been held back. By default nothing has been.
    open func send() throws {}

    /// Lets go of what was bound: the call is over, be it with an error.
    open func finish() {}
}
