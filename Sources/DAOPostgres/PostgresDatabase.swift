import DAOCore
import DAOSQL
import Foundation

/// A database on a PostgreSQL server. It has real tables, columns, indexes and constraints, which every other tool can read
/// and write.
///
/// ```swift
/// let database = try DatabaseDrivers(.postgres).open("postgres://app@db.example.com/app?schema=app")
/// let messages = try database.storage(for: MessageModel.self)
/// ```
///
/// The tables are in one schema of a database that exists. Databases with the same configuration share their connections:
/// one writes, up to `pool` minus one read. Write transactions of all clients run one after another, and readers never wait
/// for them. With `writers=many`, half of the connections write, side by side; one of two transactions that cannot both be is
/// `.conflict`.
public final class PostgresDatabase: SQLDatabase, @unchecked Sendable {
    // Sendable as its superclass is: it adds no stored properties.

    /// The open engines, by their options.
    private static let instances = SharedInstances<[String: String], SQLInstance>()

    /// Opens the database that a configuration describes, and creates the schema if it is missing.
    ///
    /// - Parameter configuration: The configuration. Its path is the name of a database.
    /// - Throws: `.unreachable` when the server does not answer; `.notPermitted` for a user, a password or a certificate that
    ///   is refused, and when the schema may not be created; `.notFound` for a missing database or schema; `.unsupported` for a
    ///   server older than 13 or a database whose encoding is not UTF8; `.invalidConfiguration` for a wrong option.
    public init(_ configuration: DatabaseConfiguration) throws {
        if configuration.encryption != nil {
            throw StorageError.encryptionUnsupported(
                "a server's database", "encrypt the server's disk, and the connection with sslmode=verify-full",
                path: configuration.path)
        }
        let settings = try PostgresSettings(configuration)
        let writes = !configuration.isReadOnly
        let identity = settings.parameters.merging([
            "schema": settings.schema, "pool": "\(settings.pool)", "writers": "\(settings.writers)",
            "pooler": configuration.options["pooler"] ?? "session", "statementTimeout": "\(settings.statementTimeout)",
            "reads": settings.seen == nil ? "primary" : "standby",
        ]) { $1 }
        let instance = try Self.instances.acquire(identity) {
            try SQLInstance(PostgresEngine(settings, configuration), writes: writes)
        }
        try super.init(configuration, on: instance, writes: writes) { Self.instances.release(identity) { $0.close() } }
        guard let position = configuration.seenPosition else { return }
        do {
            try require(position)
        } catch {
            try? close()
            throw error
        }
    }

    /// Drops the schema that a configuration names, with everything in it. Tests that make their own schemas call it.
    ///
    /// ```swift
    /// try PostgresDatabase.dropSchema(of: DatabaseConfiguration(url: "postgres://app@localhost/app?schema=test-7"))
    /// ```
    ///
    /// - Throws: `.busy` when somebody uses one of its tables; `.notPermitted` when the user may not drop it. A schema that does
    ///   not exist is no error.
    public static func dropSchema(of configuration: DatabaseConfiguration) throws {
        let settings = try PostgresSettings(configuration)
        let connection = try PostgresConnection(settings)
        let schema = PostgresDialect().quoted(settings.schema)
        do {
            _ = try connection.commitAlone(["DROP SCHEMA IF EXISTS \(schema) CASCADE"], waiting: settings.busyTimeout)
        } catch let error as ServerError {
            throw error.storageError(path: settings.path)
        }
    }

    /// The server's position in its log, with the number of its history; see ``/DAOCore/Database``. It takes a round trip.
    public override var position: String? { get throws { try currentPosition().description } }

    private func currentPosition() throws -> PostgresPosition {
        try lifetime.read { session in
            guard let connection = session.connection as? PostgresConnection else { throw withoutServer }
            return try connection.currentPosition()
        }
    }

    /// Lets the reads of all databases on the engine see a position. It is known to be one of the server's before anybody has to
    /// wait for it: the text can come from anywhere.
    private func require(_ text: String) throws {
        guard let settings = (instance.engine as? PostgresEngine)?.settings else { return }
        guard let seen = PostgresPosition(text) else {
            throw StorageError(
                .invalidConfiguration, "the seen position is no position of a server; give the text of 'position', or none",
                path: settings.path)
        }
        let deadline = ContinuousClock.now + configuration.busyTimeout
        var current = try currentPosition()
        if current.isOfStandby, current.log < seen.log, settings.seen != nil {
            current = try PostgresConnection(settings).currentPosition()
        }
        while current.isOfStandby, current.log < seen.log {
            if .now > deadline { throw StorageError.staleStandby(settings.path) }
            usleep(5000)
            current = try currentPosition()
        }
        guard current.isOfStandby || seen.isIn(current) else {
            throw StorageError(
                .notFound, "the server's history does not have the seen position; read what is stored, and take a new position",
                path: settings.path)
        }
        // After a fail-over the log may have been cut off before it: all that is left is seen.
        let position = min(seen.log, current.log)
        settings.seen?.note(position)
        settings.required?.raise(to: position)
    }

    /// Returns what became of a transaction whose commit was not answered; see ``/DAOCore/Database``.
    ///
    /// A token is known for 30 days after its client has written for the last time.
    public override func outcome(of commitToken: String) throws -> CommitOutcome {
        try lifetime.call {
            guard let engine = instance.engine as? PostgresEngine, let token = CommitToken(commitToken),
                let isStored = try engine.isStored(token)
            else {
                throw StorageError(
                    .notFound, "the server knows no client with this token; it is of another schema, or older than 30 days",
                    path: instance.engine.traits.path)
            }
            return isStored ? .committed : .rolledBack
        }
    }
}

extension DatabaseDriver {
    /// Opens schemas of PostgreSQL databases: `postgres://user@host:5432/database?schema=app`.
    ///
    /// Options: `schema` (by default `public`), `pool` (the maximum number of connections, by default 8), `pooler`
    /// (`session` or `transaction`: how long a pooler in front of the server gives a connection to one client; `process`: the
    /// databases of this process share `pool` connections), `writers` (`one` or `many`), `reads` (`primary` or `standby`),
    /// `statementTimeout` (in seconds, by default 300), and the parameters of libpq, such as `host`, `sslmode`, `sslrootcert`, `passfile`, `connect_timeout` and `target_session_attrs`.
    public static let postgres = DatabaseDriver(
        scheme: "postgres", optionNames: PostgresSettings.ownOptions.union(PostgresSettings.parameterNames), hasPositions: true,
        connections: { configuration in
            // One more database on shared connections makes no more of them.
            if configuration.options["pooler"] == "process" { return 1 }
            // With 'reads=standby', as many read from standbys as from the primary. A wrong value is an error of the opening.
            let pool = (try? configuration.count("pool", in: 2...1000)) ?? 8
            return configuration.options["reads"] == "standby" ? 2 * pool : pool
        }
    ) {
        try PostgresDatabase($0)
    }
}
