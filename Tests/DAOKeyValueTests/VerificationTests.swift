import DAOCore
import DAOExamples
import DAOTestSupport
import Foundation
import Testing

@testable import DAOKeyValue

/// Contract L9: every stored entry that is damaged, missing or too many is reported.
@Suite struct VerificationTests {
    private struct Tag: Plain, Model, Equatable {
        var id: String
        var rank: Int?
        static let schema = Schema("tag", Self.init, Field("id", \.id, .primaryKey), Field("rank", \.rank))
    }

    private struct Page: Plain, Model, Equatable {
        var id: Int
        var title: String
        var rank: Int?
        var cover: Tag?
        var tags: [Tag]
        static let schema = Schema(
            "page", Self.init, Field("id", \.id, .primaryKey), Field("title", \.title, .unique),
            Field("rank", \.rank, .indexed), Field("cover", \.cover, .owned), Field("tags", \.tags, .linked),
            indexes: [Index(orderedBy: .descending(\.rank), .ascending(\.title))])
    }

    private func opened(_ entries: [StoredEntry]) throws -> (database: KeyValueDatabase, store: SortedArrayStore) {
        let store = try SortedArrayStore.containing(entries)
        return (try KeyValueDatabase(store: store), store)
    }

    private func whole() throws -> [StoredEntry] {
        let (database, store) = try opened([])
        let pages = DAO(storage: try database.storage(for: Page.self))
        let long = String(repeating: "x", count: 250)
        try pages.create(
            (1...3).map { number in
                Page(
                    id: number, title: "page \(number)", rank: number == 2 ? nil : number,
                    cover: number == 3 ? nil : Tag(id: "a", rank: 1), tags: [Tag(id: "a", rank: 1), Tag(id: long, rank: nil)])
            })
        return try store.entries()
    }

    /// The entries of the catalog begin with a zero; what is damaged there is found when the database is opened.
    private func isOfCatalog(_ entry: StoredEntry) -> Bool { entry.key.first == 0 }

    /// Expects that a verification reports something, with an entity.
    private func expectDamage(_ entries: [StoredEntry], _ what: String, sourceLocation: SourceLocation = #_sourceLocation) throws
    {
        let report = try opened(entries).database.verify()
        #expect(!report.isSound, "\(what)", sourceLocation: sourceLocation)
        #expect(
            report.problems.allSatisfy { $0.isDamage && $0.entity != nil }, "\(what): \(report)", sourceLocation: sourceLocation)
        #expect(report.problemCount == report.problems.count)
    }

    @Test func anUndamagedDatabaseIsSound() throws {
        let report = try opened(whole()).database.verify()
        #expect(report.isSound && report.rows == ["page": 3, "tag": 2], "\(report)")
        #expect(report.description == "5 rows in 2 entities, no problem")
    }

    @Test func everyMissingEntryIsReported() throws {
        let whole = try whole()
        for index in whole.indices where !isOfCatalog(whole[index]) {
            var rest = whole
            rest.remove(at: index)
            try expectDamage(rest, "without entry \(index): \(whole[index].key)")
        }
    }

    private struct Lot: Plain, Model, Equatable {
        var id: Int
        var place: String
        var price: Int?
        static let schema = Schema(
            "lot", Self.init, Field("id", \.id, .primaryKey), Field("place", \.place), Field("price", \.price),
            indexes: [Index(\.place, \.id, where: { $0.price > 5 })])
    }

    /// A partial index has the rows that meet its condition, and no other ones (contract Q9).
    @Test func anEntryOfARowThatDoesNotMeetTheConditionIsReported() throws {
        func entries(_ prices: [Int?]) throws -> [StoredEntry] {
            let (database, store) = try opened([])
            let lots = prices.enumerated().map { Lot(id: $0.offset, place: "p", price: $0.element) }
            try database.storage(for: Lot.self).insert(lots)
            return try store.entries()
        }
        let prices: [Int?] = [9, 7, 6]
        let whole = try entries(prices)
        #expect(try opened(whole).database.verify().isSound)
        for index in prices.indices {
            for other in [nil, 1, 5] as [Int?] {
                var changed = prices
                changed[index] = other
                let less = try entries(changed)
                #expect(try opened(less).database.verify().isSound)
                let known = Set(less.map(\.key))
                let left = whole.filter { !known.contains($0.key) }
                #expect(left.count == 1)
                try expectDamage(less + left, "lot \(index) with \(String(describing: other))")
                try expectDamage(whole.filter { !left.map(\.key).contains($0.key) }, "lot \(index) without its entry")
            }
        }
    }

    @Test func everyFlippedBitIsReported() throws {
        let whole = try whole()
        var flips = 0
        for index in whole.indices where !isOfCatalog(whole[index]) {
            let length = whole[index].key.count + whole[index].value.count
            // The keyspace is not flipped: it moves the entry to an entity that may not exist.
            for bit in stride(from: 8 + index % 3, to: length * 8, by: 3) {
                var damaged = whole
                if bit / 8 < whole[index].key.count {
                    damaged[index].key[bit / 8] ^= 1 << UInt8(bit % 8)
                } else {
                    damaged[index].value[bit / 8 - whole[index].key.count] ^= 1 << UInt8(bit % 8)
                }
                flips += 1
                try expectDamage(damaged, "bit \(bit) of entry \(index): \(whole[index].key)")
            }
        }
        #expect(flips > 500)
    }

    @Test func everySurplusEntryIsReported() throws {
        let whole = try whole()
        for index in whole.indices where !isOfCatalog(whole[index]) {
            var more = whole[index]
            // The last byte belongs to a key, or to a position.
            more.key[more.key.count - 1] ^= 0x40
            try expectDamage(whole + [more], "another entry \(more.key)")
        }
    }

    @Test func aRowWithoutItsEntryIsNamed() throws {
        let whole = try whole()
        let (database, _) = try opened(whole)
        let table = try database.read { try #require(try database.engine.table(named: "page", in: $0)) }
        let index = try #require(table.indexes.first { table.description(of: $0).fieldNames == "rank" })
        let position = try #require(
            whole.firstIndex { $0.key.starts(with: index.keyspace.prefix) && $0.key.last == 3 })
        var rest = whole
        rest.remove(at: position)
        let report = try opened(rest).database.verify()
        #expect(report.problemCount == 1)
        let problem = try #require(report.problems.first)
        #expect(problem.kind == .corrupted && problem.entity == "page" && problem.key == 3 && problem.field == "rank")
    }

    @Test func onlyTheFirstProblemsAreListed() throws {
        let (database, store) = try opened([])
        try database.storage(for: Tag.self).insert((0..<1500).map { (number: Int) in Tag(id: "\(number)", rank: number) })
        let damaged = try store.entries().map { entry -> StoredEntry in
            isOfCatalog(entry) ? entry : (entry.key, entry.value.dropLast() + [entry.value[entry.value.count - 1] ^ 1])
        }
        let report = try opened(damaged).database.verify()
        #expect(report.problemCount == 1500 && report.problems.count == VerificationReport.maximumProblemCount)
        #expect(report.rows == ["tag": 1500])
    }
}
