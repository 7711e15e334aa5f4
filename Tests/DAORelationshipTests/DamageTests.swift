import DAOCore
import DAOKeyValue
import DAOMemory
import Foundation
import Testing

/// Damaged bytes in the links of a key-value store.
@Suite struct DamageTests {
    private typealias Entry = (key: [UInt8], value: [UInt8])

    private let relation = RelationDescription(
        entity: "owner", field: "rows", keyField: "id", keyKind: .string, target: "row", targetKeyKind: .string)
    private let parents = ["", "a\0b", String(repeating: "p", count: 256)].map(Key.string)
    private let children = ["c", "\0", String(repeating: "x", count: 242), String(repeating: "x", count: 256)].map(Key.string)

    private func entries(_ store: MemoryStore) throws -> [Entry] {
        let transaction = try store.begin(.read)
        defer { transaction.abort() }
        let cursor = try transaction.cursor()
        var found: [Entry] = []
        // The entries after the catalog.
        var isThere = try ([1] as [UInt8]).withUnsafeBytes(cursor.seek)
        while isThere {
            found.append((Array(cursor.key), Array(cursor.value)))
            isThere = try cursor.next()
        }
        return found
    }

    private func change(_ store: MemoryStore, _ body: (any KeyValueTransaction) throws -> Void) throws {
        let transaction = try store.begin(.write)
        try body(transaction)
        try transaction.commit()
    }

    private func put(_ entry: Entry, _ transaction: any KeyValueTransaction) throws {
        try entry.key.withUnsafeBytes { key in try entry.value.withUnsafeBytes { try transaction.put(key, $0) } }
    }

    private func delete(_ key: [UInt8], _ transaction: any KeyValueTransaction) throws {
        _ = try key.withUnsafeBytes { try transaction.delete($0) }
    }

    private func withLinks(_ body: (MemoryStore, any LinkStorage) throws -> Void) throws {
        let store = MemoryStore()
        let database = try KeyValueDatabase(store: store)
        let links = try database.makeLinks(for: relation)
        try links.set(
            LinkedKeys(counts: parents.map { _ in children.count }, keys: parents.flatMap { _ in children }), of: parents)
        try body(store, links)
        try database.close()
    }

    /// Runs all operations. An operation that fails must throw `.corrupted`.
    private func exercise(_ links: any LinkStorage) throws {
        for work in [
            { _ = try links.children(of: parents) }, { _ = try links.parents(of: children) }, { _ = try links.counts() },
            { _ = try links.linked(among: children) }, { try links.set(LinkedKeys(counts: [0], keys: []), of: [parents[1]]) },
            { try links.remove(children: [children[3]]) }, { try links.remove(parents: parents) },
        ] as [() throws -> Void] {
            do { try work() } catch let error as StorageError { #expect(error.kind == .corrupted, "\(error)") }
        }
    }

    @Test func everyDamagedBitOfALinkIsDetected() throws {
        try withLinks { store, links in
            let whole = try entries(store)
            for entry in whole where !entry.value.isEmpty {
                for bit in 0..<entry.value.count * 8 {
                    var damaged = entry
                    damaged.value[bit / 8] ^= 1 << (bit % 8)
                    try change(store) { try put(damaged, $0) }
                    let error = #expect(throws: StorageError.self) { try links.children(of: parents) }
                    #expect(error?.kind == .corrupted)
                }
                try change(store) { try put(entry, $0) }
            }
            #expect(try links.children(of: parents).counts == parents.map { _ in children.count })
        }
    }

    @Test func truncatedAndForeignBytesNeverCrash() throws {
        var count = 0
        try withLinks { store, _ in count = try entries(store).count }
        for number in 0..<count {
            for form in 0..<6 {
                try withLinks { store, links in
                    let entry = try entries(store)[number]
                    try change(store) { transaction in
                        var damaged = entry
                        switch form {
                        case 0: damaged.value = Array(entry.value.prefix(3))
                        case 1: damaged.value += [1]
                        case 2: damaged.key = Array(entry.key.prefix(5))
                        case 3: damaged.key = Array(entry.key.dropLast())
                        case 4: if entry.key.count < 511 { damaged.key = entry.key + [7] }
                        default: damaged.key[4] ^= 0xFF
                        }
                        try delete(entry.key, transaction)
                        try put(damaged, transaction)
                    }
                    try exercise(links)
                }
            }
        }
    }
}
