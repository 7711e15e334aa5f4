import Synchronization

/// An asynchronous sequence of the results of a query: the current result, then a new result after every
/// commit that changes it (contract O1, O2).
///
/// ```swift
/// for try await unread in messages.observe(where: { !$0.isRead }) {
///     show(unread)
/// }
/// ```
///
/// Results arrive in commit order. A slow consumer can miss intermediate results, but never the last result.
/// A rollback and a change of rows outside the result produce nothing. The sequence throws `.closed` when the
/// database is closed, and `CancellationError` when its task is cancelled. Leaving the loop releases all
/// resources.
///
/// Each iteration reads separately, on the reader threads of the database. The reads of the translator
/// through other DAOs are from the same commit. Only rows of its model, and of models that it has
/// relationships to, cause a new result.
public struct QueryObservation<Mapping: Translator>: AsyncSequence, Sendable {
    /// The values of the query, in its order.
    public typealias Element = [Mapping.Plain]

    let changes: ChangeObservation<Mapping>

    /// Starts the observation.
    public func makeAsyncIterator() -> Iterator { Iterator(changes: changes.makeAsyncIterator()) }

    /// An iterator of the results.
    public struct Iterator: AsyncIteratorProtocol {
        var changes: ChangeObservation<Mapping>.Iterator

        /// Returns the next result.
        public mutating func next() async throws -> [Mapping.Plain]? { try await changes.next()?.elements }
    }
}

/// A result of an observed query, and its difference from the previous result (contract O3).
public struct ObservedChange<Plain: Sendable>: Sendable {
    /// The values of the query, in its order.
    public let elements: [Plain]
    /// The keys that were not in the previous result, in the order of the query. The first result contains
    /// all keys here.
    public let inserted: [UniqueID]
    /// The keys that were in the previous result and whose stored records have changed.
    public let updated: [UniqueID]
    /// The keys that are no longer in the result, in ascending order.
    public let erased: [UniqueID]
}

/// An asynchronous sequence of the result of a query and its changes; see ``DAO/observeChanges(_:)``.
///
/// ```swift
/// for try await change in messages.observeChanges() {
///     print(change.inserted, change.updated, change.erased)
/// }
/// ```
///
/// The guarantees of ``QueryObservation`` about order, a slow consumer and the end of the sequence apply to
/// it.
public struct ChangeObservation<Mapping: Translator>: AsyncSequence, Sendable {
    /// A result and its difference from the previous result.
    public typealias Element = ObservedChange<Mapping.Plain>

    let dao: DAO<Mapping>
    let query: Query<Mapping.Model>

    /// Starts the observation.
    public func makeAsyncIterator() -> Iterator {
        Iterator(
            dao: dao, query: query,
            subscription: Subscription(dao.storage.database, entities: Mapping.Model.schema.reachedEntities))
    }

    /// An iterator of the changes.
    public struct Iterator: AsyncIteratorProtocol {
        let dao: DAO<Mapping>
        let query: Query<Mapping.Model>
        let subscription: Subscription
        private var last: Reading?

        init(dao: DAO<Mapping>, query: Query<Mapping.Model>, subscription: Subscription) {
            self.dao = dao
            self.query = query
            self.subscription = subscription
        }

        /// Returns the next change. The first change contains the current result.
        public mutating func next() async throws -> ObservedChange<Mapping.Plain>? {
            while true {
                if last != nil { await subscription.signal.wait() }
                try Task.checkCancellation()
                let (reading, change) = try await read(dao, query, last)
                self.last = reading
                if let change { return change }
            }
        }

        /// Reads the rows, and translates them when they differ from the previous result.
        private func read(
            _ dao: DAO<Mapping>, _ query: Query<Mapping.Model>, _ last: Reading?
        ) async throws -> (Reading, ObservedChange<Mapping.Plain>?) {
            let database = dao.storage.database
            let read: @Sendable () throws -> (Reading, ObservedChange<Mapping.Plain>?) = {
                let records = try dao.storage.read(query)
                let reading = try Reading(of: records)
                return (reading, try reading.change(since: last) { try dao.translator.translate(models: records) })
            }
            // The translator reads from the same snapshot, so that its reads are from the same commit as the
            // rows.
            guard database.capabilities.hasSnapshotReads else { return try await database.engineState.executor.read(read) }
            return try await database.snapshot(read)
        }
    }
}

/// The keys and fingerprints of a result. They suffice to compare it with the next result.
private struct Reading: Sendable {
    let order: [Key]
    let fingerprints: [Key: Fingerprint]

    init<Record: Model>(of records: [Record]) throws {
        order = records.map { Record.schema.key(of: $0) }
        fingerprints = Dictionary(
            zip(order, try records.map { try Fingerprint(of: $0) }), uniquingKeysWith: { $1 })
    }

    /// Returns the change since an earlier reading; nil when nothing changed.
    func change<Plain>(since earlier: Reading?, elements: () throws -> [Plain]) throws -> ObservedChange<Plain>? {
        let before = earlier?.fingerprints ?? [:]
        let inserted = order.filter { before[$0] == nil }
        let updated = order.filter { before[$0] != nil && before[$0] != fingerprints[$0] }
        let erased = before.keys.filter { fingerprints[$0] == nil }.sorted()
        guard earlier?.order != order || !updated.isEmpty else { return nil }
        return ObservedChange(
            elements: try elements(), inserted: inserted.map { UniqueID($0) }, updated: updated.map { UniqueID($0) },
            erased: erased.map { UniqueID($0) })
    }
}

/// The registration of an iterator with the hub. It ends with the iterator.
final class Subscription: Sendable {
    let signal = Signal()
    private let hub: ObservationHub
    private let id: Int

    init(_ database: any Database, entities: Set<String>) {
        let signal = signal
        hub = database.engineState.observations
        // The observer is added before the first read, so that no commit is missed between the read and the
        // first wait.
        id = hub.add(entities) { signal.raise() }
    }

    deinit { hub.remove(id) }
}

extension DAO {
    /// Returns the values that meet a condition now, and again after every commit that changes them.
    ///
    /// - Parameters:
    ///   - order: The sort terms. Without terms, the order is that of the primary key.
    ///   - limit: The maximum number of values; nil for all.
    ///   - condition: A closure that makes the condition from the fields of the model.
    public func observe(
        orderedBy order: Sort<Record>..., limit: Int? = nil,
        where condition: (FieldProxy<Record>) -> some ConditionConvertible<Record>
    ) -> QueryObservation<Mapping> {
        observe(Query(where: Condition(condition), orderedBy: order, limit: limit))
    }

    /// Returns the values that meet a prepared condition now, and again after every commit that changes them.
    ///
    /// - Parameters:
    ///   - order: The sort terms. Without terms, the order is that of the primary key.
    ///   - limit: The maximum number of values; nil for all.
    ///   - condition: The condition; by default all values meet it.
    public func observe(
        orderedBy order: Sort<Record>..., limit: Int? = nil, where condition: Condition<Record> = .all
    ) -> QueryObservation<Mapping> {
        observe(Query(where: condition, orderedBy: order, limit: limit))
    }

    /// Returns the values of a query now, and again after every commit that changes them.
    public func observe(_ query: Query<Record>) -> QueryObservation<Mapping> {
        QueryObservation(changes: observeChanges(query))
    }

    /// Returns the values of a query now, and every later change with its difference.
    ///
    /// - Parameter query: The query; by default all values in key order.
    public func observeChanges(_ query: Query<Record> = Query()) -> ChangeObservation<Mapping> {
        ChangeObservation(dao: self, query: query)
    }
}
