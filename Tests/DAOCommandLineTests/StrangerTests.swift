import DAOSystemSQLite
import DAOTestSupport
import Foundation
import Testing

/// Every command of `dao` on files that another program has made. None changes a byte of the file, its log or its journal, nor
/// leaves a file beside it; the index of a log (`-shm`) may change.
@Suite(.timeLimit(.minutes(10))) struct StrangerTests {
    /// What a file has.
    static let kinds = ["rollback", "persistent journal", "log", "log that was left", "nothing"]

    private static let schema = """
        CREATE TABLE note(id INTEGER PRIMARY KEY ON CONFLICT REPLACE, title TEXT NOT NULL COLLATE NOCASE, updated TEXT);
        CREATE TABLE tag(id TEXT PRIMARY KEY COLLATE NOCASE, note REFERENCES note ON DELETE CASCADE);
        CREATE INDEX by_title ON note(lower(title));
        CREATE VIEW titles AS SELECT title FROM note;
        CREATE TRIGGER touched AFTER UPDATE ON note BEGIN UPDATE note SET updated = 'now' WHERE id = NEW.id; END;
        CREATE TRIGGER quiet BEFORE INSERT ON note WHEN NEW.title = '' BEGIN SELECT RAISE(IGNORE); END;
        INSERT INTO note VALUES(1, 'Ada', NULL), (2, 'ada', NULL); INSERT INTO tag VALUES('a', 1)
        """

    /// Makes the file as the other program does.
    private func make(_ kind: String, at path: String) throws {
        var handle: OpaquePointer?
        let source = kind == "log that was left" ? path + ".made" : path
        try #require(sqlite3_open(source, &handle) == SQLITE_OK)
        defer { sqlite3_close(handle) }
        func run(_ sql: String) throws {
            try #require(sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK, "\(String(cString: sqlite3_errmsg(handle)))")
        }
        let modes = ["persistent journal": "PERSIST", "log": "WAL", "log that was left": "WAL"]
        try run("PRAGMA journal_mode = \(modes[kind] ?? "DELETE")")
        try run(kind == "nothing" ? "PRAGMA user_version = 3" : Self.schema)
        guard source != path else { return }
        for suffix in ["", "-wal"] { try FileManager.default.copyItem(atPath: source + suffix, toPath: path + suffix) }
        for suffix in ["", "-wal", "-shm"] { try FileManager.default.removeItem(atPath: source + suffix) }
    }

    private func files(_ library: Library) throws -> [String: Data] {
        try library.files.filter { !$0.key.hasSuffix("-shm") }
    }

    @Test(arguments: kinds) func noCommandChangesTheFileOfAnotherProgram(_ kind: String) async throws {
        let library = try Library("sqlite")
        #expect(try await library.dao("backup", library.url, "backup.db").status == 0)
        try make(kind, at: library.place.path("stranger.db"))
        try Data("{\"id\":3,\"title\":\"x\"}\n".utf8).write(to: URL(fileURLWithPath: library.place.path("rows.jsonl")))
        let url = "sqlite:stranger.db"
        let before = try files(library)
        #expect(before["stranger.db"] != nil && (kind != "log that was left" || before["stranger.db-wal"]?.isEmpty == false))
        let reading = [
            ["inspect", url], ["verify", url], ["migrate", url, "--dry-run", "--like", library.url],
            ["migrate", library.url, "--dry-run", "--like", url],
        ]
        for words in reading {
            let run = try await library.dao(words)
            #expect(try files(library) == before, "dao \(words) wrote \(run.output + run.errors)")
        }
        // The tables are read as the entities that they would become.
        for words in [
            ["query", url, "note"], ["get", url, "note", "1"], ["count", url, "note"], ["explain", url, "note"],
            ["export", url, "note"],
        ] {
            let run = try await library.dao(words)
            let isRead =
                kind == "nothing" ? run.status == 1 && run.errors.contains("no entity") : run.status == 0 && !run.output.isEmpty
            #expect(isRead, "dao \(words) wrote \(run.output + run.errors)")
            #expect(try files(library) == before, "dao \(words)")
        }
        if kind != "nothing" {
            #expect(try await library.dao("count", url, "note").output == "2\n")
            let copy = try await library.dao("copy", url, "sqlite:copied.db")
            #expect(
                copy.status == 1 && copy.errors.contains("3 rows in 2 tables and 1 view")
                    && copy.errors.contains("dao move stranger.db URL"))
            #expect(try files(library) == before)
        }
        // What each of them says is refused for the file, or because it has no such entity.
        let refused: [(words: [String], part: String)] = [
            (["watch", url, "note"], kind == "nothing" ? "no entity" : "dao query sqlite:stranger.db"),
            (["import", url, "note", "rows.jsonl"], kind == "nothing" ? "no entity" : "dao move stranger.db URL"),
            (["erase", url, "note", "TRUEPREDICATE", "--write"], kind == "nothing" ? "no entity" : "dao move stranger.db URL"),
            (["compact", url], "adopt=true"),
            (["copy", library.url, url], "adopt=true"), (["restore", url, "backup.db", "--replace"], "another program"),
            (["backup", library.url, "stranger.db"], "another program"),
        ]
        for (words, part) in refused {
            let replaces = words[0] == "restore" || words[0] == "backup"
            // Nothing is lost with a file that has nothing.
            if replaces, kind == "nothing" { continue }
            let run = try await library.dao(words)
            let said = replaces && (kind == "log that was left" || kind == "persistent journal") ? "not closed" : part
            #expect(run.status == 1 && run.errors.contains(said), "dao \(words) wrote \(run.output + run.errors)")
            #expect(try files(library) == before, "dao \(words)")
        }
        // Its backup and its copy are other files.
        for words in [["backup", url, "saved.db"], ["move", "stranger.db", "sqlite:copied.db"]] {
            let run = try await library.dao(words)
            let others = try files(library).filter { !$0.key.hasPrefix("saved.db") && !$0.key.hasPrefix("copied.db") }
            #expect(others == before, "dao \(words) wrote \(run.output + run.errors)")
        }
        let again = try await library.dao("backup", url, "saved.db")
        #expect(kind == "nothing" || again.status == 1 && again.errors.contains("another program"), "\(again.errors)")
    }

    @Test func anotherDatabaseOfTheLibraryIsNotReplaced() async throws {
        for scheme in Library.files {
            let library = try Library(scheme)
            #expect(try await library.dao("copy", library.url, "\(scheme):other.db").status == 0)
            let before = try library.files
            for words in [["backup", library.url, "other.db"], ["restore", "\(scheme):other.db", "library.db", "--replace"]] {
                let run = try await library.dao(words)
                #expect(run.status == 1 && run.errors.contains("another database"), "\(run.errors)")
                #expect(try library.files.filter { !$0.key.hasSuffix("-lock") } == before.filter { !$0.key.hasSuffix("-lock") })
            }
        }
    }

    @Test func anAdoptedFileTakesACopy() async throws {
        let library = try Library("sqlite")
        try make("rollback", at: library.place.path("stranger.db"))
        let copy = try await library.dao("copy", library.url, "sqlite:stranger.db?adopt=true")
        #expect(copy.status == 0, "\(copy.errors)")
        // From then on it is a database of the library, beside the tables of the other program.
        #expect(try await library.dao("count", "sqlite:stranger.db", "book").output == "3\n")
        #expect(try await library.dao("erase", "sqlite:stranger.db", "book", "id == 1", "--write").status == 0)
    }
}
