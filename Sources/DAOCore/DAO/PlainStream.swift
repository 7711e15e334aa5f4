/// An asynchronous sequence of the values of a query. It reads one snapshot in constant memory (contract Q6).
///
/// ```swift
/// for try await message in messages.stream(Query(orderedBy: [.ascending(\.date)])) {
///     …
/// }
/// ```
///
/// The first call of `next()` takes the snapshot. The snapshot is released at the end, when the loop is left,
/// or when the task is cancelled. An old snapshot keeps old pages of the database in use while others write, so do not suspend a
/// loop for long. A stream with `endsAtPinnedLimit` ends with `.snapshotTooOld` when these pages are more than the option
/// `pinnedLimit` of SQLite and LMDB databases, as in `sqlite:app.db?pinnedLimit=256M`.
public struct PlainStream<Subject: TranslatorOrModel>: AsyncSequence, Sendable {
    /// The application's value.
    public typealias Element = DAO<Subject>.Plain
    /// The type of errors; see `DAO.read(_:)`.
    public typealias Failure = any Error

    let dao: DAO<Subject>
    let query: Query<DAO<Subject>.Record>
    let endsAtPinnedLimit: Bool

    /// Creates an iterator.
    public func makeAsyncIterator() -> Iterator {
        let limit = endsAtPinnedLimit ? dao.storage.database.configuration.pinnedLimit : nil
        return Iterator(source: Source(dao: dao, query: query, pinnedLimit: limit))
    }

    /// An iterator of the values.
    public struct Iterator: AsyncIteratorProtocol {
        let source: Source
        var batch: ArraySlice<DAO<Subject>.Plain> = []

        /// Returns the next value; nil at the end. It leaves the caller's actor only to read more values, which it does for
        /// some at a time.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws -> DAO<Subject>.Plain? {
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

        /// Returns the next value; nil at the end. A loop calls it on systems before macOS 15 and iOS 18.
        public mutating func next() async throws -> DAO<Subject>.Plain? { try await next(isolation: nil) }
    }

    /// The open cursor. The lock serialises its calls.
    final class Source: Sendable {
        /// Sendable because the lock protects it: the state is used only inside the lock's closure.
        private struct State: @unchecked Sendable { var cursor: RowCursor<DAO<Subject>.Record>? }

        private let dao: DAO<Subject>
        private let query: Query<DAO<Subject>.Record>
        private let pinnedLimit: Int?
        private let state = Lock<State?>(State(cursor: nil))
        private static var batchSize: Int { 256 }

        init(dao: DAO<Subject>, query: Query<DAO<Subject>.Record>, pinnedLimit: Int?) {
            self.dao = dao
            self.query = query
            self.pinnedLimit = pinnedLimit
        }

        deinit { close() }

        func nextBatch() async throws -> [DAO<Subject>.Plain] {
            try await dao.storage.database.engineState.executor.read { [self] in
                let records = try state.withLock { state -> [DAO<Subject>.Record] in
                    guard state != nil else { return [] }
                    let cursor = try state?.cursor ?? dao.storage.cursor(query)
                    state?.cursor = cursor
                    if let pinnedLimit, let bytes = cursor.pinnedBytes, bytes > pinnedLimit {
                        let path = dao.storage.database.configuration.path
                        throw StorageError.snapshotTooOld(path, keeping: bytes, limit: pinnedLimit)
                    }
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
    /// Returns an asynchronous sequence of the values of a query. It reads one snapshot. The memory use is
    /// constant where the key or an index supplies the order.
    ///
    /// - Parameters:
    ///   - query: The query; by default all values in key order.
    ///   - endsAtPinnedLimit: Whether the stream throws `.snapshotTooOld` when its snapshot keeps more than the option
    ///     `pinnedLimit` of the database. Without the option, the stream goes on.
    public func stream(_ query: Query<Record> = Query(), endsAtPinnedLimit: Bool = false) -> PlainStream<Subject> {
        PlainStream(dao: self, query: query, endsAtPinnedLimit: endsAtPinnedLimit)
    }
}
