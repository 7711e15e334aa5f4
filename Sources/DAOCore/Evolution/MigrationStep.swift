/// The entities and rows of a database for a ``Migration``, as they are stored, without the application's
/// types.
///
/// A step is valid only inside the closure that gets it.
public final class MigrationStep {
    let store: any EntityStore
    private let database: any Database
    private let name: String
    private let report: (EvolutionProgress) -> Void

    init(
        _ store: any EntityStore, of database: any Database, name: String, _ report: @escaping (EvolutionProgress) -> Void
    ) {
        self.store = store
        self.database = database
        self.name = name
        self.report = report
    }

    // MARK: Entities

    /// Returns the entities, ordered by name.
    public func entities() throws -> [EntityDescription] { try store.entities() }

    /// Returns the entity with a name.
    ///
    /// - Throws: `.schemaMismatch` when the entity does not exist.
    public func entity(_ name: String) throws -> EntityDescription {
        guard let entity = try store.entity(named: name) else {
            throw StorageError(
                .schemaMismatch,
                "the migration step '\(self.name)' looks for an entity '\(name)', which is not stored; check its name",
                entity: name)
        }
        return entity
    }

    /// Creates an entity without rows.
    ///
    /// - Throws: `.schemaMismatch` when an entity with the name exists, compared case-insensitively;
    ///   `.invalidSchema` when the description contradicts itself.
    public func createEntity(_ entity: EntityDescription) throws {
        try SchemaCheck.check(entity)
        try store.create(entity)
    }

    /// Drops an entity with its rows.
    ///
    /// - Throws: `.referenceViolation` when a ``Reference`` of another entity leads to one of them and is restricted or
    ///   cascades; drop its field first.
    public func dropEntity(_ name: String) throws {
        try store.removeLinks(ofAllRowsOf: entity(name))
        try store.drop(name)
    }

    /// Renames an entity.
    ///
    /// - Throws: `.schemaMismatch` when the entity does not exist, or when another entity has the new name,
    ///   compared case-insensitively; `.invalidSchema` when the new name is not valid.
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
    ///   - field: The field. It is added after the existing fields.
    ///   - entity: The name of the entity.
    ///   - value: The value of the field in stored rows. The default is nil, which requires an optional
    ///     field. New rows of a model without the field have ``FieldDescription/defaultValue``.
    public func addField(_ field: FieldDescription, to entity: String, value: Value = .null) throws {
        try change(entity) { wanted, defaults in
            wanted.fields.append(field)
            defaults.append(value.isNull ? nil : value)
        }
    }

    /// Drops a field with its values, and the indexes over several fields that have it.
    public func dropField(_ field: String, of entity: String) throws {
        let position = try position(of: field, in: entity)
        try change(entity, dropping: [field]) { wanted, defaults in
            wanted.fields.remove(at: position)
            wanted.indexes.removeAll { $0.allFields.contains { $0.hasSameBytes(as: field) } }
            defaults.remove(at: position)
        }
    }

    /// Renames a field. Its values are kept.
    public func renameField(_ field: String, of entity: String, to name: String) throws {
        let stored = try self.entity(entity)
        let position = try position(of: field, in: entity)
        var wanted = stored
        wanted.fields[position].name = name
        wanted.renameInIndexes(field, to: name)
        try SchemaCheck.check(wanted)
        var earlierNames: [[String]] = Array(repeating: [], count: wanted.fields.count)
        earlierNames[position] = [field]
        try store.apply(EntityChange(from: stored, to: EntityDeclaration(wanted, earlierNames: earlierNames)))
    }

    /// Adds or removes the index of a field, and sets whether it is unique.
    public func setIndex(on field: String, of entity: String, isIndexed: Bool, isUnique: Bool = false) throws {
        let position = try position(of: field, in: entity)
        try change(entity) { wanted, _ in
            wanted.fields[position].isIndexed = isIndexed || isUnique
            wanted.fields[position].isUnique = isUnique
        }
    }

