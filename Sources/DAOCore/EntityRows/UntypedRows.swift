/// The rows of a stored entity without the application's types and without what a write of a model means for others: no row follows
/// another one. They are for changes that another database has already made, with all that followed.
protocol UntypedRows {
    var entity: EntityDescription { get }

    /// Returns the values of those rows that are stored.
    func read(_ keys: [Key]) throws -> [Key: [Value]]

    /// Returns those keys that a row has.
    func stored(_ keys: [Key]) throws -> Set<Key>

    /// Stores rows, new ones and others.
    func store(_ rows: [[Value]]) throws

    /// Erases rows.
    func erase(_ keys: [Key]) throws

    /// Makes the index for searches, where there is one that was not made yet.
    func makeIndex() throws
}

/// The rows of all entities of a database.
struct AllUntypedRows {
    let database: any Database
    let models: UntypedModels
    let relations: KnownRelations

    init(_ database: any Database) throws {
        self.database = database
        models = UntypedModels(try database.entities())
        relations = KnownRelations(of: models.entities)
    }

    /// Returns the rows of an entity; nil when it is not stored.
    func rows(of entity: String) throws -> (any UntypedRows)? {
        func rows<Slot: ModelSlot>(_ slot: Slot.Type) throws -> any UntypedRows {
            try StoredUntypedRows<UntypedRecord<Slot>>(database, models)
        }
        return try models.slot(of: entity).map { try rows($0) }
    }
}

private struct StoredUntypedRows<Record: UntypedModel>: UntypedRows {
    let entity: EntityDescription
    private let storage: LoggedStorage<Record>
    /// What the type of the records is made of. These rows can be all that is left of ``AllUntypedRows``.
    private let models: UntypedModels

    init(_ database: any Database, _ models: UntypedModels) throws {
        self.models = models
        entity = Record.schema.storedDescription
        storage = LoggedStorage(try database.makeStorage(for: Record.self))
    }

    func read(_ keys: [Key]) throws -> [Key: [Value]] {
        let rows = try storage.read(keys: keys, includesSubentities: false)
        return Dictionary(rows.map { (Record.schema.key(of: $0), $0.values) }, uniquingKeysWith: { $1 })
    }

    func stored(_ keys: [Key]) throws -> Set<Key> {
        Set(try storage.keys(Query(where: Condition(.isIn(field: entity.keyIndex, keys.map(\.value))))))
    }

    func store(_ rows: [[Value]]) throws { try storage.upsert(rows.map { Record(values: $0) }) }

    func erase(_ keys: [Key]) throws { _ = try storage.erase(keys: keys) }

    func makeIndex() throws { try storage.prepareIndex() }
}
