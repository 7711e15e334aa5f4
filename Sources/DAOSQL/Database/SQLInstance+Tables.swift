import DAOCore
import Synchronization

/// A table that was found or created.
struct KnownTable: Sendable {
    /// The statements of the table.
    let table: SQLTable
    /// The number of the table within the instance, by which sessions find its prepared statements.
    let number: Int
    /// Whether the entity has changed since.
    let outdated = Outdated()

    /// A flag that storages check in every call.
    final class Outdated: Sendable {
        private let flag = Atomic(false)

        var isSet: Bool { flag.load(ordering: .relaxed) }
        func set() { flag.store(true, ordering: .relaxed) }
    }
}

extension SQLInstance {
    /// Returns the table of an entity. It is known, or found in the database, updated, adopted or created.
    ///
    /// - Parameters:
    ///   - declaration: The declaration of the model.
    ///   - settings: The settings of the transaction that creates it; nil when nothing may be written.
    /// - Throws: `.schemaMismatch` when the stored entity differs and needs a migration step; `.readOnly`
    ///   when it is missing or of an earlier version and nothing can be written.
    func table(
        for declaration: @autoclosure () throws -> EntityDeclaration, _ entity: EntityDescription, _ settings: SQLWriteSettings?
    ) throws -> KnownTable {
        if let known = tables.withLock({ $0[entity.name] }), known.table.entity == entity { return known }
        let table = SQLTable(entity, dialect: dialect)
        if case .differs(let stored) = try coordinator.read({ try schema($0).state(of: table) }) {
            try bringUpToDate(stored, declaration(), settings)
        } else {
            try make(table, settings)
        }
        return tables.withLock { tables in
            // Another thread may have been first. A number always belongs to the same version of the same
            // entity.
            if let known = tables[entity.name] {
                if known.table.entity == entity { return known }
                known.outdated.set()
            }
            let known = KnownTable(table: table, number: numbers.add(1, ordering: .relaxed).oldValue)
            tables[entity.name] = known
            return known
        }
    }

    /// Forgets the tables of entities that have changed. Storages with these tables notice it at their next
    /// call.
    func forget(_ names: Set<String>) {
        tables.withLock { tables in
            for name in names { tables.removeValue(forKey: name)?.outdated.set() }
        }
    }

    /// Creates a missing table, for the first time or because the transaction that created it was rolled
    /// back.
    func make(_ table: SQLTable, _ settings: SQLWriteSettings?) throws {
        if try coordinator.read({ try isStored(table, $0) }) { return }
        guard let settings else {
            throw StorageError.readOnly(path)
        }
        try coordinator.write(.call) { session in
            try begin(session, settings)
            if try isStored(table, session) { return }
            try schema(session).create(table)
        }
    }

    /// Changes a stored entity to the declaration of a model, in one transaction.
    private func bringUpToDate(_ stored: EntityDescription, _ declaration: EntityDeclaration, _ settings: SQLWriteSettings?)
        throws
    {
        let name = declaration.description.name
        let change = EntityChange(from: stored, to: declaration)
        guard change.obstacles.isEmpty else { throw change.mismatch(path: path) }
        guard let settings else { throw change.readOnly(path: path) }
        if coordinator.isInside { throw change.insideTransaction(path: path) }
        let table = SQLTable(declaration.description, dialect: dialect)
        try coordinator.write(.call, touching: name) { session in
            try begin(session, settings)
            let schema = schema(session)
            switch try schema.state(of: table) {
            case .same: break
            case .missing: try schema.create(table)
            case .differs(let stored):
                // Another process may have changed it since.
                let store = SQLEntityStore(schema) { _ in }
                try store.apply(EntityChange(from: stored, to: declaration), path: path)
            }
        }
    }

    /// Reads the entities in the catalog.
    func entities() throws -> [EntityDescription] {
        try coordinator.read { try schema($0).entities() }
    }

    /// Returns the catalog and the tables as a session sees them.
    func schema(_ session: SQLSession) -> StoredSchema { StoredSchema(session: session, dialect: dialect, catalog: catalog) }

    /// Whether the table is in the catalog and in the database, as the model declares it.
    ///
    /// - Throws: `.schemaMismatch` when the stored table differs.
    private func isStored(_ table: SQLTable, _ session: SQLSession) throws -> Bool {
        switch try schema(session).state(of: table) {
        case .missing: return false
        case .same: return true
        case .differs: throw outdated(table.entity.name)
        }
    }

    /// Returns the error of a storage whose entity was changed after it was opened.
    func outdated(_ entity: String) -> StorageError { .outdated(entity, path: path) }
}
