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

/// The keys and fingerprints of a result. They suffice to compare it with the next result.
private struct Reading: Sendable {
    let order: [Key]
    let fingerprints: [Key: Fingerprint]

    init<Record: Model>(of records: [Record]) throws {
        order = Record.schema.keys(of: records)
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
    ) -> ValueObservation<[Plain]> {
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
    ) -> ValueObservation<[Plain]> {
        observe(Query(where: condition, orderedBy: order, limit: limit))
    }

    /// Returns the values of a query now, and again after every commit that changes them.
    ///
    /// ```swift
    /// for try await unread in messages.observe(where: { !$0.isRead }) {
    ///     show(unread)
    /// }
    /// ```
    ///
    /// Rows of the model, and related rows, cause a new result; what the translator reads through other DAOs does
    /// not.
    public func observe(_ query: Query<Record>) -> ValueObservation<[Plain]> {
        observing({ try storage.read(query) }, { $0.elements })
    }

    /// Returns the value with a key now, and again after every commit that changes it; nil while the key is not
    /// stored.
    ///
    /// ```swift
    /// for try await message in messages.observe(byPrimaryKey: 7) {
    ///     show(message)
    /// }
    /// ```
    ///
    /// The stored rows are compared, so the value need not be `Equatable`. Related rows belong to the row. What
    /// the translator reads through other DAOs does not: observe it with ``Database/observe(_:)``.
    ///
    /// - Parameter id: A `UniqueID`, a string, an integer or a UUID. The sequence throws `.invalidKey` for an id
    ///   that cannot be a key of the model.
    public func observe(byPrimaryKey id: any UniqueIDConvertible) -> ValueObservation<Plain?> {
        observing({ try storage.read(keys: [key(id)], includesSubentities: true) }, { $0.elements.first })
    }

    /// Returns the values of a query now, and every later change with its difference.
    ///
    /// - Parameter query: The query; by default all values in key order.
    public func observeChanges(_ query: Query<Record> = Query()) -> ValueObservation<ObservedChange<Plain>> {
        observing({ try storage.read(query) }, { $0 })
    }

    /// Observes records by their fingerprints. Records are translated only when they differ from the last result.
    private func observing<Value: Sendable>(
        _ read: @escaping @Sendable () throws -> [Record], _ value: @escaping @Sendable (ObservedChange<Plain>) -> Value
    ) -> ValueObservation<Value> {
        ValueObservation(storage.database) {
            let last = LastResult<Reading>()
            return {
                let records = try read()
                let reading = try Reading(of: records)
                return try reading.change(since: last.replace(with: reading)) { try translator.translate(models: records) }
                    .map(value)
            }
        }
    }
}
