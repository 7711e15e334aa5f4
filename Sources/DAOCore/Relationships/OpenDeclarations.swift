/// The declarations of entities that are open on an engine (contract E6). All databases on the engine share
/// them.
///
/// While a database is open that was asked for a declaration of an entity, a different declaration of this
/// entity is refused. A database is found to be closed when the next different declaration arrives, so a
/// backend has nothing to report.
package final class OpenDeclarations: Sendable {
    /// A database that was asked for a declaration.
    private struct Owner {
        weak var database: (any Database)?
        /// The models that the database was asked for, and how often.
        var models: [ObjectIdentifier: (type: any Model.Type, count: Int)] = [:]
    }

    private struct Open {
        let declaration: EntityDeclaration
        var owners: [ObjectIdentifier: Owner] = [:]
        /// The number of owners at which those that are gone are removed.
        var limit = 16
    }

    /// The open declarations, by the names of their entities.
    private let open = Lock<[String: Open]>([:])

    init() {}

    /// Opens the declaration of a model. ``close(_:in:)`` takes it back when the storage cannot be made.
    ///
    /// - Throws: `.schemaMismatch` that names both types, when a different declaration is open.
    func open<Record: Model>(_ model: Record.Type, in database: any Database) throws {
        let declaration = Record.schema.declaration
        let name = declaration.description.name
        let id = ObjectIdentifier(database)
        let path = database.configuration.path.isEmpty ? nil : database.configuration.path
        while let others = add(model, declaration, id, database) {
            // The calls of another database can wait, so they run without the lock.
            if let other = others.first(where: { Self.isOpen($0.database) }) {
                // A closed database says so first.
                guard Self.isOpen(database) else { throw StorageError.closed(path) }
                throw StorageError.declaredDifferently(name, other.type, model, path: path)
            }
            let closed = Set(others.map(\.id))
            self.open.withLock { open in
                let owners = open[name]?.owners.filter { !closed.contains($0.key) && $0.value.database != nil } ?? [:]
                if owners.isEmpty { open[name] = nil } else { open[name]?.owners = owners }
            }
        }
    }

    /// Takes back one call of ``open(_:in:)``.
    func close<Record: Model>(_ model: Record.Type, in database: any Database) {
        let (name, id, type) = (Record.schema.description.name, ObjectIdentifier(database), ObjectIdentifier(model))
        open.withLock { open in
            guard let count = open[name]?.owners[id]?.models[type]?.count else { return }
            open[name]?.owners[id]?.models[type]?.count = count - 1
            if count > 1 { return }
            open[name]?.owners[id]?.models[type] = nil
            if open[name]?.owners[id]?.models.isEmpty == true { open[name]?.owners[id] = nil }
            if open[name]?.owners.isEmpty == true { open[name] = nil }
        }
    }

    /// Forgets the declarations of entities that a migration has changed.
    package func forget(_ entities: [String]) { open.withLock { open in for name in entities { open[name] = nil } } }

    /// Adds a declaration.
    ///
    /// - Returns: Nil when it was added; otherwise the databases with a different declaration.
    private func add<Record: Model>(
        _ model: Record.Type, _ declaration: EntityDeclaration, _ id: ObjectIdentifier, _ database: any Database
    ) -> [(id: ObjectIdentifier, database: any Database, type: any Model.Type)]? {
        let type = ObjectIdentifier(model)
        return open.withLock { open in
            let name = declaration.description.name
            var entry = open[name] ?? Open(declaration: declaration)
            if entry.declaration != declaration, !entry.owners.values.contains(where: { $0.models[type] != nil }) {
                return entry.owners.compactMap { id, owner in
                    guard let database = owner.database, let type = owner.models.values.first?.type else { return nil }
                    return (id, database, type)
                }
            }
            if entry.owners.count >= entry.limit {
                entry.owners = entry.owners.filter { $0.value.database != nil }
                entry.limit = max(16, 2 * entry.owners.count)
            }
            // A database that is gone can have had the same address.
            var owner = entry.owners[id].flatMap { $0.database == nil ? nil : $0 } ?? Owner(database: database)
            owner.models[type] = (model, (owner.models[type]?.count ?? 0) + 1)
            entry.owners[id] = owner
            open[name] = entry
            return nil
        }
    }

    private static func isOpen(_ database: any Database) -> Bool {
        do {
            try database.runSnapshot {}
            return true
        } catch {
            return (error as? StorageError)?.kind != .closed
        }
    }
}

extension StorageError {
    /// An entity was to be opened as a model declares it while a model is open that declares it differently.
    fileprivate static func declaredDifferently(
        _ entity: String, _ open: any Model.Type, _ model: any Model.Type, path: String?
    ) -> StorageError {
        StorageError(
            .schemaMismatch,
            "'\(entity)' is open as '\(name(of: open))' declares it, and '\(name(of: model))' declares it differently; use one of the "
                + "two, declare the smaller one as a part of the other, or close the databases that use '\(name(of: open))' first",
            entity: entity, path: path)
    }

    /// The name of a type with its module, without the place of a private type.
    private static func name(of type: any Model.Type) -> String {
        String(reflecting: type).replacing(/\(unknown context at [^)]*\)\./, with: "")
    }
}
