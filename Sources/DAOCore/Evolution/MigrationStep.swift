/// What a ``Migration`` works with: the entities and rows as they are stored, without the application's types.
///
/// It is used by the body it is given to, and not kept.
public final class MigrationStep {
    let store: any EntityStore
    private let name: String
    private let report: (EvolutionProgress) -> Void

    init(_ store: any EntityStore, name: String, _ report: @escaping (EvolutionProgress) -> Void) {
        self.store = store
        self.name = name
        self.report = report
    }

    // MARK: Entities

    /// The entities, by name.
    public func entities() throws -> [EntityDescription] { try store.entities() }

    /// The entity with a name.
    ///
    /// - Throws: `.schemaMismatch` when there is none.
    public func entity(_ name: String) throws -> EntityDescription {
        guard let entity = try store.entity(named: name) else {
            throw StorageError(
                .schemaMismatch,
                "the migration step '\(self.name)' looks for an entity '\(name)', which is not stored; check its name",
                entity: name)
        }
        return entity
    }

    /// Makes an entity without rows.
    ///
    /// - Throws: `.schemaMismatch` when there is one of the name, case aside; `.invalidSchema` for a description that contradicts itself.
    public func createEntity(_ entity: EntityDescription) throws {
        try SchemaCheck.check(entity)
        try store.create(entity)
    }

    /// Removes an entity with its rows.
    public func dropEntity(_ name: String) throws {
        try store.removeLinks(ofAllRowsOf: entity(name))
        try store.drop(name)
    }

    /// Gives an entity another name.
    ///
    /// - Throws: `.schemaMismatch` when there is none, or the new name is one's already, case aside; `.invalidSchema` for a name that cannot be one.
    public func renameEntity(_ name: String, to newName: String) throws {
        var entity = try entity(name)
        entity.name = newName
        try SchemaCheck.check(entity)
        if name.hasSameBytes(as: newName) { return }
        try entity.checkName(among: store.entities(), path: nil)
        try store.rename(name, to: newName)
        try store.moveLinks(of: entity, from: name)
    }

    // MARK: Fields

    /// Adds a field.
    ///
    /// - Parameters:
    ///   - field: The field; its position is behind the others.
    ///   - entity: The entity.
    ///   - value: What rows that are stored have in it; nil by default, which an optional field can have.
    public func addField(_ field: FieldDescription, to entity: String, value: Value = .null) throws {
        try change(entity) { wanted, defaults in
            wanted.fields.append(field)
            defaults.append(value.isNull ? nil : value)
        }
    }

    /// Drops a field with its values.
    public func dropField(_ field: String, of entity: String) throws {
        let position = try position(of: field, in: entity)
        try change(entity) { wanted, defaults in
            wanted.fields.remove(at: position)
            defaults.remove(at: position)
        }
    }

    /// Gives a field another name; its values stay.
    public func renameField(_ field: String, of entity: String, to name: String) throws {
        let stored = try self.entity(entity)
        let position = try position(of: field, in: entity)
        var wanted = stored
        wanted.fields[position].name = name
        try SchemaCheck.check(wanted)
        var earlierNames: [[String]] = Array(repeating: [], count: wanted.fields.count)
        earlierNames[position] = [field]
        try store.apply(EntityChange(from: stored, to: EntityDeclaration(wanted, earlierNames: earlierNames)))
    }

    /// Says whether a field has an index, and whether it is unique.
    public func setIndex(on field: String, of entity: String, isIndexed: Bool, isUnique: Bool = false) throws {
        let position = try position(of: field, in: entity)
        try change(entity) { wanted, _ in
            wanted.fields[position].isIndexed = isIndexed || isUnique
            wanted.fields[position].isUnique = isUnique
        }
    }

