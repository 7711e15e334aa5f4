// The traditional method names of storages in the DAO pattern. Configuration closures run inside the
// transaction, before anything is stored. When a closure throws, the call stores nothing.

extension Storage {

    // MARK: Create

    /// Returns a record with default values. The record is not stored: change it and pass it to
    /// ``persist(object:)``.
    ///
    /// - Throws: `.invalidSchema` when a field has no default value.
    public func create() throws -> Record { try Record.schema.makeDefault() }

    /// Returns records with default values. The records are not stored: change them and pass them to
    /// ``persist(objects:)``.
    ///
    /// - Parameter count: The number of records. A negative number is `.invalidQuery`.
    public func create(count: Int) throws -> [Record] {
        guard count >= 0 else {
            throw StorageError(
                .invalidQuery, "\(count) records cannot be made; ask for zero or more", entity: Record.schema.description.name)
        }
        let record = try create()
        return Array(repeating: record, count: count)
    }

    /// Creates a record with default values, lets a closure change it, and stores it.
    ///
    /// - Parameter configuration: A closure that changes the record, including its key.
    /// - Returns: The stored record.
    /// - Throws: `.duplicateKey` when the key is already stored; any error of the closure.
    @discardableResult
    public func create(_ configuration: (inout Record) throws -> Void) throws -> Record {
        try create(count: 1) { record, _ in try configuration(&record) }[0]
    }

    /// Creates records with default values, lets a closure change each of them, and stores them.
    ///
    /// - Parameters:
    ///   - count: The number of records.
    ///   - configuration: A closure that changes a record, including its key. It also gets the position of
    ///     the record.
    /// - Returns: The stored records, in order.
    /// - Throws: `.duplicateKey` when a key is already stored or is repeated; any error of the closure.
    @discardableResult
    public func create(count: Int, configuration: (inout Record, Int) throws -> Void) throws -> [Record] {
        var records = try create(count: count)
        try insert(making: {
            for index in records.indices { try configuration(&records[index], index) }
            return records
        })
        for index in records.indices { try Record.schema.revision?.set(.first, in: &records[index]) }
        return records
    }

    // MARK: Read

    /// Returns all records, in key order.
    public func read() throws -> [Record] { try read(Query()) }

    /// Returns all records, in the order of a field.
    public func read(orderedBy field: String, ascending: Bool) throws -> [Record] {
        try read(Query(orderedBy: [.by(field, ascending: ascending)]))
    }

    /// Returns the records that meet a predicate, in an order.
    ///
    /// - Parameters:
    ///   - predicate: A typed predicate, or text.
    ///   - includeSubentities: Whether related records are read.
    ///   - sortDescriptors: The sort terms. Without terms, the order is that of the primary key.
    public func read(
        predicatedBy predicate: Condition<Record>, includeSubentities: Bool = true, sortDescriptors: [Sort<Record>] = []
    ) throws -> [Record] {
        try read(Query(where: predicate, orderedBy: sortDescriptors, includesSubentities: includeSubentities))
    }

    /// Returns the records that meet a predicate, in the order of a field.
    public func read(predicatedBy predicate: Condition<Record>, orderedBy field: String, ascending: Bool) throws -> [Record] {
        try read(Query(where: predicate, orderedBy: [.by(field, ascending: ascending)]))
    }

    /// Returns the record with a key; nil when the key is not stored.
    public func read(byPrimaryKey id: any UniqueIDConvertible, includeSubentities: Bool = true) throws -> Record? {
        try read(keys: [key(id)], includesSubentities: includeSubentities).first
    }

    // MARK: Persist

    /// Lets a closure change the records that meet a predicate, and stores the changes.
    ///
    /// - Returns: The number of records that met the predicate.
    /// - Throws: `.keyChanged` when the closure changed a key; any error of the closure.
    @discardableResult
    public func persist(predicatedBy predicate: Condition<Record>, _ configuration: (inout Record) throws -> Void) throws -> Int {
        try update(Query(where: predicate), configuration)
    }

    /// Lets a closure change the record with a key, and stores it. When the key is not stored, the closure
    /// gets nil and nothing is stored.
    ///
    /// - Returns: Whether the key is stored.
    /// - Throws: `.keyChanged` when the closure changed the key; any error of the closure.
    @discardableResult
    public func persist(
        withPrimaryKey id: any UniqueIDConvertible, configuration: (inout Record?) throws -> Void
    ) throws -> Bool {
        var wasThere = false
        _ = try merge(keys: [key(id)]) { _, record in
            wasThere = record != nil
            try configuration(&record)
            if !wasThere { record = nil }
        }
        return wasThere
    }

    /// Stores a record completely. A stored record with the same key is replaced.
    public func persist(object: Record) throws { try upsert([object]) }

    /// Stores records completely. When anything throws, none is stored.
    public func persist(objects: [Record]) throws { try upsert(objects) }

    // MARK: Erase

    /// Erases the stored record with the key of the given record.
    ///
    /// - Returns: The number of erased rows: 0 or 1.
    @discardableResult
    public func erase(object: Record) throws -> Int { try erase(keys: [Record.schema.validKey(of: object)]) }

    /// Erases the stored record with a key.
    ///
    /// - Returns: The number of erased rows: 0 or 1.
    @discardableResult
    public func erase(byPrimaryKey id: any UniqueIDConvertible) throws -> Int { try erase(keys: [key(id)]) }

    /// Erases all records.
    ///
    /// - Returns: The number of erased rows.
    @discardableResult
    public func erase() throws -> Int { try erase(Query()) }

    /// Erases the records that meet a predicate.
    ///
    /// - Returns: The number of erased rows.
    @discardableResult
    public func erase(predicatedBy predicate: Condition<Record>) throws -> Int { try erase(Query(where: predicate)) }

    // MARK: Queries

    /// Returns whether a key is stored.
    public func isEntityExist(primaryKey id: any UniqueIDConvertible) throws -> Bool { try contains(key: key(id)) }

    /// Returns the number of records.
    public func count() throws -> Int { try count(Query()) }

    /// Returns the number of records that meet a predicate.
    public func count(predicatedBy predicate: Condition<Record>) throws -> Int { try count(Query(where: predicate)) }

    /// Returns the stored form of an id, after checking it.
    private func key(_ id: any UniqueIDConvertible) throws -> Key {
        try id.key(as: Record.schema.keyKind, entity: Record.schema.description.name)
    }
}
