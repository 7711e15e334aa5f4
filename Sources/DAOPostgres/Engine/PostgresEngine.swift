import DAOCore
import DAOSQL
import DAOSystemPostgres

/// A PostgreSQL engine with one schema of one database.
final class PostgresEngine: SQLEngine {
    let settings: PostgresSettings
    private let version: String
    /// The connection that has looked at the schema, until it is used.
    private let first: Lock<PostgresConnection?>

    let dialect: any SQLDialect = PostgresDialect()

    /// Creates what the schema lacks.
    init(_ settings: PostgresSettings, _ configuration: DatabaseConfiguration) throws {
        self.settings = settings
        settings.shared?.beginUse()
        do {
            let connection = try PostgresConnection(settings)
            try connection.checkPooler()
            try PostgresSchema.prepare(connection, configuration)
            version = "PostgreSQL \(connection.serverVersion)"
            first = Lock(connection)
        } catch {
            settings.shared?.endUse()
            throw error
        }
    }

    var traits: SQLEngineTraits {
        SQLEngineTraits(
            name: version, path: settings.path, isMultiProcess: true, maximumValueLength: 500_000_000,
            maximumReaders: settings.pool - settings.writers, maximumWriters: settings.writers, readersOption: "pool",
            busyTimeout: settings.busyTimeout, hasReplicas: settings.seen != nil,
            underlyingType: UnderlyingType(PostgresHandle.self))
    }

    func connect(_ access: SQLAccess) throws -> any SQLConnection {
        try first.withLock { first in
            defer { first = nil }
            return first
        } ?? PostgresConnection(settings)
    }

    func connectToReplica() throws -> any SQLConnection {
        guard let seen = settings.seen, !seen.avoidsStandbys else { throw StorageError.unreachableStandby(settings.path) }
        do {
            return try PostgresConnection(settings.forStandby)
        } catch {
            seen.avoidStandbys(for: SeenPosition.pauseAfterLoss)
            throw error
        }
    }

    /// Returns whether a transaction is stored; nil when its client is not known to the server.
    func isStored(_ token: CommitToken) throws -> Bool? { try PostgresConnection(settings).isStored(token) }

    func close() {
        first.withLock { $0 = nil }
        settings.shared?.endUse()
    }

    /// Any commit on the server changes the snapshot that a transaction would get.
    var commitCounter: ObservationHub.OpenCounter? {
        { [settings] in
            let connection = try PostgresConnection(settings.forPolling)
            let start = UInt64.random(in: 0...UInt64.max)
            return {
                let snapshot = try connection.rows("SELECT pg_catalog.pg_current_snapshot()::text").first?.text(0) ?? ""
                // After a fail-over the same snapshot stands for other transactions. A new connection counts as a commit.
                return "\(snapshot) \(start) \(connection.epoch)".utf8.reduce(0xcbf2_9ce4_8422_2325) {
                    ($0 ^ UInt64($1)) &* 0x100_0000_01b3
                }
            }
        }
    }
}
