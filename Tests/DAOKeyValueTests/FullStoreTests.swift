import DAOCore
import DAOExamples
import DAOKeyValue
import Testing

/// A store that runs out of space in a call and then has more: the call runs again, and is then what one run would have been.
@Suite struct FullStoreTests {
    private struct Crate: Plain, Model, Equatable {
        var id: Int
        var place: String
        var weight: Int
        static let schema = Schema(
            "crate", Self.init, Field("id", \.id, .primaryKey), Field("place", \.place, .indexed), Field("weight", \.weight))
    }

    private static let rows = (1...20).map { Crate(id: $0, place: "p\($0 % 4)", weight: $0) }

    /// Calls of a storage, and the number that each returns.
    private static let calls: [(name: String, result: Int, run: @Sendable (any Storage<Crate>) throws -> Int)] = [
        ("an erasure by keys", 5, { try $0.erase(keys: [1, 2, 3, 50, 4, 5].map { .integer($0) }) }),
        ("an erasure by a condition", 10, { try $0.erase(Query(where: Condition { $0.weight > 10 })) }),
        ("an erasure by an index", 5, { try $0.erase(Query(where: Condition { $0.place == "p1" })) }),
        (
            "a set", 10,
            {
                let change = try FieldChange<Crate>.set(\.weight, to: 7).stored()
                return try $0.set([change], counting: nil, where: Condition { $0.id > 10 }) ?? -1
            }
        ),
        (
            "an insertion", 23,
            {
                try $0.insert((21...23).map { Crate(id: $0, place: "new", weight: 0) })
                return try $0.count(Query())
            }
        ),
        (
            "rows that are stored", 22,
            {
                try $0.upsert((19...22).map { Crate(id: $0, place: "new", weight: 0) })
                return try $0.count(Query())
            }
        ),
    ]

    @Test(arguments: calls.indices) func aCallThatRunsAgainReturnsWhatOneRunDoes(_ number: Int) throws {
        let call = Self.calls[number]
        let whole = try KeyValueDatabase(store: SortedArrayStore()).storage(for: Crate.self)
        try whole.insert(Self.rows)
        #expect(try call.run(whole) == call.result, "\(call.name)")
        let expected = try whole.read(Query())
        var step = 0
        while true {
            let store = FullOnceStore()
            let database = try KeyValueDatabase(store: store)
            let storage = try database.storage(for: Crate.self)
            try storage.insert(Self.rows)
            store.fail(after: step)
            #expect(try call.run(storage) == call.result, "\(call.name), full at write \(step)")
            #expect(try storage.read(Query()) == expected, "\(call.name), full at write \(step)")
            #expect(try database.verify().isSound, "\(call.name), full at write \(step)")
            guard store.hasFailed else { break }
            step += 1
        }
        #expect(step > 2, "\(call.name) can be interrupted")
    }
}

/// A store in which one write finds no space.
private final class FullOnceStore: OrderedKeyValueStore {
    private let store = SortedArrayStore()
    /// How many writes succeed before one fails; nil when none does.
    fileprivate let left = Lock<Int?>(nil)

    var traits: KeyValueStoreTraits { store.traits }

    func fail(after writes: Int) { left.withLock { $0 = writes } }

    /// Whether the write has failed.
    var hasFailed: Bool { left.withLock { $0 == nil } }

    func begin(_ access: KeyValueAccess) throws -> any KeyValueTransaction {
        Transaction(try store.begin(access), self)
    }

    func close() { store.close() }

    private final class Transaction: KeyValueTransaction {
        private let base: any KeyValueTransaction
        private let store: FullOnceStore

        init(_ base: any KeyValueTransaction, _ store: FullOnceStore) { (self.base, self.store) = (base, store) }

        private func checkSpace() throws {
            try store.left.withLock { left in
                guard let count = left else { return }
                left = count == 0 ? nil : count - 1
                if count == 0 { throw StorageError(.outOfSpace, "the store is full; call again") }
            }
        }

        func get(_ key: UnsafeRawBufferPointer) throws -> UnsafeRawBufferPointer? { try base.get(key) }
        func put(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws {
            try checkSpace()
            try base.put(key, value)
        }
        func delete(_ key: UnsafeRawBufferPointer) throws -> Bool {
            try checkSpace()
            return try base.delete(key)
        }
        func cursor() throws -> KeyValueCursor { try base.cursor() }
        func beginSavepoint() throws { try base.beginSavepoint() }
        func releaseSavepoint() throws { try base.releaseSavepoint() }
        func rollbackSavepoint() throws { try base.rollbackSavepoint() }
        func commit() throws { try base.commit() }
        func abort() { base.abort() }
    }
}
