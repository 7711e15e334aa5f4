#if Encryption
    import DAOCore
    import DAOSQLite
    import DAOSystemSQLite
    import DAOTestSupport
    import Foundation
    import Testing

    /// Contract L14: a database gets another key, none, or another format, with all that its file has.
    @Suite struct ReencryptionTests {
        private let place = Place()
        private static let key = Encryption.key(UInt8(0)..<32)
        private static let sqlCipher = Encryption.key(UInt8(1)...32, format: .sqlCipher())
        private static let plainHeader = Encryption.key(UInt8(1)...32, format: .sqlCipher(salt: Array(repeating: 7, count: 16)))

        private func messages(_ database: any Database) throws -> DAO<Message> {
            DAO(storage: try database.storage(for: Message.self))
        }

        private func configuration(_ encryption: Encryption?) -> DatabaseConfiguration {
            var configuration = DatabaseConfiguration(scheme: "sqlite", path: place.path())
            configuration.encryption = encryption
            return configuration
        }

        /// Makes a database of this library with what other programs can have in it.
        private func create() throws -> [String] {
            let database = try DatabaseDrivers(.sqlite).open(configuration(nil))
            try messages(database).create((1...500).map { Message.numbered($0) })
            try database.close()
            let raw = try Raw(place.path())
            try raw.run(
                """
                PRAGMA user_version = 7; PRAGMA application_id = 77;
                CREATE TABLE "odd ""name" (a, b AS (a || '!'), c TEXT CHECK (length(c) < 5));
                INSERT INTO "odd ""name" (rowid, a, c) VALUES (5, 'x', 'y'), (9, x'00ff', NULL), (70, 1.5, 'z');
                CREATE TABLE sequence (id INTEGER PRIMARY KEY AUTOINCREMENT, t);
                INSERT INTO sequence VALUES (10, 1), (20, 2); DELETE FROM sequence WHERE id = 20;
                CREATE TABLE parent (id INTEGER PRIMARY KEY);
                CREATE TABLE child (id INTEGER PRIMARY KEY, p REFERENCES parent);
                INSERT INTO child VALUES (1, 99);
                CREATE TABLE plain (k TEXT PRIMARY KEY, v) WITHOUT ROWID;
                INSERT INTO plain VALUES ('k', 'v');
                CREATE TABLE computed (a, b AS (a + 1) STORED, oid AS (a), c TEXT UNIQUE);
                INSERT INTO computed (rowid, a, c) VALUES (4, 1, 'q'), (40, 2, 'r');
                CREATE TABLE computedKey (k TEXT PRIMARY KEY, b AS (k || '!')) WITHOUT ROWID;
                INSERT INTO computedKey VALUES ('k');
                CREATE UNIQUE INDEX "partial" ON sequence (t) WHERE t > 0;
                CREATE INDEX expression ON sequence (lower(t));
                CREATE VIEW shown AS SELECT a, b FROM "odd ""name";
                CREATE TRIGGER told AFTER INSERT ON child BEGIN INSERT INTO plain VALUES (new.id, 't'); END;
                CREATE VIRTUAL TABLE words USING fts5(t); INSERT INTO words VALUES ('some words'), ('other words');
                ANALYZE;
                """)
            return try Self.contents(raw)
        }

        private static func contents(_ raw: Raw) throws -> [String] {
            var all = try raw.texts("SELECT type || name || tbl_name || coalesce(sql, '') FROM sqlite_schema ORDER BY type, name")
            for table in try raw.texts("SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') ORDER BY name") {
                let name = "\"\(table.replacing("\"", with: "\"\""))\""
                let columns = try raw.texts("SELECT name FROM pragma_table_xinfo('\(table)') WHERE hidden <> 1").map {
                    "quote(\"\($0)\")"
                }
                all.append(table)
                all += try raw.texts("SELECT \(columns.joined(separator: "||','||")) FROM \(name) ORDER BY 1")
            }
            all += try raw.texts("SELECT rowid FROM \"odd \"\"name\" ORDER BY rowid")
            all += try raw.texts("SELECT rowid FROM computed ORDER BY rowid")
            all += try raw.texts("SELECT rowid FROM words WHERE words MATCH 'other'")
            for name in ["user_version", "application_id", "integrity_check", "page_size", "journal_mode"] {
                all += try raw.texts("PRAGMA \(name)")
            }
            return all
        }

        @Test func everythingIsKeptInEveryDirection() throws {
            let contents = try create()
            var key: Encryption?
            for next in [
                Self.key, Self.sqlCipher, Self.plainHeader, nil, Self.sqlCipher, Self.key,
                .passphrase("words", format: .sqlCipher()),
                .passphrase("words"), .passphrase("other words"), nil, Self.plainHeader, Self.key, Self.key, nil,
            ] as [Encryption?] {
                let copy = place.path() + "-copy"
                try SQLiteDatabase.reencrypt(configuration(key), with: next, into: copy)
                try SQLiteDatabase.reencrypt(configuration(key), with: next)
                for path in [place.path(), copy] {
                    var opened = configuration(next)
                    opened.path = path
                    let database = try DatabaseDrivers(.sqlite).open(opened)
                    #expect(try messages(database).read(orderedBy: .ascending(\.id)).map(\.id) == Array(1...500))
                    #expect(try database.verify().isSound)
                    try database.close()
                    if next == nil {
                        #expect(try Self.contents(Raw(path)) == contents)
                        let header = try Data(contentsOf: URL(fileURLWithPath: path)).prefix(21)
                        #expect(header[20] == 0, "no bytes of a page stay reserved")
                    } else {
                        opened.encryption = .key(UInt8(100)..<132)
                        expectError(.notPermitted) { try DatabaseDrivers(.sqlite).open(opened) }
                    }
                }
                try FileManager.default.removeItem(atPath: copy)
                key = next
            }
            let left = try FileManager.default.contentsOfDirectory(atPath: place.directory.path).filter { $0.hasPrefix(".dao") }
            #expect(left == [])
        }

        @Test func anOpenFileIsNotReplaced() throws {
            _ = try create()
            try SQLiteDatabase.reencrypt(configuration(nil), with: Self.key)
            let file = URL(fileURLWithPath: place.path())
            let bytes = try Data(contentsOf: file)
            let database = try DatabaseDrivers(.sqlite).open(configuration(Self.key))
            expectError(.busy) { try SQLiteDatabase.reencrypt(configuration(Self.key), with: Self.sqlCipher) }
            // Another file is written meanwhile, also while a write is not committed.
            try database.transaction {
                try messages(database).create([Message.numbered(501)])
                try SQLiteDatabase.reencrypt(configuration(Self.key), with: nil, into: place.path() + "-copy")
            }
            #expect(try Raw(place.path() + "-copy").texts("SELECT count(*) FROM message") == ["500"])
            try database.close()
            // By another program.
            try SQLiteDatabase.reencrypt(configuration(Self.key), with: nil)
            let raw = try Raw(place.path())
            try raw.run("BEGIN")
            #expect(try raw.texts("SELECT count(*) FROM message") == ["501"])
            var hurried = configuration(nil)
            hurried.busyTimeout = .milliseconds(100)
            expectError(.busy) { try SQLiteDatabase.reencrypt(hurried, with: Self.key) }
            try raw.run("COMMIT; PRAGMA journal_mode = WAL")
            #expect(try raw.texts("SELECT count(*) FROM message") == ["501"])
            expectError(.busy) { try SQLiteDatabase.reencrypt(hurried, with: Self.key) }
            #expect(try raw.texts("PRAGMA integrity_check") == ["ok"])
            #expect(bytes != (try Data(contentsOf: file)))
        }

        @Test func refusalsChangeNothing() throws {
            _ = try create()
            try SQLiteDatabase.reencrypt(configuration(nil), with: Self.key)
            let file = URL(fileURLWithPath: place.path())
            let bytes = try Data(contentsOf: file)
            expectError(.notPermitted) { try SQLiteDatabase.reencrypt(configuration(nil), with: Self.sqlCipher) }
            expectError(.notPermitted) { try SQLiteDatabase.reencrypt(configuration(Self.sqlCipher), with: nil) }
            expectError(.notPermitted) {
                try SQLiteDatabase.reencrypt(configuration(Self.sqlCipher), with: nil, into: place.path() + "-copy")
            }
            expectError(.invalidConfiguration) {
                try SQLiteDatabase.reencrypt(configuration(Self.key), with: nil, into: place.path())
            }
            expectError(.invalidConfiguration) { try SQLiteDatabase.reencrypt(configuration(Self.key), with: .passphrase("")) }
            var missing = configuration(Self.key)
            missing.path += "-missing"
            expectError(.notFound) { try SQLiteDatabase.reencrypt(missing, with: nil) }
            #expect(try Data(contentsOf: file) == bytes)
            // A page that nobody has read is damaged.
            var damaged = bytes
            damaged[bytes.count - 4000] ^= 1
            try damaged.write(to: file)
            expectError(.corrupted) { try SQLiteDatabase.reencrypt(configuration(Self.key), with: nil) }
            #expect(try Data(contentsOf: file) == damaged)
        }

        /// A database of this library that has no table yet stays one.
        @Test func anEmptyDatabaseIsKept() throws {
            try DatabaseDrivers(.sqlite).open(configuration(nil)).close()
            try SQLiteDatabase.reencrypt(configuration(nil), with: Self.key)
            let database = try DatabaseDrivers(.sqlite).open(configuration(Self.key))
            try messages(database).create([Message.numbered(1)])
            #expect(try messages(database).count() == 1)
        }

        /// The log of a killed process is a part of the file.
        @Test func whatIsInTheLogIsKept() throws {
            let database = try DatabaseDrivers(.sqlite).open(configuration(Self.sqlCipher))
            try messages(database).create((1...500).map { Message.numbered($0) })
            for suffix in ["", "-wal"] {
                try FileManager.default.copyItem(atPath: place.path() + suffix, toPath: place.path() + "-killed" + suffix)
            }
            var killed = configuration(Self.sqlCipher)
            killed.path += "-killed"
            try SQLiteDatabase.reencrypt(killed, with: Self.key)
            killed.encryption = Self.key
            #expect(try messages(DatabaseDrivers(.sqlite).open(killed)).count() == 500)
        }

        /// Whoever gives no format keeps that of the file, in backups too.
        @Test func aBackupHasTheFormatOfItsDatabase() throws {
            try messages(DatabaseDrivers(.sqlite).open(configuration(Self.sqlCipher))).create([Message.numbered(1)])
            let key = Encryption.key(UInt8(1)...32)
            for round in 1...2 {
                let database = try DatabaseDrivers(.sqlite).open(configuration(key))
                try database.backup(to: place.path() + "-backup")
                try database.close()
                let header = try Data(contentsOf: URL(fileURLWithPath: place.path() + "-backup")).prefix(16)
                #expect(!header.starts(with: Data("SQLite".utf8)), "round \(round)")
                var backup = configuration(key)
                backup.path += "-backup"
                #expect(try messages(DatabaseDrivers(.sqlite).open(backup)).count() == 1)
            }
        }
    }
#endif
