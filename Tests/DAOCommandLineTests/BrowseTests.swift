import DAOCore
import DAOTestSupport
import Foundation
import Testing

/// The answers of the page of `dao browse`, on real databases.
@Suite(.timeLimit(.minutes(30))) struct BrowseTests {
    // MARK: Who is answered

    @Test func onlyTheAddressIsAnswered() throws {
        let page = try PageClient(Library("sqlite"), "sqlite:library.db")
        let paths = [page.root, "\(page.root)api/database", "\(page.root)page.js"]
        for path in paths {
            #expect(try page.send("GET", path).status == 200)
            #expect(try page.send("GET", path, headers: ["Origin": "http://127.0.0.1:\(page.port)"]).status == 200)
            #expect(try page.send("GET", path, headers: ["Host": "localhost:\(page.port)"]).status == 200)
            for headers in [
                ["Host": "books.example"], ["Host": "books.example:\(page.port)"], ["Host": "127.0.0.1"], ["Host": ""],
                ["Host": "127.0.0.1:\(page.port).example"], ["Origin": "http://books.example"], ["Origin": "null"],
                ["Origin": "http://localhost:\(page.port)"], ["Origin": "https://127.0.0.1:\(page.port)"],
            ] {
                let refused = try page.send("GET", path, headers: headers)
                #expect(refused.status == 403 && !refused.text.contains("book,"), "\(headers): \(refused.status)")
                #expect(refused.error.contains("open the address that 'dao browse' has written"))
            }
        }
        let token = page.root.dropFirst().dropLast()
        #expect(token.count == 32)
        for path in [
            "/", "/api/database", "/\(token.dropLast())/", "/\(token)0/", "/\(token.uppercased())X/api/database",
            "/\(String(repeating: "0", count: 32))/api/database", "//api/database", "/..//\(token)/", "*",
        ] {
            let refused = try page.send("GET", path)
            #expect([400, 403].contains(refused.status) && !refused.text.contains(token), "\(path): \(refused.status)")
        }
        #expect(try page.send("GET", "/\(token)").headers["location"] == page.root)
        #expect(try page.get("page.jsx").status == 404)
        #expect(try page.get("../page.js").status != 200)
    }

    @Test func answersCannotBeUsedElsewhere() throws {
        let page = try PageClient(Library("lmdb"), "lmdb:library.db")
        for (path, type) in [
            ("", "text/html; charset=utf-8"), ("page.css", "text/css; charset=utf-8"),
            ("page.js", "text/javascript; charset=utf-8"),
            ("api/database", "application/json"), ("api/nothing", "application/json"),
        ] {
            let headers = try page.get(path).headers
            #expect(headers["content-type"] == type)
            #expect(headers["content-security-policy"]?.hasPrefix("default-src 'none'; script-src 'self'") == true)
            #expect(headers["x-content-type-options"] == "nosniff" && headers["cache-control"] == "no-store")
            #expect(headers["referrer-policy"] == "no-referrer" && headers["access-control-allow-origin"] == nil)
        }
        for method in ["POST", "PUT", "DELETE", "OPTIONS", "PATCH"] {
            let refused = try page.send(method, page.root + "api/rows?entity=book")
            #expect(refused.status == 405 && refused.headers["allow"] == "GET, HEAD", "\(method): \(refused.status)")
        }
        #expect(try page.send("HEAD", page.root).status == 200)
        let set = try page.get("api/set")
        #expect(set.status == 405 && set.headers["allow"] == "POST")
    }

    @Test func theTokenIsInNoAnswer() throws {
        let page = try PageClient(Library("sqlite"), "sqlite:library.db?timeout=2.5")
        let description = try page.get("api/database")
        #expect(description.json["url"] as? String == "sqlite:library.db?timeout=2.5")
        #expect(!description.text.contains(page.root.dropFirst().dropLast()))
    }

    // MARK: Reading

    @Test(arguments: Library.schemes) func entitiesAndRowsAreShown(_ scheme: String) throws {
        let library = try Library(scheme)
        let page = try PageClient(library, library.url)
        let description = try page.get("api/database").json
        #expect(
            description["name"] as? String == (scheme == "postgres" ? "postgres" : "library.db")
                && description["canWrite"] as? Bool == false)
        let entities = try #require(description["entities"] as? [[String: Any]])
        #expect(entities.map { $0["name"] as? String } == ["book", "chapter", "writer"])
        #expect(entities.map { $0["rows"] as? Int } == [3, 2, 1])
        #expect(entities[0]["indexes"] as? [String] == ["published, price descending"])

        let all = try page.get("api/rows", ["entity": "book"])
        #expect(
            all.cells == [
                ["1", "Engines", "12.5", "2023-11-14T22:13:20Z", "3 bytes", "[\"new\"]", "1"],
                ["2", "Looms and cards", "8", nil, nil, "[]", nil],
                ["3", "Notes", "8", "2023-11-14T22:13:20.500Z", nil, "[\"a\",\"b\"]", "1"],
            ])
        #expect(all.json["next"] is NSNull)
        func keys(_ options: [String: String]) throws -> [String?] { try page.get("api/rows", options).cells.map { $0[0] } }
        #expect(try keys(["entity": "book", "order": "-price,-title"]) == ["1", "3", "2"])
        #expect(try keys(["entity": "book", "order": "last price > 9,-published nil first"]) == ["2", "3", "1"])
        #expect(try keys(["entity": "book", "where": "writer.name == 'Ada' AND ANY chapters.title == 'Begin'"]) == ["1"])
        #expect(try keys(["entity": "book", "where": "id == 9"]) == [])
        #expect(try page.get("api/count", ["entity": "book", "where": "price < 10"]).json["count"] as? Int == 2)
        let plan = try page.get("api/explain", ["entity": "book", "where": "title == 'Notes'"]).json
        #expect((plan["plan"] as? String)?.hasPrefix("through the index on 'title'") == true)
    }

    @Test(arguments: Library.schemes) func pagesGoByKey(_ scheme: String) throws {
        let library = try Library(scheme)
        try library.using { database in
            try DAO(storage: database.storage(for: Writer.self)).persist(
                (1...250).map { Writer(id: $0, name: "writer \(1000 - $0)") })
        }
        let page = try PageClient(library, library.url)
        for order in ["", "-name", "name"] {
            var (seen, after, sizes): ([String], String?, [Int]) = ([], "", [])
            while let cursor = after {
                let answer = try page.get("api/rows", ["entity": "writer", "order": order, "limit": "100", "after": cursor])
                try #require(answer.status == 200, "\(answer.error)")
                sizes.append(answer.cells.count)
                seen += answer.cells.compactMap(\.[0])
                after = answer.json["next"] as? String
            }
            let numbers = (1...250).map { "\($0)" }
            #expect(seen == (order == "name" ? numbers.reversed() : numbers) && sizes == [100, 100, 50])
        }
        // A page that ends with the last row is the last page.
        let exact = try page.get("api/rows", ["entity": "writer", "limit": "250"])
        #expect(exact.status == 200 && exact.cells.count == 250 && exact.json["next"] is NSNull)
        let cursor = try #require(try page.get("api/rows", ["entity": "writer", "limit": "100"]).json["next"] as? String)
        let other = try page.get("api/rows", ["entity": "writer", "order": "name", "after": cursor])
        #expect(other.status == 400 && other.error.contains("begin at the first page"))
    }

    @Test(arguments: Library.schemes) func relationshipsAreFollowed(_ scheme: String) throws {
        let library = try Library(scheme)
        let page = try PageClient(library, library.url)
        let list = try page.get("api/related", ["entity": "book", "key": "1", "field": "chapters", "limit": "1"])
        #expect(list.cells == [["a", "Begin"]] && list.json["count"] as? Int == 2 && list.json["entity"] as? String == "chapter")
        let rest = try page.get("api/related", ["entity": "book", "key": "1", "field": "chapters", "after": "1"])
        #expect(rest.cells == [["b", "End, \"at last\""]] && rest.json["next"] is NSNull)
        let beyond = try page.get("api/related", ["entity": "book", "key": "1", "field": "chapters", "after": "9"])
        #expect(beyond.status == 200 && beyond.cells.isEmpty)
        // The key of a related row is not shortened.
        let key = String(repeating: "k", count: 200) + "\n'"
        try library.using { database in
            try DAO(storage: database.storage(for: Book.self)).create(
                Book(
                    id: 4, title: "", price: 1, published: nil, cover: nil, tags: [], writer: nil,
                    chapters: [Chapter(id: key, title: "Long")]))
        }
        let long = try page.get("api/related", ["entity": "book", "key": "4", "field": "chapters"])
        #expect((long.json["rows"] as? [[String: Any]])?.first?["key"] as? String == key)
        let back = try page.get("api/row", ["entity": "chapter", "key": key]).json["referrers"] as? [[String: String]]
        #expect(try page.get("api/rows", ["entity": "book", "where": back?.first?["where"] ?? ""]).cells.map { $0[0] } == ["4"])
        // And back: the conditions of the rows that lead to a row.
        for (entity, key, condition, books) in [
            ("writer", "1", "writer == 1", ["1", "3"]), ("chapter", "b", "ANY chapters.id == 'b'", ["1", "3"]),
            ("chapter", "a", "ANY chapters.id == 'a'", ["1"]),
        ] {
            let row = try page.get("api/row", ["entity": entity, "key": key]).json
            let referrers = try #require(row["referrers"] as? [[String: String]])
            #expect(referrers.map { $0["where"] } == [condition])
            let rows = try page.get("api/rows", ["entity": referrers[0]["entity"]!, "where": condition])
            #expect(rows.cells.map { $0[0] } == books, "\(rows.error)")
        }
    }

    @Test(arguments: Library.schemes) func mistakesAreAnswered(_ scheme: String) throws {
        let library = try Library(scheme)
        let page = try PageClient(library, library.url)
        let long = String(repeating: "x", count: 100_000)
        for (path, options, status, error) in [
            ("rows", ["entity": "shelf"], 404, "the database has no entity 'shelf'; use one that it has: book, chapter, writer"),
            ("rows", [:], 400, "the request needs 'entity'"),
            ("rows", ["entity": "book", "limit": "0"], 400, "'limit' is a number from 1 to 500"),
            ("rows", ["entity": "book", "limit": "1000000"], 400, "'limit' is a number from 1 to 500"),
            ("rows", ["entity": "book", "after": "77"], 400, "begin at the first page"),
            ("rows", ["entity": "book", "order": "size"], 400, "'book' has no field 'size'"),
            ("rows", ["entity": "book", "order": "tags"], 400, "has no order"),
            ("rows", ["entity": "book", "where": "title == %@"], 400, "placeholder"),
            ("rows", ["entity": "book", "where": "title == '\(long)"], 400, "no closing"),
            ("row", ["entity": "book", "key": "9"], 404, "'book' has no row with the key 9"),
            ("row", ["entity": "book", "key": "x"], 400, "not of type int64"),
            ("row", ["entity": "book"], 400, "the request needs 'key'"),
            ("related", ["entity": "book", "key": "1", "field": "title"], 400, "'title' is not a relationship of 'book'"),
            ("related", ["entity": "book", "key": "1", "field": "chapters", "after": "-1"], 400, "'after' is a number"),
            ("count", ["entity": "book", "where": "id ="], 400, "at character"),
            ("explain", ["entity": "book", "where": "title > 5"], 400, "title"),
            ("value", ["entity": "book", "key": "1", "field": "shelf"], 404, "'book' has no field 'shelf'"),
            ("nothing", [:], 404, "there is nothing at this address"),
        ] as [(String, [String: String], Int, String)] {
            let answer = try page.get("api/" + path, options)
            #expect(
                answer.status == status && answer.error.contains(error), "\(path): \(answer.status) \(answer.text.prefix(300))")
        }
        // Positions are counted as a browser does.
        for (condition, position) in [("id == 1 AND nmae == 1", 12), ("title == '🏴‍☠️é' AND nmae == 1", 22), ("id = ", 5)] {
            let answer = try page.get("api/rows", ["entity": "book", "where": condition])
            #expect(answer.status == 400 && answer.json["position"] as? Int == position, "\(condition): \(answer.text)")
        }
    }

    /// Nothing that is stored is taken for HTML, or sent as a whole to be shown.
    @Test func hardValuesAreShown() throws {
        let library = try Library("sqlite")
        let html = "<script>alert(1)</script>"
        let keys = [html, "a/b?c=d&e#f %'\"\\", "line\nbreak", ""]
        try library.using { database in
            try database.storage(for: Hard.self).insert(
                keys.map {
                    Hard(
                        id: $0, text: $0 == html ? html : String(repeating: "long ", count: 400_000), number: .nan, small: nil,
                        date: Date(timeIntervalSinceReferenceDate: -1e300))
                })
            let book = Book(
                id: 9, title: html, price: 1, published: nil, cover: Data(repeating: 7, count: 3_000_000), tags: [html],
                writer: nil,
                chapters: [])
            try DAO(storage: database.storage(for: Book.self)).create(book)
        }
        let page = try PageClient(library, library.url)
        let rows = try page.get("api/rows", ["entity": "hard"])
        #expect(rows.headers["content-type"] == "application/json" && rows.body.count < 4000)
        #expect(rows.cells.contains { $0[0] == html && $0[1] == html })
        #expect((rows.json["rows"] as? [[String: Any]])?.compactMap { $0["key"] as? String }.sorted() == keys.sorted())
        for key in keys {
            let row = try page.get("api/row", ["entity": "hard", "key": key])
            #expect(row.status == 200 && row.json["key"] as? String == key && row.body.count < 30_000)
            let value = try page.get("api/value", ["entity": "hard", "key": key, "field": "text"])
            #expect(value.body.count == (key == html ? html.utf8.count : 2_000_000))
            #expect(value.headers["content-type"] == "text/plain; charset=utf-8")
            #expect(value.headers["content-disposition"] == "attachment; filename=\"text.txt\"")
        }
        let cover = try page.get("api/value", ["entity": "book", "key": "9", "field": "cover"])
        #expect(cover.body.count == 3_000_000 && cover.headers["content-type"] == "application/octet-stream")
        #expect(try page.get("api/row", ["entity": "book", "key": "9"]).body.count < 3000)
    }

    // MARK: Changes

    @Test(arguments: Library.schemes) func changesArriveAtOnce(_ scheme: String) throws {
        let library = try Library(scheme)
        let page = try PageClient(library, library.url)
        for (path, options) in [
            ("api/rows", ["entity": "writer", "where": "id > 0"]), ("api/row", ["entity": "writer", "key": "1"]),
            ("api/database", [:]),
        ] as [(String, [String: String])] {
            let before = try page.get(path, options)
            let now = try page.get(path, options.merging(["known": "another"]) { $1 })
            #expect(now.status == 200 && now.tag == before.tag)
            let done = DispatchSemaphore(value: 0)
            let name = "\(path) \(UUID())"
            DispatchQueue.global().async {
                usleep(100_000)
                _ = try? library.using { database in
                    let writers = DAO(storage: try database.storage(for: Writer.self))
                    try writers.persist([Writer(id: 1, name: name), Writer(id: .random(in: 2...1_000_000), name: "\(UUID())")])
                }
                done.signal()
            }
            let start = ContinuousClock.now
            let after = try page.get(path, options.merging(["known": before.tag]) { $1 })
            #expect(after.status == 200 && after.tag != before.tag && ContinuousClock.now - start < .seconds(10))
            if path != "api/database" { #expect(after.text.contains(name)) }
            done.wait()
        }
    }

    @Test(arguments: Library.files) func theLossOfTheFileIsTold(_ scheme: String) throws {
        let library = try Library(scheme)
        let page = try PageClient(library, library.url)
        let tag = try page.get("api/rows", ["entity": "writer"]).tag
        let moved = library.place.path("moved.db")
        DispatchQueue.global().async {
            usleep(100_000)
            try? FileManager.default.moveItem(atPath: library.place.path("library.db"), toPath: moved)
        }
        for options in [["entity": "writer", "known": tag], ["entity": "writer"]] as [[String: String]] {
            let answer = try page.get("api/rows", options)
            #expect(answer.status == 503 && answer.error.contains("moved, removed or replaced"), "\(answer.text)")
        }
        try FileManager.default.moveItem(atPath: moved, toPath: library.place.path("library.db"))
        #expect(try page.get("api/rows", ["entity": "writer"]).status == 200)
    }

    @Test(arguments: Library.files) func interruptionEndsEverything(_ scheme: String) throws {
        let library = try Library(scheme)
        let before = try library.files
        let page = try PageClient(library, library.url)
        let tag = try page.get("api/rows", ["entity": "writer"]).tag
        let process = page.processIdentifier
        DispatchQueue.global().async {
            usleep(200_000)
            kill(process, SIGINT)
        }
        let start = ContinuousClock.now
        // A request that waits for a change ends, too.
        let answer = try? page.get("api/rows", ["entity": "writer", "known": tag])
        #expect(answer == nil || answer?.status == 503)
        #expect(page.waitForEnd() == 130 && ContinuousClock.now - start < .seconds(15))
        let after = try library.files
        #expect(after == before, "\(after.mapValues(\.count)), not \(before.mapValues(\.count))")
    }

    @Test func portsThatAreTakenAreTold() async throws {
        let library = try Library("sqlite")
        let page = try PageClient(library, library.url)
        let second = try await library.dao("browse", library.url, "--port", "\(page.port)")
        #expect(second.status == 1 && second.errors.contains("the port \(page.port) of 127.0.0.1 cannot be used"))
        for port in ["-1", "x", "65536"] { #expect(try await library.dao("browse", library.url, "--port", port).status == 64) }
    }

    // MARK: Writing

    @Test(arguments: Library.files) func nothingIsWrittenUnasked(_ scheme: String) throws {
        let library = try Library(scheme)
        let before = try library.files["library.db"]
        let page = try PageClient(library, library.url)
        let version = try page.get("api/row", ["entity": "book", "key": "1"]).json["version"]
        let refused = try page.set(["entity": "book", "key": "1", "field": "title", "version": version, "value": "lost"])
        #expect(refused.status == 403 && refused.error.contains("--write"))
        #expect(try library.files["library.db"] == before)
    }

    @Test(arguments: Library.schemes) func fieldsAreSet(_ scheme: String) throws {
        let library = try Library(scheme)
        let page = try PageClient(library, library.url, "--write")
        #expect(try page.get("api/database").json["canWrite"] as? Bool == true)
        func set(_ field: String, _ value: String?, key: String = "1", entity: String = "book") throws -> PageClient.Answer {
            let version = try page.get("api/row", ["entity": entity, "key": key]).json["version"] ?? ""
            return try page.set(["entity": entity, "key": key, "field": field, "version": version, "value": value])
        }
        for (field, value) in [
            ("title", "<b>Mills</b> \"é\"\n"), ("price", "0.1"), ("published", "2024-02-29T12:00:00Z"), ("published", nil),
            ("tags", "[\"x\"]"), ("writer", nil), ("writer", "1"),
        ] as [(String, String?)] {
            let answer = try set(field, value)
            #expect(answer.status == 200, "\(field): \(answer.text)")
        }
        let book = try library.using { try DAO(storage: $0.storage(for: Book.self)).read(byPrimaryKey: 1) }
        #expect(book?.title == "<b>Mills</b> \"é\"\n" && book?.price == Decimal(string: "0.1") && book?.published == nil)
        #expect(book?.tags == ["x"] && book?.writer?.id == 1 && book?.chapters.count == 2)

        try library.using { try DAO(storage: $0.storage(for: Writer.self)).persist(Writer(id: 2, name: "Bob")) }
        for (answer, status, error) in [
            (try set("price", "much"), 400, "this is no decimal"), (try set("title", nil), 400, "title"),
            (try set("id", "7"), 400, "a key never changes"), (try set("chapters", "a"), 400, "this is no toMany"),
            (try set("shelf", "1"), 404, "has no field 'shelf'"), (try set("writer", "77"), 409, "not stored"),
            (try set("title", "x", key: "99"), 404, "has no row with the key 99"),
            (try set("name", "Bob", key: "1", entity: "writer"), 409, "the same value in the unique field 'name'"),
        ] { #expect(answer.status == status && answer.error.contains(error), "\(answer.status) \(answer.text)") }

        // A change of somebody else is not overwritten.
        let version = try page.get("api/row", ["entity": "writer", "key": "2"]).json["version"]
        try library.using { try DAO(storage: $0.storage(for: Writer.self)).persist(Writer(id: 2, name: "Eve")) }
        let late = try page.set(["entity": "writer", "key": "2", "field": "name", "version": version, "value": "Max"])
        #expect(late.status == 409 && late.error.contains("somebody has written the row meanwhile"))

        let path = page.root + "api/set"
        let body = Data("{\"entity\": \"writer\"}".utf8)
        #expect(try page.send("POST", path, headers: ["Content-Type": "text/plain"], body: body).status == 415)
        let json = ["Content-Type": "application/json"]
        #expect(try page.send("POST", path, headers: json, body: body).error == "the request needs the text 'field'")
        #expect(try page.send("POST", path, headers: json, body: Data("[1]".utf8)).status == 400)
        #expect(try page.send("POST", path, headers: json, body: Data(count: 2_000_000)).status == 413)
        #expect(
            try page.send("POST", path, headers: json.merging(["Origin": "http://a.example"]) { $1 }, body: body).status == 403)
    }

    @Test(arguments: Library.schemes) func rowsAreErased(_ scheme: String) throws {
        let library = try Library(scheme)
        let page = try PageClient(library, library.url, "--write")
        let reader = try PageClient(library, library.url)
        func version(_ key: String) throws -> Any {
            try page.get("api/row", ["entity": "book", "key": key]).json["version"] ?? ""
        }
        let book: [String: Any?] = ["entity": "book", "key": "1", "version": try version("1")]
        let refused = try reader.post("erase", book)
        #expect(refused.status == 403 && refused.error.contains("--write"))
        try library.using { try DAO(storage: $0.storage(for: Book.self)).update(where: { $0.id == 1 }) { $0.title = "Mills" } }
        let late = try page.post("erase", book)
        #expect(late.status == 409 && late.error.contains("somebody has written the row meanwhile"))
        let erased = try page.post("erase", book.merging(["version": try version("1")]) { $1 })
        #expect(erased.status == 200, "\(erased.text)")
        #expect(try page.get("api/rows", ["entity": "book"]).cells.map { $0[0] } == ["2", "3"])
        #expect(try page.get("api/rows", ["entity": "chapter"]).cells.map { $0[0] } == ["b"])
        let gone = try page.post("erase", book)
        #expect(gone.status == 404 && gone.error.contains("it was erased"))
        #expect(try page.get("api/erase").status == 405)
        #expect(try page.post("erase", ["entity": "book", "key": "2"]).error == "the request needs the text 'version'")
    }

    @Test(arguments: Library.schemes) func lockedDatabasesAreTold(_ scheme: String) throws {
        let library = try Library(scheme)
        let page = try PageClient(library, library.url("timeout=0"), "--write")
        let version = try page.get("api/row", ["entity": "writer", "key": "1"]).json["version"]
        try library.using { database in
            try database.transaction {
                try DAO(storage: database.storage(for: Writer.self)).persist(Writer(id: 5, name: "Max"))
                let locked = try page.set(["entity": "writer", "key": "1", "field": "name", "version": version, "value": "Eve"])
                #expect(locked.status == 503 && locked.error.contains("lock"), "\(locked.text)")
                #expect(try page.get("api/rows", ["entity": "writer"]).cells.count == 1)
            }
        }
        let answer = try page.set(["entity": "writer", "key": "1", "field": "name", "version": version, "value": "Eve"])
        #expect(answer.status == 200, "\(answer.text)")
    }

    // MARK: The page itself

    /// Presses every button in headless Chromium: `make browse-test`.
    @Test(.enabled(if: screenshots != nil), arguments: Library.files)
    func everyButtonWorks(_ scheme: String) async throws {
        let library = try Library(scheme)
        try library.using { database in
            try DAO(storage: database.storage(for: Writer.self)).create((2...240).map { Writer(id: $0, name: "writer \($0)") })
        }
        let page = try PageClient(library, library.url, "--write")
        let package = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let script = library.process([])
        script.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        script.arguments = [
            "python3", package.appendingPathComponent("Scripts/browse-test.py").path, page.address, "\(page.processIdentifier)",
            Process.built("dao").path, library.url, "\(Self.screenshots ?? "")/\(scheme)",
        ]
        let run = try await script.runToEnd()
        #expect(run.status == 0, "\(run.errors)")
        print(run.output)
    }

    /// Where the screenshots go; nil when the page is not looked at.
    private static let screenshots = ProcessInfo.processInfo.environment["BROWSE_SCREENSHOTS"]
}

/// How soon the page answers; measured while nothing else runs.
@Suite(.timeLimit(.minutes(30))) struct BrowseLatencyTests {
    /// Programs that connect and say nothing do not shut anybody out.
    @Test func idleConnectionsShutNobodyOut() throws {
        let page = try PageClient(Library("sqlite"), "sqlite:library.db")
        var idle: [Int32] = []
        defer { for descriptor in idle { close(descriptor) } }
        for _ in 0..<300 {
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = UInt16(page.port).bigEndian
            address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
            #if canImport(Glibc)
                let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            #else
                let descriptor = socket(AF_INET, SOCK_STREAM, 0)
            #endif
            let code = withUnsafePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
                }
            }
            #expect(code == 0)
            idle.append(descriptor)
        }
        let began = ContinuousClock.now
        #expect(try page.send("GET", "\(page.root)api/database").status == 200)
        #expect(.now - began < .seconds(5))
    }
}
