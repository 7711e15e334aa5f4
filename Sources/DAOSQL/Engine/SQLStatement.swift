import DAOCore

/// A prepared statement of a connection. Each engine has one subclass.
///
/// A statement is bound, then run or read through a reader, and finished. Then it can be bound again.
open class SQLStatement {
    /// Whether the statement was taken and not yet given back.
    final var isInUse = false
    /// When the statement was last taken, by the clock of the cache.
    final var lastUse = 0
    /// The reader for the rows of the entity, created once.
    package internal(set) final var reader: SQLRowReader?

    /// Creates a statement.
    public init() {}

    /// Binds all placeholders, in order. The base class does nothing.
    open func bind(_ bindings: [SQLBinding]) throws {}

    /// Binds the key of a statement whose only placeholder is a key. By default it calls
    /// ``bind(_:)-([SQLBinding])``.
    open func bind(_ key: Key) throws { try bind([.value(key.value)]) }

    /// Announces, after binding, that the rows are read one after another while other statements run, and perhaps not all of
    /// them. The connection is in a transaction. By default it does nothing.
    open func stream() throws {}

    /// Announces the keys that will be bound one after another, so that the engine can request all rows at
    /// once. By default it does nothing.
    ///
    /// A row that is written after this call must be read as it was written.
    open func prefetch(_ keys: [Key]) throws {}

    /// Creates a reader of the statement's rows. The reader of the base class has no rows.
    ///
    /// - Parameters:
    ///   - entity: The entity whose fields the columns hold.
    ///   - firstField: The field in the first column. The next fields are in the next columns.
    ///   - keyColumn: The column of the key; -1 when the statement does not read it.
    open func makeReader(of entity: EntityDescription, firstField: Int = 0, keyColumn: Int) -> SQLRowReader {
        SQLRowReader(entity: entity, firstField: firstField, keyColumn: keyColumn)
    }

    /// Runs a statement that writes.
    ///
    /// - Returns: The number of affected rows.
    open func run() throws -> Int { 0 }

    /// Runs the statement once for each key. An engine on a network does so in one round trip. By default the
    /// keys are bound one by one.
    ///
    /// - Returns: The number of affected rows.
    open func run(forEach keys: [Key]) throws -> Int {
        var count = 0
        for key in keys {
            try bind(key)
            count += try run()
            reset()
        }
        return count
    }

    /// Leaves the current row, so that the statement can be bound again. By default it does nothing.
    open func reset() {}

    /// Leaves the current row, because others than it were written. What was read ahead of it must not be used. By default it
    /// calls ``reset()``.
    open func rowsHaveChanged() { reset() }

    /// Leaves the current row and releases the bound values.
    open func finish() {}

    /// Gives the statement back after it was taken.
    final func giveBack() {
        finish()
        isInUse = false
    }
}

/// Writes rows into a table, field by field. Each engine has one subclass.
///
/// Each row is begun, written and added. The engine may hold added rows back until ``send()``, or until the
/// connection runs another statement or another batch of it gets a row, and write them together.
open class SQLRowBatch: RowWriter {
    /// Whether the batch holds added rows back. A refused row is then identified by its
    /// ``SQLRefusedRow/number``. By default the batch holds no rows back.
    open var isHolding: Bool { false }

    // Never accessed during another access, so that a row does not pay for the check of that.
    /// Is told of a refused row in place of an error. The batch then goes on with the next row: rows that were held back before it
    /// are written, and those after it are tried. Nil where the first refused row is an error.
    @exclusivity(unchecked) public final var onRefusal: ((SQLRefusedRow) throws -> Void)?

    /// Reports a row that the engine has refused.
    ///
    /// - Throws: The row, unless it is reported to ``onRefusal``; any error of that.
    public final func refuse(_ row: SQLRefusedRow) throws {
        guard let onRefusal else { throw row }
        try onRefusal(row)
    }

    /// Begins the next row, and discards a row that was not added. The base class does nothing.
    ///
    /// For ``SQLRowWrite/update(_:)`` the caller may write all fields; the batch ignores those that are not
    /// updated.
    open func begin() {}

    /// Adds the current row.
    ///
    /// - Throws: ``SQLRefusedRow``, here or in ``send()``, as ``refuse(_:)`` does.
    open func add() throws {}

    /// Adds the current row as an update of the row with a key.
    ///
    /// - Throws: ``SQLRefusedRow``, here or in ``send()``.
    open func add(changing key: Key) throws {}

    /// Writes all rows that were held back. By default it does nothing.
    open func send() throws {}

    /// Releases the bound values. Called at the end of a call, also after an error.
    open func finish() {}
}
