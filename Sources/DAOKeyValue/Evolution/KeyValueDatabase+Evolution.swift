import DAOCore

extension KeyValueDatabase {
    /// Changes a stored entity as a model declares it, in one transaction.
    ///
    /// - Returns: Its table for the model.
    func bringUpToDate(_ table: Table, _ declaration: EntityDeclaration) throws -> Table {
        let name = declaration.description.name
        let path = engine.store.traits.path
        let change = EntityChange(from: table.entry.stored.description, to: declaration)
        guard change.obstacles.isEmpty else { throw change.mismatch(path: path) }
        if change.isEmpty || change.canWait && (capabilities.isReadOnly || engine.coordinator.isInside) {
            guard let laidOut = try table.laidOut(for: declaration) else { throw change.mismatch(path: path) }
            return laidOut
        }
        if capabilities.isReadOnly { throw change.readOnly(path: path) }
        if engine.coordinator.isInside { throw change.insideTransaction(path: path) }
        return try write(.call, touching: name) { handle in
            // Another process can have changed it first.
            guard let stored = try engine.table(named: name, in: handle) else {
                return try engine.makeTable(for: declaration, in: handle)
            }
            let store = KeyValueEntityStore(self, handle) { _ in }
            try store.apply(EntityChange(from: stored.entry.stored.description, to: declaration), path: path)
            return try engine.makeTable(for: declaration, in: handle)
        }
    }

    /// Runs a closure with access to entities and rows without the application's types; see ``/DAOCore/Database``.
    public func withEntityStore<Result>(_ access: EntityStoreAccess, _ body: (any EntityStore) throws -> Result) throws -> Result
    {
        switch access {
        case .read:
            return try lifetime.call {
                try engine.coordinator.snapshot {
                    try engine.coordinator.read { try body(KeyValueEntityStore(self, $0) { _ in }) }
                }
            }
        case .write:
            if engine.coordinator.isInside {
                throw StorageError.evolutionInsideTransaction(engine.store.traits.path)
            }
            return try withEntityStore(.migration, body)
        case .rows:
            return try withEntityStore(.compositeCall, body)
        }
    }

    private func withEntityStore<Result>(_ kind: WriteKind, _ body: (any EntityStore) throws -> Result) throws -> Result {
        try write(kind) { handle in
            try body(
                KeyValueEntityStore(self, handle) { name in
                    // Notifies the observations of the entity.
                    try self.write(.statement, touching: name) { _ in }
                })
        }
    }
}
