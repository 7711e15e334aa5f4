import DAOCore
import DAOKeyValue
import DAOLMDB
import DAOTestSupport
import Foundation
import Testing

@Suite("LMDB: growth, readers and writers")
struct LMDBGrowthTests {

    private let place = Place()

    @Test("a map of 64 KiB grows under many commits")
    func growth() throws {
        let store = try LMDBStore(
            path: place.path("grow.lmdb"), options: LMDBOptions(durability: .relaxed, initialMapSize: 64 << 10))
        defer { store.close() }
        for round in 0..<200 as Range<UInt64> {
            try store.write { transaction in
                for row in 0..<20 as Range<UInt64> {
                    try transaction.store(rowKey(1, round * 20 + row), Bytes(repeating: 1, count: 300))
                }
            }
        }
        #expect(try store.read { try $0.contents().keys.count } == 4_000)
    }

    @Test("a full map is out of space, and the next write succeeds")
    func fullMap() throws {
        let store = try LMDBStore(
            path: place.path("full.lmdb"), options: LMDBOptions(durability: .relaxed, initialMapSize: 64 << 10))
        defer { store.close() }
        let large = Bytes(repeating: 1, count: 1 << 20)
        var attempts = 0
        while true {
            attempts += 1
            let transaction = try store.begin(.write)
            try transaction.store([1], [UInt8(attempts)])
            let error = failure { try transaction.store([2], large) }
            guard let error else {
                try transaction.commit()
                break
            }
            #expect(error.kind == .outOfSpace)
            #expect(error.engineCode != nil && error.path != nil)
            #expect(failureKind { try transaction.store([3], [3]) } == .outOfSpace)
            transaction.abort()
            #expect(try store.read { try $0.value([1]) } == nil)
            try #require(attempts < 10)
        }
        #expect(attempts > 1)
        #expect(try store.read { try $0.value([2]) } == large)
    }

    @Test("a savepoint that fills the map ends the transaction, and the next write succeeds")
    func fullMapInSavepoint() throws {
        let store = try LMDBStore(
            path: place.path("savepoint.lmdb"), options: LMDBOptions(durability: .relaxed, initialMapSize: 64 << 10))
        defer { store.close() }
        let transaction = try store.begin(.write)
        try transaction.store([1], [1])
        try transaction.beginSavepoint()
        #expect(failureKind { try transaction.store([2], Bytes(repeating: 1, count: 1 << 20)) } == .outOfSpace)
        try transaction.rollbackSavepoint()
        #expect(failureKind { try transaction.store([3], [3]) } == .outOfSpace)
        #expect(failureKind { try transaction.commit() } == .outOfSpace)
        transaction.abort()
        #expect(try store.read { try $0.contents().keys } == [])
        try store.write { try $0.store([3], [3]) }
        #expect(try store.read { try $0.contents().keys } == [[3]])
    }

    @Test("150 calls of 1,000 rows of 2 KB in one transaction", .timeLimit(.minutes(30)))
    func manyCalls() throws {
        let store = try LMDBStore(path: place.path("calls.lmdb"), options: LMDBOptions(durability: .relaxed))
        defer { store.close() }
        let row = Bytes(repeating: 7, count: 2_000)
        let transaction = try store.begin(.write)
        for call in 0..<150 as Range<UInt64> {
            try transaction.beginSavepoint()
            for index in 0..<1_000 as Range<UInt64> { try transaction.store(rowKey(1, call * 1_000 + index), row) }
            if call % 50 == 49 { try transaction.rollbackSavepoint() } else { try transaction.releaseSavepoint() }
        }
        try transaction.commit()
        #expect(try store.read { try $0.contents().keys.count } == 147_000)
    }

