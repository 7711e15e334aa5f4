import DAOCore
import DAOKeyValue
import DAOMemory
import Foundation
import Testing

@Suite("Memory store")
struct MemoryTests {

    @Test("readers see whole commits and fixed snapshots while a writer writes")
    func concurrency() throws {
        let store = MemoryStore()
        try StressRun(store).run(rounds: 400)
    }

    @Test("two stores with the same name share no data")
    func names() throws {
        let first = MemoryStore(name: "cache")
        let second = MemoryStore(name: "cache")
        try first.write { try $0.store([1], [1]) }
        #expect(try second.read { try $0.value([1]) } == nil)
    }

    @Test("a snapshot outlives the close of its store; new transactions are refused")
    func closing() throws {
        let store = MemoryStore()
        try store.write { try $0.store([1], [1]) }
        let snapshot = try store.begin(.read)
        store.close()
        #expect(try snapshot.value([1]) == [1])
        snapshot.abort()
        #expect(failureKind { _ = try store.begin(.read) } == .closed)
        #expect(failureKind { _ = try store.begin(.write) } == .closed)
    }

    @Test("a cursor is refused after a write")
    func staleCursor() throws {
        try MemoryStore().write { transaction in
            try transaction.store([1], [1])
            let cursor = try transaction.cursor()
            #expect(try cursor.seek([1]))
            try transaction.store([2], [2])
            #expect(failureKind { _ = try cursor.next() } == .invalidTransaction)
            #expect(try cursor.seek([1]))
            #expect(try cursor.next())
        }
    }
}