    /// Adds an index over several fields, or changes whether it is unique.
    ///
    /// - Throws: `.uniqueViolation` with both keys when rows have the same values and the index is unique;
    ///   `.invalidSchema` when the entity cannot have the index.
    public func addIndex(_ index: IndexDescription, to entity: String) throws {
        try change(entity) { wanted, _ in
            wanted.indexes.removeAll { $0.hasSameFields(as: index) }
            wanted.indexes.append(index)
        }
    }

    /// Drops an index over several fields.
    ///
    /// - Throws: `.schemaMismatch` when the entity does not have an index with these fields and directions.
    public func dropIndex(_ index: IndexDescription, of entity: String) throws {
        let stored = try self.entity(entity)
        guard let position = stored.indexes.firstIndex(where: { $0.hasSameFields(as: index) }) else {
            throw StorageError(
                .schemaMismatch,
                "the migration step '\(name)' drops an index on '\(index)' of '\(entity)', which is not stored; check its fields",
                entity: entity, field: index.fieldNames)
        }
        try change(entity) { wanted, _ in wanted.indexes.remove(at: position) }
    }

    /// Changes the type of a field. Partial indexes with a condition on it are dropped, when its kind changes.
    ///
    /// - Parameters:
    ///   - field: The name of the field. It cannot be the primary key; use ``rewrite(_:as:_:)`` for the
    ///     primary key.
    ///   - entity: The name of the entity.
    ///   - type: The new type.
    ///   - convert: A closure that converts a value, including nil, to the new type. The default is
    ///     ``Value/converted(to:)``, which refuses a value that has no exact conversion. A to-one that stays one keeps
    ///     its links, and can become required when every row has a related row.
    /// - Throws: `.corruptedValue` with the row and the field when a value cannot be converted; any error of
    ///   the closure.
    public func changeType(
        of field: String, in entity: String, to type: FieldType, _ convert: ((Value) throws -> Value)? = nil
    ) throws {
        let stored = try self.entity(entity)
        let position = try position(of: field, in: entity)
        var wanted = stored
        wanted.fields[position].type = type
        if type.kind != stored.fields[position].type.kind {
            wanted.fields[position].content = nil
            // The values in these conditions are of the old type, and so are these elements.
            wanted.indexes.removeAll { index in
                index.isOnElements(of: field) || index.condition?.fields.contains { $0.hasSameBytes(as: field) } ?? false
            }
        }
        if type.kind == .toOne, !type.isOptional, wanted.fields[position].relation?.targetErasure == .unlink {
            // A link that is required cannot be removed. The model can say something else.
            wanted.fields[position].relation?.targetErasure = .restrict
        }
        wanted.fields[position].defaultValue = stored.fields[position].defaultValue.flatMap { value in
            // A default that the new type cannot hold is no default any longer.
            let converted = convert == nil ? value.converted(to: type.kind) : try? convert?(value)
            return converted.flatMap { (try? wanted.write($0, at: position, to: RowWriter())) == nil ? nil : $0 }
        }
        try rewrite(stored, as: wanted) { values in
            var values = values
            let isRelationship = stored.fields[position].type.kind.isRelationship
            if isRelationship, stored.fields[position].type.kind == type.kind { return values }
            if isRelationship { values[position] = .null }
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

    /// Changes the primary key to another field.
    ///
    /// - Throws: `.duplicateKey` when two rows have the same value in the field; `.invalidKey` when a value
    ///   cannot be a key.
    public func changeKey(of entity: String, to field: String) throws {
        let stored = try self.entity(entity)
        let position = try position(of: field, in: entity)
        var wanted = stored
        for index in wanted.fields.indices { wanted.fields[index].isPrimaryKey = index == position }
        wanted.fields[position].type.isOptional = false
        wanted.fields[position].defaultValue = nil
        try rewrite(stored, as: wanted) { $0 }
    }

    // MARK: Rows

    /// Returns the number of rows of an entity.
    public func count(_ entity: String) throws -> Int { try store.count(self.entity(entity).name) }

    /// Calls a closure with every row of an entity, in key order, and stores the changes.
    ///
    /// The memory use is constant, because rows are written in batches.
    ///
    /// - Parameters:
    ///   - entity: The name of the entity.
    ///   - body: A closure that reads the fields of the row, sets the fields that change, or erases the row.
    /// - Throws: Any error of the closure; `.keyChanged` when it set the primary key; `.schemaMismatch` when
    ///   it used an unknown field; `.corruptedValue` and `.uniqueViolation` with the row for values that
    ///   cannot be stored.
    public func forEachRow(of entity: String, _ body: (MigrationRow) throws -> Void) throws {
        let stored = try self.entity(entity)
        let total = try store.count(entity)
        let row = MigrationRow(stored)
        var erasure = try WalkedErasure(of: stored, in: store)
        let log = try RowLog(of: stored, in: database)
        var done = 0
        try store.forEachBatch(of: entity) { batch in
            var changed: [(before: [Value], after: [Value])] = []
            var erased: [Key] = []
            var gone: [[Value]] = []
            for (key, values) in batch.rows {
                row.show(values)
                try naming(key) {
                    try body(row)
                    try row.check()
                    if row.isErased {
                        erased.append(key)
                        if log != nil { gone.append(values) }
                        erasure.note(key, values)
                    } else if row.isChanged {
                        guard try stored.key(of: row.values) == key else {
                            throw StorageError(
                                .keyChanged,
                                "a migration step changes the key of a row while it walks the rows; use changeKey or rewrite instead",
                                entity: entity, key: UniqueID(key), field: stored.fields[stored.keyIndex].name)
                        }
                        // The check is made here, where the error can name the row.
                        let new = try canonical(row.values, of: stored, from: values, stored)
                        try stored.write(new, to: RowWriter())
                        changed.append((values, new))
                    }
                }
            }
            try store.erase(erased, from: entity)
            try store.store(changed.map(\.after), in: entity, replaces: true)
            try log?.erase(gone)
            try log?.update(changed)
            done += batch.rows.count
            report(EvolutionProgress(step: name, entity: entity, rows: done, total: total))
        }
        try erasure.follow(in: store)
    }

    /// Stores rows of an entity.
    ///
    /// - Parameters:
    ///   - rows: Values by field name; a field that is not named has its default, otherwise nil.
    ///   - entity: The name of the entity.
    /// - Throws: `.duplicateKey` when a row has the key of a stored row; `.corruptedValue` with the key of a row whose embedded value
    ///   is not its JSON.
    public func insert(_ rows: [[String: Value]], into entity: String) throws {
        let stored = try self.entity(entity)
        let rows = try rows.map { values in
            let row = MigrationRow(stored)
            row.show(stored.fields.map { $0.defaultValue ?? .null })
            for (name, value) in values { row[name] = value }
            try row.check()
            return try naming(stored.key(of: row.values)) { try canonical(row.values, of: stored, from: [], nil) }
        }
        try store.store(rows, in: entity, replaces: false)
        try RowLog(of: stored, in: database)?.insert(rows)
    }

    /// Rewrites an entity with other fields, other types or another key.
    ///
    /// - Parameters:
    ///   - entity: The name of the entity.
    ///   - wanted: The new description of the entity, with the same name.
    ///   - transform: A closure that gets a stored row and a new row. Fields with the same name and type
    ///     already have their values in the new row. The closure sets the other fields, or erases the new row
    ///     to omit it.
    /// - Throws: Any error of the closure; `.duplicateKey`, `.uniqueViolation`, `.corruptedValue` with the
    ///   row.
    public func rewrite(
        _ entity: String, as wanted: EntityDescription, _ transform: (_ old: MigrationRow, _ new: MigrationRow) throws -> Void
    ) throws {
        let stored = try self.entity(entity)
        var wanted = wanted
        wanted.name = stored.name
        // A schema's description does not know the targets of relationships.
        for (index, field) in wanted.fields.enumerated() where field.relation == nil {
            guard let position = stored.index(of: field.name), stored.fields[position].type == field.type else { continue }
            wanted.fields[index].relation = stored.fields[position].relation
            if field.content == nil { wanted.fields[index].content = stored.fields[position].content }
        }
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

    // MARK: Helpers

    private func rewrite(
        _ stored: EntityDescription, as wanted: EntityDescription, _ transform: ([Value]) throws -> [Value]?
    ) throws {
        try SchemaCheck.check(wanted)
        let total = try store.count(stored.name)
        let log = try RowLog(of: wanted, in: database)
        var logged: [ChangeLog.Entry] = []
        try store.rewrite(
            stored, as: wanted, onRow: { report(EvolutionProgress(step: name, entity: wanted.name, rows: $0, total: total)) }
        ) { _, values in
            let row = try transform(values).map { try canonical($0, of: wanted, from: values, stored) }
            // The check is made here, where the error can name the stored row. The store knows only the new
            // row.
            if let row { try wanted.write(row, to: RowWriter()) }
            if let log { logged += try log.rewriting(values, of: stored, as: row) }
            return row
        }
        try log?.add(logged)
    }

    /// Returns a row with canonical JSON in its embedded fields. What a row had before stays as it was.
    private func canonical(
        _ row: [Value], of entity: EntityDescription, from old: [Value], _ stored: EntityDescription?
    ) throws -> [Value] {
        try row.enumerated().map { index, value in
            guard index < entity.fields.count, entity.fields[index].type.kind == .embedded else { return value }
            if let origin = stored?.index(of: entity.fields[index].name), stored?.fields[origin].type.kind == .embedded,
                old[origin] == value
            {
                return value
            }
            return try entity.canonical(value, at: index)
        }
    }

    private func change(
        _ entity: String, dropping dropped: [String] = [], _ body: (inout EntityDescription, inout [Value?]) -> Void
    ) throws {
        let stored = try self.entity(entity)
        var wanted = stored
        var defaults = stored.fields.map(\.defaultValue)
        body(&wanted, &defaults)
        try SchemaCheck.check(wanted)
        try store.apply(EntityChange(from: stored, to: EntityDeclaration(wanted, defaults: defaults, dropped: dropped)))
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
/// ```swift
/// try step.forEachRow(of: "message") { row in
///     if row["text"] == .string("") { row.erase() } else { row["isRead"] = .bool(false) }
/// }
/// ```
///
/// A to-one relationship is the key of the related row. A list is not in the row: reading it fails the step, and it is nil among
/// the values. Neither can be set. A row keeps its links while its key stays the same.
///
/// The same object represents each row in turn. Do not use it outside the closure that gets it.
public final class MigrationRow {
    /// The entity of the row.
    public let entity: EntityDescription
    /// The values of all fields, in the order of the entity.
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

    /// Reads or sets the value of a field.
    ///
    /// An unknown field and a list are nil and cannot be set. After the closure, the migration step fails with the
    /// name of the field.
    public subscript(name: String) -> Value {
        get {
            guard let position = position(name) else { return .null }
            if entity.fields[position].type.kind == .toMany {
                problem =
                    problem
                    ?? StorageError(
                        .corruptedValue,
                        "a migration step reads the list '\(name)' of '\(entity.name)', which is not in the row; read it through a storage",
                        entity: entity.name, field: name)
            }
            return values[position]
        }
        set {
            guard let position = position(name) else { return }
            if entity.fields[position].type.kind.isRelationship, newValue != values[position] {
                problem = problem ?? relationship(name)
                return
            }
            values[position] = newValue
            isChanged = true
        }
    }

    /// Erases the row.
    public func erase() { isErased = true }

    func show(_ values: [Value]) {
        self.values = values
        (isErased, isChanged) = (false, false)
    }

    func check() throws { if let problem { throw problem } }

    private func relationship(_ name: String) -> StorageError {
        StorageError(
            .corruptedValue,
            "a migration step sets the relationship '\(name)' of '\(entity.name)'; write related rows through a storage instead",
            entity: entity.name, field: name)
    }

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
