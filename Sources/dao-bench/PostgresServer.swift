import DAOSystemPostgres
import Foundation

/// The server on which PostgreSQL is measured.
struct PostgresServer {
    let url: String

    /// That of `Scripts/with-postgres.sh`; nil when there is none.
    static let ofEnvironment = ProcessInfo.processInfo.environment["DAO_POSTGRES_URL"].map(PostgresServer.init)

    /// Does for a schema what the server does by itself a minute later, so that it does not do it during a measurement: removes
    /// old versions of rows and gathers statistics. Writes what is in memory to the files.
    func settle(_ schema: String) throws {
        try run { execute in
            let tables = try execute("SELECT quote_ident(tablename) FROM pg_tables WHERE schemaname = '\(schema)'")
            for table in tables { _ = try execute("VACUUM (ANALYZE) \"\(schema)\".\(table)") }
            _ = try execute("CHECKPOINT")
        }
    }

    func drop(_ schema: String) { try? run { _ = try $0("DROP SCHEMA \"\(schema)\" CASCADE") } }

    /// Runs a closure with a connection of its own. What the closure gets returns the first column of a statement's rows.
    private func run(_ body: ((String) throws -> [String]) throws -> Void) throws {
        let connection = PQconnectdb(url)
        defer { PQfinish(connection) }
        PQsetNoticeProcessor(connection, { _, _ in }, nil)
        try body { sql in
            let result = PQexec(connection, sql)
            defer { PQclear(result) }
            guard PQresultStatus(result) == PGRES_COMMAND_OK || PQresultStatus(result) == PGRES_TUPLES_OK else {
                throw BenchError(String(cString: PQerrorMessage(connection)))
            }
            return (0..<PQntuples(result)).map { String(cString: PQgetvalue(result, $0, 0)) }
        }
    }
}
