import DAOCore
import DAOKeyValue
import DAOLMDB
import DAOTestSupport
import Foundation
import Testing

@Suite("Opening LMDB files")
struct LMDBOpeningTests {

    private let place = Place()

    private func file(_ name: String, _ bytes: Bytes) -> String {
        let path = place.path(name)
        _ = FileManager.default.createFile(atPath: path, contents: Data(bytes))
        return path
    }

    private func bytes(_ path: String) -> Bytes { Bytes(FileManager.default.contents(atPath: path) ?? Data()) }

    private func open(_ path: String, _ options: LMDBOptions = LMDBOptions()) throws {
        try LMDBStore(path: path, options: options).close()
    }

    /// A database with several tree levels, large values and free pages.
    private func sample(_ name: String) throws -> String {
        let path = place.path(name)
        let store = try LMDBStore(path: path, options: LMDBOptions(durability: .relaxed))
        defer { store.close() }
        for round in 0..<UInt64(3) {
            try store.write { transaction in
                for row in 0..<6_000 as Range<UInt64> { try transaction.store(rowKey(1, row), Bytes(repeating: 7, count: 40)) }
                for row in 0..<3 { try transaction.store(rowKey(2, UInt64(row)), Bytes(repeating: 8, count: 9_000)) }
                for row in 0..<300 as Range<UInt64> { _ = try transaction.remove(rowKey(1, row * 4 + round)) }
            }
        }
        return path
    }

