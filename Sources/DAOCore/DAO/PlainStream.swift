import Synchronization

/// The values of a query as they are asked for, on one snapshot, in constant memory (contract Q6).
///
/// ```swift
/// for try await message in messages.stream(Query(orderedBy: [.ascending(\.date)])) {
///     …
/// }
/// ```
///
/// The snapshot is taken at the first value and let go at the end, when the loop is left, or when the task is cancelled. Holding one for long keeps
/// old pages of the database alive, so do not park a loop half-way.
public struct PlainStream<Mapping: Translator>: AsyncSequence, Sendable {
    /// The application's value.
    public typealias Element = Mapping.Plain
    /// What may be thrown: as from ``DAO/read(_:)``.
    public typealias Failure = any Error

    let dao: DAO<Mapping>
    let query: Query<Mapping.Model>

    /// Begins reading.
    public func makeAsyncIterator() -> Iterator { Iterator(source: Source(dao: dao, query: query)) }

    /// Gives the values one after another.
    public struct Iterator: AsyncIteratorProtocol {
        let source: Source
        var batch: ArraySlice<Mapping.Plain> = []

        /// The next value, or nil at the end.
        public mutating func next() async throws -> Mapping.Plain? {
            if batch.isEmpty {
                do {
                    try Task.checkCancellation()
                    batch = try await source.nextBatch()[...]
                } catch {
                    source.close()
                    throw error
                }
            }
            return batch.popFirst()
        }
    }

    /// The open cursor. One call uses it at a time, which the lock makes certain.
    final class Source: Sendable {
        /// Never shared: it leaves the lock only inside the lock's own closure.
        private struct State: @unchecked Sendable { var cursor: RowCursor<Mapping.Model>? }

        private let dao: DAO<Mapping>
        private let query: Query<Mapping.Model>
        private let state = Mutex<State?>(State(cursor: nil))
        private static var batchSize: Int { 256 }

        init(dao: DAO<Mapping>, query: Query<Mapping.Model>) {
            self.dao = dao
            self.query = query
        }

        deinit { close() }

        func nextBatch() async throws -> [Mapping.Plain] {
            try await dao.storage.database.engineState.executor.read { [self] in
                let records = try state.withLock { state -> [Mapping.Model] in
                    guard state != nil else { return [] }
                    let cursor = try state?.cursor ?? dao.storage.cursor(query)
                    state?.cursor = cursor
                    let records = try cursor.next(Self.batchSize)
                    if records.isEmpty {
                        cursor.close()
                        state = nil
                    }
                    return records
                }
                return try dao.translator.translate(models: records)
            }
        }

        func close() {
            state.withLock { state in
                state?.cursor?.close()
                state = nil
            }
        }
    }
}

extension DAO {
    /// The values of a query, one after another, on one snapshot and in constant memory where an index or the key serves the order.
    ///
    /// - Parameter query: Which values, in which order; all in key order by default.
    public func stream(_ query: Query<Record> = Query()) -> PlainStream<Mapping> { PlainStream(dao: self, query: query) }
}
