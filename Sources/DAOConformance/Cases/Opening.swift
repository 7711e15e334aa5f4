import DAOCore
import DAOTestSupport
import Foundation

/// L1 and L5: opening a database when the path holds a database, something else or nothing.
enum Opening {
    static let cases: [ConformanceCase] = configurations + strangers() + damages

    private static let configurations: [ConformanceCase] = [
        ConformanceCase("L.createsMissing", "L1", title: "opening creates a missing database, which is empty") { context in
            let database = try context.open()
            try expectEqual(try database.entities().count, 0, "entities")
            try expectEqual(try database.dao(Item.self).count(), 0)
        },
        ConformanceCase(
            "L.timeouts", "L1", title: "a timeout has any length: none, and longer than numbers of milliseconds are",
            requires: [.configuration]
        ) { context in
            for timeout: Duration in [.zero, .seconds(-1), .milliseconds(Int64.max), .seconds(Int64.max)] {
                let database = try context.open { $0.busyTimeout = timeout }
                let dao = try database.dao(Item.self)
                try dao.persist(Item.make([1, 2]))
                try database.transaction { try dao.persist(Item.make([3])) }
                try database.snapshot { try expectEqual(try dao.count(), 3, "the rows with a timeout of \(timeout)") }
                do {
                    _ = try database.compact()
                } catch let error as StorageError where error.kind == .unsupported {}
                try database.close()
            }
        },
        ConformanceCase("L.createsTheFile", "L1", title: "the file is at the given path", requires: [.file]) { context in
            let file = try context.file()
            try expect(!FileManager.default.fileExists(atPath: file.path), "no file before opening")
            let database = try context.open()
            try database.dao(Item.self).create(Item.make([1]))
            try expect(FileManager.default.fileExists(atPath: file.path), "a file at \(file.lastPathComponent)")
        },
        ConformanceCase(
            "L.relativePath", "L1", "L7", "C3",
            title: "a relative path is made absolute once: the configuration, errors and openings by the absolute path have it",
            requires: [.file, .configuration]
        ) { context in
            let file = try context.file()
            let folders = FileManager.default.currentDirectoryPath.split(separator: "/").count
            let relative = String(repeating: "../", count: folders) + file.path.dropFirst()
            let database = try context.open { $0.path = relative }
            let dao = try database.dao(Item.self)
            try dao.create(Item.make([1]))
            let path = database.configuration.path
            try expect(path.hasPrefix("/"), "an absolute path, not \(path)")
            func resolved(_ path: String) -> String {
                URL(fileURLWithPath: path).standardizedFileURL.resolvingSymlinksInPath().path
            }
            try expectEqual(resolved(path), resolved(file.path), "the path of the configuration")
            let same = try context.dao(Item.self)
            try expectEqual(try same.read().map(\.id), [1], "the rows by the absolute path")
            try same.create(Item.make([2]))
            try expectEqual(try dao.read().map(\.id), [1, 2], "the rows of both")
            try database.close()
            let error = try expectError(.closed, "a closed database") { try dao.count() }
            try expect(error.path?.hasPrefix("/") == true, "an absolute path in the error, not \(error.path ?? "none")")
            let missing = try expectError(.notFound, "a missing file") {
                try context.open {
                    $0.path = relative + ".missing"
                    $0.createsIfMissing = false
                }
            }
            try expect(missing.path?.hasPrefix("/") == true, "an absolute path of what is missing, not \(missing.path ?? "none")")
        },
        ConformanceCase(
            "L.fileMode", "L1", title: "a new file has the permissions that the configuration gives, where it can say so",
            requires: [.file, .configuration]
        ) { context in
            func open(_ mode: String) throws -> any Database { try context.open { $0.options["mode"] = mode } }
            let unknown = try expectError(.invalidConfiguration, "an option that nothing has") {
                try context.open { $0.options["edom"] = "640" }
            }
            do {
                try open("640").dao(Item.self).create(Item.make([1]))
            } catch let error as StorageError where error.message == unknown.message.replacing("edom", with: "mode") {
                return
            }
            let attributes = try FileManager.default.attributesOfItem(atPath: try context.file().path)
            try expectEqual((attributes[.posixPermissions] as? NSNumber)?.intValue, 0o640, "the permissions")
            for mode in ["", "9", "88", "1600", "77", "400", "-600", "rw"] {
                let error = try expectError(.invalidConfiguration, mode) { try open(mode) }
                try expect(error.message.contains("0600"), "an example in: \(error.message)")
            }
            try expectEqual(try open("777").dao(Item.self).count(), 1)
        },
        ConformanceCase(
            "L.notCreating", "L1", title: "opening a missing database with create=false is notFound and creates nothing",
            requires: [.file, .configuration]
        ) { context in
            try expectError(.notFound, path: context.path) { try context.open { $0.createsIfMissing = false } }
            try expectEqual(
                try FileManager.default.contentsOfDirectory(atPath: context.location.directory.path).count, 0, "files left")
            try context.open().dao(Item.self).create(Item.make([1]))
            let found = try context.open { $0.createsIfMissing = false }
            try expectEqual(try found.dao(Item.self).count(), 1)
        },
        ConformanceCase(
            "L.readOnlyConfiguration", "L1",
            title: "a database opened with readOnly=true can be read, and refuses every write with readOnly",
            requires: [.file, .configuration]
        ) { context in
            let writable = try context.open()
            try writable.dao(Item.self).create(Item.make(1...3))
            try writable.close()
            let database = try context.open { $0.isReadOnly = true }
            try expect(database.capabilities.isReadOnly, "the capability isReadOnly")
            let dao = try database.dao(Item.self)
            try expectEqual(try dao.read { $0.number > 10 }.map(\.id), [2, 3])
            try expectEqual(try dao.count(), 3)
            for (name, call) in [
                ("create", { try dao.create(Item.make([4])) }), ("persist", { try dao.persist(Item(id: 1, name: "x")) }),
                ("update", { _ = try dao.update(where: { $0.id == 1 }) { $0.name = "x" } }),
                ("set", { _ = try dao.set(\.name, to: "x") { $0.id == 1 } }),
                ("erase", { _ = try dao.erase() }),
                ("transaction", { try database.transaction { try dao.create(Item.make([4])) } }),
            ] as [(String, () throws -> Void)] {
                try expectError(.readOnly, name, path: context.path, call)
            }
            try database.close()
            try expectEqual(try context.dao(Item.self).count(), 3)
        },
        ConformanceCase(
            "L.readOnlyMissing", "L1", title: "opening a missing database with readOnly=true is notFound",
            requires: [.file, .configuration]
        ) { context in
            try expectError(.notFound, path: context.path) { try context.open { $0.isReadOnly = true } }
        },
        ConformanceCase(
            "L.readOnlyFile", "L1", title: "a file without write permission can be read, and refuses writes with readOnly",
            requires: [.file]
        ) { context in
            guard geteuid() != 0 else { return }
            let file = try context.file()
            let writable = try context.open()
            try writable.dao(Item.self).create(Item.make(1...3))
            try writable.close()
            try FileManager.default.setAttributes([.posixPermissions: 0o444], ofItemAtPath: file.path)
            try expectReadOnly(context)
        },
        ConformanceCase(
            "L.notPermitted", "L1", title: "a file that may not be read, or whose directory may not be searched, is notPermitted",
            requires: [.file]
        ) { context in
            guard geteuid() != 0 else { return }
            let file = try context.file()
            try context.open().close()
            for path in [file.path, file.deletingLastPathComponent().path] {
                let old = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
                try FileManager.default.setAttributes([.posixPermissions: 0], ofItemAtPath: path)
                defer { try? FileManager.default.setAttributes([.posixPermissions: old ?? 0o755], ofItemAtPath: path) }
                try expectError(
                    .notPermitted, "opening the file", path: file.path,
                    message: "this user may not read or write the file, or not use its directory; change their permissions"
                ) { try context.open() }
            }
        },
        ConformanceCase(
            "L.readOnlyDirectory", "L1",
            title: "a file in a directory without write permission can be read, and refuses writes with readOnly",
            requires: [.file]
        ) { context in
            guard geteuid() != 0 else { return }
            let directory = try context.file().deletingLastPathComponent()
            let writable = try context.open()
            try writable.dao(Item.self).create(Item.make(1...3))
            try writable.close()
            for name in try FileManager.default.contentsOfDirectory(atPath: directory.path) {
                try FileManager.default.setAttributes(
                    [.posixPermissions: 0o444], ofItemAtPath: directory.appendingPathComponent(name).path)
            }
            try FileManager.default.setAttributes([.posixPermissions: 0o555], ofItemAtPath: directory.path)
            defer { try? FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: directory.path) }
            try expectReadOnly(context)
        },
        ConformanceCase(
            "L.encryptionKey", "L6", title: "an encryption key that is not supported is refused, not ignored",
            requires: [.configuration]
        ) { context in
            let database: any Database
            do {
                database = try context.open { $0.options["key"] = "secret" }
            } catch let error as StorageError {
                try expect(error.kind == .unsupported, "unsupported, got \(error)")
                try expect(!"\(error)".contains("secret"), "an error without the encryption key")
                return
            }
            // The key was accepted, so the file must not contain the stored text.
            guard context.target.file != nil else { throw fail("expected a refusal, since there is no file to encrypt") }
            try database.dao(Blob.self).create(Blob(id: 1, text: "a text to look for"))
            try database.close()
            let bytes = try Data(contentsOf: context.file())
            try expect(bytes.range(of: Data("a text to look for".utf8)) == nil, "an encrypted file")
        },
        ConformanceCase(
            "L.secrets", "L6", title: "no error and no description shows a secret of the configuration",
            requires: [.configuration]
        ) { context in
            for name in ["password", "API-Key", "%74oken", "clientSecret"] {
                var configuration: DatabaseConfiguration?
                do {
                    let database = try context.open {
                        $0.options[name] = "hush-hush"
                        configuration = $0
                    }
                    try expect(!"\(database.configuration)".contains("hush-hush"), "a configuration without \(name)")
                    try database.close()
                    try expect(
                        !"\(try expectError(.closed) { try database.dao(Item.self).read() })".contains("hush-hush"),
                        "an error without \(name)")
                } catch let error as StorageError {
                    try expect(!"\(error)".contains("hush-hush"), "an error without \(name)")
                }
                let shown = configuration.map { "\($0) \(String(reflecting: $0))" } ?? ""
                try expect(!shown.contains("hush-hush"), "a description without \(name)")
            }
        },
        ConformanceCase(
            "L.unknownOption", "L1",
            title: "an option that the driver does not have is invalidConfiguration and names the option",
            requires: [.configuration]
        ) { context in
            let error = try expectError(.invalidConfiguration, path: context.path) {
                try context.open { $0.options["no-such-option"] = "1" }
            }
            try expect(error.message.contains("no-such-option"), "the option's name in: \(error.message)")
        },
        oddPaths(),
        ConformanceCase(
            "L.missingDirectory", "L1",
            title: "a path in a missing directory opens or is a typed error with the path; a path through a file is notFound",
            requires: [.file, .configuration]
        ) { context in
            let path = context.location.directory.appendingPathComponent("no/such/directory/test.db").path
            do {
                let database = try context.open { $0.path = path }
                try database.dao(Item.self).create(Item.make([1]))
                try expect(FileManager.default.fileExists(atPath: path), "the file")
            } catch let error as StorageError {
                try expect([.notFound, .io].contains(error.kind), "notFound or io, got \(error)")
                try expectEqual(error.path, path, "the error's path")
            }
            let file = context.location.directory.appendingPathComponent("file").path
            try Data("x".utf8).write(to: URL(fileURLWithPath: file))
            try expectError(.notFound, "a path through a file", path: file + "/test.db") {
                try context.open { $0.path = file + "/test.db" }
            }
        },
    ]

    private static func oddPaths() -> ConformanceCase {
        ConformanceCase(
            "L.oddPaths", "L1", title: "a path with unusual characters names exactly that file",
            requires: [.file, .configuration]
        ) { context in
            let names = [
                "with space", "100%25", "what?mode=memory", "hash#tag", "file:x", "'quote'", "\"double\"", "semi;colon", "\u{e9}",
                "e\u{301}x", "emoji 👍",
                ":memory:", "-dash", "\u{301}mark", "a&b=c", String(repeating: "n", count: 200),
            ]
            for (index, name) in names.enumerated() {
                let path = context.location.directory.appendingPathComponent("odd").path + "/" + name
                try FileManager.default.createDirectory(
                    atPath: context.location.directory.appendingPathComponent("odd").path, withIntermediateDirectories: true)
                let database = try context.open { $0.path = path }
                try database.dao(Item.self).create(Item.make([index]))
                try expect(FileManager.default.fileExists(atPath: path), "a file named \(name)")
                try database.close()
                let again = try context.open { $0.path = path }
                try expectEqual(try again.dao(Item.self).read().map(\.id), [index], "the rows in \(name)")
                try again.close()
            }
        }
    }

    private static func expectReadOnly(_ context: ConformanceContext) throws {
        let database = try context.open()
        let dao = try database.dao(Item.self)
        try expectEqual(try dao.read().map(\.id), [1, 2, 3])
        try expectError(.readOnly, path: context.path) { try dao.create(Item.make([4])) }
        try expectEqual(try dao.count(), 3)
        try database.close()
    }

    /// Cases in which the path holds something that is not a database.
    private static func strangers() -> [ConformanceCase] {
        let jpeg =
            Data([0xff, 0xd8, 0xff, 0xe0, 0, 0x10] + Array("JFIF\0".utf8))
            + Data((0..<20_000).map { UInt8(truncatingIfNeeded: $0 &* 37) })
        return [
            stranger("L.jpeg", "a JPEG", jpeg),
            stranger("L.textFile", "a text", Data(String(repeating: "Dear diary,\n", count: 2000).utf8)),
            stranger("L.shortFile", "a file of three bytes", Data("abc".utf8)),
            stranger("L.zeros", "a file of zeros", Data(count: 65_536)),
            ConformanceCase(
                "L.random", "L1", "L14",
                title:
                    "random bytes are notADatabase, or notPermitted where they could be an encrypted file; they stay unchanged",
                requires: [.file]
            ) { context in
                let (file, bytes) = (try context.file(), randomBytes(65_536))
                let kind: StorageError.Kind = try context.encrypts() ? .notPermitted : .notADatabase
                try bytes.write(to: file)
                try expectError(kind, path: context.path) { try context.open().dao(Item.self).read().count }
                try expect(try Data(contentsOf: file) == bytes, "the file to be untouched")
            },
            ConformanceCase(
                "L.directory", "L1", title: "opening a directory is a typed error with the path", requires: [.file]
            ) { context in
                let file = try context.file()
                try FileManager.default.createDirectory(at: file, withIntermediateDirectories: true)
                try Data("keep me".utf8).write(to: file.appendingPathComponent("file"))
                try expectError(.notADatabase, path: context.path) { try context.open().dao(Item.self).create(Item.make([1])) }
                try expectEqual(
                    try FileManager.default.contentsOfDirectory(atPath: file.path), ["file"], "the contents of the directory")
            },
            ConformanceCase(
                "L.refusedClosesItsOwn", "L1", title: "a refused opening closes no file that another thread opens meanwhile",
                requires: [.file, .configuration]
            ) { context in
                let directory = context.location.directory
                let text = directory.appendingPathComponent("text").path
                try Data(String(repeating: "Dear diary,\n", count: 2000).utf8).write(to: URL(fileURLWithPath: text))
                // Another thread's file gets the number of one that was just closed.
                let isDone = Lock(false)
                defer { isDone.withLock { $0 = true } }
                try onThreads(3) { thread in
                    if thread == 0 {
                        defer { isDone.withLock { $0 = true } }
                        for round in 0..<400 {
                            let path = round % 2 == 0 ? directory.path : text
                            try expectError(.notADatabase, path: path) { try context.open { $0.path = path } }
                        }
                    } else {
                        while !isDone.withLock({ $0 }) {
                            let descriptor = open(text, O_RDONLY | O_CLOEXEC)
                            try expect(descriptor >= 0, "a file to be opened")
                            usleep(5)
                            try expect(close(descriptor) == 0, "a file to be open until it is closed")
                        }
                    }
                }
            },
            ConformanceCase(
                "L.afterAFailure", "L1", title: "opening succeeds after a failed opening, when the other file was removed",
                requires: [.file]
            ) { context in
                let file = try context.file()
                for _ in 0..<3 {
                    try Data("not a database, certainly".utf8).write(to: file)
                    try expectError(.notADatabase, path: context.path) { try context.open().dao(Item.self).count() }
                    try FileManager.default.removeItem(at: file)
                }
                let dao = try context.dao(Item.self)
                try dao.create(Item.make([1]))
                try expectEqual(try dao.count(), 1)
            },
            ConformanceCase(
                "L.emptyFile", "L1", title: "opening an empty file creates a database or is a typed error with the path",
                requires: [.file]
            ) { context in
                let file = try context.file()
                try Data().write(to: file)
                do {
                    let database = try context.open()
                    try database.dao(Item.self).create(Item.make([1]))
                    try expectEqual(try database.dao(Item.self).count(), 1)
                } catch let error as StorageError {
                    try expect([.notADatabase, .corrupted].contains(error.kind), "notADatabase or corrupted, got \(error)")
                    try expectEqual(error.path, file.path, "the error's path")
                }
            },
        ]
    }

    private static func stranger(_ id: String, _ what: String, _ bytes: Data) -> ConformanceCase {
        ConformanceCase(
            id, "L1", title: "opening \(what) is notADatabase with the path, and keeps the file unchanged", requires: [.file]
        ) {
            context in
            let file = try context.file()
            try bytes.write(to: file)
            try expectError(.notADatabase, path: context.path) {
                let database = try context.open()
                return try database.dao(Item.self).read().count
            }
            try expect(try Data(contentsOf: file) == bytes, "the file to be untouched")
        }
    }

    private static func randomBytes(_ count: Int) -> Data {
        var random = SeededGenerator(seed: 7)
        return Data((0..<count).map { _ in UInt8.random(in: 0...255, using: &random) })
    }

    /// Cases in which the path holds a damaged database.
    private static let damages: [ConformanceCase] =
        truncations + [
            smallFlips, damagedNames,
            damage("L.zeroedHeader", "a file whose first 100 bytes are zero") { Data(count: 100) + $0.dropFirst(100) },
            damage("L.zeroedMiddle", "a file whose middle is zero") { data in
                var data = data
                for index in (data.count / 3)..<(data.count / 2) { data[index] = 0 }
                return data
            },
            ConformanceCase(
                "L.bitFlips", "L5", title: "sixty flipped bits, one at a time, give right answers or typed errors, and no crash",
                requires: [.file]
            ) { context in
                let file = try context.file()
                let (whole, rows) = try sample(context)
                var random = SeededGenerator(seed: 99)
                for round in 0..<60 {
                    var data = whole
                    let position = Int.random(in: 0..<data.count, using: &random)
                    data[position] ^= 1 << UInt8.random(in: 0..<8, using: &random)
                    try write(data, to: file)
                    // Without checksums a flipped bit of a value is a different value. The case then counts
                    // only crashes and untyped errors. With checksums a row may be lost with its page, but no
                    // row is changed.
                    try expectRightOrTyped(
                        context, rows, "round \(round), byte \(position)", acceptsOtherValues: true, keyIsLost: position < 16)
                }
            },
        ]

    /// Few rows have few pages, so that most flipped bits are in what is not rows: headers, the catalog, free pages.
    private static let smallFlips = ConformanceCase(
        "L.bitFlipsInASmallFile", "L5",
        title: "flipped bits in a file of three rows give right answers or typed errors, and no crash",
        requires: [.file]
    ) { context in
        let file = try context.file()
        let (database, dao) = try context.open(with: Item.self)
        try dao.create(Item.make(1...5))
        // Pages that are free.
        try dao.erase { $0.id > 3 }
        try dao.persist(Item(id: 3, name: "three", number: 30))
        let rows = try Dump.rows(of: dao.storage)
        try database.close()
        let whole = try Data(contentsOf: file)
        let places = whole.indices.filter { whole[$0] != 0 }
        var random = SeededGenerator(seed: 7)
        for round in 0..<24 {
            var data = whole
            let position = places[Int.random(in: 0..<places.count, using: &random)]
            data[position] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            try write(data, to: file)
            try expectRightOrTyped(
                context, rows, "round \(round), byte \(position)", acceptsOtherValues: true, keyIsLost: position < 16)
        }
        try write(whole, to: file)
        try expectRightOrTyped(context, rows, "the file as it was", acceptsOtherValues: false)
    }

    /// What a database knows of its entities is read when it is opened, after the pages were found to be in order.
    private static let damagedNames = ConformanceCase(
        "L.damagedNames", "L5",
        title: "damage to the name of an entity gives right answers or typed errors, and leaves nothing open",
        requires: [.file]
    ) { context in
        let file = try context.file()
        let (database, dao) = try context.open(with: Item.self)
        try dao.create(Item.make(1...3))
        let rows = try Dump.rows(of: dao.storage)
        try database.close()
        let whole = try Data(contentsOf: file)
        let name = Data(Item.schema.description.name.utf8)
        var start = whole.startIndex
        for round in 0..<40 {
            guard let place = whole.range(of: name, in: start..<whole.endIndex) else { break }
            start = place.upperBound
            for letter in [place.lowerBound, place.upperBound - 1] {
                var data = whole
                data[letter] ^= 0x80
                try write(data, to: file)
                try expectRightOrTyped(context, rows, "round \(round), byte \(letter)", acceptsOtherValues: true)
                try expectEqual(openFiles(in: context.location.directory), [], "open files after round \(round)")
            }
        }
        try write(whole, to: file)
        try expectRightOrTyped(context, rows, "the file as it was", acceptsOtherValues: false)
    }

    private static let truncations: [ConformanceCase] =
        [
            damage("L.truncatedToHalf", "half of a file") { $0.prefix($0.count / 2) },
            damage("L.truncatedByAByte", "a file without its last byte") { $0.dropLast(1) },
            damage("L.truncatedByAPage", "a file without its last 4096 bytes") { $0.dropLast(4096) },
            damage("L.truncatedToAPage", "the first 4096 bytes of a file") { $0.prefix(4096) },
            damage("L.truncatedTo100", "the first 100 bytes of a file") { $0.prefix(100) },
        ].requiring(.truncationDetection) + [
            ConformanceCase(
                "L.truncatedToACommit", "L5",
                title: "a file that lost its end gives typed errors or the rows of an earlier commit",
                requires: [.file], lacks: [.truncationDetection]
            ) { context in
                let (whole, rows) = try sample(context)
                for length in [whole.count / 2, whole.count - 1, whole.count - 4096, 4096, 100] where length >= 0 {
                    try write(whole.prefix(length), to: context.file())
                    // All rows were stored by one commit.
                    do {
                        try expectRightOrTyped(context, rows, "\(length) bytes", acceptsOtherValues: false)
                    } catch is ConformanceFailure {
                        try write(whole.prefix(length), to: context.file())
                        try expectRightOrTyped(context, [], "\(length) bytes", acceptsOtherValues: false)
                    }
                }
            }
        ]

    private static func damage(_ id: String, _ what: String, _ change: @escaping @Sendable (Data) -> Data) -> ConformanceCase {
        ConformanceCase(id, "L1", "L5", title: "\(what) gives typed errors with the path, or right answers", requires: [.file]) {
            context in
            let (whole, rows) = try sample(context)
            try write(Data(change(whole)), to: context.file())
            try expectRightOrTyped(context, rows, what, acceptsOtherValues: false)
        }
    }

    /// Returns the bytes of a file with two thousand rows, and the rows.
    private static func sample(_ context: ConformanceContext) throws -> (Data, [String]) {
        let (database, dao) = try context.open(with: Item.self)
        try dao.create(
            (1...2000).map { Item(id: $0, name: "The item of number \($0)", number: $0, note: $0 % 2 == 0 ? "even" : nil) })
        let rows = try Dump.rows(of: dao.storage)
        try database.close()
        let data = try Data(contentsOf: context.file())
        try expect(!data.isEmpty, "a file with the rows")
        return (data, rows)
    }

    /// Replaces the file of a database, and removes the files beside it.
    private static func write(_ data: Data, to file: URL) throws {
        let directory = file.deletingLastPathComponent()
        for name in try FileManager.default.contentsOfDirectory(atPath: directory.path) where name != file.lastPathComponent {
            try FileManager.default.removeItem(at: directory.appendingPathComponent(name))
        }
        try data.write(to: file)
    }

    /// - Parameter keyIsLost: Whether the damage is where a file of SQLCipher has its salt, without which the key opens nothing (L14).
    private static func expectRightOrTyped(
        _ context: ConformanceContext, _ rows: [String], _ what: String, acceptsOtherValues: Bool, keyIsLost: Bool = false
    ) throws {
        let kinds: Set<StorageError.Kind> = [
            .corrupted, .corruptedValue, .notADatabase, .schemaMismatch, .schemaIsNewer, .io, .invalidSchema, .unsupported,
        ]
        let known = Set(rows)
        do {
            let database = try context.open()
            defer { try? database.close() }
            let storage = try database.storage(for: Item.self)
            let found = try Dump.rows(of: storage)
            if !acceptsOtherValues {
                try expectEqual(found, rows, "\(what): rows that were read without an error")
            } else if database.capabilities.hasChecksums {
                try expectEqual(found.filter { !known.contains($0) }, [], "\(what): rows that were never stored")
            }
            _ = try storage.count(Query(where: Condition { $0.number > 1000 }))
            _ = try storage.read(key: .integer(777))
            _ = try storage.read(Query(orderedBy: [.descending(\.number)], limit: 10))
            try storage.upsert([Item(id: 777, name: "written")])
            _ = try storage.erase(Query(where: Condition { $0.number < 100 }))
        } catch let error as StorageError {
            if error.kind == .notPermitted, keyIsLost, try context.encryptsAlways() { return }
            try expect(kinds.contains(error.kind), "\(what): an error about the state of the file, got \(error)")
            if error.kind == .corrupted || error.kind == .notADatabase {
                try expectEqual(error.path, try context.file().path, "\(what): the path in \(error)")
            }
        }
    }
}
