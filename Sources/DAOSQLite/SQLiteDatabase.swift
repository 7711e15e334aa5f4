import DAOCore
import DAOSQL
import DAOSystemSQLite

/// A database in an SQLite file: real tables, columns and indexes, which every other tool can read and write.
///
/// ```swift
/// let database = try SQLiteDatabase(path: "/var/lib/app.db")
/// let messages = try database.storage(for: MessageModel.self)
/// ```
///
/// The file is a WAL database: one connection writes, others read the last commit beside it and never wait. Databases on one file share
/// their connections, whatever the paths are spelled like. A file that cannot be written, or is in a directory that cannot, is opened for
/// reading only; in such a directory, and with no log beside it, nothing is locked and no file is made, and what another user's
/// process writes meanwhile is not seen reliably.
public final class SQLiteDatabase: Database {
    /// What the database was opened with.
    public let configuration: DatabaseConfiguration
    /// What it can do beyond what every database can.
    public let capabilities: Capabilities

    /// What it shares with other databases on the file.
    let engine: SQLiteEngine
    let lifetime: DatabaseLifetime<SQLiteConnection>
    /// What its write transactions begin with; nil when it only reads.
    let settings: WriteSettings?

    /// Opens the file at a path, or makes it.
    ///
    /// - Parameter path: A file; a relative path is looked up once, now.
    /// - Throws: As ``init(_:)``.
    public convenience init(path: String) throws {
        try self.init(DatabaseConfiguration(scheme: DatabaseDriver.sqlite.scheme, path: path))
    }

    /// Opens the file that a configuration describes.
    ///
    /// - Parameter configuration: Its path is that of a file.
    /// - Throws: `.notFound` when nothing is there and nothing is to be made, `.notADatabase`, `.corrupted`, `.schemaIsNewer`, `.readOnly` when it
    ///   cannot be made, `.busy`, `.io`, and `.unsupported` for a path that names no file; each with the path.
    public init(_ configuration: DatabaseConfiguration) throws {
        let file = try DatabaseFile(configuration)
        let writes = file.isWritable && !configuration.isReadOnly
        let engine: SQLiteEngine
        do {
            engine = try SQLiteEngine.shared.acquire(file.identity) { try SQLiteEngine(file, writes: writes) }
        } catch {
            file.removeIfUnused()
            throw error
        }
        do {
            if writes { try engine.openWriter() }
        } catch {
            SQLiteEngine.shared.release(file.identity) { $0.close() }
            throw error
        }
        self.engine = engine
        self.configuration = configuration
        let identity = file.identity
        lifetime = DatabaseLifetime(engine.coordinator, path: file.path) {
            SQLiteEngine.shared.release(identity) { $0.close() }
        }
        let timeout = configuration.busyTimeout.components
        let milliseconds = timeout.seconds.multipliedReportingOverflow(by: 1000)
        settings =
            writes
            ? WriteSettings(
                durability: configuration.durability,
                busyTimeout: Int32(
                    clamping: milliseconds.overflow
                        ? .max : milliseconds.partialValue + timeout.attoseconds / 1_000_000_000_000_000))
            : nil
        capabilities = Capabilities(
            engine: "SQLite \(String(cString: sqlite3_libversion()))", isPersistent: true, isMultiProcess: true,
            hasEvolution: true, isReadOnly: !writes, maximumValueLength: Bind.longestValue,
            underlyingTypes: [UnderlyingType(SQLiteHandle.self)])
    }

    /// The state of the engine below.
    public var engineState: EngineState { engine.coordinator.engineState }

    /// Makes a storage of a model's own rows. The first call for a model creates its table, adopts one that is exactly what it would have created, or brings up to
    /// date one that an earlier version of the model has made.
    ///
    /// - Throws: `.invalidSchema`, `.schemaMismatch` with every difference that takes a migration step, `.uniqueViolation` when rows collide in a
    ///   field that becomes unique, and `.readOnly` when the table is missing or older and nothing can be written.
    public func makeStorage<Record: Model>(for model: Record.Type) throws -> any Storage<Record> {
        let schema = Record.schema
        if let problem = schema.problem { throw problem }
        return try lifetime.call {
            SQLiteStorage<Record>(self, try engine.table(for: schema.declaration, schema.storedDescription, settings))
        }
    }

    /// Makes a storage of a relationship's links, in a join table named after the entity and the field. The first call for a relationship creates
    /// it, or adopts one that is exactly what it would have created.
    ///
    /// - Throws: `.schemaMismatch` when there is a table of that name and another form.
    public func makeLinks(for relation: RelationDescription) throws -> any LinkStorage {
        try lifetime.call { SQLiteLinks(owner: self, links: try engine.links(for: relation, settings)) }
    }

    /// Runs a body as one transaction. See ``DAOCore/Database``.
    public func runTransaction<Result>(_ body: () throws -> Result) throws -> Result {
        try lifetime.call {
            try engine.coordinator.write(.body) { connection in
                try begin(connection)
                return try body()
            }
        }
    }

    /// Runs a call that consists of several. See ``DAOCore/Database``.
    public func runStep<Result>(_ body: () throws -> Result) throws -> Result {
        try lifetime.call {
            try engine.coordinator.write(.compositeCall) { connection in
                try begin(connection)
                return try body()
            }
        }
    }

    /// Runs a body in which every read sees the last commit of now.
    public func runSnapshot<Result>(_ body: () throws -> Result) throws -> Result {
        try lifetime.call {
            try engine.coordinator.snapshot {
                // The connection is the one that the body's reads will find.
                try engine.coordinator.read { try $0.beginSnapshot() }
                return try body()
            }
        }
    }

    /// The entities that are stored, from the catalog in the file.
    public func entities() throws -> [EntityDescription] { try lifetime.call { try engine.entities() } }

    /// The version that the file has of its schema, which goes up with every change of tables and of the catalog.
    public func catalogVersion() throws -> UInt64? {
        try lifetime.call { try engine.coordinator.read { UInt64(bitPattern: try $0.schemaVersion()) } }
    }

    /// Waits for running calls, ends cursors and closes.
    public func close() throws { try lifetime.close() }

    /// Begins the write transaction of a call, with this database's settings.
    func begin(_ connection: SQLiteConnection) throws {
        guard let settings else { throw StorageError(.readOnly, "the database can only be read", path: engine.file.path) }
        try connection.apply(settings)
        try connection.beginWriting()
    }
}

extension DatabaseDriver {
    /// Opens SQLite files: `sqlite:relative/path`, `sqlite:///absolute/path`.
    public static let sqlite = DatabaseDriver(scheme: "sqlite") { try SQLiteDatabase($0) }
}
