#if Encryption
    import DAOCore
    import DAOSQLite
    import DAOTestSupport
    import Foundation
    import Testing

    /// Encrypted files on the command line. Keys come from files and the terminal alone.
    @Suite(.timeLimit(.minutes(30))) struct EncryptionTests {
        private static let formats = ["authenticated", "sqlcipher"]

        /// A library with files of keys.
        private func library() throws -> Library {
            let library = try Library("sqlite")
            for (name, text) in [
                ("key", "correct horse battery staple\n"), ("other", "x'" + String(repeating: "ab", count: 32) + "'\n"),
                ("wrong", "wrong"), ("none", ""), ("half", "x'abab'"), ("lines", "one\ntwo\n"),
            ] { try Data(text.utf8).write(to: library.place.directory.appendingPathComponent(name)) }
            try Data([0x67, 0x72, 0xFC, 0xDF]).write(to: library.place.directory.appendingPathComponent("latin1"))
            try Data().write(to: library.place.directory.appendingPathComponent("empty.db"))
            return library
        }

        @Test(arguments: formats) func commandsWorkOnEncryptedFiles(_ format: String) async throws {
            let library = try library()
            let plain = try library.files["library.db"]
            func dao(_ words: String..., status: Int32 = 0, sourceLocation: SourceLocation = #_sourceLocation) async throws
                -> String
            {
                let ended = try await library.dao(words)
                #expect(ended.status == status, "\(words): \(ended.output)\(ended.errors)", sourceLocation: sourceLocation)
                for secret in ["correct horse", "abab"] {
                    #expect(!(ended.output + ended.errors).contains(secret), sourceLocation: sourceLocation)
                }
                return ended.output + ended.errors
            }
            let made = try await dao("encrypt", "library.db", "secret.db", "--key-file", "key", "--format", format)
            #expect(made.hasPrefix("secret.db, "))
            #expect(try library.files["library.db"] == plain, "the plain file stays as it is")
            let bytes = try #require(try library.files["secret.db"])
            for text in ["Engines", "writer", "CREATE TABLE"] { #expect(bytes.range(of: Data(text.utf8)) == nil, "\(text)") }
            let url = "sqlite:secret.db"
            for command in [
                ["inspect"], ["query", "book", "--order", "id"], ["count", "book"], ["get", "book", "1"], ["export", "book"],
                ["verify"], ["explain", "book", "id == 1"],
            ] {
                let words = [command[0], url] + command.dropFirst() + ["--key-file", "key"]
                let encrypted = try await library.dao(words)
                let same = try await library.dao([command[0], library.url] + command.dropFirst())
                #expect(encrypted.status == 0, "\(words): \(encrypted.errors)")
                func lines(_ text: String) -> [Substring] {
                    text.split(separator: "\n").filter { !$0.contains("sqlite:") && !$0.contains("SQLite") }
                }
                #expect(lines(encrypted.output) == lines(same.output), "\(words)")
            }
            #expect(try await dao("inspect", url, status: 1).contains("encrypted"))
            #expect(try await dao("inspect", url, "--key-file", "wrong", status: 1).contains("another key"))
            #expect(try await dao("inspect", library.url, "--key-file", "key", status: 1).contains("not encrypted"))
            #expect(try library.files["secret.db"] == bytes, "refusals change nothing")
            _ = try await dao("erase", url, "book", "id == 2", "--write", "--key-file", "key")
            _ = try await dao("backup", url, "backup.db", "--key-file", "key")
            _ = try await dao("backup", url, "backup.db", "--key-file", "key")
            #expect(try await dao("backup", library.url, "backup.db", status: 1).contains("Nothing was changed"))
            _ = try await dao("erase", url, "book", "id == 1", "--write", "--key-file", "key")
            _ = try await dao("restore", url, "backup.db", "--replace", "--key-file", "key")
            #expect(try await dao("count", url, "book", "--key-file", "key") == "2\n")
            _ = try await dao("compact", url, "--key-file", "key")
            // Copies in every direction.
            _ = try await dao("copy", url, "sqlite:plain.db", "--key-file", "key")
            #expect(try await dao("count", "sqlite:plain.db", "book") == "2\n")
            _ = try await dao("copy", "sqlite:plain.db", "sqlite:again.db", "--to-key-file", "other", "--to-format", format)
            #expect(try await dao("count", "sqlite:again.db", "book", "--key-file", "other") == "2\n")
            _ = try await dao("copy", "sqlite:again.db", "lmdb:again.mdb", "--key-file", "other")
            #expect(
                try await dao("copy", url, "lmdb:no.mdb", "--key-file", "key", "--to-key-file", "key", status: 1).contains(
                    "encrypt"))
            // Keys and formats change in place.
            _ = try await dao("rekey", "secret.db", "--key-file", "key", "--new-key-file", "other")
            let keepsFormat = try #require(try library.files["secret.db"]).starts(with: Data("SQLite format 3".utf8))
            #expect(keepsFormat == (format == "authenticated"), "a new key keeps the format")
            #expect(try await dao("count", url, "book", "--key-file", "key", status: 1).contains("key"))
            #expect(try await dao("count", url, "book", "--key-file", "other") == "2\n")
            for next in ["sqlcipher", "authenticated"] {
                _ = try await dao("rekey", "secret.db", "--key-file", "other", "--format", next)
                let isMarked = try #require(try library.files["secret.db"]).starts(with: Data("SQLite format 3".utf8))
                #expect(isMarked == (next == "authenticated"))
                #expect(try await dao("verify", url, "--key-file", "other").contains("no problem"))
            }
            _ = try await dao("decrypt", "secret.db", "decrypted.db", "--key-file", "other")
            #expect(
                try await dao("query", "sqlite:decrypted.db", "book", "--json")
                    == dao("query", url, "book", "--json", "--key-file", "other"))
            // What another program has open is not replaced.
            var configuration = DatabaseConfiguration(
                scheme: "sqlite", path: library.place.directory.appendingPathComponent("secret.db").path)
            configuration.encryption = .key(Array(repeating: 0xab, count: 32))
            let database = try DatabaseDrivers(.sqlite).open(configuration)
            #expect(try database.entities().count == 3)
            #expect(
                try await dao("rekey", "secret.db", "--key-file", "other", "--new-key-file", "key", status: 1).contains("open"))
            try database.close()
            _ = try await dao("rekey", "secret.db", "--key-file", "other", "--new-key-file", "key")
        }

        @Test func mistakesAreExplained() async throws {
            let library = try library()
            for (words, part) in [
                (["encrypt", "library.db", "new.db"], "--key-file"), (["decrypt", "library.db", "new.db"], "--key-file"),
                (["encrypt", "library.db", "new.db", "--key-file", "missing"], "no file 'missing'"),
                (["encrypt", "library.db", "new.db", "--key-file", "none"], "empty"),
                (["encrypt", "library.db", "new.db", "--key-file", "half"], "64 hexadecimal digits"),
                (["encrypt", "library.db", "new.db", "--key-file", "lines"], "more than one line"),
                (["encrypt", "library.db", "new.db", "--key-file", "key", "--format", "zip"], "sqlcipher"),
                (["encrypt", "library.db", "new.db", "--key-file", "key", "--ask-key"], "two keys"),
                (["encrypt", "library.db", "new.db", "--key-file", "latin1"], "UTF-8"),
                (["encrypt", "library.db", "new.db", "--key-file", "."], "no file '.'"),
                (["encrypt", "library.db", "lmdb:new.mdb", "--key-file", "key"], "dao copy"),
                (["encrypt", "library.db", "library.db", "--key-file", "key"], "--replace"),
                (["rekey", "library.db", "--key-file", "key"], "--new-key-file"),
                (["copy", library.url, "sqlite:new.db", "--to-format", "sqlcipher"], "--to-key-file"),
            ] {
                let ended = try await library.dao(words)
                #expect(ended.status == 64 && ended.errors.contains(part), "\(words): \(ended.errors)")
            }
            for words in [
                ["encrypt", "missing.db", "new.db", "--key-file", "key"],
                ["decrypt", "library.db", "new.db", "--key-file", "key"],
                ["rekey", "library.db", "--key-file", "key", "--new-key-file", "other"],
                ["encrypt", "library.db", "library.db", "--key-file", "key", "--replace"],
                ["encrypt", "empty.db", "new.db", "--key-file", "key"], ["decrypt", "empty.db", "new.db", "--key-file", "key"],
            ] { #expect(try await library.dao(words).status == 1, "\(words)") }
            #expect(try library.files["new.db"] == nil)
        }

        /// A file is replaced by name alone, and what is in it is not lost without a word.
        @Test func whatIsThereIsReplacedWhenAsked() async throws {
            let library = try library()
            func dao(_ words: String...) async throws -> Process.Ended { try await library.dao(words + ["--key-file", "key"]) }
            #expect(try await dao("encrypt", "library.db", "secret.db").status == 0)
            #expect(try await library.dao("erase", library.url, "book", "id == 1", "--write").status == 0)
            let before = try library.files
            let refused = try await dao("decrypt", "secret.db", "library.db")
            #expect(refused.status == 64 && refused.errors.contains("--replace"), "\(refused.errors)")
            #expect(try await dao("encrypt", "library.db", "secret.db").status == 64)
            let twice = try await dao("encrypt", "secret.db", "other.db")
            #expect(twice.status == 64 && twice.errors.contains("rekey"), "\(twice.errors)")
            #expect(try library.files == before)
            #expect(try await dao("encrypt", "library.db", "secret.db", "--replace").status == 0)
            #expect(try await dao("count", "sqlite:secret.db", "book").output == "2\n")
        }

        /// Ctrl-C in the middle of a long command leaves every file as it was, and no other.
        @Test(arguments: ["encrypt", "decrypt", "rekey"]) func interruptedCommandsChangeNothing(_ command: String) async throws {
            let library = try library()
            try library.sqlite(
                "big.db",
                "CREATE TABLE t(id INTEGER PRIMARY KEY, x BLOB); WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 30000) "
                    + "INSERT INTO t SELECT i, randomblob(2000) FROM n")
            var words = ["encrypt", "big.db", "new.db", "--key-file", "key"]
            if command != "encrypt" {
                #expect(try await library.dao("encrypt", "big.db", "secret.db", "--key-file", "key").status == 0)
                words =
                    command == "decrypt"
                    ? ["decrypt", "secret.db", "new.db", "--key-file", "key"]
                    : ["rekey", "secret.db", "--key-file", "key", "--new-key-file", "other"]
            }
            let before = try library.files
            let process = library.process(words)
            let errors = Pipe()
            (process.standardError, process.standardOutput) = (errors, FileHandle.nullDevice)
            try process.run()
            // It has begun when its file is there.
            let folder = library.place.directory
            while process.isRunning,
                try !FileManager.default.contentsOfDirectory(atPath: folder.path).contains(where: { $0.hasPrefix(".dao-") })
            { usleep(1000) }
            process.interrupt()
            let text = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
            let status = process.waitForEnd()
            #expect(status == 130 && text == "dao: interrupted\n", "\(status): \(text)")
            #expect(try library.files == before)
        }

        /// The commands of the guide on a file of SQLCipher, which reads each result. Without a network nothing is tried, and a line
        /// says so.
        @Test func filesAreSharedWithSQLCipher() async throws {
            let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
                .deletingLastPathComponent()
            let process = Process()
            process.executableURL = root.appendingPathComponent("Scripts/encryption/check.py")
            process.arguments = ["--dao", Process.built("dao").path]
            let ended = try await process.runToEnd()
            #expect(ended.status == 0, "\(ended.output)\(ended.errors)")
            print(ended.output.split(separator: "\n").last ?? "")
        }

        @Test func browseShowsAnEncryptedFile() async throws {
            let library = try library()
            #expect(try await library.dao("encrypt", "library.db", "secret.db", "--key-file", "other").status == 0)
            let page = try PageClient(library, "sqlite:secret.db", "--key-file", "other")
            let answer = try page.send("GET", "\(page.root)api/database")
            #expect(answer.status == 200 && answer.text.contains("\"book\"") && !answer.text.contains("abab"))
        }

        /// A terminal shows the question, and not the answer.
        @Test func thePassphraseIsAskedForWithoutAnEcho() async throws {
            let library = try library()
            func asked(_ words: [String], _ answers: [String]) async throws -> (status: Int32, shown: String) {
                let process = Process()
                process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
                process.currentDirectoryURL = library.place.directory
                process.arguments =
                    ["python3", "-c", Self.terminal, answers.joined(separator: "\n"), Process.built("dao").path] + words
                let ended = try await process.runToEnd()
                return (ended.status, ended.output + ended.errors)
            }
            let made = try await asked(
                ["encrypt", "library.db", "secret.db", "--ask-key"],
                ["correct horse battery staple", "correct horse battery staple"])
            #expect(made.status == 0 && made.shown.contains("Passphrase: ") && !made.shown.contains("horse"), "\(made)")
            #expect(try await library.dao("count", "sqlite:secret.db", "book", "--key-file", "key").output == "3\n")
            let counted = try await asked(["count", "sqlite:secret.db", "book", "--ask-key"], ["correct horse battery staple"])
            #expect(counted.status == 0 && counted.shown.contains("3") && !counted.shown.contains("horse"), "\(counted)")
            let different = try await asked(["encrypt", "library.db", "new.db", "--ask-key"], ["one text", "another text"])
            #expect(different.status == 64 && different.shown.contains("different"), "\(different)")
            let ended = try await library.dao("count", "sqlite:secret.db", "book", "--ask-key", "--key-file", "key")
            #expect(ended.status == 64)
        }

        /// Runs a program on a terminal, and answers its questions.
        private static let terminal = """
            import os, pty, sys
            answers = sys.argv[1].split("\\n")
            child, terminal = pty.fork()
            if child == 0:
                os.execv(sys.argv[2], sys.argv[2:])
            while True:
                try:
                    shown = os.read(terminal, 4096)
                except OSError:
                    break
                if not shown:
                    break
                sys.stdout.write(shown.decode())
                if shown.endswith(b": ") and answers:
                    os.write(terminal, answers.pop(0).encode() + b"\\n")
            sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
            """
    }
#endif
