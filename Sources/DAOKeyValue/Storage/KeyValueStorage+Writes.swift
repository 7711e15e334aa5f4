import DAOCore
import Foundation

extension KeyValueStorage {

    func insert(_ records: [Record]) throws {
        if records.isEmpty { return }
        try write(isStep: records.count == 1) { update, _ in
            try encodeAll(records, update) { try update.insert($0) }
        }
    }

    func upsert(_ records: [Record]) throws {
        if records.isEmpty { return }
        try write(isStep: records.count == 1) { update, handle in
            try encodeAll(records, update) { row in try update.upsert(row, over: handle.transaction.get(row.key)) }
        }
    }

    func insert(making records: () throws -> [Record]) throws {
        try keyValueDatabase.write(callsOut: true) { handle in
            let records = try records()
            try withUpdate(handle, try table(handle)) { update in
                try encodeAll(records, update) { try update.insert($0) }
            }
        }
    }

    func upsert(making records: () throws -> [Record]) throws {
        try keyValueDatabase.write(callsOut: true) { handle in
            let records = try records()
            try withUpdate(handle, try table(handle)) { update in
                try encodeAll(records, update) { row in try update.upsert(row, over: handle.transaction.get(row.key)) }
            }
        }
    }

    func erase(keys: [Key]) throws -> Int {
        if keys.isEmpty { return 0 }
        var count = 0
        try keyValueDatabase.write(callsOut: false, isStep: keys.count == 1) { handle in
            count = 0
            let table = try table(handle)
            try withUpdate(handle, table) { update in
                for key in keys {
                    try KeyBuilder.with { builder in
                        try builder.appendRow(key, of: table)
                        if try update.erase(builder.bytes) { count += 1 }
                    }
                }
            }
        }
        return count
    }

    func erase(_ query: Query<Record>) throws -> Int {
        let resolved = try query.resolved()
        var count = 0
        try keyValueDatabase.write(callsOut: false) { handle in
            count = 0
            let table = try table(handle)
            let keys = try collectKeys(resolved, table, handle)
            try withUpdate(handle, table) { update in
                for key in keys {
                    if try key.withUnsafeBytes(update.erase) { count += 1 }
                }
            }
        }
        return count
    }

    func merge(keys: [Key], _ body: (Int, inout Record?) throws -> Void) throws -> Int {
        if keys.isEmpty { return 0 }
        return try keyValueDatabase.write(callsOut: true) { handle in
            var stored = 0
            var merge = Merge(handle, try table(handle))
            for (index, key) in keys.enumerated() {
                if try mergeRow(key, &merge, { try body(index, &$0) }) { stored += 1 }
            }
            return stored
        }
    }

    func update(_ query: Query<Record>, _ body: (inout Record) throws -> Void) throws -> Int {
        let resolved = try query.resolved()
        return try keyValueDatabase.write(callsOut: true) { handle in
            let table = try table(handle)
            let keys = try collectKeys(resolved, table, handle)
            var merge = Merge(handle, table)
            for bytes in keys {
                let key = bytes.withUnsafeBytes { KeyParser.key($0.from(KeyParser.keyspaceLength), form: table.keyForm) }
                guard let key else { continue }
                _ = try mergeRow(key, &merge) { record in
                    guard var changed = record else { return }
                    try body(&changed)
                    record = changed
                }
            }
            return keys.count
        }
    }

    /// What merging one row after another shares.
    private struct Merge {
        let handle: KeyValueHandle
        let table: Table
        let key = MergeKey()

        init(_ handle: KeyValueHandle, _ table: Table) {
            self.handle = handle
            self.table = table
        }
    }

    /// Reads a row, lets a closure change it, and stores what differs.
    ///
    /// - Returns: Whether the closure left a row.
    private func mergeRow(_ key: Key, _ merge: inout Merge, _ body: (inout Record?) throws -> Void) throws -> Bool {
        let (handle, table) = (merge.handle, merge.table)
        let storeKey = try merge.key.build(key, of: table)
        var stored = try handle.transaction.get(storeKey)
        var record: Record?
        if let stored {
            let reader = reader(table)
            try reader.show(stored, key: storeKey.from(KeyParser.keyspaceLength))
            record = try schema.decode(reader)
        }
        let writeCount = handle.writeCount
        try body(&record)
        guard let record else { return false }
        try schema.checkKey(of: record, is: key)
        try checkOrder(of: record)
        // What the closure wrote may have moved the row, or changed it.
        if handle.writeCount != writeCount { stored = try handle.transaction.get(storeKey) }
        try withUpdate(handle, table) { update in
            let row = try update.encode { try schema.encode(record, to: $0) }
            try update.upsert(row, over: stored)
        }
        return true
    }

    /// The whole keys of a query's rows, copied out of the store: rows may be written while they are walked.
    private func collectKeys(_ query: ResolvedQuery, _ table: Table, _ handle: KeyValueHandle) throws -> [[UInt8]] {
        var keys: [[UInt8]] = []
        let reader = reader(table)
        guard let source = try QueryRun(table: table, query: query, transaction: handle.transaction).source(reader) else {
            return []
        }
        let prefix = withUnsafeBytes(of: table.keyspace.bigEndian) { Array($0) }
        var remaining = query.limit ?? .max
        while remaining > 0, try source.nextKey(reader) {
            keys.append(prefix + reader.key)
            remaining -= 1
        }
        return keys
    }

    /// Encodes records one by one and gives them to a body.
    private func encodeAll(_ records: [Record], _ update: RowUpdate, _ body: (RowUpdate.Encoded) throws -> Void) throws {
        // Through pointers: taking each record out of the array would copy it.
        try records.withUnsafeBufferPointer { records in
            guard let first = records.baseAddress else { return }
            for position in records.indices {
                try checkOrder(of: records[position])
                try body(try update.encode { try schema.encode(at: first + position, to: $0) })
            }
        }
    }

    /// Runs a body that writes and does not call the application.
    private func write(isStep: Bool, _ body: (RowUpdate, KeyValueHandle) throws -> Void) throws {
        try keyValueDatabase.write(callsOut: false, isStep: isStep) { handle in
            try withUpdate(handle, try table(handle)) { try body($0, handle) }
        }
    }

    /// Calls a body with buffers of the transaction.
    private func withUpdate(_ handle: KeyValueHandle, _ table: Table, _ body: (RowUpdate) throws -> Void) throws {
        let usesChecksums = keyValueDatabase.options.usesChecksums
        let scratch = handle.takeScratch(table, isChecked: usesChecksums)
        defer { handle.giveBack(scratch) }
        try body(RowUpdate(handle, table, scratch, verifies: usesChecksums))
    }
}

/// Room for the key of the row that is merged.
private final class MergeKey {
    private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: KeyBuilder.capacity, alignment: 8)

    deinit { buffer.deallocate() }

    /// The whole key of a row; valid until the next one.
    func build(_ key: Key, of table: Table) throws -> UnsafeRawBufferPointer {
        var builder = KeyBuilder(buffer)
        try builder.appendRow(key, of: table)
        return builder.bytes
    }
}
