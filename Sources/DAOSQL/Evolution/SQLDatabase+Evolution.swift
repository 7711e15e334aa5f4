import DAOCore

extension SQLDatabase {
    /// Calls a closure with entities and rows without the application's types; see ``/DAOCore/Database``.
    public func withEntityStore<Result>(_ access: EntityStoreAccess, _ body: (any EntityStore) throws -> Result) throws -> Result
    {
        let coordinator = instance.coordinator
        return try call {
            switch access {
            case .read:
                return try coordinator.snapshot {
                    try coordinator.read { session in
                        try session.connection.beginSnapshot()
                        return try body(SQLEntityStore(instance.schema(session), makeLinks: makeLinks) { _ in })
                    }
                }
            case .write, .rows:
                if access == .write, coordinator.isInside {
                    throw StorageError.evolutionInsideTransaction(instance.path)
                }
                var changed: Set<String> = []
                let result = try coordinator.write(access == .write ? .migration : .compositeCall) { session in
                    try begin(session, changesTables: access == .write)
                    let store = SQLEntityStore(instance.schema(session), makeLinks: makeLinks) { name in
                        // This write notifies the observations of the entity.
                        try coordinator.write(.statement, touching: name) { _ in }
                    }
                    defer { changed = store.changed }
                    return try body(store)
                }
                instance.forget(changed)
                return result
            }
        }
    }

    /// Copies the last commit into a file; see ``/DAOCore/Database``.
    public func runBackup(to path: String, onProgress: (BackupProgress) throws -> Void) throws {
        let coordinator = instance.coordinator
        try call {
            try coordinator.snapshot {
                try coordinator.read { session in
                    try session.connection.beginSnapshot()
                    try instance.engine.writeBackup(to: path, from: session.connection, onProgress: onProgress)
                }
            }
        }
    }

    /// Makes the file as small as its content allows; see ``/DAOCore/Database``.
    public func runCompaction() throws -> CompactionReport {
        try call {
            guard let settings else { throw instance.readOnly }
            return try instance.coordinator.write(.statement) { try $0.connection.compact(settings) }
        }
    }

    /// Closes all connections until the next call; see ``/DAOCore/Database``.
    public func runSuspension() throws { try call { try instance.suspend() } }
}
