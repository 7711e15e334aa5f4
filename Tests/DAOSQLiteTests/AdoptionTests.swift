import DAOCore
import DAOSQLite
import DAOTestSupport
import Foundation
import Testing

/// Files and tables that another program has made: Docs/AdoptedTables.md, clause by clause.
@Suite struct AdoptionTests {
    private let place = Place()

    struct Part: Plain, Model, Equatable {
        var id: Int
        var name: String
        var code: String?
        var rank: Int

        static let schema = Schema(
            "part", Self.init, Field("id", \.id, .primaryKey), Field("name", \.name), Field("code", \.code, .unique),
            Field("rank", \.rank))
    }

    struct Tag: Plain, Model {
        var id: String
        static let schema = Schema("tag", Self.init, Field("id", \.id, .primaryKey))
    }

    struct Measure: Plain, Model {
        var id: Int
        var value: Double
        static let schema = Schema("measure", Self.init, Field("id", \.id, .primaryKey), Field("value", \.value))
    }

    struct Huge: Plain, Model {
        var id: UInt64
        static let schema = Schema("huge", Self.init, Field("id", \.id, .primaryKey))
    }

    struct Owned: Plain, Model {
        var id: Int
        var tag: Tag?
        static let schema = Schema("owned", Self.init, Field("id", \.id, .primaryKey), Field("tag", \.tag, .linked))
    }

    struct Order: Plain, Model, Equatable {
        var number: Int
        var date: Double
        var code: String?

        static let schema = Schema(
            "Order Details", Self.init, Field("Order #", \.number, .primaryKey), Field("Order Date", \.date, .indexed),
            Field("x FROM y (2024)", \.code, .unique))
    }

    private static let columns = "name TEXT NOT NULL, code TEXT UNIQUE, rank INT NOT NULL"
    private static let plain = "CREATE TABLE part(id INTEGER PRIMARY KEY, \(columns))"

    /// Tables in which every rule can be kept.
    static let adopted: [String] =
        [
            plain,
            "CREATE TABLE part(id INTEGER CONSTRAINT pk PRIMARY KEY AUTOINCREMENT, \(columns))",
            "CREATE TABLE part(id INTEGER, \(columns), PRIMARY KEY (id))",
            "CREATE TABLE part(id INTEGER PRIMARY KEY DESC, \(columns))",
            "CREATE TABLE part(id INT PRIMARY KEY, \(columns))",
            "CREATE TABLE part(id INT PRIMARY KEY, \(columns)) WITHOUT ROWID",
            "CREATE TABLE part(id INTEGER PRIMARY KEY, \(columns)) STRICT",
            "CREATE TABLE part(id INTEGER PRIMARY KEY, name TEXT NOT NULL DEFAULT 'x', code TEXT UNIQUE, rank INT NOT NULL DEFAULT 7)",
            "CREATE TABLE part(id INTEGER PRIMARY KEY, \(columns), CHECK (rank < 1000))",
            "CREATE TABLE part(id INTEGER PRIMARY KEY, name TEXT COLLATE NOCASE NOT NULL, code TEXT UNIQUE, rank INT NOT NULL)",
            "CREATE TABLE part(id INTEGER PRIMARY KEY, name TEXT COLLATE RTRIM NOT NULL, code TEXT UNIQUE, rank INT NOT NULL)",
            plain + "; CREATE INDEX i ON part(name COLLATE NOCASE)",
            plain + "; CREATE INDEX i ON part(lower(name)); CREATE INDEX j ON part(rank) WHERE rank > 5",
            plain + "; CREATE TABLE log(id INTEGER, word TEXT);"
                + "CREATE TRIGGER a AFTER INSERT ON part BEGIN INSERT INTO log VALUES(NEW.id, 'insert'); END;"
                + "CREATE TRIGGER b BEFORE UPDATE OF rank ON part WHEN NEW.rank <> OLD.rank BEGIN INSERT INTO log VALUES(OLD.id, 'OR IGNORE'); END;"
                + "CREATE TRIGGER c AFTER DELETE ON part BEGIN DELETE FROM log WHERE id = OLD.id; END",
            plain + "; CREATE TRIGGER a BEFORE INSERT ON part WHEN NEW.rank < -1000 BEGIN SELECT RAISE(ABORT, 'no'); END",
            plain + "; CREATE VIEW named AS SELECT name FROM part",
            "CREATE TABLE box(id INTEGER PRIMARY KEY); INSERT INTO box VALUES(1), (2), (3), (4), (5);"
                + "CREATE TABLE part(id INTEGER PRIMARY KEY, name TEXT NOT NULL, code TEXT UNIQUE, rank INT NOT NULL REFERENCES box ON DELETE CASCADE)",
            plain + "; CREATE TABLE piece(part INTEGER REFERENCES part(id) ON DELETE CASCADE)",
        ]
        + ["ROLLBACK", "ABORT", "FAIL", "IGNORE", "REPLACE"].flatMap { clause in
            [
                "CREATE TABLE part(id INTEGER PRIMARY KEY ON CONFLICT \(clause), \(columns))",
                "CREATE TABLE part(id INTEGER PRIMARY KEY, name TEXT NOT NULL, code TEXT UNIQUE ON CONFLICT \(clause), rank INT NOT NULL)",
                "CREATE TABLE part(id INTEGER PRIMARY KEY, name TEXT NOT NULL ON CONFLICT \(clause), code TEXT, rank INT NOT NULL, UNIQUE (code) ON CONFLICT \(clause))",
                "CREATE TABLE part(id INT, \(columns), PRIMARY KEY (id) ON CONFLICT \(clause))",
            ]
        }

