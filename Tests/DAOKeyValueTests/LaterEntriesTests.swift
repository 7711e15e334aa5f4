import DAOCore
import DAOExamples
import DAOMemory
import DAOTestSupport
import Testing

@testable import DAOKeyValue

/// Entries of indexes that are written after the rows of a call.
@Suite struct LaterEntriesTests {
    private struct Parcel: Plain, Model, Equatable {
        var id: Int
        var code: String?
        var place: String
        var weight: Double?
        var tags: [String]
        static let schema = Schema(
            "parcel", Self.init, Field("id", \.id, .primaryKey), Field("code", \.code, .unique),
            Field("place", \.place, .indexed),
            Field("weight", \.weight), Field("tags", \.tags),
            indexes: [
                Index(orderedBy: .descending(\.weight), .ascending(\.place)), Index(elements: \.tags),
                Index(\.place, \.id, where: { $0.weight > 5 }),
            ])

        /// The places begin alike, so that their first bytes do not order them; two tags of a row are the same.
        static func make(_ id: Int) -> Parcel {
            let tags = (0..<id % 4).map { "tag \((id + $0 * 7) % 5)" }
            return Parcel(
                id: id, code: id % 3 == 0 ? nil : "code \(id)", place: "the same long beginning \(id * 7919 % 50)",
                weight: id % 7 == 0 ? nil : Double(id * 31 % 23), tags: tags + tags.prefix(1))
        }
    }

    /// The same rows without an index.
    private struct Plainer: Plain, Model {
        var id: Int
        var code: String?
        var place: String
        var weight: Double?
        var tags: [String]
        static let schema = Schema(
            "parcel", Self.init, Field("id", \.id, .primaryKey), Field("code", \.code), Field("place", \.place),
            Field("weight", \.weight), Field("tags", \.tags))
    }

    private struct Tagged: Plain, Model {
        var id: Int
        var tags: [String]
        var place = ""
        var marks: [String] = []
        static let schema = Schema(
            "tagged", Self.init, Field("id", \.id, .primaryKey), Field("tags", \.tags), Field("place", \.place, .indexed),
            Field("marks", \.marks), indexes: [Index(elements: \.tags), Index(elements: \.marks), Index(\.place, \.id)])
    }

    private let rows = (0..<1000).map(Parcel.make)

    /// Stores rows in calls of some length, and returns the entries of the store.
    private func entries(inCallsOf length: Int) throws -> [StoredEntry] {
        let store = SortedArrayStore()
        let storage = try KeyValueDatabase(store: store).storage(for: Parcel.self)
        var random = SeededGenerator(seed: 1)
        let shuffled = rows.shuffled(using: &random)
        for start in stride(from: 0, to: rows.count, by: length) {
            try storage.insert(Array(shuffled[start..<min(start + length, rows.count)]))
        }
        // Every database has an identity of its own.
        let identity = Keyspace.catalog.prefix + [UInt8(ascii: "F")]
        return try store.entries().filter { Array($0.key) != identity }
    }

    private func isEqual(_ left: [StoredEntry], _ right: [StoredEntry]) -> Bool {
        left.count == right.count && zip(left, right).allSatisfy { $0.key == $1.key && $0.value == $1.value }
    }

    @Test func theyAreThoseOfRowsOneByOne() throws {
        let few = try entries(inCallsOf: 10)
        #expect(few.count > 5 * rows.count)
        for length in [LaterEntries.manyRows, rows.count] {
            let same = try isEqual(entries(inCallsOf: length), few)
            #expect(same, "calls of \(length) rows")
        }
    }

    @Test func newIndexesHaveThoseOfTheirRows() throws {
        let store = SortedArrayStore()
        let earlier = try KeyValueDatabase(store: store)
        try earlier.storage(for: Plainer.self).insert(
            rows.map { Plainer(id: $0.id, code: $0.code, place: $0.place, weight: $0.weight, tags: $0.tags) })
        let database = try KeyValueDatabase(store: store)
        let stored = try database.storage(for: Parcel.self).read(Query())
        #expect(stored == rows)
        let report = try database.verify()
        #expect(report.isSound, "\(report)")
    }

    @Test func aCallThatFailsLeavesNone() throws {
        let store = SortedArrayStore()
        let database = try KeyValueDatabase(store: store)
        let storage = try database.storage(for: Parcel.self)
        try storage.insert([rows[999]])
        let before = try store.entries()
        #expect(errorKind { try storage.insert(rows) } == .duplicateKey)
        try database.transaction {
            #expect(errorKind { try storage.insert(rows) } == .duplicateKey)
            try storage.insert([rows[1]])
            _ = try storage.erase(keys: [.integer(1)])
        }
        let same = try isEqual(store.entries(), before)
        #expect(same)
    }

    @Test func manyBytesAreWrittenBeforeTheEnd() throws {
        let tags = (0..<100).map { "\($0)" + String(repeating: "-", count: 240) }
        // 25 MB of entries.
        let wanted = tags[50] + "7"
        let rows = (0..<1000).map { row in
            Tagged(id: row, tags: tags.map { $0 + "\(row % 10)" }, place: "place \(row)", marks: ["\(row % 3)", "m\(row)"])
        }
        let database = try KeyValueDatabase(store: MemoryStore())
        let storage = try database.storage(for: Tagged.self)
        try storage.insert(rows)
        let report = try database.verify()
        #expect(report.isSound, "\(report)")
        #expect(try storage.count(Query(where: Condition<Tagged> { $0.tags.contains(wanted) })) == 100)
        // Every index has all of its entries, those before the first part was written and those after it, and no other ones.
        for row in rows {
            #expect(try storage.keys(Query(where: Condition<Tagged> { $0.place == row.place })) == [.integer(Int64(row.id))])
            #expect(
                try storage.keys(Query(where: Condition<Tagged> { $0.marks.contains("m\(row.id)") })) == [.integer(Int64(row.id))]
            )
        }
        #expect(try storage.count(Query(where: Condition<Tagged> { $0.marks.contains("1") })) == 333)
    }
}
