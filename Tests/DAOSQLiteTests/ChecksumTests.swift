import DAOCore
import DAOSQLite
import DAOSystemSQLite
import DAOTestSupport
import Foundation
import Testing

/// Contract L5: pages with checksums. A damaged page is an error, never another value.
@Suite struct ChecksumTests {
    private let place = Place()

    private func database(_ options: String = "") throws -> any Database { try DatabaseDrivers(.sqlite).open(place.url(options)) }

    private func messages(_ options: String = "") throws -> DAO<Message> {
        DAO(storage: try database(options).storage(for: Message.self))
    }

    /// Rows that fill pages of every kind: some texts continue in further pages.
    private static func rows(_ count: Int) -> [Message] {
        (0..<count).map { id in
            var message = Message.numbered(id)
            if id % 100 == 7 { message.text = String(repeating: "long \(id) ", count: 1500) }
            return message
        }
    }

    /// Creates a file with rows, and with pages that were freed.
    private func create(_ rows: [Message]) throws {
        let messages = try messages("checksums=true")
        try messages.create(rows)
        let others = Self.rows(400).map {
            var message = $0
            message.id += 1_000_000
            return message
        }
        try messages.create(others)
        try messages.erase(byPrimaryKeys: others.map(\.id))
        try messages.storage.database.close()
    }

    /// What a file gives: its rows in two orders.
    private func contents(_ options: String) throws -> [Message] {
        let messages = try messages(options)
        defer { try? messages.storage.database.close() }
        let rows = try messages.read(orderedBy: .ascending(\.id))
        let byDate = try messages.read(orderedBy: .ascending(\.date))
        // Two answers that differ are as wrong as a wrong value.
        return rows == byDate ? rows : []
    }

    // MARK: Damage

    /// The kinds of pages of a file, by their first byte.
    private static func kinds(of file: Data) -> Set<UInt8> {
        Set(stride(from: 4096, to: file.count, by: 4096).map { file[$0] })
    }

    /// With `checksums=false` nothing is verified: the same files then give wrong values, so this test can fail.
    @Test(arguments: ["checksums=true", "", "checksums=false"])
    func aFlippedBitInAnyPageIsNeverAWrongValue(_ options: String) throws {
        let rows = Self.rows(1500)
        try create(rows)
        let whole = try Data(contentsOf: place.file)
        #expect(try contents("checksums=true") == rows)
        // Inner pages and leaves of tables and indexes, and pages that are continued or free.
        #expect(Self.kinds(of: whole).isSuperset(of: [5, 13, 2, 10, 0]))
        #expect(whole[36..<40].contains { $0 != 0 }, "the file has free pages")
        var random = SeededGenerator(seed: 5)
        var (wrong, found) = (0, 0)
        for page in 0..<(whole.count / 4096) {
            var bytes = whole
            bytes[page * 4096 + Int.random(in: 0..<4096, using: &random)] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            try bytes.write(to: place.file)
            do {
                if try contents(options) != rows { wrong += 1 }
            } catch let error as StorageError {
                if options == "checksums=false" { continue }
                #expect(error.kind == .corrupted && error.path == place.file.path, "\(error)")
                #expect(error.message.hasPrefix("page \(page + 1) of the file does not match its checksum"), "\(error)")
                found += 1
            }
        }
        if options == "checksums=false" {
            #expect(wrong > 0)
        } else {
            #expect(wrong == 0)
            // All but the free pages.
            #expect(found > whole.count / 4096 / 2)
        }
    }

    /// Of a large file only the pages that are used are read.
    @Test(arguments: ["checksums=true", "checksums=false"])
    func aDamagedPageOfALargeFileIsFoundWhenItIsRead(_ options: String) throws {
        let rows = (0..<1200).map { id in
            var message = Message.numbered(id)
            message.text = String(repeating: "large \(id) ", count: 350)
            return message
        }
        let messages = try messages("checksums=true")
        try messages.create(rows)
        try messages.storage.database.close()
        var bytes = try Data(contentsOf: place.file)
        #expect(bytes.count > 1024 * 4096)
        let position = try #require(bytes.range(of: Data("large 777 ".utf8))).lowerBound
        bytes[position] ^= 1
        try bytes.write(to: place.file)
        let again = try self.messages(options)
        #expect(try again.read(byPrimaryKey: 1) == rows[1])
        if options == "checksums=false" {
            #expect(try again.read(byPrimaryKey: 777)?.text.hasPrefix("marge") == true)
            return
        }
        let error = expectError(.corrupted) { try again.read(byPrimaryKey: 777) }
        #expect(error?.message.hasPrefix("page \(position / 4096 + 1) of the file") == true, "\(String(describing: error))")
        #expect(error?.entity == "message")
        expectError(.corrupted) { try again.update(where: { $0.id == 777 }) { $0.isRead.toggle() } }
        // Other rows can still be written.
        try again.persist(Message.numbered(1))
        let report = try again.storage.database.verify()
        #expect(report.problems.contains { "\($0)".contains("page \(position / 4096 + 1)") }, "\(report)")
    }

