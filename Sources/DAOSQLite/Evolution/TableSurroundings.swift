import DAOCore
import DAOSystemSQLite

/// What other tools have tied to a table: triggers, views and foreign keys, which do not survive that the table is replaced.
struct TableSurroundings {
    private let table: String
    private let ties: [String]

    /// Looks for them.
    init(_ table: String, _ connection: SQLiteConnection) throws {
        self.table = table
        let text = "'" + table.replacing("'", with: "''") + "'"
        let triggers = try connection.texts(
            "SELECT name FROM sqlite_master WHERE type = 'trigger' AND tbl_name = \(text) COLLATE NOCASE")
        let views = try connection.texts(
            "SELECT name FROM sqlite_master WHERE type IN ('view', 'trigger') AND tbl_name <> \(text) COLLATE NOCASE "
                + "AND instr(lower(sql), lower(\(text))) > 0")
        let references = try connection.texts(
            "SELECT m.name FROM sqlite_master m, pragma_foreign_key_list(m.name) f WHERE m.type = 'table' "
                + "AND f.\"table\" = \(text) COLLATE NOCASE")
        ties =
            triggers.map { "the trigger '\($0)'" } + views.map { "'\($0)'" } + references.map { "a foreign key of '\($0)'" }
    }

    /// Refuses when there are any.
    func check(path: String) throws {
        guard !ties.isEmpty else { return }
        throw StorageError(
            .schemaMismatch,
            "the table '\(table)' has to be replaced, and \(ties.joined(separator: ", ")) would be lost: remove what another tool has added, "
                + "and add it again afterwards. Nothing was changed",
            entity: table, path: path)
    }
}
