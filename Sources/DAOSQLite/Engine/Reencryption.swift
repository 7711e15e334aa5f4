import DAOCore
import DAOSystemSQLite
import Foundation

extension SQLiteDatabase {
    /// Writes a database with another key, without one, or in another format: into another file, or in its place.
    ///
    /// ```swift
    /// try SQLiteDatabase.reencrypt(configuration, with: .passphrase("a better one"))
    /// ```
    ///
    /// All that the file has is kept, tables of other programs too, and each text and number as it is. The new file is written
    /// beside its place and put there when it is complete: at every instant the path has what it had before or the whole new
    /// file. Free space is not copied. While a file is replaced, the process opens no other one. A program that uses a file without a log, as another
    /// library's may, is not seen between its transactions: end it before. The configuration of later openings needs the new key.
    ///
    /// - Parameters:
    ///   - configuration: The database, with the key that it has now.
    ///   - encryption: The new key and format; nil for a plain file.
    ///   - path: The path of another file, while others use the database; nil to replace the database's own file. An earlier copy
    ///     of the same database is replaced, as `backup(to:)` does it.
    /// - Throws: The errors of opening; those of `backup(to:)` for another file; `.busy` when any program has the file open that is
    ///   replaced; `.notADatabase` for an empty file; `CancellationError` when the task is cancelled before the new file is in its
    ///   place. Nothing has changed then.
    public static func reencrypt(
        _ configuration: DatabaseConfiguration, with encryption: Encryption?, into path: String? = nil
    ) throws {
        var configuration = try configuration.withAbsolutePath()
        configuration.createsIfMissing = false
        var wanted = configuration
        wanted.encryption = encryption
        wanted.options["checksums"] = nil
        let target = try SQLiteSettings(wanted)
        var status = stat()
        if stat(configuration.path, &status) == 0, status.st_size == 0, access(configuration.path + "-wal", F_OK) != 0 {
            throw StorageError.notADatabase(configuration.path, "an empty file")
        }
        target.cipher?.prepare(nil)
        if let path {
            configuration.isReadOnly = true
            try copy(configuration, into: path, target)
        } else {
            try replace(configuration, target)
        }
    }

    private static func copy(_ configuration: DatabaseConfiguration, into path: String, _ target: SQLiteSettings) throws {
        // It is checked as for any other use.
        let database = try SQLiteDatabase(configuration)
        defer { try? database.close() }
        guard let source = try (database.instance.engine as? SQLiteEngine)?.connectForCopy() else { return }
        try BackupFile.replace(
            path, of: configuration.path, with: BackupFile.Content(of: source, SQLiteDialect()), isOpen: isOpen,
            isDatabase: { DatabaseFile.isDatabase($0, at: path, target.cipher) },
            content: { try SQLiteConnection.content(at: $0, target) }
        ) { temporary, _ in try source.cancellable { try source.copyAll(to: temporary, target.cipher) } }
    }

    private static func replace(_ configuration: DatabaseConfiguration, _ target: SQLiteSettings) throws {
        let settings = try SQLiteSettings(configuration)
        let file = try DatabaseFile(configuration, mode: nil)
        func busy() -> StorageError {
            StorageError(
                .busy,
                "a program has the file open, so its key cannot be changed; close it there, and try again. Nothing was changed",
                path: file.path)
        }
        if let cipher = settings.cipher, let beginning = try instances.unlessOpen(file.identity, file.beginning) {
            cipher.prepare(beginning.isEmpty ? nil : (beginning[0], beginning[1]))
        }
        // Nobody in this process opens the file meanwhile.
        let isReplaced: Void? = try instances.unlessOpen(file.identity) {
            let checksums = try file.checkHeader(settings.cipher, writes: true)
            var settings = settings
            settings.checksums = settings.cipher != nil || checksums != true ? .none : .verified
            do {
                let source = try SQLiteConnection.open(file.path, .replacing, settings)
                try withExtendedLifetime(source) {
                    var status = stat()
                    guard stat(file.resolved, &status) == 0 else { throw TemporaryFile.failure(errno, file.path, as: "copy") }
                    let temporary = try TemporaryFile(beside: file.resolved, reporting: file.path, as: "copy")
                    try source.cancellable { try source.copyAll(to: temporary.path, target.cipher) }
                    try temporary.sync(mode: status.st_mode)
                    guard !file.hasLog, FileIdentity(file.resolved) == file.identity else { throw busy() }
                    try temporary.replaceTarget()
                }
            } catch let error as StorageError where error.kind == .busy { throw busy() }
        }
        guard isReplaced != nil else { throw busy() }
    }
}

