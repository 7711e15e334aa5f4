import DAOCore
import DAOTestSupport
import Foundation

/// L14: what an encrypted file shows, to whom it opens, and what it is copied into.
enum EncryptedFiles {
    static let cases: [ConformanceCase] =
        formats.flatMap { suffix, format in
            [
                sealed("L.encryption\(suffix)", format), damage("L.encryptedDamage\(suffix)", format),
                copies("L.encryptedCopies\(suffix)", format), backups("L.encryptedBackups\(suffix)", format),
            ]
        } + [plainFile, strangers]

    /// What the ids of the cases end with, and the format of the file.
    private static let formats: [(String, Encryption.Format)] = [("", .authenticated), ("LikeSQLCipher", .sqlCipher())]

    private static func sealed(_ id: String, _ format: Encryption.Format) -> ConformanceCase {
        ConformanceCase(
            id, "L14", "L6", title: "an encrypted file has no plain text in it and opens with its key alone\(named(format))",
            requires: [.configuration]
        ) { context in
            let key = Encryption.key((0..<32).map { UInt8($0) }, format: format)
            guard let database = try open(context, key) else { return }
            try database.dao(Item.self).create(rows)
            try expectSame(try database.dao(Item.self).read { $0.number == 7 }, [rows[6]])
            guard context.target.file != nil else { return }
            try expectSealed(context, "while the database is open")
            // Engines are shared, and no opening passes the key by.
            try expectSame(try require(open(context, key), "a second database").dao(Item.self).read(), rows)
            // A target that encrypts by itself has this key where none is given.
            let others = try context.encryptsAlways() ? Array(others.dropLast()) : others
            for (what, other) in others {
                try expectRefusal("with \(what) beside an open database") { try context.open { $0.encryption = other } }
            }
            try context.closeAll()
            try expectSealed(context, "after the database was closed")
            let files = try context.files()
            for (what, other) in others {
                try expectRefusal("with \(what)") { try context.open { $0.encryption = other } }
                try expect(try context.files() == files, "the files after an opening with \(what)")
            }
            // The format of an existing file is its own.
            let again = try require(open(context, .key((0..<32).map { UInt8($0) })), "the database again")
            try expectSame(try again.dao(Item.self).read(), rows)
            try again.expectVerified()
        }
    }

    private static func damage(_ id: String, _ format: Encryption.Format) -> ConformanceCase {
        ConformanceCase(
            id, "L14", "L5", title: "a damaged, exchanged or foreign page is corrupted with its number\(named(format))",
            requires: [.configuration, .file]
        ) { context in
            let key = Encryption.key((0..<32).map { UInt8($0) }, format: format)
            guard let database = try open(context, key) else { return }
            try database.dao(Item.self).create(rows)
            try context.closeAll()
            let (file, whole) = (try context.file(), try Data(contentsOf: context.file()))
            // Another file with the same key.
            try FileManager.default.removeItem(at: file)
            try require(open(context, key), "another database").dao(Item.self).create(rows)
            try context.closeAll()
            let other = try Data(contentsOf: file)
            let length = 4096
            try expect(whole.count >= 5 * length && other.count >= 5 * length, "a file of five pages")
            let marked = format == .authenticated
            var changes: [(String, Int, (inout Data) -> Void)] = []
            for position in [0, 15, 16, 17, 20, 24, 40, 99, 100, 2000, 4031, 4032, 4040, 4060, 4080, 4095] {
                for page in 1...3 where page > 1 || marked || position >= 16 {
                    changes.append(
                        ("byte \(position) of page \(page)", page, { $0[(page - 1) * length + position] ^= 1 << (position % 8) }))
                }
            }
            changes.append(
                (
                    "two pages exchanged", 0,
                    {
                        let third = $0[2 * length..<3 * length]
                        $0[2 * length..<3 * length] = $0[3 * length..<4 * length]
                        $0[3 * length..<4 * length] = third
                    }
                ))
            changes.append(("a page of another file", 3, { $0[2 * length..<3 * length] = other[2 * length..<3 * length] }))
            for (what, page, change) in changes {
                var bytes = whole
                change(&bytes)
                try bytes.write(to: file)
                do {
                    let database = try context.open { $0.encryption = key }
                    defer { try? database.close() }
                    _ = try database.dao(Item.self).read()
                    try expect(try !database.verify().isSound, "\(what): damage that is found")
                } catch let error as StorageError {
                    try expect(
                        error.kind == .corrupted && error.path == file.path, "\(what): corrupted with the path, got \(error)")
                    try expect(
                        page == 0 || error.message.hasPrefix("page \(page) of the file"), "\(what): its page, got \(error)")
                }
                try expect(try Data(contentsOf: file) == bytes, "\(what): the file stays as it is")
            }
            if !marked {
                var bytes = whole
                bytes[3] ^= 1
                try bytes.write(to: file)
                try expectRefusal("damage of the salt") { try context.open { $0.encryption = key } }
            }
            try whole.write(to: file)
            try expectSame(try require(open(context, key), "the file as it was").dao(Item.self).read(), rows)
        }
    }

