import DAOCore
import DAOExamples
import DAOTestSupport
import Foundation
import Testing

@testable import DAOKeyValue

@Suite struct StorageTests {
    @Test func insertedRowsAreReadBackUnchanged() throws {
        let storage = try makeDatabase().storage(for: Message.self)
        let rows = (0..<100).map { Message.make($0, sender: $0 % 7 == 0 ? nil : $0 % 5, code: "c\($0)", text: "text \($0)") }
        var random = SeededGenerator(seed: 1)
        try storage.insert(rows.shuffled(using: &random))
        #expect(try storage.read(Query()) == rows)
        #expect(try storage.read(key: .integer(42)) == rows[42])
        #expect(try storage.read(key: .integer(420)) == nil)
        #expect(
            try storage.read(keys: [.integer(5), .integer(500), .integer(3), .integer(5)], includesSubentities: true) == [
                rows[5], rows[3],
            ])
        #expect(try storage.count(Query()) == 100)
    }

    @Test func insertRefusesAnExistingKey() throws {
        let storage = try makeDatabase().storage(for: Message.self)
        try storage.insert([.make(1)])
        #expect(errorKind { try storage.insert([.make(2), .make(1)]) } == .duplicateKey)
        #expect(try storage.count(Query()) == 1)
        #expect(errorKind { try storage.insert([.make(3), .make(3)]) } == .duplicateKey)
        #expect(try storage.count(Query()) == 1)
    }

    @Test func upsertMovesIndexEntries() throws {
        let storage = try makeDatabase().storage(for: Message.self)
        try storage.insert([.make(1, sender: 1), .make(2, sender: 2)])
        try storage.upsert([.make(1, sender: 2), .make(3, sender: 1)])
        #expect(try storage.keys(Query(where: Condition { $0.sender == 2 })) == [.integer(1), .integer(2)])
        #expect(try storage.keys(Query(where: Condition { $0.sender == 1 })) == [.integer(3)])
        #expect(try storage.erase(keys: [.integer(1), .integer(9), .integer(1)]) == 1)
        #expect(try storage.keys(Query(where: Condition { $0.sender == 2 })) == [.integer(2)])
        #expect(try storage.erase(Query(where: Condition { $0.sender >= 0 })) == 2)
        #expect(try storage.count(Query()) == 0)
        #expect(try storage.count(Query(where: Condition { $0.sender != nil })) == 0)
    }

    @Test func uniqueFieldsRefuseDuplicateValues() throws {
        let storage = try makeDatabase().storage(for: Message.self)
        try storage.insert([.make(1, code: "a"), .make(2, code: nil), .make(3, code: nil)])
        do {
            try storage.upsert([.make(4), .make(2, code: "a")])
            Issue.record("a second equal value was stored")
        } catch let error as StorageError {
            #expect(error.kind == .uniqueViolation)
            #expect(error.field == "code")
            #expect(error.key == 2)
            #expect(error.conflictingKey == 1)
        }
        #expect(try storage.count(Query()) == 3)
        try storage.upsert([.make(1, code: "a", text: "again")])
        let long = String(repeating: "x", count: 400)
        try storage.upsert([.make(2, code: long + "1"), .make(3, code: long + "2")])
        #expect(errorKind { try storage.upsert([.make(4, code: long + "2")]) } == .uniqueViolation)
        #expect(try storage.keys(Query(where: Condition { $0.code == long + "2" })) == [.integer(3)])
    }

    @Test func mergeKeepsUntouchedFields() throws {
        let storage = try makeDatabase().storage(for: Message.self)
        try storage.insert([.make(1, sender: 1, text: "one")])
        let count = try storage.merge(keys: [.integer(1), .integer(2), .integer(3), .integer(1)]) { index, row in
            switch index {
            case 0: row?.sender = 9
            case 1: row = .make(2)
            case 3: row?.text += " more"
            default: break
            }
        }
        #expect(count == 3)
        #expect(try storage.read(key: .integer(1))?.text == "one more")
        #expect(try storage.keys(Query(where: Condition { $0.sender == 9 })) == [.integer(1)])
        #expect(
            errorKind { _ = try storage.merge(keys: [.integer(1)]) { _, row in row?.id = 7 } } == .keyChanged)
        #expect(try storage.update(Query(where: Condition { $0.id <= 2 })) { $0.isRead.toggle() } == 2)
        #expect(try storage.read(key: .integer(2))?.isRead == false)
    }

    @Test func transactionsAreAtomic() throws {
        struct Stop: Error {}
        let database = try makeDatabase()
        let storage = try database.storage(for: Message.self)
        #expect(throws: Stop.self) {
            try database.transaction {
                try storage.insert([.make(1, sender: 1)])
                #expect(try storage.count(Query()) == 1)
                throw Stop()
            }
        }
        #expect(try storage.count(Query()) == 0)
        try database.transaction {
            try storage.insert([.make(1)])
            #expect(throws: Stop.self) {
                try database.transaction {
                    try storage.insert([.make(2)])
                    throw Stop()
                }
            }
            #expect(errorKind { try storage.insert([.make(3), .make(1)]) } == .duplicateKey)
        }
        #expect(try storage.keys(Query()) == [.integer(1)])
        #expect(errorKind { try database.snapshot { try storage.insert([.make(5)]) } } == .invalidTransaction)
    }

    @Test func rolledBackEntityLeavesNoData() throws {
        struct Stop: Error {}
        let database = try makeDatabase()
        var notes: (any Storage<Note>)?
        try? database.transaction {
            notes = try database.storage(for: Note.self)
            try notes?.insert([Note(key: "a", text: "x")])
            throw Stop()
        }
        #expect(try database.entities().isEmpty)
        let messages = try database.storage(for: Message.self)
        try messages.insert([.make(1)])
        #expect(try notes?.count(Query()) == 0)
        #expect(try database.entities().map(\.name) == ["message"])
        try notes?.insert([Note(key: "", text: "y")])
        #expect(try notes?.read(Query()) == [Note(key: "", text: "y")])
        #expect(try messages.read(Query()) == [.make(1)])
        #expect(try database.entities().map(\.name) == ["message", "note"])
        #expect(try database.storage(for: Note.self).count(Query()) == 1)
    }

    @Test(arguments: [239, 0xFFFF, 0xFF_FFFF, StoredFormat.lastKeyspace - 20])
    func rowsAndLinksAreStoredInKeyspacesOfEveryLength(last: UInt32) throws {
        let store = SortedArrayStore()
        let head = Data("{\"version\":2,\"nextKeyspace\":\(last - 2)}".utf8)
        let checksum = head.withUnsafeBytes { XXH64.hash($0) }
        let entry = withUnsafeBytes(of: checksum.littleEndian) { Data($0) } + head
        let transaction = try store.begin(.write)
        try Array("\0F".utf8).withUnsafeBytes { key in try entry.withUnsafeBytes { try transaction.put(key, $0) } }
        try transaction.commit()

        let database = try KeyValueDatabase(store: store)
        let messages = try database.storage(for: Message.self)
        let notes = try database.storage(for: Note.self)
        let rows = (0..<20).map { Message.make($0, sender: $0 % 3, code: "\($0)", text: String(repeating: "t", count: 230 + $0)) }
        try messages.insert(rows)
        let keys = [0, 1, 239, 240, 241, 256].map { String(repeating: "k", count: $0) }
        try notes.insert(keys.map { Note(key: $0, text: "") })
        for row in rows {
            let found = try messages.read(Query(where: Condition { $0.text == row.text && $0.code == row.code }))
            #expect(found == [row])
        }
        #expect(try messages.read(Query(orderedBy: [.descending(\.text)])) == rows.reversed())
        #expect(try messages.count(Query(where: Condition { $0.sender == 1 })) == 7)
        #expect(try messages.read(Query()) == rows)
        #expect(try notes.keys(Query()) == keys.map { .string($0) })

        let all = keys.map { Key.string($0) }
        let links = try database.makeLinks(
            for: RelationDescription(
                entity: "note", field: "others", keyField: "id", keyKind: .string, target: "note", targetKeyKind: .string))
        try links.set(LinkedKeys(counts: all.map { _ in all.count }, keys: all.flatMap { _ in all }), of: all)
        #expect(try links.children(of: all).keys == all.flatMap { _ in all })
        #expect(try links.parents(of: [all[5]]) == all.sorted())
        #expect(try links.counts().map(\.count) == all.map { _ in all.count })
        try links.remove(children: Array(all.dropFirst()))
        #expect(try links.counts().map(\.count) == all.map { _ in 1 })
        #expect(try messages.erase(Query()) == 20)
        #expect(try notes.count(Query()) == keys.count)
    }

    @Test func keysOfAnotherTypeAreNoEndsOfLinks() throws {
        let links = try makeDatabase().makeLinks(
            for: RelationDescription(
                entity: "page", field: "tags", keyField: "id", keyKind: .int64, target: "tag", targetKeyKind: .string))
        func message(_ body: () throws -> Void) -> String {
            do { try body() } catch let error as StorageError where error.kind == .invalidKey { return error.message } catch {}
            return ""
        }
        let parent = message { try links.set(LinkedKeys(counts: [1], keys: [.string("a")]), of: [.string("x")]) }
        #expect(parent.contains("int64"), "\(parent)")
        let child = message { try links.set(LinkedKeys(counts: [1], keys: [.integer(2)]), of: [.integer(1)]) }
        #expect(child.contains("string"), "\(child)")
        #expect(try links.counts().isEmpty)
    }

    @Test func entitiesThatAreReadCannotBeDropped() throws {
        let database = try makeDatabase()
        try database.storage(for: Message.self).insert([.make(1)])
        do {
            try database.withEntityStore(.read) { try $0.drop("message") }
            Issue.record("an entity was dropped while it was read")
        } catch let error as StorageError {
            #expect(error.kind == .invalidTransaction && error.message.contains("only read"), "\(error)")
        }
        #expect(try database.entities().map(\.name) == ["message"])
    }

    @Test func longKeysAreRefused() throws {
        let notes = try makeDatabase().storage(for: Note.self)
        let longest = String(repeating: "k", count: 256)
        try notes.insert([Note(key: longest, text: ""), Note(key: "", text: "empty"), Note(key: "a\0b", text: "")])
        #expect(errorKind { try notes.insert([Note(key: longest + "k", text: "")]) } == .invalidKey)
        #expect(errorKind { _ = try notes.read(key: .string(longest + "k")) } == .invalidKey)
        #expect(errorKind { _ = try notes.read(key: .integer(1)) } == .invalidKey)
        #expect(try notes.keys(Query()) == [.string(""), .string("a\0b"), .string(longest)])
        #expect(try notes.count(Query(where: Condition { $0.key < longest + "k" })) == 3)
        #expect(try notes.count(Query(where: Condition { $0.key >= longest + "k" })) == 0)
        #expect(try notes.count(Query(where: Condition { $0.key > longest })) == 0)
    }
    @Test func textsAroundTheLengthOfAnIndexEntryAreFoundAndSorted() throws {
        let messages = try makeDatabase().storage(for: Message.self)
        let texts = [100, 118, 119, 120, 121, 238, 239, 240, 241, 242, 300].flatMap { length in
            ["", "a", "\0"].map { String(repeating: "x", count: length) + $0 }
        }
        try messages.insert(texts.enumerated().map { .make($0, text: $1) })
        let sorted = texts.sorted()
        #expect(try messages.read(Query(orderedBy: [.ascending(\.text)])).map(\.text) == sorted)
        for (index, text) in sorted.enumerated() {
            #expect(try messages.read(Query(where: Condition { $0.text == text })).map(\.text) == [text])
            #expect(try messages.count(Query(where: Condition { $0.text < text })) == index)
        }
    }
}
