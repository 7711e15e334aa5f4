extension DAO {

    // MARK: Create

    /// Stores a new value.
    ///
    /// - Throws: `.duplicateKey` when the key is already stored.
    public func create(_ plain: Plain) throws { try create([plain]) }

    /// Stores new values. When anything throws, none is stored.
    ///
    /// - Throws: `.duplicateKey` when a key is already stored or is repeated.
    public func create(_ plains: [Plain]) throws {
        try storage.insert(making: { try translator.translate(plains: plains) })
    }

    // MARK: Persist

    /// Stores a value. A new value is created; a stored value is merged or replaced, as the translator
    /// defines.
    @inlinable public func persist(_ plain: Plain) throws { try persist([plain]) }

    /// Stores values. When anything throws, none is stored. The last value of a repeated key wins. Unique values are judged when the
    /// call ends, so that two rows can trade theirs.
    ///
    /// - Throws: `.uniqueViolation` when two rows would have a unique value; any error of the translator.
    @inlinable public func persist(_ plains: [Plain]) throws {
        guard Mapping.merges else {
            return try storage.upsert(making: { try translator.translate(plains: plains) })
        }
        try Self.merge(plains, keys: plains.map { try key($0.uniqueId) }, translator, storage)
    }

    /// Merges values into the stored rows.
    ///
    /// It is compiled for its types in the application's module. Elsewhere every row would ask the runtime for them.
    @inlinable static func merge(_ plains: [Plain], keys: [Key], _ translator: Mapping, _ storage: any Storage<Record>) throws {
        _ = try storage.merge(keys: keys) { index, record in
            // The record is taken out and put back, because a copy would retain every reference in it.
            if var stored = record.take() {
                _ = try translator.translate(from: plains[index], to: &stored)
                record = consume stored
            } else {
                record = try translator.translate(plain: plains[index])
            }
        }
    }

    /// Returns the stored value with a key, or stores and returns a new value.
    ///
    /// - Parameters:
    ///   - id: The key.
    ///   - make: A closure that makes the new value. The value must have the given key.
    /// - Throws: `.keyChanged` when the new value has a different key.
    public func findOrCreate(byPrimaryKey id: any UniqueIDConvertible, _ make: () throws -> Plain) throws -> Plain {
        let key = try key(id)
        var result: Plain?
        _ = try storage.merge(keys: [key]) { _, record in
            if let found = record {
                result = try translator.translate(model: found)
                // Nothing is written for a stored value.
                record = nil
            } else {
                let plain = try make()
                record = try translator.translate(plain: plain)
                result = plain
            }
        }
        // The closure ran, or `merge` threw.
        guard let result else { throw StorageError.asksForNoValue }
        return result
    }

    /// Returns the first stored value, in key order, that meets a condition, or stores and returns a new value (contract W1).
    ///
    /// ```swift
    /// let tag = try tags.findOrCreate(where: { $0.title.equals(title, .caseInsensitive) }) { Tag(id: UUID(), title: title) }
    /// ```
    ///
    /// It is one transaction: of two calls that run at once, in any processes, one finds the value of the other.
    ///
    /// - Parameters:
    ///   - condition: A closure that makes the condition from the fields of the model.
    ///   - make: A closure that makes the new value. The value must meet the condition.
    /// - Throws: `.invalidQuery` when the new value does not meet the condition; the errors of `create`.
    public func findOrCreate(
        where condition: (FieldProxy<Record>) -> some ConditionConvertible<Record>, _ make: () throws -> Plain
    ) throws -> Plain {
        try findOrCreate(where: Condition(condition), make)
    }

    /// Returns the first stored value, in key order, that meets a prepared condition, or stores and returns a new value
    /// (contract W1).
    ///
    /// ```swift
    /// let list = try lists.findOrCreate(where: .all) { List(id: UUID(), title: "Reminders") }     // one, where none is left
    /// ```
    ///
    /// - Parameters:
    ///   - condition: The condition.
    ///   - make: A closure that makes the new value. The value must meet the condition.
    /// - Throws: `.invalidQuery` when the new value does not meet the condition; the errors of `create`.
    public func findOrCreate(where condition: Condition<Record>, _ make: () throws -> Plain) throws -> Plain {
        try storage.database.transaction {
            let rows = withoutScope
            if let found = try rows.first(where: condition) { return found }
            return try rows.create(make: { try translator.translate(plain: make()) }) { key, entity in
                let isKey = Condition<Record>(.compare(field: entity.keyIndex, .equal, key.value))
                guard try !rows.exists(where: condition && isKey) else { return }
                throw StorageError(
                    .invalidQuery, "the new row does not meet the condition by which it is looked for; make one that meets it",
                    entity: entity.name, key: UniqueID(key))
            }
        }
    }

    /// Stores a new value with the next number among the values that meet a condition (contract W1).
    ///
    /// ```swift
    /// let reminder = try reminders.append(draft, by: \.position) { $0.list == draft.list }
    /// ```
    ///
    /// It is one transaction: two calls that run at once, in any processes, give different numbers.
    ///
    /// - Parameters:
    ///   - plain: The value. What it has in the field does not matter.
    ///   - field: A key path to a stored integer field. It gets the greatest value plus one, or 0 where there is none.
    ///   - condition: A closure that makes the condition from the fields of the model.
    /// - Returns: The stored value.
    /// - Throws: `.arithmeticOverflow` when the field cannot hold the number; the errors of `create`.
    @discardableResult
    public func append<Value: OrderedFieldValue>(
        _ plain: Plain, by field: KeyPath<Record, Value>,
        where condition: (FieldProxy<Record>) -> some ConditionConvertible<Record>
    ) throws -> Plain where Value.Present: NumericFieldValue & FixedWidthInteger {
        try append(plain, by: field, where: .once(condition))
    }

    /// Stores a new value with the next number among the values that meet a prepared condition; among all values without a
    /// condition (contract W1).
    ///
    /// - Parameters:
    ///   - plain: The value. What it has in the field does not matter.
    ///   - field: A key path to a stored integer field. It gets the greatest value plus one, or 0 where there is none.
    ///   - condition: The condition; by default all values meet it.
    /// - Returns: The stored value.
    /// - Throws: `.arithmeticOverflow` when the field cannot hold the number; the errors of `create`.
    @discardableResult
    public func append<Value: OrderedFieldValue>(
        _ plain: Plain, by field: KeyPath<Record, Value>, where condition: Condition<Record> = .all
    ) throws -> Plain where Value.Present: NumericFieldValue & FixedWidthInteger {
        try storage.database.transaction {
            let place = try FieldChange<Record>.place(of: field)
            let last = try withoutScope.max(field, where: condition)
            let entity = Record.schema.description
            let (number, isTooLarge) = last?.addingReportingOverflow(1) ?? (0, false)
            if isTooLarge {
                throw StorageError.noNextNumber(entity.name, field: entity.fields[place].name, type: Value.Present.self)
            }
            return try withoutScope.create(make: {
                var record = try translator.translate(plain: plain)
                try Record.schema.set(number.fieldValue, at: place, in: &record)
                return record
            })
        }
    }

    /// Stores a new record, and returns its value.
    private func create(
        make: () throws -> Record, check: (Key, EntityDescription) throws -> Void = { _, _ in }
    ) throws -> Plain {
        var made: Record?
        try storage.insert(making: {
            let record = try make()
            made = record
            return [record]
        })
        // The closure ran, or `insert` threw.
        guard var record = made else { throw StorageError.asksForNoValue }
        try check(Record.schema.key(of: record), Record.schema.description)
        try Record.schema.revision?.set(.first, in: &record)
        return try translator.translate(model: record)
    }

    /// Changes the stored records that meet a condition. When anything throws, none is changed.
    ///
    /// ```swift
    /// let count = try messages.update(where: { !$0.isRead }) { $0.isRead = true }
    /// ```
    ///
    /// Unique values are judged when the call ends: `$0.rank += 1` can count the ranks of all rows up.
    ///
    /// - Parameters:
    ///   - condition: A closure that makes the condition from the fields of the model.
    ///   - change: A closure that changes a record. It must not change the key.
    /// - Returns: The number of records that met the condition, without those that the closure has erased.
    @discardableResult
    public func update(
        where condition: (FieldProxy<Record>) -> some ConditionConvertible<Record>, _ change: (inout Record) throws -> Void
    ) throws -> Int {
        try update(where: .once(condition), change)
    }

    /// Changes the stored records that meet a prepared condition. When anything throws, none is changed.
    ///
    /// - Parameters:
    ///   - condition: The condition.
    ///   - change: A closure that changes a record. It must not change the key.
    /// - Returns: The number of records that met the condition, without those that the closure has erased.
    @discardableResult
    public func update(where condition: Condition<Record>, _ change: (inout Record) throws -> Void) throws -> Int {
        try storage.update(Query(where: condition), change)
    }

    /// Changes the first records of an order that meet a condition, and returns them. When anything throws, none is changed.
    ///
    /// ```swift
    /// let mine = try jobs.update(orderedBy: .ascending(\.createdAt), limit: 10, where: { $0.worker == nil }) { $0.worker = name }
    /// ```
    ///
    /// The records are those that a read would give when the call begins, without a scope. Two calls that run at once, in any
    /// processes, change different ones (contract T4).
    ///
    /// - Parameters:
    ///   - order: The sort terms. Without terms, the order is that of the primary key.
    ///   - limit: The maximum number of records.
    ///   - condition: A closure that makes the condition from the fields of the model.
    ///   - change: A closure that changes a record. It must not change the key.
    /// - Returns: The changed values in that order, without those that the closure has erased.
    @discardableResult
    public func update(
        orderedBy order: Sort<Record>..., limit: Int,
        where condition: (FieldProxy<Record>) -> some ConditionConvertible<Record>, _ change: (inout Record) throws -> Void
    ) throws -> [Plain] {
        try updateFirst(Query(where: .once(condition), orderedBy: order, limit: limit), change)
    }

    /// Changes the first records of an order that meet a prepared condition, and returns them. When anything throws, none is changed.
    ///
    /// - Parameters:
    ///   - order: The sort terms. Without terms, the order is that of the primary key.
    ///   - limit: The maximum number of records.
    ///   - condition: The condition.
    ///   - change: A closure that changes a record. It must not change the key.
    /// - Returns: The changed values in that order, without those that the closure has erased.
    @discardableResult
    public func update(
        orderedBy order: Sort<Record>..., limit: Int, where condition: Condition<Record>, _ change: (inout Record) throws -> Void
    ) throws -> [Plain] {
        try updateFirst(Query(where: condition, orderedBy: order, limit: limit), change)
    }

    func updateFirst(_ query: Query<Record>, _ change: (inout Record) throws -> Void) throws -> [Plain] {
        let rows = withoutScope.storage
        return try rows.database.transaction {
            let keys = try rows.keys(query)
            let place = Record.schema.description.keyIndex
            _ = try rows.update(Query(where: Condition(.isIn(field: place, keys.map(\.value)))), change)
            return try translator.translate(models: rows.read(keys: keys, includesSubentities: true))
        }
    }

    // MARK: Set

    /// Sets a field of the stored records that meet a condition. When anything throws, none is changed.
    ///
    /// The database changes the rows itself: no record is read. On SQL it is one `UPDATE`.
    ///
    /// ```swift
    /// let count = try messages.set(\.isRead, to: true) { $0.date < cutoff }
    /// ```
    ///
    /// - Parameters:
    ///   - field: A key path to a stored field.
    ///   - value: The value that every one of the records gets.
    ///   - condition: A closure that makes the condition from the fields of the model.
    /// - Returns: The number of records that met the condition.
    /// - Throws: `.uniqueViolation` when a unique field would have the value twice; `.invalidQuery` for the primary key, a
    ///   list, the row of an optional model or the ``Revision``.
    @discardableResult
    public func set<Value: FieldValue>(
        _ field: KeyPath<Record, Value>, to value: Value,
        where condition: (FieldProxy<Record>) -> some ConditionConvertible<Record>
    ) throws -> Int {
        try set(field, to: value, where: .once(condition))
    }

    /// Sets a field of the stored records that meet a prepared condition. When anything throws, none is changed.
    ///
    /// - Parameters:
    ///   - field: A key path to a stored field.
    ///   - value: The value that every one of the records gets.
    ///   - condition: The condition.
    /// - Returns: The number of records that met the condition.
    /// - Throws: `.uniqueViolation` when a unique field would have the value twice; `.invalidQuery` for the primary key, a
    ///   list, the row of an optional model or the ``Revision``.
    @discardableResult
    public func set<Value: FieldValue>(
        _ field: KeyPath<Record, Value>, to value: Value, where condition: Condition<Record>
    ) throws -> Int {
        let place = try FieldChange<Record>.place(of: field)
        // The row of a Reference is looked for.
        guard Record.schema.relation(at: place) == nil else {
            return try storage.update(Query(where: condition)) { try Record.schema.assign(value, at: place, in: &$0) }
        }
        return try set([.set(value, at: place, of: Record.schema.description)], where: condition)
    }

    /// Changes fields of the stored records that meet a condition. When anything throws, none is changed.
    ///
    /// The database changes the rows itself: no record is read. On SQL it is one `UPDATE`, also where integers are increased.
    ///
    /// ```swift
    /// try reminders.update(.set(\.list, to: other), .increase(\.position, by: 100)) { $0.list == old }
    /// ```
    ///
    /// - Parameters:
    ///   - change: What a field gets.
    ///   - others: What further fields get.
    ///   - condition: A closure that makes the condition from the fields of the model. It is judged before any row changes.
    /// - Returns: The number of records that met the condition.
    /// - Throws: `.arithmeticOverflow` with the row where a sum is beyond the range of its field; `.uniqueViolation`;
    ///   `.invalidQuery` for the primary key, a list, the row of an optional model, the ``Revision``, and a field that is named twice.
    @discardableResult
    public func update(
        _ change: FieldChange<Record>, _ others: FieldChange<Record>...,
        where condition: (FieldProxy<Record>) -> some ConditionConvertible<Record>
    ) throws -> Int {
        try update([change] + others, where: .once(condition))
    }

    /// Changes fields of the stored records that meet a prepared condition. When anything throws, none is changed.
    ///
    /// - Parameters:
    ///   - change: What a field gets.
    ///   - others: What further fields get.
    ///   - condition: The condition. It is judged before any row changes.
    /// - Returns: The number of records that met the condition.
    /// - Throws: `.arithmeticOverflow` with the row where a sum is beyond the range of its field; `.uniqueViolation`;
    ///   `.invalidQuery` for the primary key, a list, the row of an optional model, the ``Revision``, and a field that is named twice.
    @discardableResult
    public func update(
        _ change: FieldChange<Record>, _ others: FieldChange<Record>..., where condition: Condition<Record>
    ) throws -> Int {
        try update([change] + others, where: condition)
    }

    func update(_ fieldChanges: [FieldChange<Record>], where condition: Condition<Record>) throws -> Int {
        let changes = try fieldChanges.map { try $0.stored() }
        var fields: Set<Int> = []
        let entity = Record.schema.description
        if let twice = changes.first(where: { !fields.insert($0.field).inserted }) {
            let name = entity.fields[twice.field].name
            throw StorageError(
                .invalidQuery, "'\(name)' of '\(entity.name)' is changed twice in one call; give it one change",
                entity: entity.name, field: name)
        }
        if fieldChanges.contains(where: { $0.reference != nil }) {
            return try storage.update(Query(where: condition)) { record in
                for (change, stored) in zip(fieldChanges, changes) {
                    if let reference = change.reference { try reference(&record) } else { try stored.apply(to: &record) }
                }
            }
        }
        return try set(changes, where: condition)
    }

    private func set(_ changes: [StoredChange], where condition: Condition<Record>) throws -> Int {
        if let count = try storage.set(changes, counting: nil, where: condition) { return count }
        return try storage.update(Query(where: condition, includesSubentities: false)) { record in
            for change in changes { try change.apply(to: &record) }
        }
    }

    // MARK: Erase

    /// Erases the values that meet a condition.
    ///
    /// - Returns: The number of erased rows.
    @discardableResult
    public func erase(where condition: (FieldProxy<Record>) -> some ConditionConvertible<Record>) throws -> Int {
        try erase(where: .once(condition))
    }

    /// Erases the values that meet a prepared condition.
    ///
    /// - Returns: The number of erased rows.
    @discardableResult
    public func erase(where condition: Condition<Record>) throws -> Int { try storage.erase(Query(where: condition)) }

    /// Erases the first values of an order that meet a condition, and returns them.
    ///
    /// ```swift
    /// let next = try queue.erase(orderedBy: .descending(\.priority), .ascending(\.id), limit: 1).first
    /// ```
    ///
    /// The values are those that a read would give when the call begins, without a scope. Two calls that run at once, in any
    /// processes, erase and return different ones (contract T4).
    ///
    /// - Parameters:
    ///   - order: The sort terms. Without terms, the order is that of the primary key.
    ///   - limit: The maximum number of values.
    ///   - condition: A closure that makes the condition from the fields of the model.
    /// - Returns: The erased values in that order.
    @discardableResult
    public func erase(
        orderedBy order: Sort<Record>..., limit: Int,
        where condition: (FieldProxy<Record>) -> some ConditionConvertible<Record>
    ) throws -> [Plain] {
        try eraseFirst(Query(where: .once(condition), orderedBy: order, limit: limit))
    }

    /// Erases the first values of an order that meet a prepared condition, and returns them.
    ///
    /// - Parameters:
    ///   - order: The sort terms. Without terms, the order is that of the primary key.
    ///   - limit: The maximum number of values.
    ///   - condition: The condition; by default all rows meet it.
    /// - Returns: The erased values in that order.
    @discardableResult
    public func erase(
        orderedBy order: Sort<Record>..., limit: Int, where condition: Condition<Record> = .all
    ) throws -> [Plain] {
        try eraseFirst(Query(where: condition, orderedBy: order, limit: limit))
    }

    func eraseFirst(_ query: Query<Record>) throws -> [Plain] {
        let rows = withoutScope.storage
        return try rows.database.transaction {
            let records = try rows.read(query)
            let plains = try translator.translate(models: records)
            _ = try rows.erase(keys: records.map { Record.schema.key(of: $0) })
            return plains
        }
    }

    /// Erases all values.
    ///
    /// - Returns: The number of erased rows.
    @discardableResult
    public func erase() throws -> Int { try erase(where: .all) }

    /// Erases the stored value with the key of the given value.
    ///
    /// - Returns: The number of erased rows: 0 or 1.
    @discardableResult
    public func erase(_ plain: Plain) throws -> Int { try storage.erase(keys: [key(plain.uniqueId)]) }

    /// Erases the stored values with the keys of the given values.
    ///
    /// - Returns: The number of erased rows.
    @discardableResult
    public func erase(_ plains: [Plain]) throws -> Int { try storage.erase(keys: plains.map { try key($0.uniqueId) }) }

    /// Erases the stored value with a key.
    ///
    /// - Returns: The number of erased rows: 0 or 1.
    @discardableResult
    public func erase(byPrimaryKey id: any UniqueIDConvertible) throws -> Int { try storage.erase(keys: [key(id)]) }

    /// Erases the stored values with the given keys.
    ///
    /// - Returns: The number of erased rows.
    @discardableResult
    public func erase(byPrimaryKeys ids: [some UniqueIDConvertible]) throws -> Int {
        try storage.erase(keys: ids.map { try key($0) })
    }

    /// Erases the stored values with the keys of a set.
    ///
    /// - Returns: The number of erased rows.
    @discardableResult
    public func erase(byPrimaryKeys ids: Set<some UniqueIDConvertible>) throws -> Int { try erase(byPrimaryKeys: Array(ids)) }
}
