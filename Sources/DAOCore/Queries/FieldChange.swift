import Foundation

/// What a field of every row that meets a condition gets: `DAO.update`.
///
/// ```swift
/// try reminders.update(.set(\.isFlagged, to: false), .increase(\.position, by: 1)) { $0.position >= 3 }
/// ```
public struct FieldChange<Record: Model>: Sendable {
    private let field: any PartialKeyPath<Record> & Sendable
    private let make: @Sendable (Int) throws -> StoredChange
    /// Changes a record, where a storage cannot change the field by itself: the row of a Reference is looked for; nil for any other
    /// field.
    let reference: (@Sendable (inout Record) throws -> Void)?

    private init(
        field: any PartialKeyPath<Record> & Sendable, make: @escaping @Sendable (Int) throws -> StoredChange,
        reference: (@Sendable (inout Record) throws -> Void)? = nil
    ) {
        (self.field, self.make, self.reference) = (field, make, reference)
    }

    /// The field gets a value.
    ///
    /// - Parameters:
    ///   - field: A key path to a stored field: neither the primary key, nor a list or the row of an optional model, nor the
    ///     ``Revision``.
    ///   - value: The value that every one of the rows gets.
    public static func set<Value: FieldValue>(_ field: any KeyPath<Record, Value> & Sendable, to value: Value) -> FieldChange {
        FieldChange(field: field, make: { try .set(value, at: $0, of: Record.schema.description) })
    }

    /// The Reference gets a value. Its row has to be stored when the call ends (contract R9), so the rows are changed as
    /// an update with a closure changes them.
    ///
    /// - Parameters:
    ///   - field: A key path to a stored field with a ``Reference``.
    ///   - value: The Reference that every one of the rows gets.
    public static func set<Value: ReferenceValue>(
        _ field: any KeyPath<Record, Value> & Sendable, to value: Value
    ) -> FieldChange {
        FieldChange(
            field: field, make: { StoredChange(field: $0, value: value.fieldValue) },
            reference: { try Record.schema.assign(value, at: Record.schema.position(of: field), in: &$0) })
    }

    /// The field gets its value and an amount. Where it is nil, it stays nil.
    ///
    /// Floating-point numbers are rounded, decimals have the 38 digits of `Decimal`. When an integer field cannot hold one of
    /// the sums, the call throws `.arithmeticOverflow` with the row, and changes nothing.
    ///
    /// - Parameters:
    ///   - field: A key path to a stored numeric field: neither the primary key nor the ``Revision``.
    ///   - amount: What is added. It may be negative.
    public static func increase<Value: OrderedFieldValue>(
        _ field: any KeyPath<Record, Value> & Sendable, by amount: Value.Present
    ) -> FieldChange where Value.Present: NumericFieldValue {
        FieldChange(field: field, make: { .increase(by: amount, at: $0, of: Record.schema.description) })
    }

    /// What a storage does for the change.
    ///
    /// - Throws: `.invalidQuery` for a field that cannot be changed so.
    package func stored() throws -> StoredChange { try make(Self.place(of: field)) }

    /// Returns the position of a field that can be changed so.
    ///
    /// - Throws: `.invalidQuery` for the primary key, a relationship, the ``Revision``, and a key path that does not lead to a
    ///   stored field.
    static func place(of field: PartialKeyPath<Record>) throws -> Int {
        let index = try Record.schema.position(of: field)
        let entity = Record.schema.description
        let reason: String? =
            if entity.fields[index].isPrimaryKey {
                "the primary key, which never changes; erase the rows and create others"
            } else if entity.fields[index].type.kind.isRelationship,
                !Record.schema.relations.contains(where: { $0.field == index && $0.isReference })
            {
                "a relationship; change it with update(where:)"
            } else if Record.schema.revision?.index == index {
                "the revision, which the database counts; set another field"
            } else {
                nil
            }
        guard let reason else { return index }
        let name = entity.fields[index].name
        throw StorageError(.invalidQuery, "'\(name)' of '\(entity.name)' is \(reason)", entity: entity.name, field: name)
    }
}

/// What a storage does with a field of every row that meets a condition: ``Storage/set(_:counting:where:)``.
public struct StoredChange: Sendable {
    /// The position of the field in the schema. It is neither the key nor a relationship.
    public let field: Int
    /// The value, or what is added to the stored one, in the form of ``RowReader/readValue(at:)``.
    public let value: Value
    private let sum: (@Sendable (Value, _ key: Key?) throws -> Value)?

    /// Whether the value is added to the stored one.
    public var isIncrease: Bool { sum != nil }

    static func set<Field: FieldValue>(_ value: Field, at index: Int, of entity: EntityDescription) throws -> StoredChange {
        let row = ValueRowWriter(count: entity.fields.count)
        try value.write(to: row, at: index)
        let stored = try ValueRowReader(entity: entity, values: row.values).readValue(at: index)
        return StoredChange(field: index, value: stored, sum: nil)
    }

    static func increase<Number: NumericFieldValue>(
        by amount: Number, at index: Int, of entity: EntityDescription
    ) -> StoredChange {
        StoredChange(field: index, value: amount.fieldValue) { stored, key in
            if stored.isNull { return stored }
            var total = NumericTotal()
            total.add(stored)
            total.add(amount.fieldValue)
            let field = entity.fields[index].name
            do {
                return try Number(total: total, entity: entity.name, field: field).fieldValue
            } catch let error as StorageError where error.kind == .arithmeticOverflow {
                throw StorageError(
                    .arithmeticOverflow,
                    "'\(field)' of '\(entity.name)' increased by \(amount) is beyond the range of \(Number.self); leave the row out with a condition",
                    entity: entity.name, key: key.map { UniqueID($0) }, field: field)
            }
        }
    }

    fileprivate init(field: Int, value: Value, sum: (@Sendable (Value, Key?) throws -> Value)? = nil) {
        (self.field, self.value, self.sum) = (field, value, sum)
    }

    /// Changes a record.
    func apply<Record: Model>(to record: inout Record) throws {
        let schema = Record.schema
        let value = try value(after: schema.value(at: field, of: record), of: schema.key(of: record))
        try schema.set(value, at: field, in: &record)
    }

    /// Returns what the field gets.
    ///
    /// - Parameters:
    ///   - stored: What is stored. It is asked for only where that counts.
    ///   - key: The key of the row, for an error.
    /// - Throws: `.arithmeticOverflow`; an error of `stored`.
    public func value(after stored: @autoclosure () throws -> Value, of key: @autoclosure () throws -> Key?) throws -> Value {
        guard let sum else { return value }
        return try sum(stored(), key())
    }
}