    private static func copies(_ id: String, _ format: Encryption.Format) -> ConformanceCase {
        ConformanceCase(
            id, "L14", "E5", title: "a plain database is copied into an encrypted one and back\(named(format))",
            requires: [.configuration, .file]
        ) { context in
            let plain = try context.openOther("plain")
            try plain.dao(Item.self).create(rows)
            guard let encrypted = try open(context, .passphrase("a passphrase", format: format)) else { return }
            try expectEqual(try plain.copy(to: encrypted).rowsWritten, rows.count, "the rows that were copied")
            try expectSealed(context, "after a copy")
            let again = try context.openOther("again")
            try encrypted.copy(to: again)
            try expectSame(try again.dao(Item.self).read(), rows, "the rows of a plain copy")
        }
    }

    private static func backups(_ id: String, _ format: Encryption.Format) -> ConformanceCase {
        ConformanceCase(
            id, "L14", "L10", "L11",
            title:
                "backups and compactions of an encrypted database are encrypted, and replace none of another key\(named(format))",
            requires: [.configuration, .file]
        ) { context in
            let key = Encryption.key((7..<39).map { UInt8($0) }, format: format)
            guard let database = try open(context, key) else { return }
            try database.dao(Item.self).create(rows)
            let backup = context.location.directory.appendingPathComponent("backup")
            do {
                try database.backup(to: backup.path)
            } catch let error as StorageError where error.kind == .unsupported { return }
            try expectSealed(context, "beside a backup")
            try database.dao(Item.self).erase { $0.id > 300 }
            try database.dao(Item.self).create(Item(id: 1000, name: canary, number: 1000))
            _ = try database.compact()
            try expectSealed(context, "after a compaction")
            let left = Array(rows.prefix(300)) + [Item(id: 1000, name: canary, number: 1000)]
            try expectSame(try database.dao(Item.self).read(), left)
            try database.backup(to: backup.path)
            // Neither the backup of another key nor that of a plain database is replaced, nor words.
            let bytes = try Data(contentsOf: backup)
            func expectUnchanged(_ what: String, _ kinds: Set<StorageError.Kind>, _ body: () throws -> Void) throws {
                let before = try Data(contentsOf: backup)
                do {
                    try body()
                } catch let error as StorageError {
                    try expect(
                        kinds.contains(error.kind) && error.path != nil, "\(what): a typed error with the path, got \(error)")
                    return try expect(try Data(contentsOf: backup) == before, "\(what): the file stays as it is")
                }
                throw fail("\(what): expected a refusal")
            }
            let others = context.location.directory.appendingPathComponent("others").path
            let stranger = try context.open {
                $0.path = others
                $0.encryption = .key((1...32).map { UInt8($0) }, format: format)
            }
            try stranger.dao(Item.self).create(rows)
            try expectUnchanged("a backup with another key", [.notPermitted]) { try stranger.backup(to: backup.path) }
            let plain = try context.openOther("plain")
            try plain.dao(Item.self).create(rows)
            try expectUnchanged("a backup without a key", [.notPermitted, .notADatabase]) { try plain.backup(to: backup.path) }
            try Data(String(repeating: "not a database ", count: 20).utf8).write(to: backup)
            try expectUnchanged("words", [.notADatabase]) { try database.backup(to: backup.path) }
            try context.closeAll()
            try FileManager.default.removeItem(at: context.file())
            try bytes.write(to: context.file())
            try expectRefusal("a backup with another key") { try context.open { $0.encryption = .passphrase("another") } }
            try expectSame(try require(open(context, key), "the backup").dao(Item.self).read(), left, "the rows of the backup")
        }
    }