    /// Whatever byte of the header is damaged, the file says so.
    @Test(arguments: ["checksums=true", ""]) func everyByteOfTheHeaderIsVerified(_ options: String) throws {
        try create(Self.rows(10))
        let whole = try Data(contentsOf: place.file)
        for position in 0..<100 {
            var bytes = whole
            bytes[position] ^= 4
            try bytes.write(to: place.file)
            let error = expectError(.corrupted) { try contents(options) }
            #expect(error?.message.contains("page 1 of the file") == true || 16..<18 ~= position, "byte \(position): \(error!)")
        }
    }

    /// SQLite checks the checksums of its log only after a crash. A damaged frame is neither read nor moved into the file.
    @Test(arguments: ["checksums=true", "checksums=false"]) func aDamagedLogIsNotRead(_ options: String) throws {
        try create(Self.rows(50))
        let log = URL(fileURLWithPath: place.file.path + "-wal")
        let messages = try messages(options)
        try messages.update(where: { $0.id == 3 }) { $0.text = "in the log" }
        let whole = try Data(contentsOf: log)
        let position = try #require(whole.range(of: Data("in the log".utf8))).lowerBound
        func write(_ byte: UInt8) throws {
            let handle = try FileHandle(forUpdating: log)
            try handle.seek(toOffset: UInt64(position))
            try handle.write(contentsOf: [byte])
            try handle.close()
        }
        try write(whole[position] ^ 1)
        defer { try? messages.storage.database.close() }
        if options == "checksums=false" {
            #expect(try messages.read(byPrimaryKey: 3)?.text == "hn the log")
            return
        }
        let error = expectError(.corrupted) { try messages.read(byPrimaryKey: 3) }
        #expect(error?.message.contains("of the file's write-ahead log does not match") == true)
        // Closing would move the log into the file.
        try messages.storage.database.close()
        #expect(try Data(contentsOf: place.file).range(of: Data("hn the log".utf8)) == nil)
        try write(whole[position])
        #expect(try self.messages().read(byPrimaryKey: 3)?.text == "in the log")
    }

    /// A log says how many pages the file has. What a file that was cut lacks of them is read as zeros where nothing is verified, and
    /// a long value is made of them.
    @Test(
        arguments: [(Place.Kind.sqlite, "checksums=true"), (.sqlite, "")] + Place.Kind.encrypted.map { ($0, "") }, [3000, 4096])
    func aFileThatWasCutBesideItsLogGivesNoZeros(_ file: (Place.Kind, String), _ length: Int) throws {
        let place = Place(file.0)
        func messages(_ url: String) throws -> DAO<Message> {
            DAO(storage: try DatabaseDrivers(DatabaseDriver.sqlite.encryptingToo).open(url).storage(for: Message.self))
        }
        var long = Message.numbered(1)
        long.text = String((0..<20_000).map { Character(UnicodeScalar(UInt8(97 + $0 * $0 % 26))) })
        let first = try messages(place.url(file.1))
        try first.create(Message.numbered(2))
        try first.create(long)
        try first.storage.database.close()
        let second = try messages(place.url(file.1))
        defer { try? second.storage.database.close() }
        try second.update(where: { $0.id == 2 }) { $0.isRead.toggle() }
        let cut = Place(file.0)
        let whole = try Data(contentsOf: place.file)
        try whole.dropLast(length).write(to: cut.file)
        try Data(contentsOf: URL(fileURLWithPath: place.file.path + "-wal")).write(
            to: URL(fileURLWithPath: cut.file.path + "-wal"))
        func text() throws -> String? { try messages(cut.url("")).read(byPrimaryKey: 1)?.text }
        if file.0 == .sqlite, file.1 == "" {
            #expect(try text() != long.text, "this test can fail")
        } else {
            expectError(.corrupted) { try text() }
        }
    }

