import DAOCore
import DAOSQLite
import DAOTestSupport
import Foundation
import Testing

/// What `dao` says to careless words, and what it never does.
@Suite(.timeLimit(.minutes(10))) struct WordsTests {
    @Test func badWordsAreUsageErrors() async throws {
        let library = try Library("sqlite")
        let url = library.url
        for (words, error) in [
            (["inspekt"], "there is no command 'inspekt'; use one of these: inspect, query, "),
            (
                ["inspect"],
                "'dao inspect' needs URL: the database, such as sqlite:app.db, or the path of its file; try 'dao inspect --help'"
            ),
            (["query", url], "'dao query' needs ENTITY"),
            (["query", url, "book", "id", "==", "1"], "'dao query' does not expect '=='; put quotes around a predicate"),
            (["query", url, "book", "--limit", "many"], "--limit needs a number from zero, not 'many'; try 'dao query --help'"),
            (["query", url, "book", "--limit", "-1"], "--limit needs a number from zero, not '-1'"),
            (["query", url, "book", "--limit"], "--limit needs a value: N"),
            (["query", url, "book", "--limit", "1", "--limit=2"], "--limit is given twice"),
            (["query", url, "book", "--json=yes"], "--json takes no value"),
            (["query", url, "book", "--format", "xml"], "--format has no 'xml'; use one of these: table, json, csv"),
            (["query", url, "book", "--fields", "nmae"], "'book' has no field 'nmae'; it has: id, title"),
            (["query", url, "book", "--fast"], "'dao query' has no option '--fast'"),
            (["get", url, "book"], "'dao get' needs KEY"),
            (["copy", url], "'dao copy' needs TO"),
        ] {
            let run = try await library.dao(words)
            #expect(run.status == 64 && run.output.isEmpty, "\(words)")
            #expect(run.errors.hasPrefix("dao: " + error), "\(words): \(run.errors)")
            #expect(run.errors.hasSuffix("'\n") && run.errors.split(separator: "\n").count == 1, "one line: \(run.errors)")
        }
        let nothing = try await library.dao()
        #expect(nothing.status == 64 && nothing.output.isEmpty && nothing.errors.hasPrefix("usage: dao COMMAND"))
    }

    @Test(arguments: Library.files) func failuresAreOneLine(_ scheme: String) async throws {
        let library = try Library(scheme)
        let url = library.url
        try Data("text".utf8).write(to: library.place.directory.appendingPathComponent("text.txt"))
        for (words, error) in [
            (["inspect", "old.db"], "there is no file 'old.db'; before the path"),
            (
                ["inspect", "realm:library.db"],
                "there is no driver for 'realm'; use one that this program has: lmdb, postgres, sqlite"
            ),
            (["inspect", "\(scheme):text.txt"], "another file, not a database of this kind"),
            (["inspect", url + "?colour=red"], "have no option 'colour'"),
            (["query", url, "book", "nmae == 1"], "'book' has no field 'nmae'"),
            (["query", url, "book", "id == 1 AND nmae == 1"], ", at character 13 of the predicate"),
            (["count", url, "book", "id = "], ", at character 6 of the predicate"),
            (["explain", url, "book", "title > 5"], "title"),
            (["query", url, "book", "--order", "size"], "'book' has no field 'size'"),
            (["query", url, "shelf"], "the database has no entity 'shelf'; use one that it has: book, chapter, writer"),
            (
                ["get", url, "book", "1", "--related", "title"],
                "'title' is not a relationship of 'book'; use one that it has: writer, chapters"
            ),
            (["backup", url, "library.db"], "leads to the database itself"),
            (["backup", url, "none/library.db"], "does not exist"),
        ] {
            let run = try await library.dao(words)
            #expect(run.status == 1 && run.output.isEmpty, "\(words): \(run.status) \(run.output)")
            #expect(run.errors.hasPrefix("dao: ") && run.errors.contains(error), "\(words): \(run.errors)")
            #expect(run.errors.split(separator: "\n").count == 1, "one line: \(run.errors)")
        }
    }

    /// An unknown path is an error of every command, and stays unknown.
    @Test(arguments: Library.files) func unknownPathsStayUnknown(_ scheme: String) async throws {
        let library = try Library(scheme)
        let before = try library.files
        let url = "\(scheme):nothing.db"
        for words in [
            ["inspect", url], ["query", url, "book"], ["get", url, "book", "1"], ["count", url, "book"],
            ["explain", url, "book"],
            ["watch", url, "book"], ["browse", url], ["export", url, "book"], ["import", url, "book", "library.db"],
            ["copy", url, "\(scheme):copy.db"], ["backup", url, "backup.db"],
            ["restore", "\(scheme):other.db", "nothing.db"], ["verify", url], ["compact", url],
            ["erase", url, "book", "id == 1", "--write"], ["migrate", url, "--dry-run", "--like", library.url],
            ["migrate", library.url, "--dry-run", "--like", url],
        ] {
            let run = try await library.dao(words)
            #expect(
                run.status == 1 && run.errors == "dao: there is no database at the path 'nothing.db'; check the URL\n", "\(run)")
        }
        #expect(try library.files == before)
    }

    /// What only reads leaves every file as it was, and no other file.
    @Test(arguments: Library.files) func readingChangesNothing(_ scheme: String) async throws {
        let library = try Library(scheme)
        let before = try library.files
        let url = library.url
        for words in [
            ["inspect", url], ["query", url, "book", "ANY chapters.title == 'Begin'", "--order", "writer.name"],
            ["get", url, "book", "1", "--related", "chapters"], ["count", url, "book", "price > 1"],
            ["explain", url, "book", "id == 1"], ["verify", url], ["export", url, "book"], ["query", url, "nothing"],
            ["erase", url, "book", "id == 1"], ["migrate", url, "--dry-run", "--like", url],
            ["query", url, "book", "bad ="],
        ] {
            _ = try await library.dao(words)
            let after = try library.files
            #expect(after == before, "\(words): \(after.keys)")
        }
    }

    @Test func secretsAreHidden() async throws {
        let library = try Library("sqlite")
        for words in [
            ["inspect", "sqlite:library.db?password=geheim"], ["browse", "sqlite:library.db?key=geheim"],
            ["inspect", "sqlite://ada:geheim@host/library.db"], ["copy", library.url, "lmdb:x.mdb?token=geheim"],
            ["inspect", library.url, "book", "sqlite:x?password=geheim"], ["query", library.url, "book", "--password=geheim"],
            ["restore", "sqlite:x.db?secret=geheim", "library.db"], ["inspect:password=geheim"],
            ["inspect", "postgres://ada:geheim@127.0.0.1:1/app"], ["browse", "postgres:app?host=%2Fnone&password=geheim"],
            ["backup", "postgres://ada:geheim@127.0.0.1:1/app", "x.db"],
            ["copy", library.url, "postgres://ada:geheim@[::1]:1/app"],
        ] {
            let run = try await library.dao(words)
            #expect([1, 64].contains(run.status) && !run.errors.isEmpty)
            #expect(!(run.errors + run.output).contains("geheim"), "\(run.errors)")
        }
    }

    /// The shell that is everywhere completes commands and options. The other scripts name all of them.
    @Test func shellsCompleteWords() async throws {
        let library = try Library("sqlite")
        let bash = library.process([])
        bash.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        bash.arguments = [
            "bash", "-c",
            """
            source /dev/stdin <<< "$("$0" completion bash)"
            complete() { COMP_CWORD=$(($# - 1)) COMP_WORDS=("$@"); _dao; echo "${COMPREPLY[@]}"; }
            complete dao in; complete dao query sqlite:library.db book --o; complete dao browse --w; complete dao query sql
            """, Process.built("dao").path,
        ]
        let run = try await bash.runToEnd()
        #expect(run.status == 0 && run.output == "inspect\n--order --offset\n--write\n\n", "\(run)")
        for shell in ["zsh", "fish"] {
            let script = try await library.dao("completion", shell)
            #expect(script.status == 0 && script.errors.isEmpty)
            for word in CommandTests.commands + ["offset", "replace", "write"] {
                #expect(script.output.contains(word), "\(word)")
            }
        }
        #expect(try await library.dao("completion", "csh").status == 64)
    }

    @Test func everyCommandHasHelp() async throws {
        let library = try Library("sqlite")
        let all = try await library.dao("--help")
        #expect(all.status == 0 && all.errors.isEmpty)
        for command in CommandTests.commands {
            #expect(all.output.contains("\n  \(command) "), "\(command)")
            for words in [[command, "--help"], ["help", command], [command, "some", "-h"]] {
                let help = try await library.dao(words)
                #expect(help.status == 0 && help.output.hasPrefix("usage: dao \(command)") && help.errors.isEmpty, "\(words)")
                #expect(help.output.contains("--help"))
            }
        }
        #expect(try await library.dao("help").output == all.output)
    }

    /// What is stored cannot control a terminal.
    @Test func terminalsAreSafe() async throws {
        let library = try Library("sqlite")
        try library.using { database in
            try DAO(storage: database.storage(for: Writer.self)).create(
                Writer(id: 2, name: "\u{1B}[31mred\u{202E}\u{9B}\r\nnext 🏴‍☠️"))
        }
        let row = try await library.dao("get", library.url, "writer", "2")
        #expect(row.output == "id    2\nname  [31mred\nnext 🏴‍☠️\n")
        let table = try await library.dao("query", library.url, "writer", "id == 2", "--fields", "name")
        #expect(table.output == "name\n--------------\n[31mred next 🏴‍☠️\n")
        let json = try await library.dao("query", library.url, "writer", "id == 2", "--fields", "name", "--json")
        #expect(json.output == "[\n{\"name\": \"\\u001b[31mred\\u202e\\u009b\\r\\nnext 🏴‍☠️\"}\n]\n")
    }

    /// What another program has stored as an embedded value cannot break the JSON of a query, nor control a terminal.
    @Test func embeddedValuesAreChecked() async throws {
        let library = try Library("sqlite")
        for stored in [#"["a" , "\u{202E}b",]"#, "]}, {\u{1B}[2J", "[1", "", #"["\u{9B}31m"]"#] {
            try library.using { database in
                try database.transaction {
                    try database.underlying(as: SQLiteHandle.self) { handle in
                        try handle.execute("UPDATE book SET tags = '\(stored)' WHERE id = 1")
                    }
                }
            }
            let json = try await library.dao("query", library.url, "book", "id == 1", "--fields", "tags", "--json").output
            let rows = try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [[String: Any]]
            #expect(rows?.count == 1 && rows?[0].count == 1, "\(json)")
            #expect(!json.unicodeScalars.contains { "\u{1B}\u{202E}\u{9B}".unicodeScalars.contains($0) })
        }
    }

    /// A pipe gets no colours and no progress, and a program that ends early no error.
    @Test func pipesGetPlainText() async throws {
        let library = try Library("sqlite")
        for words in [["copy", library.url, "lmdb:copy.mdb"], ["verify", library.url], ["inspect", library.url]] {
            let run = try await library.dao(words)
            #expect(run.errors.isEmpty && !run.output.contains("\u{1B}") && !run.output.contains("\r"))
        }
        try library.using { database in
            try DAO(storage: database.storage(for: Writer.self)).create((2...5000).map { Writer(id: $0, name: "writer \($0)") })
        }
        let process = library.process(["query", library.url, "writer", "--json"])
        let (output, errors) = (Pipe(), Pipe())
        (process.standardOutput, process.standardError) = (output, errors)
        try process.run()
        try output.fileHandleForReading.close()
        #expect(process.waitForEnd() == 141)
        #expect(errors.fileHandleForReading.readDataToEndOfFile().isEmpty)
        #expect(try library.files.keys.filter { $0.hasPrefix("library.db") } == ["library.db"])
    }
}
