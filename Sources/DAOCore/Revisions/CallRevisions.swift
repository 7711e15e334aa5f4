/// The revisions of the rows that one call writes. A row that a call writes several times is counted once.
///
/// It is used inside one transaction. Rows of models without a ``Revision`` pass through it unchanged.
final class CallRevisions {
    /// The revisions that were stored before the call, by model and key.
    private var stored: [ObjectIdentifier: [Key: Revision]] = [:]

    /// Lets a closure change a record, checks its revision and counts it up.
    ///
    /// - Parameters:
    ///   - key: The key of the row.
    ///   - record: The stored record, or the record that an earlier change of the call left; nil when there is
    ///     none.
    ///   - storage: The rows of the model.
    ///   - body: A closure that changes the record, and can write.
    /// - Throws: `.conflict` when the record that the closure leaves has another revision than the stored one: that from
    ///   before the call, or that which an earlier change of the call left.
    func change<Record: Model>(
        _ key: Key, _ record: inout Record?, in storage: any Storage<Record>, _ body: (inout Record?) throws -> Void
    ) throws {
        guard let field = Record.schema.revision else { return try body(&record) }
        let read = record.map(field.value) ?? Revision()
        let before = stored[ObjectIdentifier(Record.self)]?[key] ?? read
        stored[ObjectIdentifier(Record.self), default: [:]][key] = before
        // The record is taken out and put back, because a copy would retain every reference in it.
        if var given = record.take() {
            try field.set(before, in: &given)
            record = consume given
        }
        let writes = storage.database.writeCount
        try body(&record)
        guard var changed = record.take() else { return }
        let more = storage.database.hasWrittenNothing(since: writes) ? 0 : try field.writes(of: key, since: read, in: storage)
        let now = Revision(rawValue: before.rawValue &+ more)
        if more > 0 { stored[ObjectIdentifier(Record.self), default: [:]][key] = now }
        try field.count(&changed, given: before, left: read, stored: now, key: key)
        record = consume changed
    }

    /// Merges rows; see ``Storage/merge(keys:_:)``.
    func merge<Record: Model>(
        _ keys: [Key], in storage: any Storage<Record>, _ body: (Int, inout Record?) throws -> Void
    ) throws -> Int {
        try storage.merge(keys: keys) { index, record in
            try change(keys[index], &record, in: storage) { try body(index, &$0) }
        }
    }

    /// Stores rows completely; see ``Storage/upsert(_:)``.
    ///
    /// Rows with a revision are replaced through `merge`, which reads the stored row in the same transaction.
    func upsert<Record: Model>(_ records: [Record], in storage: any Storage<Record>) throws {
        guard Record.schema.revision != nil else { return try storage.upsert(records) }
        let keys = try records.map { try Record.schema.validKey(of: $0) }
        // The last row of a repeated key wins.
        let last = Dictionary(zip(keys, records.indices), uniquingKeysWith: { $1 })
        let places = keys.indices.filter { last[keys[$0]] == $0 }
        _ = try merge(places.map { keys[$0] }, in: storage) { $1 = records[places[$0]] }
    }
}
