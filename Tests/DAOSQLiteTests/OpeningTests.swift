import DAOCore
import DAOSystemSQLite
import DAOTestSupport
import Foundation
import Testing

@testable import DAOSQLite

/// Opening databases, files that are not databases, and damaged databases.
@Suite struct OpeningTests {
    private let place = Place()

    private func filled() throws {
        let database = try place.database()
        try database.storage(for: Message.self).insert((0..<2000).map(Message.numbered))
        try database.close()
    }

    @Test func missingFileIsNotCreatedWithCreateFalse() throws {
        let error = expectError(.notFound) { try place.database { $0.createsIfMissing = false } }
        #expect(error?.path == place.path())
        expectError(.notFound) { try place.database { $0.isReadOnly = true } }
        #expect(try FileManager.default.contentsOfDirectory(atPath: place.directory.path).isEmpty)
    }

    @Test func missingDirectoryIsNamedInTheError() throws {
        let error = expectError(.notFound) { try place.database("none/app.db") }
        #expect(error?.message.contains(place.path("none")) == true)
    }

    @Test(arguments: [
        ("image.jpg", [UInt8](repeating: 0xFF, count: 3000)), ("short", [0xFF]), ("data.mdb", [UInt8](repeating: 0, count: 8192)),
        ("text", Array("SQLite format 4\0 and more".utf8)),
    ]) func whatIsNoDatabaseIsLeftAlone(name: String, bytes: [UInt8]) throws {
        try Data(bytes).write(to: URL(fileURLWithPath: place.path(name)))
        let error = expectError(.notADatabase) { try place.database(name) }
        #expect(error?.path == place.path(name))
        #expect(try Data(contentsOf: URL(fileURLWithPath: place.path(name))) == Data(bytes))
        #expect(try FileManager.default.contentsOfDirectory(atPath: place.directory.path) == [name])
    }

    @Test func directoryPipeAndSymbolicLinkLoopAreRefused() throws {
        expectError(.notADatabase) { try SQLiteDatabase(path: place.directory.path) }
        #expect(mkfifo(place.path("pipe"), 0o600) == 0)
        expectError(.notADatabase) { try place.database("pipe") }
        try FileManager.default.createSymbolicLink(atPath: place.path("loop"), withDestinationPath: place.path("loop"))
        expectError(.notADatabase) { try place.database("loop") }
    }

    @Test func emptyFileOfOthersIsKept() throws {
        func file() throws -> DatabaseFile { try DatabaseFile(DatabaseConfiguration(url: "sqlite:\(place.path())"), mode: nil) }
        try file().removeIfUnused()
        #expect(!FileManager.default.fileExists(atPath: place.path()), "a file that was created and not used")
        #expect(FileManager.default.createFile(atPath: place.path(), contents: Data()))
        try file().removeIfUnused()
        #expect(FileManager.default.fileExists(atPath: place.path()), "a file that was there before")
    }

    @Test func useOfWhatIsNotTrustedSaysTheOption() {
        let unsafe = SQLiteError.error(SQLITE_ERROR, "unsafe use of virtual table \"words\"", path: "app.db")
        #expect(unsafe.kind == .notPermitted)
        #expect(unsafe.message.contains("trustedSchema=true"))
        let other = SQLiteError.error(SQLITE_ERROR, "no such function: words", path: "app.db")
        #expect(other.kind != .notPermitted)
        #expect(!other.message.contains("trustedSchema"))
    }

    @Test func pathWithoutFileNameIsRefusedWithTheNextStep() throws {
        for path in ["", ":memory:"] {
            let error = expectError(.invalidConfiguration) { try SQLiteDatabase(path: path) }
            #expect(error?.message.contains("memory:") == true)
        }
        #expect(!FileManager.default.fileExists(atPath: ":memory:"))
    }

    @Test func emptyFileBecomesADatabase() throws {
        try Data().write(to: URL(fileURLWithPath: place.path()))
        #expect(try place.database().storage(for: User.self).count(Query()) == 0)
    }

    @Test(arguments: [1, 15, 16, 60, 100, 4095, 4096, 20_000]) func truncatedFileIsCorrupted(size: Int) throws {
        try filled()
        #expect(truncate(place.path(), off_t(size)) == 0)
        let error = expectError(.corrupted) { try place.database().storage(for: Message.self).read(Query()) }
        #expect(error?.path == place.path())
    }

