import DAOKeyValue
import Testing

extension KeyValueTransaction {
    func value(_ key: Bytes) throws -> Bytes? {
        try key.withUnsafeBytes { try get($0).map(Bytes.init) }
    }

    func store(_ key: Bytes, _ value: Bytes) throws {
        try key.withUnsafeBytes { key in try value.withUnsafeBytes { try put(key, $0) } }
    }

    func add(_ key: Bytes, _ value: Bytes) throws -> Bool {
        try key.withUnsafeBytes { key in try value.withUnsafeBytes { try insert(key, $0) } }
    }

    func remove(_ key: Bytes) throws -> Bool {
        try key.withUnsafeBytes { try delete($0) }
    }

    /// All entries that the transaction sees, read with a forward cursor. Where the store knows their number, the two
    /// are compared.
    func contents() throws -> ModelStore {
        var model = ModelStore()
        let cursor = try cursor()
        var stands = try cursor.seek(Bytes([0]))
        while stands {
            model.append(Bytes(cursor.key), Bytes(cursor.value))
            stands = try cursor.next()
        }
        let counts = Dictionary(grouping: model.keys) { $0[0] }.mapValues(\.count)
        for first in UInt8.min...UInt8.max {
            if let count = entryCount(of: first) { #expect(count == counts[first, default: 0], "keys that begin with \(first)") }
        }
        return model
    }
}

extension KeyValueCursor {
    func seek(_ key: Bytes) throws -> Bool { try key.withUnsafeBytes { try seek($0) } }
    func seekBefore(_ key: Bytes) throws -> Bool { try key.withUnsafeBytes { try seekBefore($0) } }
}

extension OrderedKeyValueStore {
    /// Runs a closure in a write transaction and commits, or aborts when it throws.
    @discardableResult
    func write<Result>(_ body: (any KeyValueTransaction) throws -> Result) throws -> Result {
        let transaction = try begin(.write)
        do {
            let result = try body(transaction)
            try transaction.commit()
            return result
        } catch {
            transaction.abort()
            throw error
        }
    }

    /// Runs a closure in a read transaction.
    func read<Result>(_ body: (any KeyValueTransaction) throws -> Result) throws -> Result {
        let transaction = try begin(.read)
        defer { transaction.abort() }
        return try body(transaction)
    }
}

/// A key as the database makes it: the number of a table and the number of a row.
func rowKey(_ table: UInt8, _ row: UInt64) -> Bytes {
    [table] + withUnsafeBytes(of: row.bigEndian, Bytes.init)
}
