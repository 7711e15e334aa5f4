import DAOCore

extension FaultyDatabase {
    func withEntityStore<Result>(_ access: EntityStoreAccess, _ body: (any EntityStore) throws -> Result) throws -> Result {
        guard access == .write, fault == .keepsFailedMigrations else {
            return try base.withEntityStore(access) { store in
                try body(FaultyEntityStore(base: store, fault: fault, isOfRows: access == .rows))
            }
        }
        var failure: (any Error)?
        let result: Result? = try base.withEntityStore(.write) { store in
            do {
                return try body(store)
            } catch {
                failure = error
                return nil
            }
        }
        if let result { return result }
        throw failure ?? StorageError(.io, "no result")
    }

    /// Changes a stored entity to the declaration of a model, with the fault, before the working database
    /// does.
    func bringUpToDate<Record: Model>(_ schema: Schema<Record>) throws {
        guard schema.problem == nil, !isInside,
            let stored = try base.entities().first(where: { $0.name == schema.description.name })
        else { return }
        // Records the current indexes, since no call may have read them before.
        _ = try entities()
        var declaration = schema.declaration
        if fault == .dropsUndeclared {
            declaration = EntityDeclaration(
                declaration.description, earlierNames: declaration.earlierNames,
                dropped: stored.fields.map(\.name).filter { declaration.description.index(of: $0) == nil })
        }
        let change = EntityChange(from: stored, to: declaration)
        if change.isEmpty { return }
        if fault == .erasesOnRefusal, !change.obstacles.isEmpty {
            try base.withEntityStore(.write) { store in
                var keys: [Key] = []
                try store.forEachRow(of: stored.name, after: nil) { key, _ in
                    keys.append(key)
                    return true
                }
                try store.erase(keys, from: stored.name)
            }
        }
        guard change.obstacles.isEmpty else { return }
        try withEntityStore(.write) { try $0.apply(change) }
    }
}

/// The entities and rows of a working database with one planted fault.
private final class FaultyEntityStore: EntityStore {
    private let base: any EntityStore
    private let fault: Fault
    /// Whether it serves the erasure of rows without their model.
    private let isOfRows: Bool

    init(base: any EntityStore, fault: Fault, isOfRows: Bool) {
        self.base = base
        self.fault = fault
        self.isOfRows = isOfRows
    }

    func entities() throws -> [EntityDescription] { try base.entities() }

    func property(_ name: String) throws -> String? {
        let value = try base.property(name)
        switch (fault, name) {
        case (.ignoresNewerVersions, "version"): return value.flatMap { Int($0) }.map { "\(min($0, 4))" }
        case (.copiesForgetHowFar, "copy"): return nil
        default: return value
        }
    }

    func setProperty(_ name: String, to value: String?) throws {
        if fault == .forgetsVersion, name == "version" { return }
        try base.setProperty(name, to: value)
    }

    func create(_ entity: EntityDescription) throws { try base.create(entity) }
    func drop(_ entity: String) throws { try base.drop(entity) }
    func rename(_ entity: String, to name: String) throws { try base.rename(entity, to: name) }
    var fillsIndexesLater: Bool { base.fillsIndexesLater }

    func count(_ entity: String) throws -> Int { try base.count(entity) }
    func erase(_ keys: [Key], from entity: String) throws {
        if fault == .cascadesDeclaredOnly, isOfRows { return }
        try base.erase(keys, from: entity)
    }
    func links(of relation: RelationDescription) throws -> any LinkStorage { try base.links(of: relation) }
    func moveLinks(_ moves: [LinkMove]) throws { try base.moveLinks(moves) }

    func alter(_ change: EntityChange) throws -> Bool {
        let name = change.wanted.name
        if fault == .letsUniqueCollide {
            do {
                return try base.alter(change)
            } catch let error as StorageError where error.kind == .uniqueViolation {
                // Makes room for the second of two rows by leaving out the first.
                guard let key = error.conflictingKey else { throw error }
                try base.erase([key.key(as: change.stored.keyKind, entity: name)], from: name)
                return try alter(change)
            }
        }
        guard try base.alter(change) else { return false }
        var changed: [[Value]] = []
        try base.forEachRow(of: name, after: nil) { _, values in
            var values = values
            for (index, source) in change.sources.enumerated() {
                switch (fault, source) {
                case (.forgetsDefaults, .value(let value)) where !value.isNull:
                    values[index] = Self.empty(change.wanted.fields[index].type) ?? value
                case (.losesRenamedValues, .stored(let origin))
                where change.stored.fields[origin].name != change.wanted.fields[index].name:
                    if change.wanted.fields[index].isPrimaryKey { continue }
                    values[index] = Self.empty(change.wanted.fields[index].type) ?? values[index]
                default: break
                }
            }
            changed.append(values)
            return true
        }
        try base.store(changed, in: name, replaces: true)
        return true
    }

    func forEachRow(of entity: String, after key: Key?, _ body: (Key, [Value]) throws -> Bool) throws {
        try base.forEachRow(of: entity, after: key, body)
    }

    func store(_ rows: [[Value]], in entity: String, replaces: Bool) throws {
        if fault == .referencesMissRewrites, let stored = try base.entities().first(where: { $0.name == entity }) {
            let rows = rows.map { row in row.indices.map { stored.fields[$0].relation == nil ? row[$0] : .null } }
            return try base.store(rows, in: entity, replaces: replaces)
        }
        let drops = fault == .copiesDropARow && rows.count > 3 && !replaces
        try base.store(drops ? rows.dropLast() : rows, in: entity, replaces: replaces)
    }

    func missing(_ keys: [Key], from entity: String) throws -> [Key] { try base.missing(keys, from: entity) }

    func verifyStructure(_ report: (StorageError) throws -> Void) throws { try base.verifyStructure(report) }

    func verify(_ entity: String, onRow: () throws -> Void, _ report: (StorageError) throws -> Void) throws {
        if fault == .verifiesNothing { return }
        try base.verify(entity, onRow: onRow, report)
    }

    private static func empty(_ type: FieldType) -> Value? {
        if type.isOptional { return .null }
        return switch type.kind {
        case .string: .string("")
        case .int64: .integer(0)
        default: nil
        }
    }
}