    /// What every kind of write and read says in an adopted table is what it says in one of the suite.
    @Test(arguments: adopted) func anAdoptedTableKeepsTheContract(sql: String) throws {
        try Raw(place.path("foreign.db"), create: true).run(sql)
        let foreign = try outcomes(place.database("foreign.db") { $0.options["adopt"] = "true" })
        let own = try outcomes(place.database("own.db"))
        for (foreign, own) in zip(foreign, own) { #expect(foreign == own) }
        #expect(foreign.count == own.count)
        let database = try place.database("foreign.db")
        #expect(try database.verify().isSound)
        try database.close()
    }

    /// Names that another program has given, as they are.
    @Test func tablesWithSpacesAndSignsInTheirNamesAreUsed() throws {
        let raw = try Raw(place.path("foreign.db"), create: true)
        try raw.run(
            """
            CREATE TABLE "Order Details"("Order #" INTEGER PRIMARY KEY, "Order Date" REAL NOT NULL, [x FROM y (2024)] TEXT UNIQUE);
            CREATE INDEX "by date (desc)" ON "Order Details"("Order Date");
            INSERT INTO "Order Details" VALUES (1, 10, 'a'), (2, 20, 'b'), (3, 30, NULL)
            """)
        let database = try place.database("foreign.db") { $0.options["adopt"] = "true" }
        let orders = DAO(storage: try database.storage(for: Order.self))
        #expect(try orders.read(Query(where: Condition("`Order Date` > 10 AND `x FROM y (2024)` != nil"))).map(\.number) == [2])
        #expect(try orders.storage.explain(Query(where: Condition { $0.date == 20 })).access == .index(["Order Date"]))
        #expect(try orders.storage.explain(Query(where: Condition { $0.code == "b" })).access == .index(["x FROM y (2024)"]))
        #expect(try orders.storage.read(keys: [2, 3].map { .integer($0) }, includesSubentities: true).map(\.date) == [20, 30])
        try orders.persist([Order(number: 2, date: 21, code: "c"), Order(number: 4, date: 40, code: "b")])
        #expect(try orders.sum(\.date) == 101)
        #expect(throws: StorageError.self) { try orders.create(Order(number: 5, date: 1, code: "a")) }
        #expect(try database.verify().isSound)
    }

    private func outcomes(_ database: SQLiteDatabase) throws -> [String] {
        let parts = DAO(storage: try database.storage(for: Part.self))
        var outcomes: [String] = []
        func run(_ what: String, _ body: () throws -> Any) {
            do {
                outcomes.append("\(what): \(try body())")
            } catch let error as StorageError {
                outcomes.append(
                    "\(what): \(error.kind) \(error.key.map { "\($0)" } ?? "") \(error.conflictingKey.map { "\($0)" } ?? "") \(error.field ?? "")"
                )
            } catch {
                outcomes.append("\(what): \(error)")
            }
            outcomes.append((try? parts.read().map { "\($0)" }.joined(separator: "\n")) ?? "unreadable")
        }
        let rows = [
            Part(id: 1, name: "Bolt", code: "a", rank: 1), Part(id: 2, name: "bolt", code: "b", rank: 2),
            Part(id: 3, name: "bolt ", code: nil, rank: 3), Part(id: 4, name: "anvil", code: nil, rank: 3),
        ]
        run("create") { try parts.create(rows) }
        run("a taken key") { try parts.create(Part(id: 1, name: "Nut", code: nil, rank: 1)) }
        run("a taken code") { try parts.create(Part(id: 5, name: "Nut", code: "a", rank: 1)) }
        run("the second of two") {
            try parts.create([Part(id: 5, name: "Nut", code: "c", rank: 1), Part(id: 6, name: "Nut", code: "b", rank: 1)])
        }
        run("a taken code in a merge") { try parts.persist(Part(id: 2, name: "bolt", code: "a", rank: 2)) }
        run("persist") {
            try parts.persist([Part(id: 2, name: "bolt", code: "b", rank: 1), Part(id: 5, name: "Nut", code: nil, rank: 2)])
        }
        run("upsert") { try parts.storage.upsert([Part(id: 5, name: "Nut", code: "e", rank: 2)]) }
        run("upsert of a taken code") { try parts.storage.upsert([Part(id: 4, name: "Nut", code: "e", rank: 2)]) }
        run("update") { try parts.update(where: { $0.rank == 1 }) { $0.rank += 1 } }
        run("set") { try parts.set(\.rank, to: 4) { $0.id > 2 } }
        run("set of a taken code") { try parts.set(\.code, to: "a") { $0.id > 1 } }
        run("equal") { try parts.count { $0.name == "bolt" } }
        run("not equal") { try parts.count { $0.name != "bolt" } }
        run("in") { try parts.count { $0.name.in(["BOLT", "bolt "]) } }
        run("less") { try parts.read(where: { $0.name < "a" }).map(\.id) }
        run("prefix") { try parts.read(where: { $0.name.hasPrefix("b") }).map(\.id) }
        run("contains") { try parts.count { $0.name.contains("olt") } }
        run("sort") { try parts.read(orderedBy: .ascending(\.name)).map(\.id) }
        run("descending") { try parts.read(orderedBy: .descending(\.name), limit: 3).map(\.id) }
        run("distinct") { try parts.distinct(\.name) }
        run("groups") { try parts.groups(by: \.name, totals: .count) }
        run("pages") {
            var (found, cursor): ([Int], PageCursor?) = ([], nil)
            repeat {
                let page = try parts.page(orderedBy: .ascending(\.name), limit: 2, after: cursor)
                found += page.elements.map(\.id)
                cursor = page.next
            } while cursor != nil
            return found
        }
        run("erase") { try parts.erase { $0.name == "bolt" } }
        run("many") { try parts.create((100..<140).map { Part(id: $0, name: "n\($0)", code: "c\($0)", rank: 1 + $0 % 5) }) }
        run("erase all") { try parts.erase { $0.id > 0 } }
        return outcomes
    }

    /// Tables in which some rule could not be kept, each with what the refusal names.
    static let refused: [(sql: String, part: String)] = [
        (
            "CREATE TABLE part(id INTEGER PRIMARY KEY, name TEXT NOT NULL, code TEXT COLLATE NOCASE UNIQUE, rank INT NOT NULL)",
            "COLLATE NOCASE"
        ),
        (
            "CREATE TABLE part(id INTEGER PRIMARY KEY, name TEXT NOT NULL, code TEXT, rank INT NOT NULL); CREATE UNIQUE INDEX u ON part(code COLLATE RTRIM)",
            "COLLATE RTRIM"
        ),
        ("CREATE TABLE part(id INTEGER PRIMARY KEY, \(columns), UNIQUE (name, rank))", "UNIQUE (name, rank)"),
        (plain + "; CREATE UNIQUE INDEX u ON part(lower(name))", "'u' is on an expression"),
        (plain + "; CREATE UNIQUE INDEX u ON part(name) WHERE rank > 5", "'u' has WHERE"),
        (
            "CREATE TABLE part(id INTEGER PRIMARY KEY, name TEXT NOT NULL, code TEXT UNIQUE, rank INT NOT NULL AS (id + 1))",
            "GENERATED ALWAYS"
        ),
        (
            "CREATE TABLE part(id INTEGER PRIMARY KEY, name TEXT NOT NULL, code TEXT UNIQUE, rank INT NOT NULL AS (id + 1) STORED)",
            "GENERATED ALWAYS"
        ),
        (
            "CREATE TABLE part(id INTEGER, name TEXT NOT NULL, code TEXT UNIQUE, rank INT NOT NULL, PRIMARY KEY (id, name))",
            "primary key"
        ),
        ("CREATE TABLE part(id INTEGER PRIMARY KEY, \(columns), updated TEXT)", "'updated' is not in the model"),
        (
            plain + "; CREATE TRIGGER t BEFORE INSERT ON part WHEN NEW.rank > 5 BEGIN SELECT RAISE /* quiet */ (IGNORE); END",
            "'t' has RAISE(IGNORE)"
        ),
        (plain + "; CREATE TRIGGER t BEFORE DELETE ON part BEGIN SELECT RAISE(IGNORE); END", "'t' has RAISE(IGNORE)"),
        (plain + "; CREATE TRIGGER t BEFORE UPDATE ON part BEGIN SELECT RAISE(FAIL, 'no'); END", "'t' has RAISE(FAIL)"),
        (plain + "; CREATE TRIGGER t AFTER INSERT ON part BEGIN SELECT RAISE(ROLLBACK, 'no'); END", "'t' has RAISE(ROLLBACK)"),
        (
            plain + "; CREATE TRIGGER updated AFTER UPDATE ON part BEGIN UPDATE part SET rank = 9 WHERE id = NEW.id; END",
            "'updated' changes rows of 'part'"
        ),
        (
            plain + "; CREATE TRIGGER t AFTER INSERT ON part BEGIN DELETE FROM part WHERE id = NEW.id; END",
            "'t' changes rows of 'part'"
        ),
        (
            plain
                + "; CREATE TABLE log(id INTEGER PRIMARY KEY); CREATE TRIGGER t AFTER INSERT ON part BEGIN INSERT OR REPLACE INTO log VALUES(1); END",
            "'t' has INSERT OR REPLACE"
        ),
        (
            plain
                + "; CREATE TABLE log(id INTEGER PRIMARY KEY); CREATE TRIGGER t AFTER INSERT ON part BEGIN INSERT INTO log VALUES(NEW.id); END;"
                + "CREATE TRIGGER u AFTER INSERT ON log BEGIN UPDATE part SET rank = 1; END", "'u' changes rows of 'part'"
        ),
        (plain + "; CREATE TRIGGER t AFTER INSERT ON part BEGIN SELECT known_elsewhere(NEW.id); END", "known_elsewhere"),
        (
            "CREATE TABLE part(id INTEGER PRIMARY KEY, name TEXT NOT NULL, code TEXT UNIQUE, rank INT NOT NULL REFERENCES part(id) ON DELETE CASCADE)",
            "ON DELETE CASCADE"
        ),
        ("CREATE VIEW part AS SELECT 1 AS id, 'a' AS name, NULL AS code, 2 AS rank", "view"),
        ("CREATE VIRTUAL TABLE part USING fts5(name)", "part"),
    ]

    @Test(arguments: refused) func aTableThatCannotKeepTheContractIsRefused(sql: String, part: String) throws {
        try expectRefusal(of: Part.self, sql, part)
    }

    @Test func keysAndNumbersThatTheTableCannotHoldAreRefused() throws {
        try expectRefusal(of: Tag.self, "CREATE TABLE tag(id TEXT PRIMARY KEY COLLATE NOCASE)", "COLLATE NOCASE")
        try expectRefusal(of: Measure.self, "CREATE TABLE measure(id INTEGER PRIMARY KEY, value REAL NOT NULL) STRICT", "STRICT")
        try expectRefusal(of: Huge.self, "CREATE TABLE huge(id INTEGER PRIMARY KEY)", "Int64.max")
        let tables = "CREATE TABLE tag(id TEXT PRIMARY KEY);"
        try expectRefusal(
            of: Owned.self,
            tables + "CREATE TABLE owned(id INTEGER PRIMARY KEY, tag TEXT REFERENCES tag); CREATE INDEX t ON owned(tag)",
            "DEFERRABLE INITIALLY DEFERRED")
        try expectRefusal(
            of: Owned.self,
            tables + "CREATE TABLE owned(id INTEGER PRIMARY KEY, tag TEXT COLLATE NOCASE); CREATE INDEX t ON owned(tag)",
            "COLLATE NOCASE")
    }

    /// The file is adopted, and then the table is refused: the refusal changes no byte.
    private func expectRefusal<Record: Model>(of model: Record.Type, _ sql: String, _ part: String) throws {
        let name = "\(UUID().uuidString).db"
        try Raw(place.path(name), create: true).run(sql)
        try place.database(name) { $0.options["adopt"] = "true" }.close()
        let before = try Data(contentsOf: URL(fileURLWithPath: place.path(name)))
        let database = try place.database(name)
        let error = expectError(.schemaMismatch) { try database.storage(for: model) }
        #expect(error?.message.contains(part) == true, "\(part) in \(error?.message ?? "nothing")")
        try database.close()
        #expect(try Data(contentsOf: URL(fileURLWithPath: place.path(name))) == before, "\(sql)")
        #expect(try !FileManager.default.contentsOfDirectory(atPath: place.directory.path).contains("\(name)-wal"))
    }

    @Test func actionsBetweenTwoAdoptedTablesAreRefused() throws {
        try Raw(place.path(), create: true).run(
            "CREATE TABLE tag(id TEXT PRIMARY KEY);"
                + "CREATE TABLE measure(id INTEGER PRIMARY KEY, value REAL NOT NULL REFERENCES tag(id) ON DELETE SET DEFAULT);"
                + "CREATE TRIGGER t AFTER INSERT ON tag BEGIN DELETE FROM huge; END; CREATE TABLE huge(id UNSIGNED BIG INT PRIMARY KEY)"
        )
        let database = try place.database { $0.options["adopt"] = "true" }
        _ = try database.storage(for: Tag.self)
        let child = expectError(.schemaMismatch) { try database.storage(for: Measure.self) }
        #expect(child?.message.contains("ON DELETE SET DEFAULT") == true)
        let changed = expectError(.schemaMismatch) { try database.storage(for: Huge.self) }
        #expect(changed?.message.contains("the trigger 't' changes rows of 'huge'") == true)
    }

    @Test func aRowThatATriggerSwallowsIsAnError() throws {
        try Raw(place.path(), create: true).run(Self.plain)
        let database = try place.database { $0.options["adopt"] = "true" }
        let parts = DAO(storage: try database.storage(for: Part.self))
        try parts.create(Part(id: 1, name: "a", code: nil, rank: 1))
        try Raw(place.path()).run(
            "CREATE TRIGGER t BEFORE INSERT ON part WHEN NEW.rank > 5 BEGIN SELECT RAISE(IGNORE); END;"
                + "CREATE TRIGGER u BEFORE UPDATE ON part WHEN NEW.rank > 5 BEGIN SELECT RAISE(IGNORE); END")
        for row in [Part(id: 2, name: "b", code: nil, rank: 9), Part(id: 1, name: "b", code: nil, rank: 9)] {
            let error = expectError(.schemaMismatch) { try parts.persist([Part(id: 3, name: "c", code: nil, rank: 2), row]) }
            #expect(error?.message.contains("trigger") == true && error?.entity == "part")
        }
        expectError(.schemaMismatch) { try parts.storage.upsert([Part(id: 2, name: "b", code: nil, rank: 9)]) }
        #expect(try parts.read() == [Part(id: 1, name: "a", code: nil, rank: 1)])
        #expect(try database.verify().problems.contains { $0.message.contains("RAISE(IGNORE)") })
    }

    @Test func aNewUniqueIndexOnAColumnWithACollationIsRefused() throws {
        struct Unique: Model {
            var id: Int
            var name: String
            static let schema = Schema("word", Self.init, Field("id", \.id, .primaryKey), Field("name", \.name, .unique))
        }
        struct Word: Model {
            var id: Int
            var name: String
            static let schema = Schema("word", Self.init, Field("id", \.id, .primaryKey), Field("name", \.name))
        }
        try Raw(place.path(), create: true).run("CREATE TABLE word(id INTEGER PRIMARY KEY, name TEXT NOT NULL COLLATE NOCASE)")
        do {
            let database = try place.database { $0.options["adopt"] = "true" }
            try database.storage(for: Word.self).insert([Word(id: 1, name: "a"), Word(id: 2, name: "A")])
            try database.close()
        }
        let error = expectError(.schemaMismatch) { try place.database().storage(for: Unique.self) }
        #expect(error?.field == "name" && error?.message.contains("COLLATE") == true)
        #expect(try place.database().storage(for: Word.self).count(Query()) == 2)
    }

    // MARK: Files

    /// Every file in the directory, but the index of a log.
    private func files() throws -> [String: Data] {
        let names = try FileManager.default.contentsOfDirectory(atPath: place.directory.path).filter { !$0.hasSuffix("-shm") }
        return try Dictionary(
            uniqueKeysWithValues: names.map { ($0, try Data(contentsOf: URL(fileURLWithPath: place.path($0)))) })
    }

    @Test(arguments: ["DELETE", "TRUNCATE", "PERSIST", "WAL", "left", "empty"])
    func theFileOfAnotherProgramIsReadAndNotChanged(mode: String) throws {
        do {
            let path = mode == "left" ? place.path("made.db") : place.path()
            let raw = try Raw(path, create: true)
            _ = try raw.texts("PRAGMA journal_mode = \(mode == "left" ? "WAL" : mode == "empty" ? "DELETE" : mode)")
            try raw.run(mode == "empty" ? "PRAGMA user_version = 7" : Self.plain + "; INSERT INTO part VALUES(1, 'a', 'b', 3)")
            if mode == "left" {
                // The log of a program that was killed.
                for suffix in ["", "-wal"] {
                    try FileManager.default.copyItem(atPath: path + suffix, toPath: place.path() + suffix)
                }
            }
        }
        if mode == "left" {
            for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: place.path("made.db") + suffix) }
        }
        let before = try files()
        #expect(before["app.db"] != nil && (mode != "left" || before["app.db-wal"]?.isEmpty == false))
        for isReadOnly in [false, true] {
            let database = try place.database { $0.isReadOnly = isReadOnly }
            #expect(try database.entities().isEmpty)
            #expect(database.capabilities.isReadOnly)
            let said = isReadOnly ? "readOnly=true" : "adopt=true"
            let refusals = [
                expectError(.readOnly) { try database.storage(for: Tag.self) },
                expectError(.readOnly) { try database.transaction {} },
                expectError(.readOnly) { try database.compact() },
                expectError(.readOnly) { try database.evolve(Evolution(version: 2)) },
            ]
            for refusal in refusals { #expect(refusal?.message.contains(said) == true, "\(String(describing: refusal))") }
            if mode != "empty" {
                let parts = DAO(storage: try database.storage(for: Part.self))
                #expect(try parts.read() == [Part(id: 1, name: "a", code: "b", rank: 3)])
                #expect(try parts.count { $0.name == "a" } == 1)
                let refusal = expectError(.readOnly) { try parts.persist(Part(id: 2, name: "b", code: nil, rank: 1)) }
                #expect(refusal?.message.contains(said) == true)
                // A copy of nothing would look like one of the file.
                let other = Place()
                let copy = try other.database()
                let uncopied = expectError(.schemaMismatch) { try database.copy(to: copy) }
                #expect(try uncopied?.message.contains("its 1 row in 1 table ") == true && copy.entities().isEmpty)
            }
            if !isReadOnly {
                let other = expectError(.invalidConfiguration) { try place.database { $0.options["adopt"] = "true" } }
                #expect(other?.message.contains("adopt") == true)
            }
            try database.close()
            #expect(try files() == before, "\(mode), readOnly=\(isReadOnly)")
        }
        if mode == "empty" { return }
        do {
            let database = try place.database { $0.options["adopt"] = "true" }
            try DAO(storage: database.storage(for: Part.self)).create(Part(id: 2, name: "b", code: nil, rank: 1))
            try database.close()
        }
        // It was adopted once.
        #expect(try place.database().storage(for: Part.self).count(Query()) == 2)
        #expect(try Raw(place.path()).texts("PRAGMA journal_mode") == ["wal"])
    }

