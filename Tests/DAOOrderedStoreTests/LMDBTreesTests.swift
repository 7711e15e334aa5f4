import DAOCore
import DAOKeyValue
import DAOLMDB
import DAOSystemLMDB
import DAOTestSupport
import Foundation
import Testing

@Suite("LMDB: trees")
struct LMDBTreesTests {

    private let place = Place()
    private let options = LMDBOptions(durability: .relaxed, checksWholeFile: true)

    /// Writes an LMDB file as another program does.
    private func file(_ name: String, _ body: (OpaquePointer) throws -> Void) throws -> String {
        let path = place.path(name)
        var environment: OpaquePointer?
        try #require(mdb_env_create(&environment) == MDB_SUCCESS)
        defer { mdb_env_close(environment) }
        try #require(mdb_env_set_maxdbs(environment, 100) == MDB_SUCCESS)
        try #require(mdb_env_open(environment, path, UInt32(MDB_NOSUBDIR | MDB_NOLOCK), 0o644) == MDB_SUCCESS)
        var transaction: OpaquePointer?
        try #require(mdb_txn_begin(environment, nil, 0, &transaction) == MDB_SUCCESS)
        try body(#require(transaction))
        try #require(mdb_txn_commit(transaction) == MDB_SUCCESS)
        return path
    }

    private func put(_ key: Bytes, _ database: MDB_dbi, _ transaction: OpaquePointer) throws {
        try key.withUnsafeBytes { key in
            var value = MDB_val(mv_size: key.count, mv_data: UnsafeMutableRawPointer(mutating: key.baseAddress))
            var key = value
            try #require(mdb_put(transaction, database, &key, &value, 0) == MDB_SUCCESS)
        }
    }

    private func open(_ name: String, _ transaction: OpaquePointer) throws -> MDB_dbi {
        var database: MDB_dbi = 0
        try #require(mdb_dbi_open(transaction, name, UInt32(MDB_CREATE), &database) == MDB_SUCCESS)
        return database
    }

    @Test("an LMDB file with other trees is refused and stays unchanged")
    func foreign() throws {
        let paths = try [
            file("keys.lmdb") { transaction in
                var database: MDB_dbi = 0
                try #require(mdb_dbi_open(transaction, nil, 0, &database) == MDB_SUCCESS)
                // The catalog and a row of an early version.
                try put([0, 0, 0, 0, UInt8(ascii: "F")], database, transaction)
                try put([0, 0, 0, 1, 1, 2, 3, 4], database, transaction)
            },
            file("few.lmdb") { transaction in
                for name in 0..<3 { try put([1], open("tree \(name)", transaction), transaction) }
            },
        ]
        for path in paths {
            let before = FileManager.default.contents(atPath: path)
            for isReadOnly in [false, true] {
                let error = failure { try LMDBStore(path: path, options: LMDBOptions(isReadOnly: isReadOnly)).close() }
                #expect(error?.kind == .notADatabase, "\(path): \(String(describing: error))")
                #expect(error?.path == path)
            }
            #expect(FileManager.default.contents(atPath: path) == before)
        }
    }

    @Test("an LMDB file to which nothing was ever written becomes a database")
    func nothing() throws {
        let path = try file("nothing.lmdb") { _ in }
        let before = FileManager.default.contents(atPath: path)
        #expect(failureKind { try LMDBStore(path: path, options: LMDBOptions(isReadOnly: true)).close() } == .notADatabase)
        #expect(FileManager.default.contents(atPath: path) == before)
        let store = try LMDBStore(path: path)
        defer { store.close() }
        try store.write { try $0.store([1], [1]) }
        #expect(try store.read { try $0.value([1]) } == [1])
    }

    @Test("as many trees with other names are damage")
    func otherNames() throws {
        let path = try file("names.lmdb") { transaction in
            for name in 0..<32 { try put([1], open("x\(name)", transaction), transaction) }
        }
        #expect(failureKind { try LMDBStore(path: path).close() } == .corrupted)
        let plain = try file("plain.lmdb") { transaction in
            var database: MDB_dbi = 0
            try #require(mdb_dbi_open(transaction, nil, 0, &database) == MDB_SUCCESS)
            for key in 0..<32 as Range<UInt8> { try put([key], database, transaction) }
        }
        #expect(failureKind { try LMDBStore(path: plain).close() } == .corrupted)
    }

    @Test("a cursor continues in the next tree that has entries, in both directions")
    func crossing() throws {
        let first: [UInt8] = [0, 1, 4, 29, 30, 31, 32, 200, 255]
        let keys: [Bytes] = first.flatMap { first in [[first], [first, 0], [first, 7, 7], [first, 255]] as [Bytes] }
        let store = try LMDBStore(path: place.path("crossing.lmdb"), options: options)
        defer { store.close() }
        try store.write { transaction in
            for key in keys.shuffled() { try transaction.store(key, key) }
            try check(keys, transaction)
        }
        try store.read { try check(keys, $0) }
        // Empty trees are skipped, also those that this transaction has emptied or filled.
        try store.write { transaction in
            for key in keys where key[0] == 1 || key[0] >= 30 { _ = try transaction.remove(key) }
            try check(keys.filter { $0[0] != 1 && $0[0] < 30 }, transaction)
            try transaction.store([12], [12])
            try transaction.store([254, 1], [254, 1])
            try check(
                keys.filter { $0[0] < 1 } + [[4], [4, 0], [4, 7, 7], [4, 255], [12]] + keys.filter { $0[0] == 29 } + [[254, 1]],
                transaction)
        }
        let snapshot = try store.begin(.read)
        try store.write { transaction in for key in try transaction.contents().keys { _ = try transaction.remove(key) } }
        try store.read { try check([], $0) }
        #expect(try snapshot.contents().keys.count == 14)
        snapshot.abort()
    }

    /// Compares the entries with the keys, from every key on and in both directions.
    private func check(_ keys: [Bytes], _ transaction: any KeyValueTransaction) throws {
        #expect(try transaction.contents().keys == keys)
        let cursor = try transaction.cursor()
        for target in keys + [[], [2], [12, 1], [31, 1], [99], [255, 255]] {
            var above: [Bytes] = []
            var isThere = try target.withUnsafeBytes(cursor.seek)
            while isThere {
                above.append(Bytes(cursor.key))
                isThere = try cursor.next()
            }
            #expect(above == keys.filter { !$0.lexicographicallyPrecedes(target) })
            var below: [Bytes] = []
            isThere = try target.withUnsafeBytes(cursor.seekBefore)
            while isThere {
                below.append(Bytes(cursor.key))
                isThere = try cursor.previous()
            }
            #expect(below.reversed() == keys.filter { $0.lexicographicallyPrecedes(target) })
        }
    }

    @Test("rows that ascend fill their pages, whatever other keys there are")
    func appended() throws {
        let store = try LMDBStore(path: place.path("appended.lmdb"), options: options)
        defer { store.close() }
        try store.write { transaction in
            try transaction.store([2], [])
            try transaction.store([255], [])
            for row in 0..<2_000 as Range<UInt64> {
                try transaction.store(rowKey(1, row), Bytes(repeating: 1, count: 391))
                _ = try transaction.add(rowKey(3, row), [])
            }
        }
        let transaction = try store.begin(.read)
        defer { transaction.abort() }
        let handle = try #require(transaction.underlyingHandle as? LMDBHandle)
        var statistics = MDB_stat()
        try #require(mdb_stat(handle.transaction, handle.database(of: [1]), &statistics) == MDB_SUCCESS)
        // 9 of 10 entries of 8 + 9 + 391 bytes and their offsets fill a page.
        #expect(statistics.ms_entries == 2_000)
        #expect(statistics.ms_leaf_pages == (2_000 + 8) / 9)
    }

    @Test("appending alternates with removals, other writes and savepoints")
    func alternating() throws {
        let path = place.path("alternating.lmdb")
        var random = SeededGenerator(seed: 21)
        var model = ModelStore()
        for _ in 0..<30 {
            let store = try LMDBStore(path: path, options: options)
            defer { store.close() }
            let transaction = try store.begin(.write)
            for _ in 0..<random.below(12) {
                let before = model
                let isInside = random.below(2) == 0
                if isInside { try transaction.beginSavepoint() }
                for _ in 0..<random.below(300) {
                    let table = UInt8(1 + random.below(2))
                    let own = model.keys.filter { $0[0] == table }
                    let last = own.last.map { $0.dropFirst().reduce(0) { $0 << 8 | UInt64($1) } } ?? 0
                    switch random.below(20) {
                    case 0 where !own.isEmpty:
                        for key in own.suffix(random.below(200)) {
                            try #require(try transaction.remove(key))
                            _ = model.delete(key)
                        }
                    case 1..<3:
                        let key = rowKey(table, random.next() % (last + 1))
                        try transaction.store(key, [9])
                        model.put(key, [9])
                    default:
                        let key = rowKey(table, last + 1 + UInt64(random.below(3)))
                        let value = Bytes(repeating: 1, count: random.below(700))
                        try #require(try transaction.add(key, value))
                        model.put(key, value)
                    }
                }
                if isInside, random.below(3) == 0 {
                    try transaction.rollbackSavepoint()
                    model = before
                } else if isInside {
                    try transaction.releaseSavepoint()
                }
                try #require(try transaction.contents() == model)
            }
            try transaction.commit()
        }
    }

    @Test("flipped bits among the positions of the trees are detected, or have no effect")
    func flippedTrees() throws {
        let path = place.path("whole.lmdb")
        do {
            let store = try LMDBStore(path: path, options: options)
            defer { store.close() }
            try store.write { transaction in
                for table in 1..<5 as Range<UInt8> {
                    for row in 0..<200 as Range<UInt64> {
                        try transaction.store(rowKey(table, row), Bytes(repeating: 1, count: 90))
                    }
                }
            }
        }
        let whole = Bytes(try #require(FileManager.default.contents(atPath: path)))
        // The newer of the two meta pages has the page of the main tree.
        func word(_ offset: Int) -> UInt64 { whole[offset..<offset + 8].reversed().reduce(0) { $0 << 8 | UInt64($1) } }
        let meta = word(144) > word(4_096 + 144) ? 0 : 4_096
        let page = Int(word(meta + 88 + 40)) * 4_096
        let upper = Int(whole[page + 14]) | Int(whole[page + 15]) << 8
        var random = SeededGenerator(seed: 8)
        var refused = 0
        for round in 0..<1_000 {
            var content = whole
            content[page + upper + random.below(4_096 - upper)] ^= 1 << UInt8(random.below(8))
            let damaged = place.path("\(round).lmdb")
            _ = FileManager.default.createFile(atPath: damaged, contents: Data(content))
            defer { for suffix in ["", "-lock"] { try? FileManager.default.removeItem(atPath: damaged + suffix) } }
            do {
                let store = try LMDBStore(path: damaged, options: options)
                defer { store.close() }
                _ = try store.read { try $0.contents() }
                try store.write { try $0.store(rowKey(3, 900), [1]) }
            } catch let error as StorageError {
                #expect(error.kind == .corrupted && error.path == damaged, "\(error)")
                refused += 1
            }
        }
        // What LMDB has counted in a tree has no effect on reading.
        #expect(refused > 500)
    }
}
