import DAOCore
import Synchronization

/// A table that was found or made.
struct KnownTable: Sendable {
    /// The statements about it.
    let table: SQLTable
    /// Its small number in its instance, by which sessions keep its statements.
    let number: Int
    /// Whether its entity has become another since.
    let outdated = Outdated()

    /// A mark that storages look at in every call.
    final class Outdated: Sendable {
        private let flag = Atomic(false)

        var isSet: Bool { flag.load(ordering: .relaxed) }
        func set() { flag.store(true, ordering: .relaxed) }
    }
}

extension SQLInstance {
    /// The table of an entity: known, found in the database, brought up to date, adopted, or made.
    ///
    /// - Parameters:
    ///   - declaration: What the model declares.
    ///   - settings: For the transaction that makes it; nil when nothing may be written.
    /// - Throws: `.schemaMismatch` when the stored entity differs in what takes a migration step; `.readOnly`
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
            // Another thread may have been first. A number belongs to one form of one entity for good.
            if let known = tables[entity.name] {
                if known.table.entity == entity { return known }
                known.outdated.set()
            }
            let known = KnownTable(table: table, number: numbers.add(1, ordering: .relaxed).oldValue)
            tables[entity.name] = known
            return known
        }
    }

    /// Forgets what is known of entities that have changed; storages that have their tables find out at their
    /// next call.
    func forget(_ names: Set<String>) {
        tables.withLock { tables in
            for name in names { tables.removeValue(forKey: name)?.outdated.set() }
        }
    }

    /// Makes a table that is not there, be it for the first time, or because the transaction that made it was
    /// rolled back.
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

    /// Makes a stored entity what a model declares, in one transaction.
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
                // Another process may have changed it meanwhile.
                let store = SQLEntityStore(schema) { _ in }
                try store.apply(EntityChange(from: stored, to: declaration), path: path)
            }
        }
    }

    /// The entities that the catalog describes.
    func entities() throws -> [EntityDescription] {
        try coordinator.read { try schema($0).entities() }
    }

    /// The catalog and the tables, as a session sees them.
    func schema(_ session: SQLSession) -> StoredSchema { StoredSchema(session: session, dialect: dialect, catalog: catalog) }

    /// Whether the table is in the catalog and in the database, as the model declares it.
    ///
    /// - Throws: `.schemaMismatch` when it is there but different.
    private func isStored(_ table: SQLTable, _ session: SQLSession) throws -> Bool {
        switch try schema(session).state(of: table) {
        case .missing: return false
        case .same: return true
        case .differs: throw outdated(table.entity.name)
        }
    }

    /// The error of a storage whose entity was changed under it.
    func outdated(_ entity: String) -> StorageError { .outdated(entity, path: path) }
}
