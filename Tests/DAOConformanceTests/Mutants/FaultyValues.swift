import DAOCore
import Foundation

// The faults in keys and values: a row is split into values, changed and put together again.

extension FaultyStorage {
    /// Returns a key as the fault stores it.
    func stored(_ key: Key) -> Key {
        guard case .string(let text) = key else { return key }
        return .string(storedKey(text))
    }

    private func storedKey(_ text: String) -> String {
        switch fault {
        case .foldsKeyCase: text.lowercased()
        case .composesKeys: text.precomposedStringWithCanonicalMapping
        case .cutsKeysAtNul: String(text.prefix { $0 != "\0" })
        case .cutsLongKeys: text.utf8.count <= 256 ? text : String(text.prefix(256))
        default: text
        }
    }

    /// Returns a record as the fault stores it.
    func taken(_ record: Record) throws -> Record {
        if fault == .refusesEmptyKeys, schema.key(of: record) == .string("") { throw StorageError(.invalidKey, "an empty key") }
        return try changed(record) { field, value in
            field.isPrimaryKey ? takenKey(value) : takenValue(field, value)
        }
    }

    private func takenKey(_ value: Value) -> Value {
        guard case .string(let text) = value else { return value }
        return .string(storedKey(text))
    }

    private func takenValue(_ field: FieldDescription, _ value: Value) -> Value {
        switch (fault, value) {
        case (.losesNaN, .double(let number)) where number.isNaN: .double(0)
        case (.nanBecomesNil, .double(let number)) where number.isNaN && field.type.isOptional: .null
        case (.losesInfinity, .double(let number)) where number.isInfinite:
            .double(number < 0 ? -.greatestFiniteMagnitude : .greatestFiniteMagnitude)
        case (.roundsDates, .double(let seconds)) where field.type.kind == .date && seconds.isFinite && abs(seconds) < 1e12:
            .double((seconds * 1000).rounded() / 1000)
        case (.integersThroughDouble, .integer(let number)): .integer(Int64(exactly: Double(number)) ?? .max)
        case (.clampsUnsigned, .unsigned): .integer(.max)
        case (.decimalsThroughDouble, .string(let text)) where field.type.kind == .decimal && text != "NaN":
            .string((Decimal(Double(text) ?? 0)).storedText)
        case (.emptyBecomesNil, .string("")) where field.type.isOptional: .null
        case (.nilBecomesEmpty, .null) where field.type.kind == .string: .string("")
        case (.cutsTextAtNul, .string(let text)) where field.type.kind == .string: .string(String(text.prefix { $0 != "\0" }))
        case (.composesText, .string(let text)) where field.type.kind == .string:
            .string(text.precomposedStringWithCanonicalMapping)
        case (.readsNumericText, .string(let text)) where field.type.kind == .string: .string(Int(text).map(String.init) ?? text)
        case (.trimsText, .string(let text)) where field.type.kind == .string: .string(text.trimmingCharacters(in: .whitespaces))
        case (.cutsLongValues, .string(let text)) where text.utf8.count > 100_000: .string(String(text.prefix(100_000)))
        case (.cutsLongValues, .data(let data)) where data.count > 100_000: .data(data.prefix(100_000))
        case (.dropsNilInArrays, .string(let text)) where field.type.kind == .embedded: .string(text.replacing("null,", with: ""))
        case (.storesJSONAsSpelled, .string(let text)) where field.type.kind == .embedded:
            .string(text.replacing(",", with: ", "))
        case (.revisionsStandStill, .integer) where field.name == "revision": .integer(1)
        default: value
        }
    }

    /// Returns a record as the fault returns it.
    func given(_ record: Record) throws -> Record {
        guard fault == .zeroComesBackNegative else { return record }
        return try changed(record) { _, value in
            if case .double(let number) = value, number == 0 { .double(-0.0) } else { value }
        }
    }

    /// Returns a record whose nil fields have the stored values.
    func filled(_ record: Record) throws -> Record {
        guard let old = try base.read(key: schema.key(of: record)) else { return record }
        let stored = try values(of: old)
        return try changed(record) { field, value in
            value.isNull ? stored[schema.description.index(of: field.name) ?? 0] : value
        }
    }

    /// Refuses the values that a faulty unique index would refuse; no value for a working index.
    func checkFaultyUnique(_ records: [Record]) throws {
        if fault == .uniqueByFirstField {
            return try checkUnique(schema.description.uniqueIndexes.filter { $0.fields.count > 1 }, byFirstField: true, records)
        }
        if fault == .uniqueIgnoresCondition {
            let partial = schema.storedDescription.uniqueIndexes.filter { $0.condition != nil }
            return try checkUnique(partial, byFirstField: false, records)
        }
        guard fault == .nilCollides || fault == .uniqueFoldsCase else { return }
        let entity = schema.description
        for (index, field) in entity.fields.enumerated() where field.isUnique {
            for record in records {
                let (key, value) = (schema.key(of: record), schema.value(at: index, of: record))
                for other in try base.read(Query()) + records where schema.key(of: other) != key {
                    let same = schema.value(at: index, of: other)
                    let clashes: Bool
                    switch (value, same) {
                    case (.null, .null): clashes = fault == .nilCollides
                    case (.string(let left), .string(let right)):
                        clashes = fault == .uniqueFoldsCase && left.lowercased() == right.lowercased()
                    default: clashes = false
                    }
                    if clashes {
                        throw StorageError(
                            .uniqueViolation, "a clash", entity: entity.name, key: UniqueID(key),
                            conflictingKey: UniqueID(schema.key(of: other)), field: field.name)
                    }
                }
            }
        }
    }

    /// Refuses rows that are equal in the fields of unique indexes, whatever the conditions of these are.
    ///
    /// - Parameter byFirstField: Whether the first field alone is looked at.
    private func checkUnique(_ indexes: [IndexDescription], byFirstField: Bool, _ records: [Record]) throws {
        let entity = schema.description
        for index in indexes {
            let fields = Array(entity.positions(of: index).prefix(byFirstField ? 1 : index.fields.count))
            func values(_ record: Record) -> [Value] { fields.map { schema.value(at: $0, of: record) } }
            for record in records where !values(record).contains(where: \.isNull) {
                let key = schema.key(of: record)
                for other in try base.read(Query()) + records
                where schema.key(of: other) != key && values(other) == values(record) {
                    throw StorageError.uniqueViolation(
                        entity.name, field: index.fieldNames, key: UniqueID(key),
                        conflictingKey: UniqueID(schema.key(of: other)))
                }
            }
        }
    }

    private func values(of record: Record) throws -> [Value] {
        let writer = ValueRowWriter(count: schema.description.fields.count)
        try schema.encode(record, to: writer)
        return writer.values
    }

    private func changed(_ record: Record, _ change: (FieldDescription, Value) -> Value) throws -> Record {
        let entity = schema.description
        let old = try values(of: record)
        let new = zip(entity.fields, old).map(change)
        // A row put together again lacks its related models, which the base may store in the row.
        if fault != .zeroComesBackNegative, new == old { return record }
        return try schema.decode(ValueRowReader(entity: entity, values: new))
    }
}