    private static let plainFile = ConformanceCase(
        "L.encryptionOfAPlainFile", "L14", title: "a key for a plain file is refused and changes nothing",
        requires: [.configuration, .file]
    ) { context in
        if try context.encryptsAlways() { return }
        let plain = try context.open()
        try plain.dao(Item.self).create(Item.make(1...3))
        let key = Encryption.key((0..<32).map { UInt8($0) })
        do {
            _ = try context.open { $0.encryption = key }
            throw fail("a key for a plain file that is open: expected a refusal")
        } catch let error as StorageError where error.kind == .unsupported {
            return
        } catch let error as StorageError {
            try expect(error.kind == .notPermitted && error.path != nil, "notPermitted with the path, got \(error)")
        }
        try plain.close()
        let files = try context.files()
        try expectRefusal("a key for a plain file") { try context.open { $0.encryption = key } }
        try expect(try context.files() == files, "the files afterwards")
        try expectSame(try context.open().dao(Item.self).read(), Item.make(1...3))
    }

    private static let strangers = ConformanceCase(
        "L.encryptionOfStrangers", "L14", "L1", title: "a key opens no text and no random bytes, and changes neither",
        requires: [.configuration, .file]
    ) { context in
        guard try context.encrypts() else { return }
        var random = SeededGenerator(seed: 3)
        let noise = Data((0..<20_000).map { _ in UInt8.random(in: 0...255, using: &random) })
        let words = Data(String(repeating: "Dear diary,\n", count: 2000).utf8)
        let file = try context.file()
        for format in formats.map(\.1) {
            // What looks like random bytes could be a file of SQLCipher with another key.
            for (what, bytes, kind) in [
                ("a text", words, StorageError.Kind.notADatabase), ("three bytes", Data("abc".utf8), .notADatabase),
                ("random bytes", noise, .notPermitted),
            ] {
                try bytes.write(to: file)
                try expectError(kind, what, path: file.path) {
                    try context.open { $0.encryption = .key((0..<32).map { UInt8($0) }, format: format) }
                }
                try expect(try Data(contentsOf: file) == bytes, "\(what) stays as it is")
            }
        }
    }

    // MARK: Helpers

    fileprivate static let canary = "a text to look for"

    private static let rows = (1...400).map { Item(id: $0, name: "\(canary) \($0)", number: $0) }

    private static let others: [(String, Encryption?)] = [
        ("another key", .key((1...32).map { UInt8($0) })), ("a passphrase", .passphrase("a passphrase")), ("none", nil),
    ]

    private static func named(_ format: Encryption.Format) -> String {
        format == .authenticated ? "" : ", in the format of SQLCipher"
    }

    /// Opens this case's database with a key; nil where that is refused.
    private static func open(_ context: ConformanceContext, _ encryption: Encryption) throws -> (any Database)? {
        do {
            let database = try context.open { $0.encryption = encryption }
            try expect(!"\(database.configuration)".contains("passphrase"), "a configuration without its secret")
            return database
        } catch let error as StorageError where error.kind == .unsupported { return nil }
    }

    private static func expectRefusal(_ what: String, _ body: () throws -> any Database) throws {
        do {
            _ = try body()
        } catch let error as StorageError {
            return try expect(
                error.kind == .notPermitted && error.path != nil, "\(what): notPermitted with the path, got \(error)")
        }
        throw fail("\(what): expected a refusal")
    }

    private static func expectSealed(_ context: ConformanceContext, _ when: String) throws {
        for (name, bytes) in try context.files() {
            try expect(bytes.range(of: Data(canary.utf8)) == nil, "\(name) has no plain text \(when)")
        }
    }
}

extension ConformanceContext {
    /// The files of this case's directory, by their names, but for shared memory and plain databases.
    fileprivate func files() throws -> [String: Data] {
        var files: [String: Data] = [:]
        for name in try FileManager.default.contentsOfDirectory(atPath: location.directory.path) where !name.hasSuffix("-shm") {
            let url = location.directory.appendingPathComponent(name)
            var isDirectory: ObjCBool = false
            if FileManager.default.fileExists(atPath: url.path, isDirectory: &isDirectory), !isDirectory.boolValue {
                files[name] = try Data(contentsOf: url)
            }
        }
        return files
    }

    /// Whether databases of the target can be encrypted.
    func encrypts() throws -> Bool {
        guard target.openConfiguration != nil else { return false }
        let path = location.directory.appendingPathComponent("probe-of-a-key").path
        do {
            try open {
                $0.path = path
                $0.encryption = .key((0..<32).map { UInt8($0) })
            }.close()
            return true
        } catch let error as StorageError where error.kind == .unsupported { return false }
    }

    /// Whether the target itself encrypts databases that are opened without a key.
    func encryptsAlways() throws -> Bool {
        let probe = try openOther("probe")
        try probe.dao(Blob.self).create(Blob(id: 1, text: EncryptedFiles.canary))
        try probe.close()
        return try Data(contentsOf: fileOfOther("probe")).range(of: Data(EncryptedFiles.canary.utf8)) == nil
    }
}
