/// What a read does with rows that cannot be read, such as a row with an unknown raw value (contract Q8).
///
/// ```swift
/// let messages = try dao.read(unreadable: .report { error in log("\(error.key), \(error.field): \(error)") })
/// ```
public struct UnreadableRows: Sendable {
    /// Gets the error of each unreadable row; nil when the read fails instead.
    let report: (@Sendable (StorageError) -> Void)?

    /// The read throws the error of the first unreadable row. This is what every other read does.
    public static var fail: UnreadableRows { UnreadableRows(report: nil) }

    /// The read skips unreadable rows, and passes the error of each to a closure.
    ///
    /// - Parameter report: A closure that gets the error: `.corruptedValue` with entity, key and field.
    public static func report(_ report: @escaping @Sendable (StorageError) -> Void) -> UnreadableRows {
        UnreadableRows(report: report)
    }
}

extension DAO {
    /// Returns the values of a query, in its order, with a choice of what happens to rows that cannot be read.
    ///
    /// When every row can be read, the call is as fast as `read(_:)`. Otherwise the rows are read one by one,
    /// from one snapshot. A skipped row counts for the limit and the offset of the query.
    ///
    /// - Parameters:
    ///   - query: The query; by default all values in key order.
    ///   - unreadable: What happens to a row with a value that is not one of its field's type. A row whose
    ///     related row cannot be read is unreadable, too.
    /// - Throws: The errors of `read(_:)`; any error of the translator.
    public func read(_ query: Query<Record> = Query(), unreadable: UnreadableRows) throws -> [Plain] {
        guard let report = unreadable.report else { return try read(query) }
        let read = { try translator.translate(models: storage.readableRows(query, report)) }
        return try storage.database.capabilities.hasSnapshotReads ? storage.database.snapshot(read) : read()
    }

    /// Returns the values of a query, in its order, with a choice of what happens to rows that cannot be read.
    public func read(_ query: Query<Record> = Query(), unreadable: UnreadableRows) async throws -> [Plain] {
        try await reading { try $0.read(query, unreadable: unreadable) }
    }
}

extension Storage {
    /// Returns the rows of a query that can be read, and reports the error of every other row.
    fileprivate func readableRows(
        _ query: Query<Record>, _ report: @escaping @Sendable (StorageError) -> Void
    ) throws -> [Record] {
        do {
            return try read(query)
        } catch let error as StorageError where error.kind == .corruptedValue {
            let found = try UnreadableKeys.$current.withValue(UnreadableKeys(report)) { try keys(query) }
            return try found.compactMap { key in
                do {
                    return try read(keys: [key], includesSubentities: query.includesSubentities).first
                } catch let error as StorageError where error.kind == .corruptedValue {
                    report(error)
                    return nil
                }
            }
        }
    }
}

/// What happens to a row whose key cannot be read, where the keys of rows are read: no other read can name it.
package final class UnreadableKeys: Sendable {
    /// What the running read does; nil when it fails. An object, since Swift 6.3's optimiser ends the process where a task-local
    /// value is a closure.
    @TaskLocal package static var current: UnreadableKeys?

    /// Gets the error of each such row, which is then left out.
    package let report: @Sendable (StorageError) -> Void

    init(_ report: @escaping @Sendable (StorageError) -> Void) { self.report = report }
}