    /// SQLite overwrites pages of its log in transactions that are larger than its cache.
    @Test func transactionsLargerThanTheCacheAreReadInside() throws {
        let messages = try messages("checksums=true")
        let database = try #require(messages.storage.database as? SQLiteDatabase)
        try database.withWriterHandle { #expect(sqlite3_exec($0, "PRAGMA cache_size = 10", nil, nil, nil) == SQLITE_OK) }
        var random = SeededGenerator(seed: 2)
        let rows = Self.rows(1000)
        for round in 0..<3 {
            try database.transaction {
                for chunk in stride(from: 0, to: rows.count, by: 100) {
                    try messages.persist(rows.shuffled(using: &random)[chunk..<chunk + 100].map { $0 })
                    #expect(try messages.count() > 0)
                }
                try database.transaction { try messages.persist(rows) }
                _ = try? database.transaction {
                    try messages.erase()
                    throw CancellationError()
                }
                #expect(try messages.read(orderedBy: .ascending(\.id)) == rows, "round \(round)")
            }
        }
        #expect(try messages.read(orderedBy: .ascending(\.id)) == rows)
        #expect(try database.verify().isSound)
        try database.close()
        #expect(try Self.mismatches(in: Data(contentsOf: place.file)) == [])
    }

    // MARK: Format

    /// The pages of a file that do not match their checksums, by the published format: two sums modulo 2³² over
    /// little-endian words, in the last eight bytes.
    private static func mismatches(in file: Data) -> [Int] {
        let bytes = [UInt8](file)
        func word(_ offset: Int) -> UInt32 { (0..<4).reduce(0) { $0 | UInt32(bytes[offset + $1]) << UInt32(8 * $1) } }
        return stride(from: 0, to: bytes.count, by: 4096).filter { start in
            var sums: (UInt32, UInt32) = (0, 0)
            for offset in stride(from: start, to: start + 4088, by: 8) {
                sums.0 = sums.0 &+ word(offset) &+ sums.1
                sums.1 = sums.1 &+ word(offset + 4) &+ sums.0
            }
            return word(start + 4088) != sums.0 || word(start + 4092) != sums.1
        }
        .map { $0 / 4096 + 1 }
    }

    private func file(_ path: String? = nil) throws -> Data {
        try Data(contentsOf: URL(fileURLWithPath: path ?? place.file.path))
    }

    /// The application of an earlier or later build opens the file without the parameter.
    @Test(arguments: ["", "checksums=true", "checksums=false"]) func everyWriteKeepsChecksums(_ options: String) throws {
        let rows = Self.rows(300)
        try create(rows)
        #expect(try file()[20] == 8)
        #expect(try Self.mismatches(in: file()) == [])
        let messages = try messages(options)
        #expect(messages.storage.database.capabilities.hasChecksums == (options != "checksums=false"))
        try messages.erase { $0.id < 150 }
        try messages.create((1000..<1200).map(Message.numbered))
        try messages.storage.database.close()
        #expect(try file()[20] == 8)
        #expect(try Self.mismatches(in: file()) == [])
        #expect(try self.messages().count() == 350)
    }

    @Test func vacuumKeepsChecksums() throws {
        try create(Self.rows(1000))
        let before = try file().count
        let database = try #require(try database() as? SQLiteDatabase)
        let copy = place.path("copy.db")
        try database.withWriterHandle { handle in
            // So small a cache writes most pages of a new file before its first page.
            #expect(sqlite3_exec(handle, "PRAGMA cache_size = 1; VACUUM; VACUUM INTO '\(copy)'", nil, nil, nil) == SQLITE_OK)
        }
        try database.close()
        #expect(try file().count < before)
        for path in [place.file.path, copy] {
            #expect(try file(path)[20] == 8)
            #expect(try Self.mismatches(in: file(path)) == [])
        }
        #expect(try contents("checksums=true") == Self.rows(1000))
    }

    @Test(arguments: ["", "checksums=false", "readOnly=true"]) func backupsHaveChecksums(_ options: String) throws {
        try create(Self.rows(300))
        let backup = place.path("backup.db")
        let database = try database(options)
        try database.backup(to: backup)
        try database.close()
        #expect(try Self.mismatches(in: file(backup)) == [])
        let copy = try DatabaseDrivers(.sqlite).open("sqlite://\(backup)?checksums=true")
        #expect(try copy.storage(for: Message.self).count(Query()) == 300)
    }

    @Test func aDamagedFileIsNotBackedUp() throws {
        try create(Self.rows(300))
        var bytes = try file()
        bytes[try #require(bytes.range(of: Data("text 111".utf8))).lowerBound] ^= 1
        try bytes.write(to: place.file)
        // Without checksums nothing is verified when the file is opened, so the copy meets the page.
        let backup = place.path("backup.db")
        expectError(.corrupted) { try database().backup(to: backup) }
        #expect(!FileManager.default.fileExists(atPath: backup))
        // As it is: the copy has new checksums, and the wrong value.
        let asItIs = try database("checksums=false")
        try asItIs.backup(to: backup)
        try asItIs.close()
        #expect(try Self.mismatches(in: file(backup)) == [])
    }

    // MARK: Options

    @Test func aFileWithoutChecksumsIsRefusedAndUnchanged() throws {
        let messages = try messages()
        try messages.create(Self.rows(10))
        expectError(.invalidConfiguration) { try database("checksums=true") }
        try messages.storage.database.close()
        let whole = try file()
        let error = expectError(.invalidConfiguration) { try database("checksums=true") }
        #expect(error?.message.contains("copy(to:)") == true && error?.path == place.file.path)
        #expect(try file() == whole)
        let source = try database("checksums=false")
        #expect(!source.capabilities.hasChecksums)
        let target = try DatabaseDrivers(.sqlite).open("sqlite://\(place.path("new.db"))?checksums=true")
        try source.copy(to: target)
        try target.close()
        #expect(try file(place.path("new.db"))[20] == 8)
        #expect(try Self.mismatches(in: file(place.path("new.db"))) == [])
    }

    @Test func theOptionIsTrueOrFalse() { expectError(.invalidConfiguration) { try database("checksums=maybe") } }

    @Test func oneProcessTreatsAFileInOneWay() throws {
        let verified = try database("checksums=true")
        expectError(.invalidConfiguration) { try database("checksums=false") }
        _ = try database()
        try verified.close()
        let other = Place()
        let asItIs = try DatabaseDrivers(.sqlite).open(other.url("checksums=true"))
        try asItIs.close()
        let unverified = try DatabaseDrivers(.sqlite).open(other.url("checksums=false"))
        let error = expectError(.invalidConfiguration) { try DatabaseDrivers(.sqlite).open(other.url("checksums=true")) }
        #expect(error?.message.contains("checksums=false") == true)
        try unverified.close()
    }

    // MARK: Other programs

    /// A program without the layer leaves outdated checksums in the pages that it writes.
    @Test func pagesOfOtherProgramsAreNotTrusted() throws {
        try create(Self.rows(300))
        try Raw(place.file.path).run("UPDATE message SET text = 'theirs' WHERE id = 5; PRAGMA wal_checkpoint(TRUNCATE)")
        let error = expectError(.corrupted) { try messages().read(byPrimaryKey: 5) }
        #expect(error?.message.contains("another program") == true && error?.message.contains("checksums=false") == true)
        let asItIs = try messages("checksums=false")
        #expect(try asItIs.read(byPrimaryKey: 5)?.text == "theirs")
        // A backup has a checksum for each page.
        let backup = place.path("backup.db")
        try asItIs.storage.database.backup(to: backup)
        let copy = try DatabaseDrivers(.sqlite).open("sqlite://\(backup)?checksums=true")
        #expect(try copy.storage(for: Message.self).read(key: .integer(5))?.text == "theirs")
        #expect(try copy.verify().isSound)
    }

    /// What another program commits is in the log, which has checksums of its own. This library moves it into the file.
    @Test func commitsOfOtherProgramsInTheLogAreRead() throws {
        try create(Self.rows(300))
        let messages = try messages()
        try Raw(place.file.path).run("UPDATE message SET text = 'theirs' WHERE id = 5")
        #expect(try messages.read(byPrimaryKey: 5)?.text == "theirs")
        try messages.storage.database.close()
        #expect(try Self.mismatches(in: file()) == [])
        #expect(try self.messages().read(byPrimaryKey: 5)?.text == "theirs")
    }
}