    @Test func fileTornAtItsCreationIsUndone() throws {
        func write(_ bytes: [UInt8], _ name: String) throws { try Data(bytes).write(to: URL(fileURLWithPath: place.path(name))) }
        // The mark, no pages, a random number, no pages before, sectors of 512 bytes and pages of 4096 bytes.
        let journal: [UInt8] =
            [0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7, 0, 0, 0, 0, 1, 2, 3, 4, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 16, 0]
            + [UInt8](repeating: 0, count: 484)
        let start = Array("SQLite format 3\0".utf8)
        for torn in [start, [UInt8](repeating: 0, count: 4096), start + [UInt8](repeating: 0, count: 496)] {
            try write(torn, "app.db")
            expectError(torn.first == 0 ? .notADatabase : .corrupted) { try place.database() }
            try write(journal, "app.db-journal")
            let database = try place.database()
            try database.storage(for: Token.self).insert([Token(id: UUID())])
            try database.close()
            #expect(try FileManager.default.contentsOfDirectory(atPath: place.directory.path) == ["app.db"])
        }
        try write(Array("hello".utf8), "app.db")
        try write(journal, "app.db-journal")
        expectError(.notADatabase) { try place.database() }
        #expect(try Data(contentsOf: URL(fileURLWithPath: place.path())) == Data("hello".utf8))
    }

    @Test func createdFilesHaveTheWantedPermissions() throws {
        for mode in ["0600", "0666"] {
            let name = "mode\(mode).db"
            let database = try place.database(name) { $0.options["mode"] = mode }
            try database.storage(for: Token.self).insert([Token(id: UUID())])
            for suffix in ["", "-wal", "-shm"] {
                let attributes = try FileManager.default.attributesOfItem(atPath: place.path(name) + suffix)
                #expect(attributes[.posixPermissions] as? Int == Int(mode, radix: 8))
            }
        }
        for mode in ["600x", "0400", "1777", ""] {
            expectError(.invalidConfiguration) { try place.database("refused") { $0.options["mode"] = mode } }
        }
    }

    @Test func damagedPageIsCorrupted() throws {
        try filled()
        var bytes = try Data(contentsOf: URL(fileURLWithPath: place.path()))
        for offset in stride(from: 4096, to: bytes.count - 200, by: 4096) {
            for index in 0..<200 { bytes[offset + index] = 0xA5 }
        }
        try bytes.write(to: URL(fileURLWithPath: place.path()))
        let error = expectError(.corrupted) { try place.database().storage(for: Message.self).read(Query()) }
        #expect(error?.engineCode != nil && error?.engineMessage != nil)
    }

    @Test func singleDamagedBytesNeverCrash() throws {
        try filled()
        let original = try Data(contentsOf: URL(fileURLWithPath: place.path()))
        var random = SeededGenerator(seed: 7)
        for round in 0..<60 {
            var bytes = original
            for _ in 0..<4 {
                bytes[Int.random(in: 0..<bytes.count, using: &random)] ^= UInt8(1) << UInt8.random(in: 0..<8, using: &random)
            }
            try bytes.write(to: URL(fileURLWithPath: place.path("damaged\(round)")))
            do {
                let database = try place.database("damaged\(round)")
                let storage = try database.storage(for: Message.self)
                _ = try storage.read(Query())
                _ = try storage.read(Query(where: Condition { $0.sender == 3 }, orderedBy: [.descending(\.date)]))
                _ = try storage.merge(keys: (0..<100).map { .integer($0) }) { _, message in message?.isRead.toggle() }
            } catch is StorageError {}
        }
    }

    @Test func laterFileFormatIsSchemaIsNewer() throws {
        try filled()
        var bytes = try Data(contentsOf: URL(fileURLWithPath: place.path()))
        bytes[19] = 9
        try bytes.write(to: URL(fileURLWithPath: place.path()))
        expectError(.schemaIsNewer) { try place.database() }
    }

    @Test func textIsNotKeptAsUTF16() throws {
        try Raw(place.path(), create: true).run("PRAGMA encoding = 'UTF-16'; CREATE TABLE t(a)")
        expectError(.unsupported) { try place.database() }
    }

    @Test(arguments: ["a b", "a?b=c", "100%41", "a#b", "file:x?mode=memory", "e\u{301}", String(repeating: "n", count: 200)])
    func anyNameOpensExactlyThatFile(name: String) throws {
        do { try place.database(name).storage(for: Token.self).insert([Token(id: UUID())]) }
        #expect(try FileManager.default.contentsOfDirectory(atPath: place.directory.path) == [name])
        #expect(try place.database(name) { $0.isReadOnly = true }.storage(for: Token.self).count(Query()) == 1)
    }

    @Test func urlOpensTheFile() throws {
        let drivers = DatabaseDrivers(.sqlite)
        let database = try drivers.open("sqlite://\(place.path("a%20b"))?durability=relaxed")
        #expect(database.capabilities.engine.hasPrefix("SQLite 3."))
        #expect(FileManager.default.fileExists(atPath: place.path("a b")))
        expectError(.invalidConfiguration) { try drivers.open("sqlite:\(place.path())?pages=1") }
        expectError(.unsupported) { try drivers.open("sqlite:\(place.path())?key=secret") }
    }

