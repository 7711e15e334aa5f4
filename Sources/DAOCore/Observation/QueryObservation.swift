import Synchronization

/// The result of a query now, and again after every commit that changes it (contract O1, O2).
///
/// ```swift
/// for try await unread in messages.observe({ !$0.isRead }) {
///     show(unread)
/// }
/// ```
///
/// Results come in the order of commits. A slow consumer may miss results in between, never the last. Nothing comes after a rollback, nor when
/// rows change that are not in the result. The sequence ends by throwing `.closed` when the database is closed, or `CancellationError` when
/// its task is cancelled; leaving the loop lets go of everything. Each iteration reads by itself, on the database's reader threads; what the
/// translator reads through other DAOs is of the same commit, but only rows of its model, and of those that it has relationships to, make a
/// new result.
public struct QueryObservation<Mapping: Translator>: AsyncSequence, Sendable {
    /// The values of the query, in its order.
    public typealias Element = [Mapping.Plain]

    let changes: ChangeObservation<Mapping>

    /// Begins observing.
    public func makeAsyncIterator() -> Iterator { Iterator(changes: changes.makeAsyncIterator()) }

    /// Gives the results.
    public struct Iterator: AsyncIteratorProtocol {
        var changes: ChangeObservation<Mapping>.Iterator

        /// The next result.
        public mutating func next() async throws -> [Mapping.Plain]? { try await changes.next()?.elements }
    }
}

/// A result of an observed query, and how it differs from the one before (contract O3).
public struct ObservedChange<Plain: Sendable>: Sendable {
    /// The values of the query, in its order.
    public let elements: [Plain]
    /// Keys that were not in the result before, in its order; all of them the first time.
    public let inserted: [UniqueID]
    /// Keys that were in the result before, whose stored records have changed.
    public let updated: [UniqueID]
    /// Keys that are not in the result any more, in ascending order.
    public let erased: [UniqueID]
}

/// The result of a query now with every later change of it, as ``DAO/observeChanges(_:)`` gives it.
///
/// What ``QueryObservation`` says of order, slowness and ends holds here too.
public struct ChangeObservation<Mapping: Translator>: AsyncSequence, Sendable {
    /// A result, and how it differs from the one before.
    public typealias Element = ObservedChange<Mapping.Plain>

    let dao: DAO<Mapping>
    let query: Query<Mapping.Model>

    /// Begins observing.
    public func makeAsyncIterator() -> Iterator {
        Iterator(
            dao: dao, query: query,
            subscription: Subscription(dao.storage.database, entities: Mapping.Model.schema.reachedEntities))
    }

    /// Gives the changes.
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

        /// The next change; the first is the result as it is.
        public mutating func next() async throws -> ObservedChange<Mapping.Plain>? {
            while true {
                if last != nil { await subscription.signal.wait() }
                try Task.checkCancellation()
                let (reading, change) = try await read(dao, query, last)
                self.last = reading
                if let change { return change }
            }
        }

        /// Reads the rows, and translates them when they differ from the last.
        private func read(
            _ dao: DAO<Mapping>, _ query: Query<Mapping.Model>, _ last: Reading?
        ) async throws -> (Reading, ObservedChange<Mapping.Plain>?) {
            let database = dao.storage.database
            let read: @Sendable () throws -> (Reading, ObservedChange<Mapping.Plain>?) = {
                let records = try dao.storage.read(query)
                let reading = try Reading(of: records)
                return (reading, try reading.change(since: last) { try dao.translator.translate(models: records) })
            }
            // The translator reads in the same snapshot, so that what it finds is of the same commit as the rows.
            guard database.capabilities.hasSnapshotReads else { return try await database.engineState.executor.read(read) }
            return try await database.snapshot(read)
        }
    }
}

/// What a result was: enough to tell the next one from it.
private struct Reading: Sendable {
    let order: [Key]
    let fingerprints: [Key: Fingerprint]

    init<Record: Model>(of records: [Record]) throws {
        order = records.map { Record.schema.key(of: $0) }
        fingerprints = Dictionary(
            zip(order, try records.map { try Fingerprint(of: $0) }), uniquingKeysWith: { $1 })
    }

    /// What changed since an earlier reading; nil when nothing did.
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

/// An iterator's place in the hub; leaving it with the iterator.
final class Subscription: Sendable {
    let signal = Signal()
    private let hub: ObservationHub
    private let id: Int

    init(_ database: any Database, entities: Set<String>) {
        let signal = signal
        hub = database.engineState.observations
        // Before the first reading, so that no commit falls between it and the first wait.
        id = hub.add(entities) { signal.raise() }
    }

    deinit { hub.remove(id) }
}

extension DAO {
    /// The values of a query now, and again after every commit that changes them.
    ///
    /// - Parameter query: Which values, in which order.
    public func observe(_ query: Query<Record> = Query()) -> QueryObservation<Mapping> {
        QueryObservation(changes: observeChanges(query))
    }

    /// The values that meet a condition now, and again after every commit that changes them.
    ///
    /// - Parameters:
    ///   - condition: Makes the condition from the model's fields.
    ///   - order: The sort terms; by primary key when there are none.
    ///   - limit: How many at most; nil for all.
    public func observe(
        _ condition: (FieldProxy<Record>) -> some ConditionConvertible<Record>, orderedBy order: Sort<Record>...,
        limit: Int? = nil
    ) -> QueryObservation<Mapping> {
        observe(Query(where: Condition(condition), orderedBy: order, limit: limit))
    }

    /// The values of a query now, and every later change with its difference.
    ///
    /// - Parameter query: Which values, in which order.
    public func observeChanges(_ query: Query<Record> = Query()) -> ChangeObservation<Mapping> {
        ChangeObservation(dao: self, query: query)
    }
}
