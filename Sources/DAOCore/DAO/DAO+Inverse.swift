// Reads of the rows that refer to others.

extension DAO {
    /// Returns the values that refer to each of some rows and meet a condition (contract R12).
    ///
    /// ```swift
    /// let writers = try writers.read(limit: 20)
    /// let newest = try articles.read(Writer.articles, of: writers.map(\.id), orderedBy: .descending(\.id), first: 3) {
    ///     $0.title != ""
    /// }
    /// for (writer, articles) in zip(writers, newest) { print(writer.name, articles.map(\.title)) }
    /// ```
    ///
    /// - Parameters:
    ///   - inverse: The relationship, as the other rows see it.
    ///   - keys: The keys of the other rows.
    ///   - order: The sort terms of each list. Without terms, the order is that of the primary key.
    ///   - first: The maximum number of values in each list; nil for all.
    ///   - condition: A closure that makes the condition from the fields of the model.
    /// - Returns: A list for each key, in the order of the keys. It is empty where no value refers to the key.
    /// - Throws: `.invalidQuery` when the inverse does not lead to a stored field, or for a negative number; `.unsupported`
    ///   when the storage is not from ``Database/storage(for:)``.
    /// - Complexity: A fixed number of engine queries; with `first`, a fixed number for each key, each of which ends at that
    ///   number of rows.
    public func read<Target: Model>(
        _ inverse: Inverse<Target, Record>, of keys: [some UniqueIDConvertible], orderedBy order: Sort<Record>...,
        first: Int? = nil, where condition: (FieldProxy<Record>) -> some ConditionConvertible<Record>
    ) throws -> [[Plain]] {
        try read(inverse, of: keys, Query(where: .once(condition), orderedBy: order, limit: first))
    }

    /// Returns the values that refer to each of some rows and meet a prepared condition; all of them without a condition.
    ///
    /// - Parameters:
    ///   - inverse: The relationship, as the other rows see it.
    ///   - keys: The keys of the other rows.
    ///   - order: The sort terms of each list. Without terms, the order is that of the primary key.
    ///   - first: The maximum number of values in each list; nil for all.
    ///   - condition: The condition; by default all values meet it.
    /// - Returns: A list for each key, in the order of the keys.
    /// - Throws: As with a closure.
    public func read<Target: Model>(
        _ inverse: Inverse<Target, Record>, of keys: [some UniqueIDConvertible], orderedBy order: Sort<Record>...,
        first: Int? = nil, where condition: Condition<Record> = .all
    ) throws -> [[Plain]] {
        try read(inverse, of: keys, Query(where: condition, orderedBy: order, limit: first))
    }

    func read<Target: Model>(
        _ inverse: Inverse<Target, Record>, of keys: [some UniqueIDConvertible], _ query: Query<Record>
    ) throws -> [[Plain]] {
        let entity = Record.schema.description.name
        guard let relation = inverse.relation else { throw StorageError(.invalidQuery, inverse.problem.message, entity: entity) }
        guard let storage = storage as? any IncludingStorage<Record> else { throw StorageError.readsNoRelatedRows(entity) }
        let target = Target.schema
        return try storage.read(
            query, referring: relation, to: keys.map { try $0.key(as: target.keyKind, entity: target.description.name) }
        )
        .map { try translator.translate(models: $0) }
    }
}

extension StorageError {
    /// The error of a storage that has no related rows.
    static func readsNoRelatedRows(_ entity: String) -> StorageError {
        StorageError(
            .unsupported, "this storage of '\(entity)' reads no related rows; use a storage of a database", entity: entity)
    }
}
