import DAOCore
import DAOExamples
import DAOTestSupport
import Foundation
import Testing

@testable import DAOKeyValue

/// Flipped bits in index entries. A key that leaves its place among its neighbours is detected by the store
/// when it is opened, so the flips here keep the order of keys.
@Suite struct IndexDamageTests {
    private let rows: [Message] = (0..<6).map { number in
        Message(
            id: number, sender: number == 0 ? nil : number / 2,
            date: Date(timeIntervalSinceReferenceDate: Double(number / 2) * 10),
            text: ["a", "a", "b\0", "d", "d", "zz"][number], code: number < 2 ? nil : "code \(number)", isRead: false, score: 0,
            amount: Decimal(number / 3))
    }

    private func opened(_ entries: [StoredEntry]) throws -> (any Storage<Message>, SortedArrayStore) {
        let store = try SortedArrayStore.containing(entries)
        return (try KeyValueDatabase(store: store).storage(for: Message.self), store)
    }

    /// Runs every kind of search. Each must return what the rows say, or be `.corrupted`.
    ///
    /// - Returns: The number of searches that were refused.
    private func search(_ messages: any Storage<Message>, _ flip: String) throws -> Int {
        var refused = 0
        func expect(_ name: String, _ expected: [Int], _ read: () throws -> [Int]) throws {
            do {
                let found = try read()
                #expect(found == expected, "\(name) after \(flip)")
            } catch let error as StorageError {
                #expect(
                    error.kind == .corrupted && error.entity == "message" && error.field != nil, "\(name) after \(flip): \(error)"
                )
                refused += 1
            }
        }
        func check(_ name: String, _ condition: Condition<Message>, _ matches: (Message) -> Bool) throws {
            let expected = rows.filter(matches).map(\.id)
            try expect(name, expected) { try messages.read(Query(where: condition)).map(\.id) }
            try expect("the count of \(name)", [expected.count]) { [try messages.count(Query(where: condition))] }
        }
        for sender in 0...4 { try check("sender \(sender)", Condition { $0.sender == sender }) { $0.sender == sender } }
        try check("no sender", Condition { $0.sender == nil }) { $0.sender == nil }
        try check("senders", Condition { $0.sender > 1 }) { $0.sender.map { $0 > 1 } ?? false }
        for text in ["", "a", "b\0", "c", "d", "zz", "zzz"] {
            try check("text \(text)", Condition { $0.text == text }) { $0.text == text }
        }
        for number in 1...6 {
            try check("code \(number)", Condition { $0.code == "code \(number)" }) { $0.code == "code \(number)" }
        }
        try check("codes", Condition { $0.code == nil }) { $0.code == nil }
        for number in 0...3 {
            let date = Date(timeIntervalSinceReferenceDate: Double(number) * 10)
            try check("date \(number)", Condition { $0.date == date }) { $0.date == date }
            try check("before \(number)", Condition { $0.date < date }) { $0.date < date }
        }
        try check("amounts", Condition { $0.amount >= Decimal(1) }) { $0.amount.map { $0 >= 1 } ?? false }
        try check("no amount", Condition { $0.amount == Decimal(0) }) { $0.amount == 0 }
        let byDate = rows.sorted { $0.date != $1.date ? $0.date > $1.date : $0.id < $1.id }.map(\.id)
        try expect("dates descending", byDate) { try messages.read(Query(orderedBy: [.descending(\.date)])).map(\.id) }
        try expect("texts", Array(0..<6)) { try messages.read(Query(orderedBy: [.ascending(\.text)])).map(\.id) }
        return refused
    }

    @Test func aFlippedBitInAnEntryIsNeverAWrongAnswer() throws {
        let (storage, store) = try opened([])
        try storage.insert(rows)
        let whole = try store.entries()
        #expect(try search(storage, "nothing") == 0)
        let own = Set(whole.indices.filter { whole[$0].value.count == 4 })
        #expect(own.count == rows.count * 5)
        var flips = 0
        for index in own {
            let entry = whole[index]
            // The keyspace is not flipped: which entries are the neighbours of another index, a store knows.
            for bit in stride(from: 8 + index % 5, to: (entry.key.count + entry.value.count) * 8, by: 5) {
                var damaged = entry
                if bit / 8 < entry.key.count {
                    damaged.key[bit / 8] ^= 1 << UInt8(bit % 8)
                } else {
                    damaged.value[bit / 8 - entry.key.count] ^= 1 << UInt8(bit % 8)
                }
                let isAfter = index == 0 || whole[index - 1].key.lexicographicallyPrecedes(damaged.key)
                let isBefore = index + 1 == whole.count || damaged.key.lexicographicallyPrecedes(whole[index + 1].key)
                guard isAfter, isBefore else { continue }
                var content = whole
                content[index] = damaged
                let refused = try search(opened(content).0, "bit \(bit) of the entry \(entry.key)")
                #expect(refused > 0, "bit \(bit) of the entry \(entry.key)")
                flips += 1
            }
        }
        #expect(flips > 300)
    }

    @Test func aDamagedEntryDoesNotHideADuplicate() throws {
        let (storage, store) = try opened([])
        try storage.insert(rows)
        let whole = try store.entries()
        let index = try #require(
            whole.lastIndex { $0.value.count == 4 && $0.key.contains(UInt8(ascii: "5")) && $0.key.contains(UInt8(ascii: "c")) })
        var damaged = whole
        // "code 5" becomes "code 7".
        damaged[index].key = damaged[index].key.map { $0 == UInt8(ascii: "5") ? UInt8(ascii: "7") : $0 }
        let messages = try opened(damaged).0
        for code in ["code 5", "code 7"] {
            var row = rows[0]
            row.id = 9
            row.code = code
            #expect(errorKind { try messages.insert([row]) } == .corrupted)
        }
    }

    @Test func entriesWithAndWithoutChecksumsAreReadTogether() throws {
        let store = SortedArrayStore()
        let without = try KeyValueDatabase(store: store, options: KeyValueOptions(usesChecksums: false))
        try without.storage(for: Message.self).insert(Array(rows[..<3]))
        #expect(try store.entries().allSatisfy { $0.value.count != 4 })
        let with = try KeyValueDatabase(store: store).storage(for: Message.self)
        try with.insert(Array(rows[3...]))
        #expect(try search(with, "nothing") == 0)
    }

    @Test(arguments: [
        #""slotCount":-1"#, #""slotCount":1000000"#, #""slots":[0]"#, #""keyspace":4294967295"#, #""keyspace":0"#,
        #""keyspace":500"#,
        #""keyspace":2"#,
    ])
    func impossibleNumbersInTheCatalogAreDamage(change: String) throws {
        let (storage, store) = try opened([])
        try storage.insert(rows)
        var whole = try store.entries()
        let index = try #require(whole.firstIndex { $0.key == Array("\0Emessage".utf8) })
        let text = String(decoding: whole[index].value.dropFirst(8), as: UTF8.self)
        let name = try #require(change.split(separator: ":").first)
        let pattern = try Regex("\(name):(-?[0-9]+|\\[[0-9,]*\\])")
        #expect(text.contains(pattern))
        let json = Array(text.replacing(pattern, with: change).utf8)
        whole[index].value =
            json.withUnsafeBytes { hash in withUnsafeBytes(of: XXH64.hash(hash).littleEndian) { Array($0) } } + json
        #expect(errorKind { _ = try opened(whole).0.read(Query()) } == .corrupted)
    }

    @Test func twoEntitiesInOneKeyspaceAreDamage() throws {
        let (storage, store) = try opened([])
        try storage.insert(rows)
        try storage.database.storage(for: Note.self).insert([Note(key: "a", text: "")])
        var whole = try store.entries()
        let index = try #require(whole.firstIndex { $0.key == Array("\0Enote".utf8) })
        let text = String(decoding: whole[index].value.dropFirst(8), as: UTF8.self)
        let json = Array(text.replacing(try Regex(#""keyspace":[0-9]+"#), with: #""keyspace":1"#).utf8)
        whole[index].value =
            json.withUnsafeBytes { hash in withUnsafeBytes(of: XXH64.hash(hash).littleEndian) { Array($0) } } + json
        #expect(errorKind { _ = try opened(whole) } == .corrupted)
    }
}
