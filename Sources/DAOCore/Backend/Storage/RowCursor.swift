/// The rows of a query, a batch at a time, on the snapshot it was made on. A backend subclasses it.
///
/// It is used by one thread at a time and need not be closed when it was read to its end.
open class RowCursor<Record: Model> {
    /// Creates a cursor.
    public init() {}

    /// The next rows.
    ///
    /// - Parameter count: How many at most.
    /// - Returns: The rows; none at the end.
    /// - Throws: `.closed` when the database was closed since.
    open func next(_ count: Int) throws -> [Record] { [] }

    /// Whether ``withSnapshot(_:)`` is more than running the body. The base class holds nothing.
    open var holdsSnapshot: Bool { false }

    /// Runs a body whose reads, of any storage of the database, see what the cursor sees. The rows may be read to their end in it: the snapshot
    /// stays until the body returns.
    ///
    /// - Throws: `.closed` when the database was closed since, or what the body throws.
    open func withSnapshot<Result>(_ body: () throws -> Result) throws -> Result { try body() }

    /// Lets go of the snapshot. Closing twice is fine; dropping the cursor closes it.
    open func close() {}
}

/// Rows that are in memory already.
package final class ArrayCursor<Record: Model>: RowCursor<Record> {
    private var records: ArraySlice<Record>
    private let check: () throws -> Void

    /// - Parameter check: Throws when no more rows may be given out.
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
