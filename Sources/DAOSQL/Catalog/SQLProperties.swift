import DAOCore

/// The table of the texts that the suite stores in a database, such as its version.
struct SQLProperties {
    /// The name of the table.
    static let name = "dao_properties"
    /// The name of the text that tells the database and its backups from others.
    static let identity = "identity"

    /// The SQL dialect of the engine.
    let dialect: any SQLDialect

    private var table: String { dialect.quoted(Self.name) }

    /// Creates the table if it does not exist.
    var create: String {
        "CREATE TABLE IF NOT EXISTS \(table) (\n  \"name\" TEXT PRIMARY KEY,\n  \"value\" TEXT NOT NULL\n)"
    }

    /// Reads a text; its name is bound.
    var select: String { "SELECT \"value\" FROM \(table) WHERE \"name\" = \(dialect.placeholder(1))" }

    /// Stores or replaces a text: name and text are bound.
    var upsert: String {
        "INSERT INTO \(table) (\"name\", \"value\") VALUES (\(dialect.placeholder(1)), \(dialect.placeholder(2))) "
            + "ON CONFLICT (\"name\") DO UPDATE SET \"value\" = excluded.\"value\""
    }

    /// Stores a text unless there is one of the name: name and text are bound.
    var insertMissing: String {
        "INSERT INTO \(table) (\"name\", \"value\") VALUES (\(dialect.placeholder(1)), \(dialect.placeholder(2))) "
            + "ON CONFLICT (\"name\") DO NOTHING"
    }

    /// Removes a text; its name is bound.
    var delete: String { "DELETE FROM \(table) WHERE \"name\" = \(dialect.placeholder(1))" }
}

extension BackupFile.Content {
    /// What a connection reads.
    ///
    /// - Parameters:
    ///   - connection: The connection.
    ///   - dialect: The SQL dialect of the engine.
    package init(of connection: any SQLConnection, _ dialect: any SQLDialect) throws {
        // By one statement: between two, another process that opens a new file makes the catalog and its first tables.
        let names = try connection.takenNames()
        func has(_ table: String) throws -> Bool { try names.contains(table) && connection.hasTable(table) }
        let hasProperties = try has(SQLProperties.name)
        guard try hasProperties || has(SQLCatalog.name) else {
            self = names.isEmpty ? .nothing : .other
            return
        }
        var identity: String?
        if hasProperties {
            let select = SQLText(SQLProperties(dialect: dialect).select, [.value(.string(SQLProperties.identity))])
            do {
                try SQLSession(connection, path: "").forEachRow(select, entity: "") { identity = $0.text(inColumn: 0) }
            } catch is SQLMissingTable {
                // Another program has changed the table.
            }
        }
        self = .database(identity: identity)
    }
}