    @Test func pathsToOneFileShareOneEngine() throws {
        let first = try place.database()
        try FileManager.default.createSymbolicLink(atPath: place.path("link"), withDestinationPath: place.path())
        try FileManager.default.linkItem(atPath: place.path(), toPath: place.path("hard"))
        let others = [
            try place.database("link"), try place.database("hard"),
            try place.database("../\(place.directory.lastPathComponent)/app.db"),
        ]
        for other in others { #expect(other.engineState === first.engineState) }
        let tokens = try first.storage(for: Token.self)
        try first.transaction {
            // Another handle joins the transaction, since it has the same engine.
            try others[1].storage(for: Token.self).insert([Token(id: UUID())])
            #expect(try tokens.count(Query()) == 1)
        }
        try first.close()
        try first.close()
        expectError(.closed) { try tokens.count(Query()) }
        #expect(try others[0].storage(for: Token.self).count(Query()) == 1)
    }

    @Test func readOnlyDatabaseCanBeReadAndRefusesWrites() throws {
        try filled()
        let database = try place.database { $0.isReadOnly = true }
        #expect(database.capabilities.isReadOnly)
        let storage = try database.storage(for: Message.self)
        #expect(try storage.count(Query()) == 2000)
        expectError(.readOnly) { try storage.insert([.numbered(9000)]) }
        expectError(.readOnly) { try storage.upsert([]) }
        expectError(.readOnly) { try storage.erase(keys: [.integer(1)]) }
        expectError(.readOnly) { try storage.merge(keys: [.integer(1)]) { _, _ in } }
        expectError(.readOnly) { try database.transaction {} }
        // A writer may be opened later on the same engine.
        let writer = try place.database()
        try writer.storage(for: Message.self).insert([.numbered(9000)])
        #expect(try storage.count(Query()) == 2001)
        expectError(.readOnly) { try storage.insert([.numbered(9001)]) }
    }

    /// The open files of this test.
    private func openFiles() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap {
            try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")
        }.filter { $0.hasPrefix(place.directory.path) }
    }

    private static var listsOpenFiles: Bool { FileManager.default.fileExists(atPath: "/proc/self/fd") }

    @Test(.enabled(if: listsOpenFiles)) func openingAndClosingLeavesNoFilesOpen() throws {
        try filled()
        try Data([1, 2, 3]).write(to: URL(fileURLWithPath: place.path("bad")))
        for _ in 0..<30 {
            let database = try place.database()
            let cursor = try database.storage(for: Message.self).cursor(Query())
            _ = try cursor.next(10)
            expectError(.notADatabase) { try place.database("bad") }
            try database.close()
            expectError(.closed) { try cursor.next(10) }
        }
        #expect(try openFiles() == [])
        #expect(try FileManager.default.contentsOfDirectory(atPath: place.directory.path).sorted() == ["app.db", "bad"])
    }

    @Test(.enabled(if: listsOpenFiles)) func parkedStreamsAreLimitedAndGiveFilesBack() throws {
        try filled()
        let database = try place.database { ($0.options["maxReaders"], $0.busyTimeout) = ("20", .milliseconds(50)) }
        let storage = try database.storage(for: Message.self)
        for _ in 0..<3 {
            var parked = try (0..<20).map { _ in try storage.cursor(Query()) }
            for cursor in parked { #expect(try cursor.next(1).count == 1) }
            let error = expectError(.busy) { try storage.count(Query()) }
            #expect(error?.message.contains("maxReaders") == true)
            try storage.upsert([.numbered(1)])
            parked.removeLast()
            #expect(try storage.count(Query()) == 2000)
            parked = []
            #expect(try openFiles().count < 50)
        }
        // A connection that is closed keeps its file open until the last lock of the process ends, and lends it. One connection
        // is that of the parked reader.
        #expect(try openFiles().filter { $0.hasSuffix("-wal") }.count <= 11)
    }

    @Test(.enabled(if: listsOpenFiles)) func fiftyHandlesShareTwoConnections() throws {
        try filled()
        let storages = try (0..<50).map { _ in try place.database().storage(for: Message.self) }
        for (index, storage) in storages.enumerated() {
            #expect(try storage.count(Query()) == 2000)
            try storage.upsert([.numbered(index)])
        }
        // One connection writes, one reads, and one is that of the parked reader. More readers would be opened for reads at the
        // same time.
        #expect(2...3 ~= (try openFiles().filter { $0.hasSuffix("/app.db") }.count))
    }
}