    @Test func aJournalThatAnotherProgramHasLeftIsKept() throws {
        do {
            let raw = try Raw(place.path("made.db"), create: true)
            try raw.run(
                "\(Self.plain); INSERT INTO part VALUES(1, 'a', 'b', 3); PRAGMA cache_size = 2; PRAGMA cache_spill = 1; BEGIN")
            try raw.run(
                "WITH RECURSIVE n(i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < 3000) INSERT INTO part SELECT i, 'name', 'c' || i, 1 FROM n"
            )
            for suffix in ["", "-journal"] {
                try FileManager.default.copyItem(atPath: place.path("made.db") + suffix, toPath: place.path() + suffix)
            }
        }
        for suffix in ["", "-journal"] { try? FileManager.default.removeItem(atPath: place.path("made.db") + suffix) }
        let before = try files()
        #expect(before["app.db-journal"]?.isEmpty == false)
        let error = expectError(.busy) { try place.database() }
        #expect(error?.message.contains("journal") == true)
        let reading = expectError(.busy) { try place.database { $0.isReadOnly = true }.entities() }
        #expect(reading?.message.contains("journal") == true)
        #expect(try files() == before)
        let database = try place.database { $0.options["adopt"] = "true" }
        #expect(try database.storage(for: Part.self).count(Query()) == 1)
    }