extension SQLiteConnection {
    /// Writes everything that the file has into an empty one.
    ///
    /// SQLite's own `VACUUM INTO` cannot: the formats reserve different numbers of bytes of each page, and it takes away none.
    ///
    /// - Parameters:
    ///   - path: The path of the empty file.
    ///   - cipher: The key of that file; nil for a plain one.
    fileprivate func copyAll(to path: String, _ cipher: PageCipher?) throws {
        let schema = "dao_copy", uri = Self.uri(path)
        let pageSize = try integers("PRAGMA page_size").first ?? 4096
        let code: Int32
        if let cipher {
            code = cipher.attach(uri, as: schema, to: handle)
        } else {
            let layer = sqlite3_vfs_find(nil).map { String(cString: $0.pointee.zName) } ?? ""
            code = sqlite3_exec(handle, "ATTACH '\(uri)?vfs=\(layer)' AS \(schema)", nil, nil, nil)
        }
        if code != SQLITE_OK { throw failure(code) }
        defer { try? execute("DETACH \(schema)") }
        // Nothing has to be undone in a file that is thrown away when the copy fails, and it is synced as a whole.
        try execute(
            "PRAGMA \(schema).journal_mode = OFF; PRAGMA \(schema).synchronous = OFF; PRAGMA \(schema).page_size = \(pageSize)")
        try execute("BEGIN")
        defer { if sqlite3_get_autocommit(handle) == 0 { try? execute("ROLLBACK") } }
        for name in ["auto_vacuum", "user_version", "application_id"] {
            let value = try integers("PRAGMA main.\(name)").first ?? 0
            if value != 0 { try execute("PRAGMA \(schema).\(name) = \(value)") }
        }
        // Statements are stored with these words before the name. SQLite makes the table of sequences by itself.
        let stored = "main.sqlite_schema WHERE rootpage > 0 AND sql IS NOT NULL"
        for table in try texts("SELECT sql FROM \(stored) AND type = 'table' AND name <> 'sqlite_sequence' ORDER BY rowid") {
            try execute("CREATE TABLE \(schema)." + table.dropFirst("CREATE TABLE ".count))
        }
        for index in try texts("SELECT sql FROM \(stored) AND type = 'index' ORDER BY rowid") {
            let words = index.hasPrefix("CREATE UNIQUE") ? "CREATE UNIQUE INDEX " : "CREATE INDEX "
            try execute(words + "\(schema)." + index.dropFirst(words.count))
        }
        // The table of sequences is left where nothing uses it any more.
        let tables = try texts("SELECT name FROM \(schema).sqlite_schema WHERE type = 'table' ORDER BY rowid")
        for table in tables {
            let name = table.quotedIdentifier
            if table == "sqlite_sequence" { try execute("DELETE FROM \(schema).sqlite_sequence") }
            try execute("INSERT INTO \(schema).\(name)\(try rowNumbers(of: table, name)) FROM main.\(name)")
        }
        try execute(
            """
            INSERT INTO \(schema).sqlite_schema SELECT type, name, tbl_name, 0, sql FROM main.sqlite_schema
            WHERE type IN ('view', 'trigger') OR (type = 'table' AND rootpage = 0)
            """)
        try execute("COMMIT")
        // Whether a file has a log is kept, too: a database of this library without tables is known by it.
        if try texts("PRAGMA main.journal_mode") == ["wal"] { try execute("PRAGMA \(schema).journal_mode = WAL") }
    }

    /// What selects the rows of a table: all that SQLite copies as it is; otherwise the columns that are no generated ones, with the
    /// number of each row, since SQLite gives new ones in a table without any index.
    private func rowNumbers(of table: String, _ name: String) throws -> String {
        let quoted = table.quotedLiteral
        func columns(_ hidden: String) throws -> [String] {
            try texts("SELECT name FROM pragma_table_xinfo(\(quoted)) WHERE hidden IN (\(hidden))")
        }
        let hasOrder = try !texts(
            "SELECT name FROM pragma_index_list(\(quoted)) UNION ALL SELECT name FROM pragma_table_info(\(quoted)) WHERE pk > 0"
        ).isEmpty
        let stored = try columns("0"), generated = try columns("2, 3")
        if hasOrder, generated.isEmpty { return " SELECT *" }
        // The index of the primary key of a table without row numbers is the table, and no entry of the schema.
        let hasNumbers = try texts(
            "SELECT name FROM pragma_index_list(\(quoted)) WHERE origin = 'pk' AND name NOT IN (SELECT name FROM main.sqlite_schema)"
        ).isEmpty
        let names = Set((stored + generated).map { $0.lowercased() })
        let row = hasNumbers ? ["rowid", "_rowid_", "oid"].first { !names.contains($0) } : nil
        if row == nil, generated.isEmpty { return " SELECT *" }
        let list = ((row.map { [$0] } ?? []) + stored.map(\.quotedIdentifier)).joined(separator: ", ")
        return " (\(list)) SELECT \(list)"
    }
}
