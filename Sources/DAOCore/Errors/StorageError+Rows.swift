// The errors about a row, a key or a query. Every backend throws these, so that one fault has one text.
//
// A message is lower case. It says what happened and to what, then, after a semicolon, what to do next. It
// never contains a value of the application's data.

extension StorageError {
    /// A row was to be created whose key is stored already, or is given twice in one call.
    ///
    /// - Parameters:
    ///   - entity: The entity of the row.
    ///   - key: The key.
    ///   - engineCode: The engine's own result code.
    ///   - engineMessage: The engine's own words.
    public static func duplicateKey(
        _ entity: EntityDescription, _ key: UniqueID?, engineCode: Int? = nil, engineMessage: String? = nil
    ) -> StorageError {
        StorageError(
            .duplicateKey,
            "a row of '\(entity.name)' with this key is stored already or given twice; persist it, or choose another key",
            entity: entity.name, key: key, field: entity.keyName, engineCode: engineCode, engineMessage: engineMessage)
    }

    /// A row was to be stored with a value that another row has in a unique field.
    ///
    /// - Parameters:
    ///   - entity: The entity of the rows.
    ///   - field: The unique field.
    ///   - key: The key of the row that was to be stored.
    ///   - conflictingKey: The key of the row that has the value.
    ///   - engineCode: The engine's own result code.
    ///   - engineMessage: The engine's own words.
    public static func uniqueViolation(
        _ entity: String, field: String?, key: UniqueID?, conflictingKey: UniqueID?, engineCode: Int? = nil,
        engineMessage: String? = nil
    ) -> StorageError {
        let place = field.map { "the unique field '\($0)'" } ?? "a unique field"
        return StorageError(
            .uniqueViolation,
            "another row of '\(entity)' has the same value in \(place); choose another value, or change the other row first",
            entity: entity, key: key, conflictingKey: conflictingKey, field: field, engineCode: engineCode,
            engineMessage: engineMessage)
    }

    /// A row was to be stored with a Reference to a row that is not stored.
    ///
    /// - Parameters:
    ///   - relation: The relationship of the Reference.
    ///   - key: The key of the row that was to be stored.
    ///   - target: The key that no row has.
    static func missingTarget(_ relation: RelationDescription, key: Key, target: Key) -> StorageError {
        referenceViolation(
            "'\(relation.field)' of a row of '\(relation.entity)' refers to a row of '\(relation.target)' that is not stored; store that "
                + "row first, or in the same call", relation, key, target)
    }

    /// A row was to be erased that a restricted Reference leads to.
    ///
    /// - Parameters:
    ///   - relation: The relationship of the Reference.
    ///   - key: The key of the row that refers.
    ///   - target: The key of the row that was to be erased.
    static func restrictedTarget(_ relation: RelationDescription, key: Key, target: Key) -> StorageError {
        referenceViolation(
            "a row of '\(relation.target)' cannot be erased, because '\(relation.field)' of a row of '\(relation.entity)' refers to it; "
                + "erase that row first, or let it refer to another", relation, key, target)
    }

    private static func referenceViolation(
        _ message: String, _ relation: RelationDescription, _ key: Key, _ target: Key
    ) -> StorageError {
        StorageError(
            .referenceViolation, message, entity: relation.entity, key: UniqueID(key), conflictingKey: UniqueID(target),
            field: relation.field)
    }

    /// A value was to be stored whose revision is not that of the stored row, or whose row was erased since.
    ///
    /// - Parameters:
    ///   - entity: The entity of the row.
    ///   - key: The key of the row.
    public static func conflict(_ entity: String, _ key: UniqueID?) -> StorageError {
        StorageError(
            .conflict,
            "the row of '\(entity)' was written or erased since this value was read; read it again, and repeat the change",
            entity: entity, key: key)
    }

    /// A row was to be stored with another key than the one it was read or asked for by.
    package static func keyChanged(_ entity: EntityDescription, _ key: UniqueID?) -> StorageError {
        StorageError(
            .keyChanged, "the key of a row of '\(entity.name)' was changed, and a key never changes; create another row instead",
            entity: entity.name, key: key, field: entity.keyName)
    }

    /// A string key is longer than the longest one.
    ///
    /// - Parameter length: The length of the key in UTF-8 bytes.
    @usableFromInline package static func keyTooLong(_ entity: String, length: Int) -> StorageError {
        StorageError(
            .invalidKey,
            "a string key of '\(entity)' has \(length) UTF-8 bytes, more than \(Key.maximumLength); use a shorter key",
            entity: entity)
    }

    /// A key has another type than the keys of the entity.
    package static func keyOfAnotherType(_ entity: String, _ key: UniqueID?, expected: ValueKind) -> StorageError {
        StorageError(
            .invalidKey,
            "this key of '\(entity)' is not of type \(expected.rawValue); use a key of the type that the model declares",
            entity: entity, key: key)
    }

    /// A stored value cannot be read as the type of its field.
    ///
    /// - Parameter reason: What was found, without the value itself.
    package static func corruptedValue(
        _ entity: EntityDescription, key: UniqueID?, field: Int, _ reason: String, path: String? = nil
    ) -> StorageError {
        let field = entity.fields.indices.contains(field) ? entity.fields[field] : nil
        return StorageError(
            .corruptedValue,
            "the stored value cannot be read as \(field?.type.description ?? "its field's type"): \(reason); replace or erase the row",
            entity: entity.name, key: key, field: field?.name, path: path)
    }

    /// A limit or an offset is negative.
    package static func negative(_ what: String, _ count: Int, _ entity: String) -> StorageError {
        StorageError(.invalidQuery, "the \(what) is negative: \(count); use zero or more", entity: entity)
    }

    /// A field already has the greatest number of its type, so there is none for the next row.
    static func noNextNumber(_ entity: String, field: String, type: Any.Type) -> StorageError {
        StorageError(
            .arithmeticOverflow,
            "'\(field)' of '\(entity)' has the greatest number of \(type) already; number the rows anew",
            entity: entity, field: field)
    }

    /// A storage did not run a closure that it had to run.
    static var asksForNoValue: StorageError {
        StorageError(.io, "the storage did not ask for the value to store; report it to the author of the storage")
    }

    /// A sum is beyond the range of its type.
    package static func arithmeticOverflow(_ entity: String, field: String, type: Any.Type) -> StorageError {
        StorageError(
            .arithmeticOverflow,
            "the sum of '\(field)' of '\(entity)' is beyond the range of \(type); sum fewer rows, or add the values in a wider type",
            entity: entity, field: field)
    }
}

extension EntityDescription {
    /// The name of the field that is the primary key.
    fileprivate var keyName: String? { fields.indices.contains(keyIndex) ? fields[keyIndex].name : nil }
}