    @Test func backupsReplaceOnlyTheSameDatabase() throws {
        try Raw(place.path("other.db"), create: true).run(
            "CREATE TABLE note(id INTEGER PRIMARY KEY, text TEXT); INSERT INTO note VALUES(1, 'a')")
        let database = try place.database()
        try database.storage(for: Tag.self).insert([Tag(id: "a")])
        let before = try files()
        let error = expectError(.notADatabase) { try database.backup(to: place.path("other.db")) }
        #expect(error?.path == place.path("other.db") && error?.message.contains("another program") == true)
        // The other program's file can be backed up, and is itself no backup.
        let other = try place.database("other.db")
        try other.backup(to: place.path("copy.db"))
        expectError(.notADatabase) { try other.backup(to: place.path("copy.db")) }
        try other.close()
        #expect(try files()["other.db"] == before["other.db"])
        try database.backup(to: place.path("backup.db"))
        try database.backup(to: place.path("backup.db"))
        var bytes = try Data(contentsOf: URL(fileURLWithPath: place.path("backup.db")))
        for index in 100..<3000 { bytes[index] = 0xA5 }
        try bytes.write(to: URL(fileURLWithPath: place.path("backup.db")))
        let damaged = expectError(.corrupted) { try database.backup(to: place.path("backup.db")) }
        #expect(damaged?.message.contains("remove it") == true)
        #expect(try Data(contentsOf: URL(fileURLWithPath: place.path("backup.db"))) == bytes)
    }

