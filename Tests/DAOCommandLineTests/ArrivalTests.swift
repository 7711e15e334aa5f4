import DAOTestSupport
import Foundation
import Testing

/// Files as other programs make them: Scripts/arrivals.py moves each, and compares it with what Python reads.
@Suite(.timeLimit(.minutes(20))) struct ArrivalTests {
    @Test func everySchemaIsMovedWithoutADifference() async throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [
            "python3", root.appendingPathComponent("Scripts/arrivals.py").path, "--build",
            Process.built("dao").deletingLastPathComponent().path,
        ]
        let run = try await process.runToEnd()
        #expect(run.status == 0 && run.output.contains("schemas moved without a difference"), "\(run.output)\(run.errors)")
    }

    /// What is no SQLite database of UTF-8 is named, and stays as it is.
    @Test func otherFilesAreNamed() async throws {
        let library = try Library("sqlite")
        var encrypted = Data((0..<4096).map { UInt8(truncatingIfNeeded: ($0 &* 167 &+ 89) ^ ($0 >> 3)) })
        encrypted[0] = 0x9E
        var realm = Data(count: 4096)
        realm.replaceSubrange(16..<20, with: Data("T-DB".utf8))
        for (name, bytes, part) in [
            ("encrypted.db", encrypted, "encrypted"), ("default.realm", realm, "a Realm file"),
            ("old.zip", Data("PK\u{3}\u{4}rest of it".utf8), "a compressed file"),
            ("other.txt", Data("just a text".utf8), "another file"),
            ("short.db", Data("SQLite format 3\0".utf8), "too short"),
        ] {
            try bytes.write(to: library.place.directory.appendingPathComponent(name))
            for words in [["inspect", "sqlite:\(name)"], ["move", name, "lmdb:new.mdb"], ["query", "sqlite:\(name)", "t"]] {
                let run = try await library.dao(words)
                #expect(run.status == 1 && run.errors.contains(part), "dao \(words): \(run.errors)")
                #expect(try library.files[name] == bytes && library.files["new.mdb"] == nil)
            }
        }
        try Data().write(to: library.place.directory.appendingPathComponent("empty.db"))
        #expect(try await library.dao("inspect", "sqlite:empty.db").output.contains("The file is empty."))
        #expect(try await library.dao("move", "empty.db", "lmdb:new.mdb").errors.contains("no tables"))
    }

    /// A damaged table stays behind, with an exit code that says so, and the others come. A small file is refused as a whole.
    @Test func aDamagedTableStaysBehind() async throws {
        let library = try Library("sqlite")
        try library.sqlite(
            "foreign.db",
            """
            PRAGMA page_size = 512;
            CREATE TABLE good(id INTEGER PRIMARY KEY, v TEXT); INSERT INTO good VALUES(1, 'x');
            CREATE TABLE bad(id INTEGER PRIMARY KEY, v TEXT);
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 40000) INSERT INTO bad SELECT i, i || 'yyyyyyyyyy' FROM n
            """)
        let path = library.place.directory.appendingPathComponent("foreign.db")
        var bytes = try Data(contentsOf: path)
        bytes.replaceSubrange(512 * 500..<512 * 500 + 8, with: Data(count: 8))
        try bytes.write(to: path)
        let inspected = try await library.dao("inspect", "sqlite:foreign.db")
        #expect(inspected.output.contains("bad, rows that cannot be counted, would stay behind: its rows cannot be read"))
        #expect(try await library.dao("verify", "sqlite:foreign.db").status == 1)
        let moved = try await library.dao("move", "foreign.db", "lmdb:new.mdb")
        #expect(moved.status == 1, "\(moved.output)\(moved.errors)")
        #expect(moved.output.hasPrefix("1 row in 1 entity compared, 1 written\n'bad' stays behind: its rows cannot be read"))
        #expect(try await library.dao("count", "lmdb:new.mdb", "good").output == "1\n")
        #expect(try Data(contentsOf: path) == bytes)
    }

    @Test func datesWithoutAZoneAreAskedFor() async throws {
        let library = try Library("sqlite")
        try library.sqlite(
            "foreign.db",
            "CREATE TABLE visit(id INTEGER PRIMARY KEY, day DATETIME); INSERT INTO visit VALUES(1, '2024-07-01 12:00')")
        let inspected = try await library.dao("inspect", "sqlite:foreign.db")
        #expect(inspected.output.contains("dao move foreign.db sqlite:new.db --zone UTC"), "\(inspected.output)")
        let refused = try await library.dao("move", "foreign.db", "lmdb:new.mdb")
        #expect(refused.status == 64 && refused.errors.contains("stored without a time zone"), "\(refused.errors)")
        let unknown = try await library.dao("move", "foreign.db", "lmdb:new.mdb", "--zone", "Nowhere")
        #expect(unknown.status == 64 && unknown.errors.contains("--zone needs a time zone"))
        let moved = try await library.dao("move", "foreign.db", "lmdb:new.mdb", "--zone", "Europe/Berlin")
        #expect(moved.status == 0 && moved.output == "1 row in 1 entity compared, 1 written\n", "\(moved.errors)")
        #expect(
            try await library.dao("export", "lmdb:new.mdb", "visit").output == "{\"id\":1,\"day\":\"2024-07-01T10:00:00Z\"}\n")
    }

    /// A mapping is changed by hand, and a wrong one is refused before anything is written.
    @Test func aMappingIsChangedByHand() async throws {
        let library = try Library("sqlite")
        try library.sqlite(
            "foreign.db", "CREATE TABLE T(ID INTEGER PRIMARY KEY, VAL TEXT); INSERT INTO T VALUES(1, '5'), (2, 'x')")
        #expect(try await library.dao("inspect", "sqlite:foreign.db", "--mapping", "t.json").status == 0)
        let path = library.place.path("t.json")
        let text = try String(contentsOfFile: path, encoding: .utf8)
        for (changed, part) in [
            (text.replacing("\"string?\"", with: "\"nothing\""), "is no type of a field"),
            (text.replacing("\"field\":\"val\"", with: "\"field\":\"id\""), "two fields"),
            (text.replacing("\"column\":\"VAL\"", with: "\"column\":\"GONE\""), "GONE"),
            (text.replacing("\"table\": \"T\"", with: "\"table\": \"U\""), "no such table"),
            (text.replacing("\"entities\"", with: "\"timeZone\": \"Nowhere\", \"entities\""), "no time zone 'Nowhere'"),
            ("[]", "is no mapping"), ("{\"entities\": [{}]}", "is missing, at entities.1"),
        ] {
            #expect(changed != text)
            try Data(changed.utf8).write(to: URL(fileURLWithPath: path))
            for words in [["move", "foreign.db", "lmdb:new.mdb"], ["inspect", "sqlite:foreign.db"]] {
                let run = try await library.dao(words + ["--mapping", "t.json"])
                #expect(run.status == 1 && run.errors.contains(part), "\(part): \(run.errors)")
                #expect(try library.files["new.mdb"] == nil)
            }
        }
        let numbers = text.replacing("\"field\":\"val\"", with: "\"field\":\"number\"").replacing(
            "\"string?\"", with: "\"int64?\"")
        try Data(numbers.utf8).write(to: URL(fileURLWithPath: path))
        let run = try await library.dao("move", "foreign.db", "lmdb:new.mdb", "--mapping", "t.json")
        #expect(run.status == 1, "\(run.errors)")
        #expect(
            run.output == """
                1 row in 1 entity compared, 1 written, 1 left out
                T, the row with the key 2, VAL: it has a text that is no int64

                """)
        #expect(try await library.dao("export", "lmdb:new.mdb", "t").output == "{\"id\":1,\"number\":5}\n")
    }

    /// What refers to a row that is left out comes without the reference, or is left out too.
    @Test func whatRefersToARowThatIsLeftOut() async throws {
        let library = try Library("sqlite")
        try library.sqlite(
            "foreign.db",
            """
            CREATE TABLE p(id INTEGER PRIMARY KEY, v TEXT NOT NULL); INSERT INTO p VALUES(1, '5'), (2, 'x');
            CREATE TABLE needs(id INTEGER PRIMARY KEY, p INTEGER NOT NULL REFERENCES p); INSERT INTO needs VALUES(1, 2), (2, 1);
            CREATE TABLE needsThat(id INTEGER PRIMARY KEY, n INTEGER NOT NULL REFERENCES needs); INSERT INTO needsThat VALUES(7, 1), (8, 2);
            CREATE TABLE may(id INTEGER PRIMARY KEY, p INTEGER REFERENCES p); INSERT INTO may VALUES(1, 2), (2, 1);
            CREATE TABLE has(id INTEGER PRIMARY KEY); INSERT INTO has VALUES(1);
            CREATE TABLE has_p(has INTEGER REFERENCES has, p INTEGER REFERENCES p); INSERT INTO has_p VALUES(1, 2), (1, 1)
            """)
        #expect(try await library.dao("inspect", "sqlite:foreign.db", "--mapping", "t.json").status == 0)
        let path = library.place.path("t.json")
        let text = try String(contentsOfFile: path, encoding: .utf8).replacing("\"type\":\"string\"", with: "\"type\":\"int64\"")
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
        for url in Library.schemes.map({ Library.newURL($0, "new-\($0)") }) {
            let run = try await library.dao("move", "foreign.db", url, "--mapping", "t.json")
            #expect(run.status == 1 && run.errors.isEmpty, "\(url): \(run.errors)")
            #expect(
                run.output == """
                    6 rows in 5 entities compared, 6 written, 3 left out
                    may, the row with the key 1, p: it refers to a row that is missing; the reference is left out
                    needs, the row with the key 1, p: it refers to a row that is missing
                    needsThat, the row with the key 7, n: it refers to a row that is missing
                    p, the row with the key 2, v: it has a text that is no int64
                    has_p, the row with the key 1, p: it links a row that is missing; the link is left out

                    """)
            #expect(try await library.dao("export", url, "may").output == "{\"id\":1,\"p\":null}\n{\"id\":2,\"p\":1}\n")
            #expect(try await library.dao("get", url, "has", "1", "--related", "ps", "--json").output.contains("\"id\": 1"))
            #expect(try await library.dao("verify", url).status == 0)
        }
    }

    /// A move that was interrupted goes on, and never overwrites other rows.
    @Test func aMoveGoesOn() async throws {
        let library = try Library("sqlite")
        try library.sqlite(
            "foreign.db",
            """
            CREATE TABLE t(k TEXT PRIMARY KEY, v INT);
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 30000)
            INSERT INTO t SELECT printf('%05d', i * 7919 % 30011), i FROM n
            """)
        let all = try await library.dao("move", "foreign.db", "sqlite:whole.db")
        #expect(all.output == "30000 rows in 1 entity compared, 30000 written\n", "\(all.errors)")
        // As an interruption leaves it: some of the rows, and the bookmark.
        let bookmark = library.place.path("foreign.db")
        try library.sqlite(
            "whole.db", "DELETE FROM t WHERE k > '20000'; INSERT INTO dao_properties VALUES('copy', 'sqlite:\(bookmark)')")
        let rest = try await library.dao("move", "foreign.db", "sqlite:whole.db")
        #expect(rest.status == 0 && rest.output.hasPrefix("30000 rows in 1 entity compared, "), "\(rest.output)\(rest.errors)")
        #expect(!rest.output.contains("30000 written") && !rest.output.contains(", 0 written"))
        try library.sqlite("whole.db", "UPDATE t SET v = 0 WHERE k = '00007'")
        let other = try await library.dao("move", "foreign.db", "sqlite:whole.db")
        #expect(other.status == 1 && other.errors.contains("other rows"), "\(other.errors)")
    }
}

extension Library {
    /// Runs statements of another program on a file in the directory, which is made when it is missing.
    func sqlite(_ name: String, _ sql: String) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [
            "python3", "-c", "import sqlite3, sys; db = sqlite3.connect(sys.argv[1]); db.executescript(sys.argv[2]); db.close()",
            place.path(name), sql,
        ]
        try process.run()
        process.waitUntilExit()
        try #require(process.terminationStatus == 0)
    }
}