    @Test("the map does not grow while a reader runs, and grows after it ends")
    func growthWaitsForReaders() throws {
        let store = try LMDBStore(
            path: place.path("wait.lmdb"),
            options: LMDBOptions(durability: .relaxed, initialMapSize: 64 << 10, writeTimeout: 0.3))
        defer { store.close() }
        try store.write { try $0.store([1], [1]) }
        let reader = try store.begin(.read)
        let large = Bytes(repeating: 1, count: 1 << 20)
        #expect(failureKind { try store.write { try $0.store([2], large) } } == .outOfSpace)
        #expect(failureKind { try store.write { try $0.store([2], large) } } == .outOfSpace)
        #expect(try reader.value([1]) == [1])
        reader.abort()
        while failureKind({ try store.write { try $0.store([2], large) } }) == .outOfSpace {}
        #expect(try store.read { try $0.value([2]) } == large)
    }

    @Test("after a growth that a reader has prevented, the first write without that reader has the space")
    func growthAfterARefusal() throws {
        let store = try LMDBStore(
            path: place.path("refused.lmdb"),
            options: LMDBOptions(durability: .relaxed, initialMapSize: 1 << 20, writeTimeout: 0.2))
        defer { store.close() }
        try store.write { try $0.store([1], [1]) }
        // It needs a map that is twice as large.
        let large = Bytes(repeating: 1, count: 1_200_000)
        let reader = try store.begin(.read)
        for _ in 0..<2 { #expect(failureKind { try store.write { try $0.store([2], large) } } == .outOfSpace) }
        reader.abort()
        try store.write { try $0.store([2], large) }
        #expect(try store.read { try $0.value([2]) } == large)
        #expect(try store.read { try $0.value([1]) } == [1])
    }

    @Test("short readers are not affected by the growth")
    func growthUnderReaders() throws {
        let store = try LMDBStore(
            path: place.path("readers.lmdb"), options: LMDBOptions(durability: .relaxed, initialMapSize: 256 << 10))
        defer { store.close() }
        try StressRun(store).run(rounds: 200)
    }

    @Test("with few reader slots, readers wait and then fail with busy")
    func fewReaderSlots() throws {
        let store = try LMDBStore(
            path: place.path("slots.lmdb"), options: LMDBOptions(durability: .relaxed, maximumReaders: 4, writeTimeout: 0.2))
        defer { store.close() }
        let readers = try (0..<4).map { _ in try store.begin(.read) }
        #expect(failureKind { _ = try store.begin(.read) } == .busy)
        for reader in readers { reader.abort() }
        for _ in 0..<10 { #expect(try store.read { try $0.value([1]) } == nil) }
    }

    @Test("a writer waits for another writer and then fails with busy")
    func busyWriter() throws {
        let path = place.path("busy.lmdb")
        let options = LMDBOptions(durability: .relaxed, writeTimeout: 0.2)
        let store = try LMDBStore(path: path, options: options)
        defer { store.close() }
        let transaction = try store.begin(.write)
        let group = DispatchGroup()
        Thread.detachNewThread(in: group) {
            #expect(failureKind { _ = try store.begin(.write) } == .busy)
        }
        group.wait()
        transaction.abort()
        try store.write { try $0.store([1], [1]) }
    }

    @Test("readers see whole commits while a writer writes")
    func concurrency() throws {
        let store = try LMDBStore(path: place.path("stress.lmdb"), options: LMDBOptions(durability: .relaxed))
        defer { store.close() }
        try StressRun(store).run(rounds: 200)
    }

    @Test("four threads open and close concurrently")
    func openAndClose() throws {
        let path = place.path("open-close.lmdb")
        let group = DispatchGroup()
        for _ in 0..<4 {
            Thread.detachNewThread(in: group) {
                for round in 0..<25 {
                    #expect(throws: Never.self) {
                        let store = try LMDBStore(path: path, options: LMDBOptions(durability: .relaxed))
                        if round % 5 == 0 { try store.write { try $0.store([1], [1]) } }
                        _ = try store.read { try $0.value([1]) }
                        store.close()
                    }
                }
            }
        }
        group.wait()
    }
}