    // MARK: Values

    @Test func aValueHasOneAnswer() throws {
        struct Flag: Plain, Model {
            var id: Int
            var isOn: Bool
            var small: Int8
            var ratio: Float
            var site: URL?
            static let schema = Schema(
                "flag", Self.init, Field("id", \.id, .primaryKey), Field("isOn", \.isOn), Field("small", \.small),
                Field("ratio", \.ratio), Field("site", \.site))
        }
        for (field, value) in [
            ("isOn", "5"), ("isOn", "-1"), ("small", "300"), ("ratio", "0.1"), ("ratio", "1e300"), ("site", "'http://[oops'"),
        ] {
            let name = "\(field)\(value.count).db"
            try Raw(place.path(name), create: true).run(
                """
                CREATE TABLE flag(id INTEGER PRIMARY KEY, isOn BOOLEAN NOT NULL, small INT NOT NULL, ratio REAL NOT NULL, site TEXT);
                INSERT INTO flag VALUES(1, 1, 1, 0.5, NULL), (2, 0, 1, 0.5, NULL); UPDATE flag SET \(field) = \(value) WHERE id = 1
                """)
            let database = try place.database(name) { $0.options["adopt"] = "true" }
            let flags = DAO(storage: try database.storage(for: Flag.self))
            let position = try #require(Flag.schema.description.index(of: field))
            let rows = try database.rows(of: "flag")
            let target = try place.database("target-\(name)")
            let errors = [
                expectError(.corruptedValue) { try flags.read() },
                expectError(.corruptedValue) { try flags.read(byPrimaryKey: 1) as Any },
                expectError(.corruptedValue) {
                    try flags.storage.readFields([position], Query()) { _ = try $0.readValue(at: position) }
                },
                expectError(.corruptedValue) { try rows.read(byPrimaryKey: 1) as Any },
                expectError(.corruptedValue) { try database.copy(to: target) },
            ]
            for error in errors {
                #expect(error?.entity == "flag" && error?.field == field && error?.key == 1, "\(String(describing: error))")
            }
            let report = try database.verify()
            #expect(report.problems.map(\.field) == [field])
            let reported = Lock<[String?]>([])
            #expect(
                try flags.read(unreadable: .report { error in reported.withLock { $0.append(error.field) } }).map(\.id) == [2])
            #expect(reported.withLock { $0 } == [field])
            if field == "isOn" {
                #expect(try flags.count { $0.isOn } == 0 && flags.count { !$0.isOn } == 2)
                #expect(try rows.count(where: "isOn == true") == 0)
            }
        }
    }

    @Test(arguments: ["NULL", "x'00FF'"]) func aKeyThatIsNoneIsReported(key: String) throws {
        struct Note: Plain, Model, Equatable {
            var id: String
            var text: String
            static let schema = Schema("note", Self.init, Field("id", \.id, .primaryKey), Field("text", \.text))
        }
        try Raw(place.path(), create: true).run(
            "CREATE TABLE note(id TEXT PRIMARY KEY, text TEXT NOT NULL); INSERT INTO note VALUES('a', 'x'), (\(key), 'y'), ('b', 'z')"
        )
        let database = try place.database { $0.options["adopt"] = "true" }
        let notes = DAO(storage: try database.storage(for: Note.self))
        expectError(.corruptedValue) { try notes.read() }
        let reported = Lock<[StorageError]>([])
        let query = Query<Note>(orderedBy: [.descending(\.text)])
        #expect(
            try notes.read(query, unreadable: .report { error in reported.withLock { $0.append(error) } }).map(\.id) == [
                "b", "a",
            ])
        let errors = reported.withLock { $0 }
        #expect(errors.count == 1 && errors.first?.entity == "note" && errors.first?.field == "id" && errors.first?.key == nil)
        expectError(.corruptedValue) { try notes.storage.keys(Query()) }
        #expect(try database.verify().problems.map(\.field) == ["id"])
    }
}
