/// The name of the property with the version of a database.
private let versionProperty = "version"

extension EntityStore {
    /// Returns the version of the application's data; nil when no version was set.
    func version() throws -> Int? { try property(versionProperty).flatMap { Int($0) } }

    /// Sets the version of the application's data.
    func setVersion(_ version: Int) throws { try setProperty(versionProperty, to: String(version)) }
}

extension Database {
    /// The version of the application's data that `evolve(_:onProgress:)` has set; 0 when no version was
    /// set (contract E1).
    public var schemaVersion: Int { get throws { try withEntityStore(.read) { try $0.version() ?? 0 } } }

    /// Returns what `evolve(_:onProgress:)` would do, without writing; nil when nothing is to be done.
    ///
    /// - Throws: `.schemaIsNewer` when the database has a later version.
    public func pendingMigration(_ evolution: Evolution) throws -> MigrationPlan? {
        try evolution.check()
        let declarations = try evolution.declarations()
        return try withEntityStore(.read) { store in
            let work = try EvolutionWork(evolution, declarations, store, path: configuration.path)
            return work.isNothing ? nil : try work.plan(store)
        }
    }

    /// Migrates the database to a version of the application: migration steps, automatic changes and the
    /// version, in one transaction.
    ///
    /// When nothing is to be done, nothing is written.
    ///
    /// - Parameters:
    ///   - evolution: The version and its migration steps.
    ///   - onProgress: A closure that is called while rows are written, on this thread and inside the
    ///     transaction.
    /// - Throws: `.schemaIsNewer` when the database has a later version (contract E4); `.schemaMismatch` when
    ///   a change needs a missing migration step (E3); `.readOnly`; any error of a step. After an error the
    ///   database is unchanged.
    public func evolve(_ evolution: Evolution, onProgress: (EvolutionProgress) -> Void = { _ in }) throws {
        try evolution.check()
        let declarations = try evolution.declarations()
        let path = configuration.path
        let work = try withEntityStore(.read) { try EvolutionWork(evolution, declarations, $0, path: path) }
        if work.isNothing { return }
        // Where only the place or the file cannot be written, beginning to write says why.
        if configuration.isReadOnly {
            throw StorageError(
                .readOnly,
                "the database is of version \(work.stored ?? 0), the application of \(evolution.version), and it is open for reading only; "
                    + "open it once without readOnly=true", path: path)
        }
        var changed: [String] = []
        try reporting(.migrate) {
            try withoutActuallyEscaping(onProgress) { onProgress in
                try withEntityStore(.write) { store in
                    // Another process may have changed the database since the first check.
                    let work = try EvolutionWork(evolution, declarations, store, path: path)
                    changed = work.isNothing ? [] : try work.run(store, of: self, onProgress)
                }
            }
        }
        engineState.declarations.forget(changed)
    }

    /// Migrates the database to a version of the application on its writer thread; see
    /// `evolve(_:onProgress:)`.
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
    /// Opens the database of a URL and migrates it to a version of the application.
    ///
    /// - Parameters:
    ///   - url: The URL; see ``DatabaseConfiguration``.
    ///   - evolution: The version and its migration steps.
    ///   - onProgress: A closure that is called while rows are written.
    /// - Throws: The errors of opening and of `Database.evolve(_:onProgress:)`. After an error the database
    ///   is closed.
    public func open(
        _ url: String, evolution: Evolution, onProgress: (EvolutionProgress) -> Void = { _ in }
    ) throws -> any Database {
        try open(DatabaseConfiguration(url: url), evolution: evolution, onProgress: onProgress)
    }

    /// Opens the database of a configuration and migrates it to a version of the application.
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

    /// Returns what opening the database with an evolution would do, without creating or writing anything.
    ///
    /// - Returns: The plan; nil when nothing is to be done, or when the database does not exist.
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
