extension DAO {

    // MARK: Create

    /// Stores a value whose key is not stored yet.
    ///
    /// - Throws: `.duplicateKey` when it is.
    public func create(_ plain: Plain) throws { try create([plain]) }

    /// Stores values whose keys are not stored yet: all of them, or none when anything throws.
    ///
    /// - Throws: `.duplicateKey` when a key is stored or given twice.
    public func create(_ plains: [Plain]) throws {
        try storage.insert(making: { try translator.translate(plains: plains) })
    }

    // MARK: Persist

    /// Stores a value: a new one is created, a stored one merged or replaced as the translator says.
    public func persist(_ plain: Plain) throws { try persist([plain]) }

    /// Stores values: all of them, or none when anything throws. Of a repeated key the last wins.
    public func persist(_ plains: [Plain]) throws {
        guard Mapping.merges else {
            return try storage.upsert(making: { try translator.translate(plains: plains) })
        }
        try Self.merge(plains, keys: plains.map { try key($0.uniqueId) }, translator, storage)
    }

    /// Merges values into the stored rows.
    ///
    /// The closure captures what it needs and not the DAO, whose type it would ask the runtime for with every row.
    private static func merge(_ plains: [Plain], keys: [Key], _ translator: Mapping, _ storage: any Storage<Record>) throws {
        _ = try storage.merge(keys: keys) { index, record in
            // Taken out and put back, since a copy would count every reference in it.
            if var stored = record.take() {
                _ = try translator.translate(from: plains[index], to: &stored)
                record = consume stored
            } else {
                record = try translator.translate(plain: plains[index])
            }
        }
    }

    /// The stored value with a key, or else a new one, which is stored.
    ///
    /// - Parameters:
    ///   - id: The key.
    ///   - make: Makes the value when there is none; it has to have that key.
    /// - Throws: `.keyChanged` when the made value has another key.
    public func findOrCreate(byPrimaryKey id: some UniqueIDConvertible, _ make: () throws -> Plain) throws -> Plain {
        let key = try key(id)
        var result: Plain?
        _ = try storage.merge(keys: [key]) { _, record in
            if let record {
                result = try translator.translate(model: record)
            } else {
                let plain = try make()
                record = try translator.translate(plain: plain)
                result = plain
            }
        }
        // The closure ran, or `merge` threw.
        guard let result else {
            throw StorageError(.io, "the storage did not ask for the value to store; report it to the author of the storage")
        }
        return result
    }

    /// Changes the stored records that meet a condition: all of them, or none when anything throws.
    ///
    /// ```swift
    /// let count = try messages.update(where: { !$0.isRead }) { $0.isRead = true }
    /// ```
    ///
    /// - Parameters:
    ///   - condition: Makes the condition from the model's fields.
    ///   - change: Changes a record; its key must stay as it is.
    /// - Returns: How many records met the condition.
    @discardableResult
    public func update(
        where condition: (FieldProxy<Record>) -> some ConditionConvertible<Record>, _ change: (inout Record) throws -> Void
    ) throws -> Int {
        try storage.update(Query(where: Condition(condition)), change)
    }

    // MARK: Erase

    /// Removes all values.
    ///
    /// - Returns: How many there were.
    @discardableResult
    public func erase() throws -> Int { try storage.erase(Query()) }

    /// Removes the value with the same key as this one, if it is stored.
    ///
    /// - Returns: How many there were: 0 or 1.
    @discardableResult
    public func erase(_ plain: Plain) throws -> Int { try storage.erase(keys: [key(plain.uniqueId)]) }

    /// Removes the values with the same keys as these, as far as they are stored.
    ///
    /// - Returns: How many there were.
    @discardableResult
    public func erase(_ plains: [Plain]) throws -> Int { try storage.erase(keys: plains.map { try key($0.uniqueId) }) }

    /// Removes the value with a key, if it is stored.
    ///
    /// - Returns: How many there were: 0 or 1.
    @discardableResult
    public func erase(byPrimaryKey id: some UniqueIDConvertible) throws -> Int { try storage.erase(keys: [key(id)]) }

    /// Removes the values with these keys, as far as they are stored.
    ///
    /// - Returns: How many there were.
    @discardableResult
    public func erase(byPrimaryKeys ids: some Sequence<some UniqueIDConvertible>) throws -> Int {
        try storage.erase(keys: ids.map { try key($0) })
    }

    /// Removes the values that meet a condition.
    ///
    /// - Returns: How many there were.
    @discardableResult
    public func erase(where condition: (FieldProxy<Record>) -> some ConditionConvertible<Record>) throws -> Int {
        try storage.erase(Query(where: Condition(condition)))
    }
}
