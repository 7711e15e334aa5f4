/// The table of the texts that the suite stores in a database, such as its version.
struct SQLProperties {
    /// The name of the table.
    static let name = "dao_properties"

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

    /// Removes a text; its name is bound.
    var delete: String { "DELETE FROM \(table) WHERE \"name\" = \(dialect.placeholder(1))" }
}
