/// The rows of a model with a ``Revision``. It compares and counts the revisions of everything that it writes, so
/// that no database has to (contract W7).
///
/// Rows are replaced through `merge`, which reads the stored row in the same transaction.
struct CountingStorage<Record: Model>: ForwardingStorage {
    let base: any Storage<Record>
    private let revision: RevisionField<Record>

    /// Returns a storage that counts revisions; the given storage when its model has none.
    static func counting(_ base: any Storage<Record>) -> any Storage<Record> {
        if let revision = Record.schema.revision { CountingStorage(base: base, revision: revision) } else { base }
    }

    func insert(_ records: [Record]) throws { try base.insert(first(records)) }

    func insert(making records: () throws -> [Record]) throws { try base.insert(making: { try first(records()) }) }

    /// Returns new records with the first revision, whatever revision they have.
    private func first(_ records: [Record]) throws -> [Record] {
        var records = records
        for index in records.indices { try revision.set(.first, in: &records[index]) }
        return records
    }

    func upsert(_ records: [Record]) throws { try CallRevisions().upsert(records, in: base) }

    func upsert(making records: () throws -> [Record]) throws { try database.transaction { try upsert(records()) } }

    func merge(keys: [Key], _ body: (Int, inout Record?) throws -> Void) throws -> Int {
        try CallRevisions().merge(keys, in: base, body)
    }

    func update(_ query: Query<Record>, _ body: (inout Record) throws -> Void) throws -> Int {
        try base.update(query) { record in
            let read = revision.value(of: record)
            let key = Record.schema.key(of: record)
            let writes = database.writeCount
            try body(&record)
            let more = database.hasWrittenNothing(since: writes) ? 0 : try revision.writes(of: key, since: read, in: base)
            try revision.count(&record, given: read, stored: Revision(rawValue: read.rawValue &+ more), key: key)
        }
    }

    func set(_ changes: [StoredChange], counting counter: Int?, where condition: Condition<Record>) throws -> Int? {
        try base.set(changes, counting: revision.index, where: condition)
    }
}
