import DAOCore
import DAOTestSupport
import Foundation
import Testing

/// Every command of `dao` on real databases.
@Suite(.timeLimit(.minutes(10))) struct CommandTests {
    static let commands = [
        "inspect", "query", "get", "count", "explain", "watch", "browse", "export", "import", "erase", "copy", "backup",
        "restore", "verify", "compact", "migrate", "encrypt", "decrypt", "rekey", "completion",
    ]

    // MARK: Reading

    @Test(arguments: Library.schemes) func inspectDescribesEntities(_ scheme: String) async throws {
        let library = try Library(scheme)
        let all = try await library.dao("inspect", library.url)
        #expect(all.status == 0 && all.errors.isEmpty)
        for line in [
            "book, 3 rows", "  title      string, indexed", "  writer     → writer", "  chapters   → [chapter]",
            "  index on published, price descending", "writer, 1 row", "  id    int64, key", "  name  string, unique",
            "chapter, 2 rows",
        ] { #expect(all.output.split(separator: "\n").contains { $0 == line }, "'\(line)' in \(all.output)") }
        #expect(all.output.hasPrefix("\(try DatabaseConfiguration(url: library.url))\n"))
        let one = try await library.dao("inspect", library.url, "writer")
        #expect(one.output.contains("writer, 1 row") && !one.output.contains("chapter,"))
        let json = try await library.dao("inspect", library.url, "--json")
        let parsed = try #require(try JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [String: Any])
        let entities = try #require(parsed["entities"] as? [[String: Any]])
        #expect(entities.map { $0["name"] as? String } == ["book", "chapter", "writer"])
        #expect(entities.map { $0["rows"] as? Int } == [3, 2, 1])
        #expect((entities[0]["fields"] as? [[String: Any]])?.count == 8)
        let unknown = try await library.dao("inspect", library.url, "books")
        #expect(unknown.status == 1)
        #expect(
            unknown.errors == "dao: the database has no entity 'books'; use one that it has: book, chapter, writer\n")
    }

    /// Of a file that is there the path is enough.
    @Test(arguments: Library.schemes) func databaseIsAPath(_ scheme: String) async throws {
        let library = try Library(scheme)
        let configuration = try DatabaseConfiguration(url: library.url)
        guard configuration.scheme != "postgres" else { return }
        let path = configuration.path
        let byURL = try await library.dao("count", library.url, "book")
        let byPath = try await library.dao("count", path, "book")
        #expect(byPath.output == byURL.output && byPath.status == 0, "\(byPath.errors)")
        #expect(try await library.dao("verify", path).status == 0)
        let missing = try await library.dao("inspect", path + ".old")
        #expect(missing.status == 1)
        #expect(
            missing.errors.hasPrefix(
                "dao: there is no file '\(path).old'; before the path of a database that is to be made stands its kind, as in "))
    }

    @Test(arguments: Library.schemes) func queryWritesRows(_ scheme: String) async throws {
        let library = try Library(scheme)
        let table = try await library.dao("query", library.url, "book", "--order", "-price,-title", "--limit", "2")
        #expect(
            table.output == """
                id  title    price  published                 cover    tags       writer
                --  -------  -----  ------------------------  -------  ---------  ------
                 1  Engines   12.5  2023-11-14T22:13:20Z      3 bytes  ["new"]         1
                 3  Notes        8  2023-11-14T22:13:20.500Z  –        ["a","b"]       1

                """)
        for (order, ids) in [
            ("published nil last", [1, 3, 2]), ("-published nil first, title[c]", [2, 3, 1]), ("-title[cd]", [3, 2, 1]),
            ("last price > 9 , -title", [3, 2, 1]), ("first (title IN {'Notes', 'a, b'}),title[c]", [3, 1, 2]),
            ("first writer.name == 'Ada', -id", [3, 1, 2]), ("writer.name[c] nil last,id", [1, 3, 2]),
        ] {
            let sorted = try await library.dao(
                "query", library.url, "book", "--order", order, "--fields", "id", "--format=csv")
            #expect(sorted.output == "id\n" + ids.map { "\($0)\n" }.joined(), "by \(order)")
        }
        let unknown = try await library.dao("query", library.url, "book", "--order", "last nmae == 1")
        #expect(unknown.status == 1 && unknown.errors.contains("'book' has no field 'nmae'"))
        let csv = try await library.dao(
            "query", library.url, "book", "--fields", "title,published,tags", "--format=csv", "--offset", "1")
        #expect(
            csv.output == "title,published,tags\nLooms\tand cards,,[]\nNotes,2023-11-14T22:13:20.500Z,\"[\"\"a\"\",\"\"b\"\"]\"\n"
        )
        let json = try await library.dao("query", library.url, "book", "title CONTAINS[c] 'O' AND writer == nil", "--json")
        #expect(
            json.output == """
                [
                {"id": 2, "title": "Looms\\tand cards", "price": "8", "published": null, "cover": null, "tags": [], "writer": null}
                ]

                """)
        let related = try await library.dao(
            "query", library.url, "book", "writer.name == 'Ada' AND ANY chapters.title == 'Begin'", "--fields", "id", "--json")
        #expect(related.output == "[\n{\"id\": 1}\n]\n")
        let none = try await library.dao("query", library.url, "book", "id == 9")
        #expect(none.status == 0 && none.output.hasPrefix("id  title"))
        #expect(try await library.dao("query", library.url, "book", "id == 9", "--json").output == "[]\n")
    }

    @Test(arguments: Library.schemes) func datesAreWritten(_ scheme: String) async throws {
        let library = try Library(scheme)
        for (condition, count) in [
            ("published >= '2023-11-14'", "2"), ("published == '2023-11-14T22:13:20Z'", "1"),
            ("published > '2023-11-14T22:13:20Z' AND published < '2023-11-15'", "1"), ("published < '2023-11-14'", "0"),
        ] { #expect(try await library.dao("count", library.url, "book", condition).output == count + "\n", "\(condition)") }
        let mistake = try await library.dao("count", library.url, "book", "published > 'yesterday'")
        #expect(mistake.status == 1 && mistake.errors.contains("'2024-05-31'") && mistake.errors.contains("at character 13"))
    }

    @Test(arguments: Library.schemes) func getWritesOneRow(_ scheme: String) async throws {
        let library = try Library(scheme)
        let row = try await library.dao("get", library.url, "book", "1")
        #expect(
            row.output == """
                id         1
                title      Engines
                price      12.5
                published  2023-11-14T22:13:20Z
                cover      AQID
                tags       ["new"]
                writer     1
                chapters   (list: --related chapters)

                """)
        let json = try await library.dao("get", library.url, "chapter", "b", "--json")
        #expect(json.output == "{\"id\": \"b\", \"title\": \"End, \\\"at last\\\"\"}\n")
        let chapters = try await library.dao("get", library.url, "book", "1", "--related", "chapters")
        #expect(chapters.output == "id  title\n--  --------------\na   Begin\nb   End, \"at last\"\n")
        #expect(try await library.dao("get", library.url, "book", "2", "--related", "chapters", "--json").output == "[]\n")
        let second = try await library.dao(
            "get", library.url, "book", "1", "--related", "chapters", "--limit", "1", "--offset", "1")
        #expect(second.output == "id  title\n--  --------------\nb   End, \"at last\"\n")
        #expect(try await library.dao("get", library.url, "book", "1", "--limit", "1").status == 64)
        let missing = try await library.dao("get", library.url, "book", "-5")
        #expect(missing.status == 1 && missing.errors == "dao: 'book' has no row with the key -5\n")
        let wrong = try await library.dao("get", library.url, "book", "x")
        #expect(wrong.status == 1 && wrong.errors.contains("key"))
    }

    @Test(arguments: Library.files) func countAndExplainAnswer(_ scheme: String) async throws {
        let library = try Library(scheme)
        #expect(try await library.dao("count", library.url, "book").output == "3\n")
        #expect(try await library.dao("count", library.url, "book", "price > 8", "--json").output == "{\"count\": 1}\n")
        let plan = try await library.dao("explain", library.url, "book", "title == 'Notes'")
        #expect(plan.status == 0 && plan.output.hasPrefix("through the index on 'title'\n"))
        let scan = try await library.dao("explain", library.url, "book", "price > 8", "--order", "price", "--json")
        let parsed = try JSONSerialization.jsonObject(with: Data(scan.output.utf8)) as? [String: Any]
        #expect(parsed?["plan"] as? String == "by looking at every row, filtered, sorted")
    }

    @Test(arguments: Library.schemes) func watchWritesChanges(_ scheme: String) async throws {
        let library = try Library(scheme)
        let process = library.process(["watch", library.url, "writer", "id > 1"])
        let (output, errors) = (Pipe(), Pipe())
        (process.standardOutput, process.standardError) = (output, errors)
        try process.run()
        defer { process.terminate() }
        func read(_ pipe: Pipe) -> String { String(decoding: pipe.fileHandleForReading.availableData, as: UTF8.self) }
        #expect(read(errors) == "dao: watching 0 rows of 'writer'; press Ctrl-C to end\n")
        try library.using { database in
            let writers = DAO(storage: try database.storage(for: Writer.self))
            try writers.persist(Writer(id: 2, name: "Bob"))
            #expect(read(output) == "inserted 2  {\"id\": 2, \"name\": \"Bob\"}\n")
            try writers.persist(Writer(id: 2, name: "Eve"))
            #expect(read(output) == "updated 2  {\"id\": 2, \"name\": \"Eve\"}\n")
            try writers.erase(byPrimaryKey: 2)
            #expect(read(output) == "erased 2  {\"id\": 2, \"name\": \"Eve\"}\n")
        }
        process.interrupt()
        #expect(process.waitForEnd() == 130)
    }

    // MARK: Moving

    /// What is exported and imported is the same to the last bit, in both formats, on both databases.
    @Test(arguments: Library.schemes, ["jsonl", "csv"]) func exportsAreImported(_ scheme: String, _ format: String) async throws {
        let library = try Library(scheme)
        let hard = [
            Hard(id: "", text: "", number: .infinity, small: 0.1, date: Date(timeIntervalSinceReferenceDate: 0.1 + 0.2)),
            Hard(
                id: "a,\"b\"\r\n\u{1}é", text: nil, number: .nan, small: nil, date: .init(timeIntervalSinceReferenceDate: -1e300)),
            Hard(
                id: "c", text: "null", number: .leastNonzeroMagnitude, small: -.infinity,
                date: Date(timeIntervalSinceReferenceDate: 12.5)),
            Hard(
                id: "\"\u{301}", text: "a \"\u{301}, \u{301}", number: 1, small: nil,
                date: Date(timeIntervalSinceReferenceDate: 0)),
            Hard(id: "d", text: "\t\u{2028} ", number: 0.1, small: .pi, date: .init(timeIntervalSinceReferenceDate: 1e9 / 3)),
        ]
        try library.using { try $0.storage(for: Hard.self).insert(hard) }
        let target = try Library(scheme)
        try target.using { database in
            _ = try database.storage(for: Hard.self)
            _ = try DAO(storage: database.storage(for: Book.self)).erase()
        }
        for entity in ["hard", "chapter", "writer", "book"] {
            let exported = try await library.dao("export", library.url, entity, "--format", format)
            #expect(exported.status == 0 && exported.errors.isEmpty, "\(exported.errors)")
            try Data(exported.output.utf8).write(to: target.place.directory.appendingPathComponent("rows.\(format)"))
            let imported = try await target.dao("import", target.url, entity, "rows.\(format)")
            #expect(imported.status == 0 && imported.output.contains("stored"), "\(imported.errors)")
        }
        for entity in ["hard", "chapter", "writer", "book"] {
            func rows(_ library: Library) throws -> [String] {
                try library.using { try $0.rows(of: entity).read().map { "\($0.values)" } }
            }
            #expect(try rows(target) == rows(library))
        }
        #expect(
            try target.using { try $0.storage(for: Hard.self).read().map(\.bits) } == hard.map(\.bits).sorted { $0[0] < $1[0] })
    }

    /// An import changes the fields that it names, and stores all of a file or nothing.
    @Test(arguments: Library.schemes) func importsAreWhole(_ scheme: String) async throws {
        let library = try Library(scheme)
        func run(_ name: String, _ text: String, into entity: String = "book") async throws -> Process.Ended {
            try Data(text.utf8).write(to: library.place.directory.appendingPathComponent(name))
            return try await library.dao("import", library.url, entity, name, "--json")
        }
        let merged = try await run("rows.jsonl", "{\"id\": 1, \"price\": \"9.99\"}\n\n{\"id\": 2, \"tags\": [\"x\", \"1.0\"]}")
        #expect(merged.status == 0 && merged.output == "{\"rows\": 2}\n", "\(merged.errors)")
        let row = try await library.dao("get", library.url, "book", "1")
        #expect(row.output.contains("price      9.99\n") && row.output.contains("title      Engines\n"))
        #expect(try await library.dao("get", library.url, "book", "1", "--related", "chapters").output.contains("Begin"))
        #expect(try await library.dao("get", library.url, "book", "2").output.contains("tags       [\"x\",\"1.0\"]\n"))
        let before = try await library.dao("export", library.url, "book").output
        for (name, text, error) in [
            (
                "a.jsonl", "{\"id\": 1, \"title\": \"lost\"}\n{\"id\": 2",
                "'a.jsonl', line 2, column 9: expected ',' or '}'; each line is an object"
            ),
            ("b.jsonl", "{\"id\": 1, \"nmae\": 1}", "'b.jsonl', line 1, 'nmae': 'book' has no field 'nmae', it has: id, title"),
            ("c.jsonl", "{\"id\": 1, \"price\": \"much\"}", "line 1, 'price': expected a decimal number"),
            ("d.csv", "id,title\n1,lost\n2\n", "line 3: it has 1 cell; expected 2"),
            ("e.csv", "id,title\n1,\"lost", "line 2, column 2: its quotes are not closed"),
            ("f.csv", "id,title\n1,lost\n2,\n", "line 3, column 2 ('title'): expected a value"),
            ("g.csv", "title\nlost\n", "line 2: expected a key in 'id'"),
            ("h.jsonl", "{\"id\": 1, \"title\": \"lost\"}\n{\"id\": 3, \"writer\": 77}", "is not stored"),
        ] {
            let run = try await run(name, text)
            #expect(run.status == 1 && run.errors.hasPrefix("dao: ") && run.errors.contains(error), "\(name): \(run)")
            #expect(!run.errors.contains("lost") && !run.errors.contains("much"))
        }
        let missing = try await library.dao("import", library.url, "book", "none.csv")
        #expect(missing.status == 1 && missing.errors.contains("'none.csv': there is no such file"))
        #expect(try await library.dao("export", library.url, "book").output == before)
    }

    /// Rows are counted first, and erased with all that cascades, or not at all.
    @Test(arguments: Library.schemes) func rowsAreErased(_ scheme: String) async throws {
        let library = try Library(scheme)
        let before = try library.files
        let careful = try await library.dao("erase", library.url, "book", "writer.name == 'Ada'")
        #expect(careful.status == 0 && careful.output == "2 rows would be erased; add --write to erase\n")
        #expect(try await library.dao("erase", library.url, "book").status == 64)
        #expect(try await library.dao("erase", library.url, "book", "nmae == 1", "--write").status == 1)
        #expect(try library.files == before)
        #expect(try await library.dao("count", library.url, "book").output == "3\n")
        let erased = try await library.dao("erase", library.url, "book", "id == 1", "--write")
        #expect(erased.status == 0 && erased.output == "1 row erased\n" && erased.errors.isEmpty, "\(erased)")
        // The chapter that another book has, too, stays.
        #expect(try await library.dao("query", library.url, "chapter", "--fields", "id", "--format", "csv").output == "id\nb\n")
        let all = try await library.dao("erase", library.url, "book", "TRUEPREDICATE", "--write", "--json")
        #expect(all.output == "{\"rows\": 2, \"erased\": true}\n")
        #expect(try await library.dao("count", library.url, "chapter").output == "0\n")
        #expect(try await library.dao("verify", library.url).status == 0)
    }

    // MARK: Migrating

    /// What another build would change is told, and nothing is written.
    @Test(arguments: Library.schemes) func migrationsAreForetold(_ scheme: String) async throws {
        let library = try Library(scheme)
        let new = Library.newURL(scheme, "new.db")
        try library.using(new) { database in
            _ = try database.storage(for: NewBook.self)
            _ = try database.storage(for: Writer.self)
        }
        let before = try library.files
        let outlook = try await library.dao(
            "migrate", library.url, "--like", new, "--dry-run", "--renamed", "book.title=name", "--dropped",
            "book.cover,book.price,book.tags")
        #expect(outlook.status == 0 && outlook.errors.isEmpty, "\(outlook)")
        #expect(
            outlook.output == """
                book, 3 rows
                  'title' becomes 'name'
                  the index on 'name' is dropped
                  'price' is dropped
                  'cover' is dropped
                  'tags' is dropped
                  'pages' is added
                  the index on 'published, price descending' is dropped
                  'published' is not declared; its values stay
                  'writer' is not declared; its values stay
                  'chapters' is not declared; its values stay
                writer, 1 row, stays as it is
                chapter, 2 rows
                  is not declared; its rows stay

                """)
        #expect(try library.files == before)
        let same = try await library.dao("migrate", library.url, "--like", library.url, "--dry-run")
        #expect(same.status == 0 && same.output.split(separator: "\n").allSatisfy { $0.hasSuffix(", stays as it is") })
        let back = try await library.dao("migrate", new, "--like", library.url, "--dry-run", "--json")
        let parsed = try #require(try JSONSerialization.jsonObject(with: Data(back.output.utf8)) as? [String: Any])
        #expect(back.status == 1 && parsed["isRefused"] as? Bool == true)
        let entities = try #require(parsed["entities"] as? [[String: Any]])
        #expect(entities.map { $0["name"] as? String } == ["book", "chapter", "writer"])
        #expect((entities[0]["obstacles"] as? [String])?.contains { $0.contains("'title' is not stored") } == true)
        #expect(entities[1]["rows"] is NSNull)
    }

    /// What would be refused is told: types, values that become unique, versions.
    @Test(arguments: Library.files) func refusalsAreForetold(_ scheme: String) async throws {
        let library = try Library(scheme)
        try library.using { try $0.storage(for: Writer.self).insert([Writer(id: 2, name: "Bob")]) }
        try library.using("\(scheme):types.db") { _ = try $0.storage(for: OtherWriter.self) }
        try library.using("\(scheme):unique.db") { _ = try $0.storage(for: UniqueBook.self) }
        try library.using("\(scheme):version.db") { try $0.evolve(Evolution(version: 2, models: [Writer.self])) }
        func foretell(_ from: String, _ like: String) async throws -> Process.Ended {
            try await library.dao("migrate", from, "--like", "\(scheme):\(like)", "--dry-run")
        }
        let types = try await foretell(library.url, "types.db")
        #expect(
            types.status == 1 && types.output.contains("refused: 'name' is stored as string and declared as int64"), "\(types)")
        let unique = try await foretell(library.url, "unique.db")
        #expect(unique.status == 1, "\(unique)")
        #expect(
            unique.output.contains("refused: rows 2 and 3 have the same values in 'price', which becomes unique"), "\(unique)")
        let steps = try await foretell(library.url, "version.db")
        #expect(steps.status == 0 && steps.output.hasPrefix("from version 0 to 2; steps of the application run first"))
        let newer = try await foretell("\(scheme):version.db", "library.db")
        #expect(newer.status == 1 && newer.output.hasPrefix("refused: the database has version 2, and the other build has 0\n"))
        for (words, error) in [
            (["--like", library.url], "add --dry-run"), (["--dry-run"], "--like is missing"),
            (
                ["--dry-run", "--like", library.url, "--renamed", "title=name"],
                "--renamed needs names such as book.title=headline"
            ),
            (["--dry-run", "--like", library.url, "--renamed", "book.nmae=title"], "'book' of the database has no field 'nmae'"),
            (
                ["--dry-run", "--like", library.url, "--renamed", "book.title=nmae"],
                "'book' of the other build has no field 'nmae'"
            ),
            (["--dry-run", "--like", library.url, "--dropped", "cover"], "--dropped needs names such as book.stars"),
            (["--dry-run", "--like", library.url, "--dropped", "shelf.cover"], "the database has no entity 'shelf'"),
        ] {
            let run = try await library.dao(["migrate", library.url] + words)
            #expect(run.status == 64 && run.output.isEmpty && run.errors.contains(error), "\(words): \(run)")
        }
        #expect(try await foretell(library.url, "none.db").errors.contains("there is no database at the path 'none.db'"))
    }

    // MARK: Keeping

    @Test(arguments: Library.schemes) func copyMovesEverything(_ scheme: String) async throws {
        let library = try Library(scheme)
        let other = "\(scheme == "sqlite" ? "lmdb" : "sqlite"):copy.db"
        let first = try await library.dao("copy", library.url, other)
        #expect(first.status == 0 && first.output == "6 rows in 3 entities compared, 6 written\n" && first.errors.isEmpty)
        let again = try await library.dao("copy", library.url, other, "--json")
        #expect(again.output == "{\"rows\": 6, \"written\": 0, \"entities\": 3}\n")
        let query = ["query", "book", "--format", "csv"]
        let rows = try await library.dao([query[0], library.url] + query[1...])
        #expect(try await library.dao([query[0], other] + query[1...]).output == rows.output)
        #expect(try await library.dao("get", other, "book", "3", "--related", "chapters", "--json").output.contains("\"b\""))
        try library.using { database in
            try DAO(storage: database.storage(for: Book.self)).update(where: { $0.id == 1 }) { $0.title = "Mills" }
        }
        let refused = try await library.dao("copy", library.url, other)
        #expect(refused.status == 1 && refused.errors.hasPrefix("dao: "))
        let missing = try await library.dao("copy", Library.newURL(scheme, "nothing.db"), "\(scheme):made.db")
        #expect(missing.status == 1)
        #expect(try library.files.keys.contains { $0.hasPrefix("made.db") } == false)
    }

    @Test(arguments: Library.files) func interruptedCopyGoesOn(_ scheme: String) async throws {
        let library = try Library(scheme)
        try library.using { database in
            try DAO(storage: database.storage(for: Writer.self)).create((2...60_000).map { Writer(id: $0, name: "writer \($0)") })
        }
        let process = library.process(["copy", library.url, "\(scheme):copy.db"])
        let errors = Pipe()
        (process.standardOutput, process.standardError) = (Pipe(), errors)
        try process.run()
        let deadline = ContinuousClock.now + .seconds(300)
        while !FileManager.default.fileExists(atPath: library.place.path("copy.db")), ContinuousClock.now < deadline {
            try await Task.sleep(for: .milliseconds(2))
        }
        #expect(ContinuousClock.now < deadline)
        process.interrupt()
        // A copy that has ended already has succeeded.
        let status = process.waitForEnd()
        let said = String(decoding: errors.fileHandleForReading.availableData, as: UTF8.self)
        #expect(
            status == 0
                || status == 130 && said.hasSuffix("dao: interrupted\n")
                    && (said.hasPrefix("dao: what was copied stays, and the same command goes on\n")
                        || said == "dao: interrupted\n"),
            "\(status): \(said)")
        let copy = try await library.dao("copy", library.url, "\(scheme):copy.db")
        #expect(copy.status == 0 && copy.output.hasPrefix("60005 rows in 3 entities compared"), "\(copy.errors)")
        #expect(try await library.dao("verify", "\(scheme):copy.db").status == 0)
    }

    /// A copy follows until it is ended, and the next call hands over.
    @Test(arguments: Library.files) func aCopyFollowsAndHandsOver(_ scheme: String) async throws {
        let library = try Library(scheme)
        let other = "\(scheme == "sqlite" ? "lmdb" : "sqlite"):copy.db"
        let process = library.process(["copy", library.url, other, "--follow"])
        let errors = Pipe()
        (process.standardOutput, process.standardError) = (Pipe(), errors)
        try process.run()
        var said = ""
        while !said.contains("TO is caught up; it follows until this command is ended\n") {
            let new = errors.fileHandleForReading.availableData
            try #require(!new.isEmpty, "\(said)")
            said += String(decoding: new, as: UTF8.self)
        }
        try library.using { try DAO(storage: $0.storage(for: Writer.self)).create(Writer(id: 77, name: "while it follows")) }
        process.interrupt()
        #expect(process.waitForEnd() == 130)
        try library.using { try DAO(storage: $0.storage(for: Writer.self)).create(Writer(id: 78, name: "between")) }

        let moved = try await library.dao("copy", library.url, other, "--hand-over", "--json")
        let report = try #require(JSONSerialization.jsonObject(with: Data(moved.output.utf8)) as? [String: Any], "\(moved)")
        #expect(moved.status == 0 && report["rows"] as? Int == 8 && report["entities"] as? Int == 3, "\(moved)")
        #expect(report["pauseMilliseconds"] is Int)
        let count = try await library.dao("count", other, "writer")
        #expect(count.output == "3\n", "\(count)")
        // Who writes learns where the rows are.
        let late = try await library.dao("erase", library.url, "writer", "id == 78", "--write")
        #expect(late.status == 1 && late.errors.contains("copy.db"), "\(late)")
        let again = try await library.dao("copy", library.url, other, "--follow")
        #expect(again.status == 1, "\(again)")
        let cancelled = try await library.dao("copy", library.url, other, "--cancel")
        #expect(cancelled.status == 0 && cancelled.output == "FROM takes writes, and is not followed any more\n", "\(cancelled)")
        #expect(try await library.dao("erase", library.url, "writer", "id == 78", "--write").status == 0)
        for url in [library.url, other] { #expect(try await library.dao("verify", url).status == 0) }
    }

    @Test(arguments: Library.files) func backupsAreRestored(_ scheme: String) async throws {
        let library = try Library(scheme)
        let backup = try await library.dao("backup", library.url, "backup.db")
        #expect(backup.status == 0 && backup.output.hasPrefix("backup.db, "), "\(backup.errors)")
        try library.using { try DAO(storage: $0.storage(for: Book.self)).erase(byPrimaryKey: 1) }
        let careful = try await library.dao("restore", library.url, "backup.db")
        #expect(careful.status == 64 && careful.errors.contains("--replace"))
        #expect(try await library.dao("count", library.url, "book").output == "2\n")
        let restored = try await library.dao("restore", library.url, "backup.db", "--replace", "--json")
        #expect(restored.status == 0 && restored.output.hasPrefix("{\"path\": "), "\(restored.errors)")
        #expect(try await library.dao("count", library.url, "book").output == "3\n")
        #expect(try await library.dao("restore", "\(scheme):fresh.db", "backup.db").status == 0)
        #expect(try await library.dao("verify", "\(scheme):fresh.db").status == 0)
        try Data("text".utf8).write(to: library.place.directory.appendingPathComponent("text.txt"))
        let other = try await library.dao("backup", library.url, "text.txt")
        #expect(other.status == 1 && other.errors.contains("another file"))
        #expect(try library.files["text.txt"] == Data("text".utf8))
        #expect(try await library.dao("restore", "\(scheme):other.db", "text.txt").status == 1)
        #expect(try library.files["other.db"] == nil)
    }

    @Test(arguments: Library.files) func verifyFindsDamage(_ scheme: String) async throws {
        let library = try Library(scheme)
        let sound = try await library.dao("verify", library.url)
        #expect(sound.status == 0 && sound.output == "6 rows in 3 entities, no problem\n")
        let file = library.place.directory.appendingPathComponent("library.db")
        var bytes = try Data(contentsOf: file)
        let text = try #require(bytes.range(of: Data(scheme == "sqlite" ? "\"a\",\"b\"".utf8 : "Engines".utf8)))
        bytes[text.lowerBound] = 0xFF
        try bytes.write(to: file)
        let damaged = try await library.dao("verify", library.url, "--json")
        #expect(damaged.status == 1, "\(damaged.output) \(damaged.errors)")
        #expect(damaged.output.contains("\"problemCount\": ") || damaged.errors.hasPrefix("dao: "))
    }

    /// A database moves to a server and back, and is the same.
    @Test(.enabled(if: Library.server != nil), arguments: Library.files) func serversTakePart(_ scheme: String) async throws {
        let library = try Library(scheme)
        try library.using { database in
            try DAO(storage: database.storage(for: Writer.self)).create((2...2000).map { Writer(id: $0, name: "é\u{0}\($0)") })
        }
        let server = Library.newURL("postgres", "copy")
        let there = try await library.dao("copy", library.url, server)
        #expect(there.status == 0 && there.output == "2005 rows in 3 entities compared, 2005 written\n", "\(there.errors)")
        let sound = try await library.dao("verify", server)
        #expect(sound.status == 0 && sound.output == "2005 rows in 3 entities, no problem\n")
        let back = try await library.dao("copy", server, "\(scheme):back.db", "--json")
        #expect(back.status == 0 && back.output == "{\"rows\": 2005, \"written\": 2005, \"entities\": 3}\n", "\(back.errors)")
        for entity in ["book", "chapter", "writer"] {
            let rows = try await library.dao("export", library.url, entity).output
            #expect(try await library.dao("export", server, entity).output == rows)
            #expect(try await library.dao("export", "\(scheme):back.db", entity).output == rows)
        }
    }

    @Test(.enabled(if: Library.server != nil)) func serversHaveNoFiles() async throws {
        let library = try Library("postgres")
        for (words, error) in [
            (["backup", library.url, "backup.db"], "no file that could be backed up; use 'dao copy URL sqlite:backup.db'"),
            (["restore", library.url, "backup.db"], "no file that a backup could replace; use 'dao copy'"),
            (["compact", library.url], "no file that could be made smaller; use the server's VACUUM"),
            (["inspect", Library.newURL("postgres", "nothing")], "check the URL, and its option 'schema'"),
            (["inspect", "postgres://dao@127.0.0.1:1/postgres"], "127.0.0.1"),
            (["inspect", "postgres:"], "the URL names no database"),
            (["query", library.url("colour=red"), "book"], "have no option 'colour'"),
            (["import", Library.newURL("postgres", "nothing"), "book", "/dev/null"], "there is no database"),
            (["copy", Library.newURL("postgres", "nothing"), "sqlite:made.db"], "there is no database"),
        ] {
            let run = try await library.dao(words)
            #expect(run.status == 1 && run.output.isEmpty && run.errors.contains(error), "\(words): \(run)")
            #expect(run.errors.hasPrefix("dao: ") && run.errors.split(separator: "\n").count == 1, "one line: \(run.errors)")
        }
        #expect(try library.files.isEmpty)
        // What has the name of the database in the directory is not its file.
        try Data("text".utf8).write(to: library.place.directory.appendingPathComponent("postgres"))
        #expect(try await library.dao("inspect", library.url, "--json").output.contains("\"bytes\": null"))
        #expect(try await library.dao("inspect", library.url).output.contains(", version 0, 3 entities\n"))
    }

    @Test(arguments: Library.files) func compactShrinksTheFile(_ scheme: String) async throws {
        let library = try Library(scheme)
        try library.using { database in
            let writers = DAO(storage: try database.storage(for: Writer.self))
            try writers.create((2...5000).map { Writer(id: $0, name: "a writer with the number \($0)") })
            try writers.erase { $0.id > 1 }
        }
        let report = try await library.dao("compact", library.url, "--json")
        let sizes = try JSONSerialization.jsonObject(with: Data(report.output.utf8)) as? [String: Int]
        #expect(try #require(sizes?["bytesAfter"]) < #require(sizes?["bytesBefore"]))
        #expect(try await library.dao("compact", library.url).output.contains(" before, "))
        #expect(try await library.dao("count", library.url, "writer").output == "1\n")
    }
}
