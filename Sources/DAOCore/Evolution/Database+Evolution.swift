/// The name of the property that holds a database's version.
private let versionProperty = "version"

extension EntityStore {
    /// The version of the application's data; nil when none was ever given.
    func version() throws -> Int? { try property(versionProperty).flatMap { Int($0) } }

    /// Gives the application's data a version.
    func setVersion(_ version: Int) throws { try setProperty(versionProperty, to: String(version)) }
}

extension Database {
    /// The version of the application's data, as ``evolve(_:onProgress:)`` left it; 0 when none was ever given (contract E1).
    public var schemaVersion: Int { get throws { try withEntityStore(.read) { try $0.version() ?? 0 } } }

    /// What ``evolve(_:onProgress:)`` would do, without writing anything; nil when there is nothing to do.
    ///
    /// - Throws: `.schemaIsNewer` when the database is of a later version.
    public func pendingMigration(_ evolution: Evolution) throws -> MigrationPlan? {
        try evolution.check()
        let declarations = try evolution.declarations()
        return try withEntityStore(.read) { store in
            let work = try EvolutionWork(evolution, declarations, store, path: configuration.path)
            return work.isNothing ? nil : try work.plan(store)
        }
    }

    /// Brings the database to an application's version: migration steps, automatic changes and the version, in one transaction.
    ///
    /// When there is nothing to do, nothing is written.
    ///
    /// - Parameters:
    ///   - evolution: The version and the way to it.
    ///   - onProgress: Called while rows are written, on this thread and inside the transaction.
    /// - Throws: `.schemaIsNewer` when the database is of a later version (contract E4); `.schemaMismatch` for what takes a step that is not there (E3);
    ///   `.readOnly`; what a step throws. The database is then as it was.
    public func evolve(_ evolution: Evolution, onProgress: (EvolutionProgress) -> Void = { _ in }) throws {
        try evolution.check()
        let declarations = try evolution.declarations()
        let path = configuration.path
        let work = try withEntityStore(.read) { try EvolutionWork(evolution, declarations, $0, path: path) }
        if work.isNothing { return }
        if capabilities.isReadOnly {
            throw StorageError(
                .readOnly,
                "the database is of version \(work.stored ?? 0), the application of \(evolution.version), and it can only be read: "
                    + "open it once to write", path: path)
        }
        try withoutActuallyEscaping(onProgress) { onProgress in
            try withEntityStore(.write) { store in
                // Another process may have been here since.
                let work = try EvolutionWork(evolution, declarations, store, path: path)
                if !work.isNothing { try work.run(store, onProgress) }
            }
        }
    }

    /// Brings the database to an application's version on its own writer thread; see ``evolve(_:onProgress:)``.
    public func evolve(
        _ evolution: Evolution, onProgress: @escaping @Sendable (EvolutionProgress) -> Void = { _ in }
    ) async throws {
        try await engineState.executor.write {
            let evolve: (Evolution, (EvolutionProgress) -> Void) throws -> Void = self.evolve
            try evolve(evolution, onProgress)
        }
    }
}

extension DatabaseDrivers {
    /// Opens the database that a URL describes and brings it to an application's version.
    ///
    /// - Parameters:
    ///   - url: See ``DatabaseConfiguration``.
    ///   - evolution: The version and the way to it.
    ///   - onProgress: Called while rows are written.
    /// - Throws: What opening throws, and what ``Database/evolve(_:onProgress:)`` throws; the database is closed then.
    public func open(
        _ url: String, evolution: Evolution, onProgress: (EvolutionProgress) -> Void = { _ in }
    ) throws -> any Database {
        try open(DatabaseConfiguration(url: url), evolution: evolution, onProgress: onProgress)
    }

    /// Opens the database that a configuration describes and brings it to an application's version.
    public func open(
        _ configuration: DatabaseConfiguration, evolution: Evolution, onProgress: (EvolutionProgress) -> Void = { _ in }
    ) throws -> any Database {
        let database = try open(configuration)
        do {
            try database.evolve(evolution, onProgress: onProgress)
            return database
        } catch {
            try? database.close()
            throw error
        }
    }

    /// What opening the database with an evolution would do: nothing is created, and nothing written.
    ///
    /// - Returns: Nil when there is nothing to do, or no database yet.
    public func pendingMigration(_ url: String, evolution: Evolution) throws -> MigrationPlan? {
        var configuration = try DatabaseConfiguration(url: url)
        configuration.isReadOnly = true
        configuration.createsIfMissing = false
        do {
            let database = try open(configuration)
            defer { try? database.close() }
            return try database.pendingMigration(evolution)
        } catch let error as StorageError where error.kind == .notFound {
            return nil
        }
    }
}
