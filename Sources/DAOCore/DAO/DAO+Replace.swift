/// What a call has done to rows, by their keys (contract W10).
public struct RowChanges: Sendable, Hashable {
    /// The keys of the new rows, in the order of the values that were given.
    public var inserted: [UniqueID]
    /// The keys of the rows whose stored values or lists are others than before, in the order of the values that were given.
    public var updated: [UniqueID]
    /// The keys of the rows that are gone, in ascending order.
    public var erased: [UniqueID]

    /// Creates a report.
    public init(inserted: [UniqueID] = [], updated: [UniqueID] = [], erased: [UniqueID] = []) {
        (self.inserted, self.updated, self.erased) = (inserted, updated, erased)
    }

    /// Whether everything is as it was.
    public var isEmpty: Bool { inserted.isEmpty && updated.isEmpty && erased.isEmpty }
}

extension DAO {
    /// Makes the values that meet a condition those that are given, and says what that has changed (contract W10).
    ///
    /// ```swift
    /// let changes = try articles.replace(where: { $0.feed == feed.id }, with: fetched)
    /// for id in changes.inserted { notify(id) }
    /// ```
    ///
    /// It is one transaction. Rows that meet the condition and are not given are erased, with what that means for related rows, and
    /// then the values are stored as `persist` stores them. They need not meet the condition. With the condition `.none` nothing is
    /// erased: it is a `persist` that says which rows are new and which have changed.
    ///
    /// - Parameters:
    ///   - condition: A closure that makes the condition from the fields of the model. It sees the rows that a scope hides, too.
    ///   - plains: The values. The last value of a repeated key wins.
    /// - Returns: The keys of the rows that are new, changed and gone. Of a list that reads leave out, a change is not seen; a row with a
    ///   `Revision` is changed by every write.
    /// - Throws: The errors of `persist` and `erase`; nothing has changed then.
    /// - Complexity: That of `erase` and `persist`, and of two reads of the given keys.
    @discardableResult
    public func replace(
        where condition: (FieldProxy<Record>) -> some ConditionConvertible<Record>, with plains: [Plain]
    ) throws -> RowChanges {
        try replace(where: .once(condition), with: plains)
    }

    /// Makes the values that meet a prepared condition those that are given, and says what that has changed (contract W10).
    ///
    /// - Parameters:
    ///   - condition: The condition; `.none` to erase nothing.
    ///   - plains: The values. The last value of a repeated key wins.
    /// - Returns: The keys of the rows that are new, changed and gone.
    /// - Throws: The errors of `persist` and `erase`; nothing has changed then.
    @discardableResult
    public func replace(where condition: Condition<Record>, with plains: [Plain]) throws -> RowChanges {
        try storage.database.transaction {
            let rows = withoutScope.storage
            var seen: Set<Key> = []
            let keys = try plains.map { try key($0.uniqueId) }.filter { seen.insert($0).inserted }
            func stored() throws -> [Key: Fingerprint] {
                let records = try rows.read(keys: keys, includesSubentities: true)
                return Dictionary(
                    zip(Record.schema.keys(of: records), try records.map { try Fingerprint(of: $0) }), uniquingKeysWith: { $1 })
            }
            let before = try stored()
            var gone = try rows.keys(Query(where: condition)).filter { !seen.contains($0) }
            if !gone.isEmpty { _ = try rows.erase(keys: gone) }
            try persist(plains)
            let after = try stored()
            var changes = RowChanges()
            for key in keys {
                switch (before[key], after[key]) {
                case (nil, nil): break
                case (nil, _): changes.inserted.append(UniqueID(key))
                // Another of the values has taken it out of a list that owned it.
                case (_, nil): gone.append(key)
                case (let old, let new): if old != new { changes.updated.append(UniqueID(key)) }
                }
            }
            changes.erased = gone.sorted().map { UniqueID($0) }
            return changes
        }
    }
}

extension DAO where Plain: Sendable {
    /// Makes the values that meet a condition those that are given, and says what that has changed.
    @discardableResult
    public nonisolated(nonsending) func replace(
        where condition: (FieldProxy<Record>) -> some ConditionConvertible<Record>, with plains: [Plain]
    ) async throws -> RowChanges {
        try await replace(where: .once(condition), with: plains)
    }

    /// Makes the values that meet a prepared condition those that are given, and says what that has changed.
    @discardableResult
    public func replace(where condition: Condition<Record>, with plains: [Plain]) async throws -> RowChanges {
        try await writing { try $0.replace(where: condition, with: plains) }
    }
}