    @Test("a missing file is created, or fails with notFound")
    func missing() throws {
        let path = place.path("missing.lmdb")
        #expect(failureKind { try open(path, LMDBOptions(createIfMissing: false)) } == .notFound)
        #expect(failureKind { try open(path, LMDBOptions(isReadOnly: true)) } == .notFound)
        #expect(failureKind { try open(place.path("no/such/directory")) } == .notFound)
        #expect(try FileManager.default.contentsOfDirectory(atPath: place.directory.path) == [])
        try open(path)
        #expect(
            Set(try FileManager.default.contentsOfDirectory(atPath: place.directory.path)) == [
                "missing.lmdb", "missing.lmdb-lock",
            ])
        try open(path, LMDBOptions(createIfMissing: false))
    }

    @Test("an empty file becomes a database")
    func empty() throws {
        let path = file("empty.lmdb", [])
        #expect(failureKind { try open(path, LMDBOptions(createIfMissing: false)) } == .notFound)
        try open(path)
        try open(path, LMDBOptions(createIfMissing: false))
    }

    @Test("a file that is not a database is refused and stays unchanged")
    func foreign() throws {
        let jpeg = file("picture.jpg", [0xFF, 0xD8, 0xFF, 0xE0] + Bytes(repeating: 0x5A, count: 20_000))
        let sqlite = file("other.db", Bytes("SQLite format 3\0".utf8) + Bytes(repeating: 0, count: 8_176))
        let short = file("short.txt", Bytes("hello".utf8))
        let fifo = place.path("fifo")
        mkfifo(fifo, 0o600)
        let loop = place.path("loop")
        symlink(loop, loop)
        for path in [jpeg, sqlite, short, fifo, loop, place.directory.path] {
            let before = path == fifo ? [] : bytes(path)
            let error = failure { try open(path) }
            #expect(error?.kind == .notADatabase, "\(path): \(String(describing: error))")
            #expect(error?.path == path)
            if path != fifo { #expect(bytes(path) == before) }
            #expect(!FileManager.default.fileExists(atPath: path + "-lock"))
        }
        #expect(failureKind { try open("") } == .invalidConfiguration)
    }

    @Test("a truncated file is corrupted")
    func truncated() throws {
        let whole = bytes(try sample("whole.lmdb"))
        for length in [1, 100, 152, 4_095, 4_096, 4_200, 8_191, whole.count / 2, whole.count - 8_192] {
            let path = file("truncated-\(length).lmdb", Bytes(whole[..<length]))
            let error = failure { try open(path) }
            #expect(error?.kind == .corrupted, "\(length) of \(whole.count): \(String(describing: error))")
            #expect(error?.path == path)
            #expect(bytes(path).count == length)
        }
    }

    @Test("a newer format is refused")
    func newer() throws {
        var content = bytes(try sample("newer.lmdb"))
        for meta in [0, 4_096] { content[meta + 20] = 2 }
        let path = file("newer-2.lmdb", content)
        let error = failure { try open(path) }
        #expect(error?.kind == .schemaIsNewer)
        #expect(error?.engineCode != nil && error?.engineMessage?.isEmpty == false)
        #expect(bytes(path) == content)
    }

    @Test("flipped bits in the meta pages are detected, or have no effect")
    func flippedMeta() throws {
        let whole = bytes(try sample("meta.lmdb"))
        var random = SeededGenerator(seed: 3)
        // The fields that LMDB trusts: header, magic, version, trees, last page, transaction. The map size is
        // advice.
        let trusted = [0..<8, 10..<12, 16..<32, 40..<152].flatMap { Array($0) }
        for round in 0..<400 {
            var content = whole
            content[(round & 1) * 4_096 + trusted[random.below(trusted.count)]] ^= 1 << UInt8(random.below(8))
            try openDamaged(content, "meta-\(round).lmdb")
        }
    }

    @Test("a meta page that a failed commit has left opens with the last commit, and the next one overwrites it")
    func failedMeta() throws {
        let whole = bytes(try sample("failed.lmdb"))
        func number(_ page: Int) -> UInt64 {
            whole.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: page * 4_096 + 144, as: UInt64.self) }
        }
        let older = number(0) < number(1) ? 0 : 1
        // LMDB puts the number of the transaction and the last page back, and leaves the roots of its trees.
        var content = whole
        for offset in [80, 128] {
            content.replaceSubrange(older * 4_096 + offset..<older * 4_096 + offset + 4, with: [0, 0, 0, 1])
        }
        let path = file("failed-meta.lmdb", content)
        let store = try LMDBStore(path: path)
        let rows = try store.read { try $0.contents().keys.count }
        #expect(rows > 5_000)
        try store.write { try $0.store([200], [1]) }
        store.close()
        #expect(bytes(path)[older * 4_096 + 83] == 0)
        let again = try LMDBStore(path: path)
        defer { again.close() }
        #expect(try again.read { try $0.contents().keys.count } == rows + 1)
    }

    @Test("a long file is checked when few of its pages are in use")
    func sparse() throws {
        let path = try sample("sparse.lmdb")
        var content = bytes(path)
        for page in 2..<content.count / 4_096 { content[page * 4_096 + 14] ^= 1 }
        let damaged = file("sparse-damaged.lmdb", content)
        for path in [path, damaged] { #expect(truncate(path, 3 << 30) == 0) }
        try open(path)
        #expect(failureKind { try open(damaged) } == .corrupted)
    }

    @Test("flipped bits in the structure of pages are detected and never crash")
    func flippedPages() throws {
        let whole = bytes(try sample("pages.lmdb"))
        var random = SeededGenerator(seed: 4)
        var refused = 0
        for round in 0..<400 {
            var content = whole
            // Half of the rounds damage headers and offsets, the other half any bytes.
            let page = 2 + random.below(whole.count / 4_096 - 2)
            let offset = round & 1 == 0 ? random.below(80) : random.below(4_096)
            content[page * 4_096 + offset] ^= 1 << UInt8(random.below(8))
            if try openDamaged(content, "page-\(round).lmdb") { refused += 1 }
        }
        #expect(refused > 60)
    }

    /// Opens a damaged file, and reads from it when it opens.
    ///
    /// - Returns: Whether it was refused as corrupted.
    @discardableResult
    private func openDamaged(_ content: Bytes, _ name: String) throws -> Bool {
        let path = file(name, content)
        defer { try? FileManager.default.removeItem(atPath: path) }
        do {
            let store = try LMDBStore(path: path, options: LMDBOptions(durability: .relaxed))
            defer { store.close() }
            _ = try store.read { try $0.contents() }
            try store.write { transaction in
                for row in 0..<100 as Range<UInt64> {
                    try transaction.store(rowKey(1, row), [1])
                    _ = try transaction.remove(rowKey(2, row))
                }
            }
            return false
        } catch let error as StorageError {
            #expect(error.kind == .corrupted || error.kind == .notADatabase || error.kind == .schemaIsNewer, "\(error)")
            #expect(error.path == path)
            return true
        }
    }

    @Test("a read-only store reads and refuses to write")
    func readOnly() throws {
        let path = place.path("read.lmdb")
        do {
            let store = try LMDBStore(path: path)
            try store.write { try $0.store([1], [1]) }
            store.close()
        }
        let store = try LMDBStore(path: path, options: LMDBOptions(isReadOnly: true))
        #expect(store.traits.isReadOnly)
        #expect(try store.read { try $0.value([1]) } == [1])
        #expect(failureKind { _ = try store.begin(.write) } == .readOnly)
        #expect(failureKind { try open(path) } == .invalidConfiguration)
        store.close()
        #expect(failureKind { _ = try store.begin(.read) } == .closed)
        try open(path)
    }

    @Test("a missing permission is an error with the path", .enabled(if: getuid() != 0, "root has all permissions"))
    func permissions() throws {
        let path = place.path("locked.lmdb")
        try open(path)
        chmod(path, 0o000)
        #expect(failureKind { try open(path) } == .notPermitted)
        chmod(path, 0o400)
        let store = try LMDBStore(path: path)
        defer { store.close() }
        #expect(store.traits.isReadOnly)
        #expect(failureKind { _ = try store.begin(.write) } == .readOnly)
        chmod(path, 0o600)
    }

    @Test("created files have the wanted permissions")
    func permissionsOfNewFiles() throws {
        for mode in [0o600, 0o666] {
            let path = place.path("mode-\(mode).lmdb")
            let store = try LMDBStore(path: path, options: LMDBOptions(fileMode: UInt16(mode)))
            defer { store.close() }
            let attributes = try FileManager.default.attributesOfItem(atPath: path)
            #expect(attributes[.posixPermissions] as? Int == mode)
            let lock = try FileManager.default.attributesOfItem(atPath: path + "-lock")
            #expect((lock[.posixPermissions] as? Int ?? 0) & ~mode == 0)
        }
    }

    @Test("a locked file is busy after the timeout, and other files open meanwhile")
    func lockedElsewhere() throws {
        let options = LMDBOptions(durability: .relaxed, writeTimeout: 0.3)
        let path = file("empty-locked.lmdb", [])
        let descriptor = Foundation.open(path, O_RDONLY)
        #expect(flock(descriptor, LOCK_EX) == 0)
        let group = DispatchGroup()
        Thread.detachNewThread(in: group) { #expect(failureKind { try open(path, options) } == .busy) }
        try open(place.path("other.lmdb"), options)
        group.wait()
        close(descriptor)
        try open(path, options)
    }

    @Test("no child process inherits a descriptor", .enabled(if: FileManager.default.fileExists(atPath: "/proc/self/fd")))
    func descriptors() throws {
        let store = try LMDBStore(path: place.path("inherited.lmdb"))
        defer { store.close() }
        let writer = try store.begin(.write)
        defer { writer.abort() }
        let open = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap { CInt($0) }.filter {
            let file = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")
            return file?.hasPrefix(place.directory.path) == true
        }
        // For data, for meta pages, the lock file and the mark in it, and for the lock of the writer.
        #expect(open.count == 5)
        for descriptor in open { #expect(fcntl(descriptor, F_GETFD) & FD_CLOEXEC != 0) }
    }

    @Test("all spellings of a path share an environment")
    func sharing() throws {
        let path = place.path("shared.lmdb")
        let link = place.path("link.lmdb")
        symlink(path, link)
        let hard = place.path("hard.lmdb")
        let first = try LMDBStore(path: path)
        Foundation.link(path, hard)
        let others = try [link, hard, place.directory.path + "/./shared.lmdb"].map { try LMDBStore(path: $0) }
        let snapshot = try first.begin(.read)
        for (index, store) in others.enumerated() {
            try store.write { try $0.store([1], [UInt8(index)]) }
            #expect(try first.read { try $0.value([1]) } == [UInt8(index)])
        }
        #expect(try snapshot.value([1]) == nil)
        snapshot.abort()
        first.close()
        first.close()
        #expect(failureKind { _ = try first.begin(.read) } == .closed)
        #expect(try others[0].read { try $0.value([1]) } == [2])
        for store in others { store.close() }
    }

    @Test("many threads create the same file concurrently")
    func racingCreation() throws {
        for round in 0..<10 {
            let path = place.path("race-\(round).lmdb")
            let group = DispatchGroup()
            for number in 0..<UInt8(4) {
                Thread.detachNewThread(in: group) {
                    #expect(throws: Never.self) {
                        let store = try LMDBStore(path: path, options: LMDBOptions(durability: .relaxed))
                        try store.write { try $0.store([1 + number], [number]) }
                        store.close()
                    }
                }
            }
            group.wait()
            let store = try LMDBStore(path: path)
            #expect(try store.read { try $0.contents().keys.count } == 4)
            store.close()
        }
        let left = try FileManager.default.contentsOfDirectory(atPath: place.directory.path).filter { $0.hasSuffix(".new") }
        #expect(left == [])
    }

    @Test("a file passes the page check after every kind of use")
    func checkAfterUse() throws {
        let path = place.path("checked.lmdb")
        let options = LMDBOptions(durability: .relaxed, checksWholeFile: true)
        for seed in 0..<8 as Range<UInt64> {
            let store = try LMDBStore(path: path, options: options)
            try store.write { transaction in
                let old = try transaction.contents().keys
                for key in old { _ = try transaction.remove(key) }
            }
            var run = ModelRun(store, seed: 100 + seed, keySpace: 300)
            try run.run(transactions: 5, operations: 400)
            store.close()
        }
    }
}
