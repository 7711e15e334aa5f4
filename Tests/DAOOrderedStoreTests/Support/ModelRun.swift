import DAOKeyValue
import DAOTestSupport
import Testing

/// Runs random operations on a store and on a reference model, and compares both after each operation.
struct ModelRun {
    private let store: any OrderedKeyValueStore
    private var random: SeededGenerator
    private let keySpace: Int
    private var committed = ModelStore()
    private var snapshots: [(transaction: any KeyValueTransaction, expected: ModelStore)] = []

    /// Creates a run.
    ///
    /// - Parameters:
    ///   - store: An empty store.
    ///   - seed: The seed; a seed reproduces its run.
    ///   - keySpace: The approximate number of different keys of each kind.
    init(_ store: any OrderedKeyValueStore, seed: UInt64, keySpace: Int) {
        self.store = store
        self.keySpace = keySpace
        random = SeededGenerator(seed: seed)
    }

    mutating func run(transactions: Int, operations: Int) throws {
        for _ in 0..<transactions {
            try writeTransaction(operations: 1 + random.below(operations))
            try manageSnapshots()
        }
        for snapshot in snapshots {
            #expect(try snapshot.transaction.contents() == snapshot.expected, "a snapshot changed under later commits")
            snapshot.transaction.abort()
        }
        #expect(try store.read { try $0.contents() } == committed)
    }

    private mutating func manageSnapshots() throws {
        if snapshots.count < 6, random.below(3) == 0 {
            snapshots.append((try store.begin(.read), committed))
        }
        if !snapshots.isEmpty, random.below(3) == 0 {
            let snapshot = snapshots.remove(at: random.below(snapshots.count))
            try #require(try snapshot.transaction.contents() == snapshot.expected, "a snapshot changed under later commits")
            snapshot.transaction.abort()
        }
    }

    private mutating func writeTransaction(operations: Int) throws {
        let transaction = try store.begin(.write)
        var models = [committed]
        // A transaction either mostly inserts or mostly deletes, so that nodes both split and merge.
        let deletions = random.below(2) == 0 ? 10 : 60
        for _ in 0..<operations {
            try operate(transaction, &models[models.count - 1], deletions: deletions)
            switch random.below(40) {
            case 0 where models.count < 4:
                try transaction.beginSavepoint()
                models.append(models[models.count - 1])
            case 1 where models.count > 1:
                try transaction.releaseSavepoint()
                let model = models.removeLast()
                models[models.count - 1] = model
            case 2 where models.count > 1:
                try transaction.rollbackSavepoint()
                models.removeLast()
                try #require(try transaction.contents() == models.last)
            default: break
            }
        }
        while models.count > 1 {
            try transaction.releaseSavepoint()
            let model = models.removeLast()
            models[models.count - 1] = model
        }
        try #require(try transaction.contents() == models[0])
        if random.below(4) == 0 {
            transaction.abort()
        } else {
            try transaction.commit()
            committed = models[0]
        }
        try #require(try store.read { try $0.contents() } == committed)
    }

    private mutating func operate(_ transaction: any KeyValueTransaction, _ model: inout ModelStore, deletions: Int) throws {
        let key = randomKey(model)
        let choice = random.below(100)
        if choice < deletions {
            try #require(try transaction.remove(key) == model.delete(key))
        } else if choice < 70 {
            let value = randomValue()
            try transaction.store(key, value)
            model.put(key, value)
        } else if choice < 80 {
            let value = randomValue()
            let isNew = model.value(key) == nil
            try #require(try transaction.add(key, value) == isNew)
            if isNew { model.put(key, value) }
        } else if choice < 90 {
            try #require(try transaction.value(key) == model.value(key))
        } else {
            try walk(transaction, model, from: key)
        }
    }

    /// Seeks and then moves at random in both directions.
    private mutating func walk(_ transaction: any KeyValueTransaction, _ model: ModelStore, from key: Bytes) throws {
        let cursor = try transaction.cursor()
        var index = model.lowerBound(key)
        var stands: Bool
        if random.below(2) == 0 {
            stands = try cursor.seek(key)
        } else {
            stands = try cursor.seekBefore(key)
            index -= 1
        }
        for _ in 0..<random.below(200) {
            try #require(stands == model.keys.indices.contains(index))
            guard stands else { return }
            try #require(Bytes(cursor.key) == model.keys[index] && Bytes(cursor.value) == model.values[index])
            if random.below(3) == 0 {
                stands = try cursor.previous()
                index -= 1
            } else {
                stands = try cursor.next()
                index += 1
            }
        }
    }

    /// A key of a kind that has caused failures before, or an existing key.
    private mutating func randomKey(_ model: ModelStore) -> Bytes {
        let number = random.below(keySpace)
        switch random.below(8) {
        case 0, 1: return rowKey([1, 2, 3, 30, 31, 240][random.below(6)], UInt64(number))
        case 2:
            let alphabet: [UInt8] = [0, 1, 0x61, 0xFF]
            return (0...random.below(6)).map { _ in alphabet[random.below(4)] }
        case 3:
            let common = [15, 16, 17, 40, 480][random.below(5)]
            return Bytes(repeating: 0x61, count: common) + String(number).utf8
        case 4: return Bytes(repeating: UInt8(number & 1), count: 1 + random.below(511))
        case 5: return Bytes("name-\(number)".utf8)
        default: return model.keys.isEmpty ? [7] : model.keys[random.below(model.keys.count)]
        }
    }

    private mutating func randomValue() -> Bytes {
        let count: Int =
            switch random.below(500) {
            case 0: random.below(1 << 20) + 1
            case 1..<10: random.below(20_000)
            case 10..<60: 0
            default: random.below(64)
            }
        return Bytes(repeating: UInt8(truncatingIfNeeded: random.next()), count: count)
    }
}