    /// Changes the type of a field.
    ///
    /// - Parameters:
    ///   - field: The field; not the primary key, see ``rewrite(_:as:_:)``.
    ///   - entity: The entity.
    ///   - type: The new type.
    ///   - convert: Gives a value of the new type for one of the old, nil included; by default ``Value/converted(to:)``, which refuses what it cannot
    ///     convert exactly.
    /// - Throws: `.corruptedValue` naming the row and the field of a value that is not one of the new type; what the closure throws.
    public func changeType(
        of field: String, in entity: String, to type: FieldType, _ convert: ((Value) throws -> Value)? = nil
    ) throws {
        let stored = try self.entity(entity)
        let position = try position(of: field, in: entity)
        var wanted = stored
        wanted.fields[position].type = type
        try rewrite(stored, as: wanted) { values in
            var values = values
            if let convert {
                values[position] = try convert(values[position])
            } else if let value = values[position].converted(to: type.kind) {
                values[position] = value
            } else {
                throw StorageError(
                    .corruptedValue, "a value of '\(field)' has no exact form as \(type); convert it in the migration step",
                    entity: entity, field: field)
            }
            return values
        }
    }

    /// Makes another field the primary key.
    ///
    /// - Throws: `.duplicateKey` when two rows have the same value in it; `.invalidKey` for a value that cannot be a key.
    public func changeKey(of entity: String, to field: String) throws {
        let stored = try self.entity(entity)
        let position = try position(of: field, in: entity)
        var wanted = stored
        for index in wanted.fields.indices { wanted.fields[index].isPrimaryKey = index == position }
        wanted.fields[position].type.isOptional = false
        try rewrite(stored, as: wanted) { $0 }
    }

    // MARK: Rows

    /// How many rows an entity has.
    public func count(_ entity: String) throws -> Int { try store.count(self.entity(entity).name) }

    /// Gives every row of an entity to a closure, in the order of keys, and stores what it changed.
    ///
    /// Memory is constant: rows are written a batch at a time.
    ///
    /// - Parameters:
    ///   - entity: The entity.
    ///   - body: Reads the row's fields, sets those that change, or erases the row.
    /// - Throws: What the closure throws; `.keyChanged` when it set the primary key; `.schemaMismatch` when it used a field that is not there;
    ///   `.corruptedValue` and `.uniqueViolation`, naming the row, for values that cannot be stored.
    public func forEachRow(of entity: String, _ body: (MigrationRow) throws -> Void) throws {
        let stored = try self.entity(entity)
        let total = try store.count(entity)
        let row = MigrationRow(stored)
        let isLinked = try store.isLinked(stored)
        var gone: [Key] = []
        var done = 0
        try store.forEachBatch(of: entity) { batch in
            var changed: [[Value]] = []
            var erased: [Key] = []
            for (key, values) in batch.rows {
                row.show(values)
                try naming(key) {
                    try body(row)
                    try row.check()
                    if row.isErased {
                        erased.append(key)
                    } else if row.isChanged {
                        guard try stored.key(of: row.values) == key else {
                            throw StorageError(
                                .keyChanged,
                                "a migration step changes the key of a row while it walks the rows; use changeKey or rewrite instead",
                                entity: entity, key: UniqueID(key), field: stored.fields[stored.keyIndex].name)
                        }
                        // Here the row can be named.
                        try stored.write(row.values, to: RowWriter())
                        changed.append(row.values)
                    }
                }
            }
            try store.erase(erased, from: entity)
            if isLinked { gone += erased }
            try store.store(changed, in: entity, replaces: true)
            done += batch.rows.count
            report(EvolutionProgress(step: name, entity: entity, rows: done, total: total))
        }
        try store.removeLinks(of: stored, gone)
    }

    /// Stores rows of an entity.
    ///
    /// - Parameters:
    ///   - rows: Values by field name; a field that is not named is nil.
    ///   - entity: The entity.
    /// - Throws: `.duplicateKey` when a row has the key of one that is stored.
    public func insert(_ rows: [[String: Value]], into entity: String) throws {
        let stored = try self.entity(entity)
        try store.store(
            rows.map { values in
                let row = MigrationRow(stored)
                row.show(Array(repeating: .null, count: stored.fields.count))
                for (name, value) in values { row[name] = value }
                try row.check()
                return row.values
            }, in: entity, replaces: false)
    }

