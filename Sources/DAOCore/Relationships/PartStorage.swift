/// The rows of a part that lacks a required field of its entity: they can be changed, and none can be inserted.
struct PartStorage<Record: Model>: ForwardingStorage {
    let base: any Storage<Record>
    /// The name of the required field.
    let missing: String

    func insert(_ records: [Record]) throws {
        guard let first = records.first else { return try base.insert(records) }
        // A database that is closed or can only be read says so.
        try database.runStep { throw cannotInsert(try Record.schema.validKey(of: first)) }
    }

    func insert(making records: () throws -> [Record]) throws { try database.transaction { try insert(records()) } }

    func upsert(making records: () throws -> [Record]) throws { try database.transaction { try upsert(records()) } }

    func upsert(_ records: [Record]) throws {
        let keys = try records.map { try Record.schema.validKey(of: $0) }
        _ = try merge(keys: keys) { index, record in record = records[index] }
    }

    func merge(keys: [Key], _ body: (Int, inout Record?) throws -> Void) throws -> Int {
        try base.merge(keys: keys) { index, record in
            let isStored = record != nil
            let writes = database.writeCount
            try body(index, &record)
            if record == nil || isStored && database.hasWrittenNothing(since: writes) { return }
            // The closure can have stored or erased the row.
            if try !base.contains(key: keys[index]) { throw cannotInsert(keys[index]) }
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
