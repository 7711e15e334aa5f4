import DAOCore
import DAOSQL

/// What the suite needs in a schema besides the tables: the gate, the tokens of commits, and functions of indexes.
enum PostgresSchema {
    /// Creates what is missing.
    ///
    /// - Throws: `.notFound` when it is missing and nothing may be created.
    static func prepare(_ connection: PostgresConnection, _ configuration: DatabaseConfiguration) throws {
        let settings = connection.settings
        let hasGate = try connection.hasTable("dao_gate")
        if hasGate, try configuration.isReadOnly || connection.hasTable("dao_commit") { return }
        let hasSchema = try !connection.rows("SELECT 1 WHERE \(connection.namespace) IS NOT NULL").isEmpty
        if configuration.isReadOnly || !configuration.createsIfMissing { throw StorageError.notFound(settings.path) }
        let schema = PostgresDialect().quoted(settings.schema)
        // Two clients that create the same would disturb each other.
        let texts =
            ["SELECT pg_catalog.pg_advisory_xact_lock(pg_catalog.hashtext('swift-dao'))"]
            + (hasSchema ? [] : ["CREATE SCHEMA IF NOT EXISTS \(schema)"]) + [
                "CREATE TABLE IF NOT EXISTS \(settings.gate) (version BIGINT NOT NULL)",
                "INSERT INTO \(settings.gate) SELECT 1 WHERE NOT EXISTS (SELECT 1 FROM \(settings.gate))",
                // Room for the next version of each row.
                "CREATE TABLE IF NOT EXISTS \(CommitToken.table) (client UUID PRIMARY KEY, token UUID, "
                    + "time TIMESTAMP WITH TIME ZONE NOT NULL DEFAULT pg_catalog.now()) WITH (fillfactor = 50)",
            ]
            + ["text": "convert_to($1, 'UTF8')", "bytea": "$1"].sorted { $0.key < $1.key }.map { type, bytes in
                "CREATE OR REPLACE FUNCTION \(PostgresDialect.hashFunction)(\(type)) RETURNS bytea LANGUAGE sql IMMUTABLE STRICT "
                    + "PARALLEL SAFE AS \("SELECT pg_catalog.sha256(\(bytes))".quotedLiteral)"
            }
        do {
            _ = try connection.commitAlone(texts, waiting: settings.busyTimeout)
        } catch let error as ServerError {
            throw error.storageError(path: settings.path)
        }
    }
}
