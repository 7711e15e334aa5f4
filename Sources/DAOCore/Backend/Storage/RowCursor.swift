/// A cursor over the rows of a query. It reads batches from the snapshot that it was created on. Backends
/// subclass it.
///
/// Only one thread can use a cursor at a time. A cursor that was read to its end does not need to be closed.
open class RowCursor<Record: Model> {
    /// Creates a cursor.
    public init() {}

    /// Returns the next rows.
    ///
    /// - Parameter count: The maximum number of rows.
    /// - Returns: The rows; empty at the end.
    /// - Throws: `.closed` when the database was closed.
    open func next(_ count: Int) throws -> [Record] { [] }

    /// Whether ``withSnapshot(_:)`` uses a snapshot. The base class has no snapshot and only runs the
    /// closure.
    open var holdsSnapshot: Bool { false }

    /// How many bytes of the file, or of its log, cannot be used again because of the snapshot of the cursor. Nil, the default,
    /// where the engine does not tell.
    open var pinnedBytes: Int? { nil }

    /// Runs a closure in which reads of any storage of the database see the snapshot of the cursor. The rows
    /// can be read to their end in the closure: the snapshot remains until the closure returns.
    ///
    /// - Throws: `.closed` when the database was closed; any error of the closure.
    open func withSnapshot<Result>(_ body: () throws -> Result) throws -> Result { try body() }

    /// Releases the snapshot. A second `close` does nothing. Dropping the cursor also closes it.
    open func close() {}
}

/// A cursor over rows in memory.
package final class ArrayCursor<Record: Model>: RowCursor<Record> {
    private var records: ArraySlice<Record>
    private let check: () throws -> Void

    /// - Parameter check: A closure that throws when no more rows may be returned.
    package init(_ records: [Record], check: @escaping () throws -> Void = {}) {
        self.records = records[...]
        self.check = check
        super.init()
    }

    package override func next(_ count: Int) throws -> [Record] {
        try check()
        let batch = Array(records.prefix(count))
        records = records.dropFirst(count)
        return batch
    }

    package override func close() { records = [] }
}
