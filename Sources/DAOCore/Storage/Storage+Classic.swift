// The known names of storages in the DAO pattern. Configuration blocks run inside the transaction, before anything is stored; when one
// throws, nothing of the call is.

extension Storage {

    // MARK: Create

    /// A record of default values, which is not stored: fill it and hand it to ``persist(object:)``.
    ///
    /// - Throws: `.invalidSchema` when a field has no default value.
    public func create() throws -> Record { try Record.schema.makeDefault() }

    /// Records of default values, which are not stored: fill them and hand them to ``persist(objects:)``.
    ///
    /// - Parameter count: How many; negative is `.invalidQuery`.
    public func create(count: Int) throws -> [Record] {
        guard count >= 0 else {
            throw StorageError(
                .invalidQuery, "\(count) records cannot be made; ask for zero or more", entity: Record.schema.description.name)
        }
        let record = try create()
        return Array(repeating: record, count: count)
    }

    /// Makes a record of default values, lets a block fill it, and stores it.
    ///
    /// - Parameter configuration: Fills the record, its key included.
    /// - Returns: The stored record.
    /// - Throws: `.duplicateKey` when the key is stored already; what the block throws.
    @discardableResult
    public func create(_ configuration: (inout Record) throws -> Void) throws -> Record {
        try create(count: 1) { record, _ in try configuration(&record) }[0]
    }

    /// Makes records of default values, lets a block fill each, and stores them.
    ///
    /// - Parameters:
    ///   - count: How many.
    ///   - configuration: Fills a record, its key included; gets its position too.
    /// - Returns: The stored records, in order.
    /// - Throws: `.duplicateKey` when a key is stored already or given twice; what the block throws.
    @discardableResult
    public func create(count: Int, configuration: (inout Record, Int) throws -> Void) throws -> [Record] {
        var records = try create(count: count)
        try insert(making: {
            for index in records.indices { try configuration(&records[index], index) }
            return records
        })
        return records
    }

    // MARK: Read

    /// All records, in key order.
    public func read() throws -> [Record] { try read(Query()) }

    /// All records, in the order of a field.
    public func read(orderedBy field: String, ascending: Bool) throws -> [Record] {
        try read(Query(orderedBy: [.by(field, ascending: ascending)]))
    }

    /// The records that meet a predicate, in the order of some sort terms.
    ///
    /// - Parameters:
    ///   - predicate: Typed, or text.
    ///   - includeSubentities: Whether related records are read too.
    ///   - sortDescriptors: The sort terms; by key when there are none.
    public func read(
        predicatedBy predicate: Condition<Record>, includeSubentities: Bool = true, sortDescriptors: [Sort<Record>] = []
    ) throws -> [Record] {
        try read(Query(where: predicate, orderedBy: sortDescriptors, includesSubentities: includeSubentities))
    }

    /// The records that meet a predicate, in the order of a field.
    public func read(predicatedBy predicate: Condition<Record>, orderedBy field: String, ascending: Bool) throws -> [Record] {
        try read(Query(where: predicate, orderedBy: [.by(field, ascending: ascending)]))
    }

    /// The record with a key, or nil.
    public func read(byPrimaryKey id: some UniqueIDConvertible, includeSubentities: Bool = true) throws -> Record? {
        try read(keys: [key(id)], includesSubentities: includeSubentities).first
    }

    // MARK: Persist

    /// Lets a block change the records that meet a predicate, and stores what changed.
    ///
    /// - Returns: How many records met the predicate.
    /// - Throws: `.keyChanged` when the block changed a key; what the block throws.
    @discardableResult
    public func persist(predicatedBy predicate: Condition<Record>, _ configuration: (inout Record) throws -> Void) throws -> Int {
        try update(Query(where: predicate), configuration)
    }

    /// Lets a block change the record with a key, and stores it. When there is none the block gets nil and nothing is stored.
    ///
    /// - Returns: Whether there was one.
    /// - Throws: `.keyChanged` when the block changed the key; what the block throws.
    @discardableResult
    public func persist(
        withPrimaryKey id: some UniqueIDConvertible, configuration: (inout Record?) throws -> Void
    ) throws -> Bool {
        var wasThere = false
        _ = try merge(keys: [key(id)]) { _, record in
            wasThere = record != nil
            try configuration(&record)
            if !wasThere { record = nil }
        }
        return wasThere
    }

    /// Stores a record whole, whether or not its key is stored already.
    public func persist(object: Record) throws { try upsert([object]) }

    /// Stores records whole: all of them, or none when anything throws.
    public func persist(objects: [Record]) throws { try upsert(objects) }

    // MARK: Erase

    /// Removes the record with the same key as this one, if it is stored.
    ///
    /// - Returns: How many there were: 0 or 1.
    @discardableResult
    public func erase(object: Record) throws -> Int { try erase(keys: [Record.schema.validKey(of: object)]) }

    /// Removes the record with a key, if it is stored.
    ///
    /// - Returns: How many there were: 0 or 1.
    @discardableResult
    public func erase(byPrimaryKey id: some UniqueIDConvertible) throws -> Int { try erase(keys: [key(id)]) }

    /// Removes all records.
    ///
    /// - Returns: How many there were.
    @discardableResult
    public func erase() throws -> Int { try erase(Query()) }

    /// Removes the records that meet a predicate.
    ///
    /// - Returns: How many there were.
    @discardableResult
    public func erase(predicatedBy predicate: Condition<Record>) throws -> Int { try erase(Query(where: predicate)) }

    // MARK: Ask

    /// Whether there is a record with a key.
    public func isEntityExist(primaryKey id: some UniqueIDConvertible) throws -> Bool { try contains(key: key(id)) }

    /// How many records there are.
    public func count() throws -> Int { try count(Query()) }

    /// How many records meet a predicate.
    public func count(predicatedBy predicate: Condition<Record>) throws -> Int { try count(Query(where: predicate)) }

    /// The stored form of an id, checked.
    private func key(_ id: some UniqueIDConvertible) throws -> Key {
        try id.key(as: Record.schema.keyKind, entity: Record.schema.description.name)
    }
}
