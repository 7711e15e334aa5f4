/// The rows of a part that lacks a required field of its entity: they can be changed, and none can be inserted.
struct PartStorage<Record: Model>: Storage {
    let flat: any Storage<Record>
    /// The name of the required field.
    let missing: String

    var database: any Database { flat.database }

    func read(_ query: Query<Record>) throws -> [Record] { try flat.read(query) }
    func read(keys: [Key], includesSubentities: Bool) throws -> [Record] {
        try flat.read(keys: keys, includesSubentities: includesSubentities)
    }
    func read(key: Key) throws -> Record? { try flat.read(key: key) }
    func contains(key: Key) throws -> Bool { try flat.contains(key: key) }
    func keys(_ query: Query<Record>) throws -> [Key] { try flat.keys(query) }
    func count(_ query: Query<Record>) throws -> Int { try flat.count(query) }
    func readFields(_ fields: [Int], _ query: Query<Record>, _ body: (RowReader) throws -> Void) throws {
        try flat.readFields(fields, query, body)
    }
    func groups(_ query: GroupQuery<Record>, _ body: (RowReader, [Int]) throws -> Void) throws {
        try flat.groups(query, body)
    }
    func cursor(_ query: Query<Record>) throws -> RowCursor<Record> { try flat.cursor(query) }
    func explain(_ query: Query<Record>) throws -> QueryPlan { try flat.explain(query) }

    func update(_ query: Query<Record>, _ body: (inout Record) throws -> Void) throws -> Int {
        try flat.update(query, body)
    }
    func set(_ changes: [StoredChange], counting counter: Int?, where condition: Condition<Record>) throws -> Int? {
        try flat.set(changes, counting: counter, where: condition)
    }
    func erase(keys: [Key]) throws -> Int { try flat.erase(keys: keys) }
    func erase(_ query: Query<Record>) throws -> Int { try flat.erase(query) }

    func insert(_ records: [Record]) throws {
        guard let first = records.first else { return try flat.insert(records) }
        // A database that is closed or can only be read says so.
        try database.runStep { throw cannotInsert(try Record.schema.validKey(of: first)) }
    }

    func upsert(_ records: [Record]) throws {
        let keys = try records.map { try Record.schema.validKey(of: $0) }
        _ = try merge(keys: keys) { index, record in record = records[index] }
    }

    func merge(keys: [Key], _ body: (Int, inout Record?) throws -> Void) throws -> Int {
        try flat.merge(keys: keys) { index, record in
            let isStored = record != nil
            let writes = database.writeCount
            try body(index, &record)
            if record == nil || isStored && database.hasWrittenNothing(since: writes) { return }
            // The closure can have stored or erased the row.
            if try !flat.contains(key: keys[index]) { throw cannotInsert(keys[index]) }
        }
    }

    private func cannotInsert(_ key: Key) -> StorageError {
        let entity = Record.schema.description.name
        return StorageError(
            .unsupported,
            "a new row of '\(entity)' needs a value of '\(missing)', which '\(String(describing: Record.self))' lacks; insert the row through the model of "
                + "the whole entity, or give the field a default there", entity: entity, key: UniqueID(key), field: missing)
    }
}