    /// Writes an entity anew: other fields, other types, another key.
    ///
    /// - Parameters:
    ///   - entity: The entity.
    ///   - wanted: What it is to be; its name is the entity's.
    ///   - transform: Gets a row as it is and one of the new form, in which fields of the same name and type have their values already. It sets the
    ///     others, or erases the new row to leave it out.
    /// - Throws: What the closure throws; `.duplicateKey`, `.uniqueViolation`, `.corruptedValue`, naming the row.
    public func rewrite(
        _ entity: String, as wanted: EntityDescription, _ transform: (_ old: MigrationRow, _ new: MigrationRow) throws -> Void
    ) throws {
        let stored = try self.entity(entity)
        var wanted = wanted
        wanted.name = stored.name
        let old = MigrationRow(stored)
        let new = MigrationRow(wanted)
        let origins = wanted.fields.map { field in
            stored.index(of: field.name).flatMap { stored.fields[$0].type.kind == field.type.kind ? $0 : nil }
        }
        try rewrite(stored, as: wanted) { values in
            old.show(values)
            new.show(origins.map { $0.map { values[$0] } ?? .null })
            try transform(old, new)
            try old.check()
            try new.check()
            return new.isErased ? nil : new.values
        }
    }

    // MARK: What they share

    private func rewrite(
        _ stored: EntityDescription, as wanted: EntityDescription, _ transform: ([Value]) throws -> [Value]?
    ) throws {
        try SchemaCheck.check(wanted)
        let total = try store.count(stored.name)
        try store.rewrite(
            stored, as: wanted, onRow: { report(EvolutionProgress(step: name, entity: wanted.name, rows: $0, total: total)) }
        ) { _, values in
            guard let row = try transform(values) else { return nil }
            // Here the row can be named that a value came from; the store only knows where it was to go.
            try wanted.write(row, to: RowWriter())
            return row
        }
    }

    private func change(_ entity: String, _ body: (inout EntityDescription, inout [Value?]) -> Void) throws {
        let stored = try self.entity(entity)
        var wanted = stored
        var defaults: [Value?] = Array(repeating: nil, count: stored.fields.count)
        body(&wanted, &defaults)
        try SchemaCheck.check(wanted)
        try store.apply(EntityChange(from: stored, to: EntityDeclaration(wanted, defaults: defaults)))
    }

    private func position(of field: String, in entity: String) throws -> Int {
        guard let position = try self.entity(entity).index(of: field) else {
            throw StorageError(
                .schemaMismatch,
                "the migration step '\(name)' looks for a field '\(field)' of '\(entity)', which is not stored; check its name",
                entity: entity, field: field)
        }
        return position
    }
}

/// A row in a migration: values by field name.
///
/// It is one object that shows one row after another: a closure that gets it does not keep it.
public final class MigrationRow {
    /// The entity that the row is of.
    public let entity: EntityDescription
    /// The values, one for each field in the entity's order.
    public private(set) var values: [Value] = []
    /// Whether the row was erased.
    public private(set) var isErased = false

    private(set) var isChanged = false
    private var problem: StorageError?
    private let positions: [String: Int]

    init(_ entity: EntityDescription) {
        self.entity = entity
        positions = Dictionary(entity.fields.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// The value of a field.
    ///
    /// A field that the entity does not have is nil and cannot be set: the migration step fails with its name after the closure.
    public subscript(name: String) -> Value {
        get {
            guard let position = position(name) else { return .null }
            return values[position]
        }
        set {
            guard let position = position(name) else { return }
            values[position] = newValue
            isChanged = true
        }
    }

    /// Removes the row.
    public func erase() { isErased = true }

    func show(_ values: [Value]) {
        self.values = values
        (isErased, isChanged) = (false, false)
    }

    func check() throws { if let problem { throw problem } }

    private func position(_ name: String) -> Int? {
        if let position = positions[name] { return position }
        problem =
            problem
            ?? StorageError(
                .schemaMismatch,
                "a migration step uses a field '\(name)' of '\(entity.name)', which is not stored; check its name",
                entity: entity.name, field: name)
        return nil
    }
}
