import DAOCore
import DAOSQL

extension SQLiteDatabase {
    /// Runs a body with entities and rows without the application's types; see ``DAOCore/Database``.
    public func withEntityStore<Result>(_ access: EntityStoreAccess, _ body: (any EntityStore) throws -> Result) throws -> Result
    {
        let path = engine.file.path
        return try lifetime.call {
            switch access {
            case .read:
                return try engine.coordinator.snapshot {
                    try engine.coordinator.read { connection in
                        try connection.beginSnapshot()
                        return try body(SQLiteEntityStore(connection, path: path, makeLinks: makeLinks) { _ in })
                    }
                }
            case .write:
                if engine.coordinator.isInside {
                    throw StorageError(
                        .invalidTransaction, "entities cannot be changed inside a transaction or a snapshot: do it before",
                        path: path)
                }
                var changed: Set<String> = []
                let result = try engine.coordinator.write(.migration) { connection in
                    try begin(connection)
                    let store = SQLiteEntityStore(connection, path: path, makeLinks: makeLinks) { name in
                        // So that observations of the entity are told.
                        try self.engine.coordinator.write(.statement, touching: name) { _ in }
                    }
                    defer { changed = store.changed }
                    return try body(store)
                }
                engine.forget(changed)
                return result
            }
        }
    }
}
