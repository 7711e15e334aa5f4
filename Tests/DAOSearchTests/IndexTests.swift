import DAOCore
import DAOLMDB
import DAOMemory
import DAOSQLite
import DAOTestSupport
import Foundation
import Testing

@testable import DAOSearch

/// S8: the index for searches, below what the suite of the contract sees.
@Suite("S8 · The index for searches") struct IndexTests {
    private struct Undo: Error {}

    /// Runs calls, and undoes them.
    private func undoing(_ database: any Database, _ body: () throws -> Void) throws {
        do {
            try database.transaction {
                try body()
                throw Undo()
            }
        } catch is Undo {}
    }

    private func open(_ scheme: String, _ place: Place) throws -> (any Database, DAO<Page>) {
        let path = scheme == "memory:" ? "" : place.path("index.db")
        let database = try DatabaseDrivers(.memory, .sqlite, .lmdb).open(scheme + path)
        return (database, DAO(storage: try database.storage(for: Page.self)))
    }

    private func text(_ generator: inout SeededGenerator, _ most: Int) -> String {
        (0..<Int.random(in: 0...most, using: &generator)).map { _ in
            // Few words are frequent, many are rare.
            let rank = Int(exp(Double.random(in: 0..<6, using: &generator)))
            return "w\(rank)"
        }.joined(separator: " ")
    }

    /// Large merges go on in slices: a search sees what is merged and what is not in each state between.
    @Test(arguments: ["memory:", "sqlite:", "lmdb:"])
    func searchesSeeWhatIsBeingMerged(_ scheme: String) throws {
        let place = Place()
        let (database, pages) = try open(scheme, place)
        let rows = try IndexRows(database)
        var generator = SeededGenerator(seed: 3)
        var (merging, most, number) = (0, 0, 0)
        var texts: [Int: String] = [:]
        for round in 0..<300 {
            try database.transaction {
                let new = (0..<8).map { _ -> Page in
                    number += 1
                    return Page(id: number, text: text(&generator, 60))
                }
                try pages.create(new)
                for page in new { texts[page.id] = page.text }
                let gone = texts.keys.sorted().shuffled(using: &generator).prefix(3)
                try pages.erase(byPrimaryKeys: gone.map { UniqueID(value: $0) })
                for id in gone { texts[id] = nil }
            }
            let segments = try rows.segments(of: 1)
            most = max(most, segments.count)
            guard segments.contains(where: { $0.inputs != nil }) || round == 299 else { continue }
            merging += 1
            let stored = texts.sorted { $0.key < $1.key }.map { (key: Key.integer(Int64($0.key)), texts: [[$0.value]]) }
            for query in ["w1", "w2 w3", "w40", "\"w1 w2\"", "w1*", "NOT w1", "w300"] {
                let expected = SearchQuery(query).found(in: stored, weights: [1])
                let hits = try pages.search(query, limit: 10_000)
                #expect(hits.map { Key.integer(Int64($0.value.id)) } == expected.map(\.key), "\(scheme) \(query), round \(round)")
                #expect(hits.map(\.score) == expected.map(\.score))
            }
        }
        #expect(merging > 5, "states in the middle of a merge")
        #expect(most <= 60, "segments at one time")
        #expect(try database.verify().isSound)
    }

    /// What is damaged in the index is an error, or a wrong answer, and never ends the process.
    @Test func aDamagedIndexIsAnError() throws {
        let place = Place()
        let (database, pages) = try open("memory:", place)
        let rows = try IndexRows(database)
        var generator = SeededGenerator(seed: 9)
        for start in 0..<40 {
            try pages.create((0..<10).map { Page(id: start * 10 + $0 + 1, text: text(&generator, 40)) })
            if start % 3 == 0 { try pages.erase(byPrimaryKey: start * 10 + 1) }
        }
        let (blocks, segments, numbers) = (
            try rows.blocks.read(Query()), try rows.segments.read(Query()), try rows.numbers.read(Query())
        )
        var errors = 0
        for _ in 0..<1500 {
            try undoing(database) {
                let numberValues: [Int64] = [0, -1, 1, .max, .min, 1 << 40, 1 << 41]
                let value = numberValues.randomElement(using: &generator)!
                switch Int.random(in: 0..<4, using: &generator) {
                case 0, 1:
                    var block = blocks.randomElement(using: &generator)!
                    for _ in 0..<Int.random(in: 1...4, using: &generator) {
                        let index = block.content.indices.randomElement(using: &generator)!
                        block.content[index] = UInt8.random(in: 0...255, using: &generator)
                    }
                    if Bool.random(using: &generator) {
                        block.content.removeLast(Int.random(in: 0...block.content.count / 2, using: &generator))
                    }
                    try rows.blocks.upsert([block])
                case 2:
                    var segment = segments.randomElement(using: &generator)!
                    switch Int.random(in: 0..<8, using: &generator) {
                    case 0: segment.first = value
                    case 1: segment.end = value
                    case 2: segment.rows = Int(value)
                    case 3: segment.words = Int(value)
                    case 4: segment.erased = Int(value)
                    case 5: segment.size = Int(value)
                    case 6: segment.inputs = ["", "1 2", "x", "\(segment.id)"].randomElement(using: &generator)!
                    default: (segment.term, segment.number) = ("w2", value)
                    }
                    try rows.segments.upsert([segment])
                default:
                    var number = numbers.randomElement(using: &generator)!
                    if Bool.random(using: &generator) {
                        number.length = Int(value)
                    } else {
                        number.owner = ["1:", "1:x", "", "é"].randomElement(using: &generator)!
                    }
                    try rows.numbers.upsert([number])
                }
                func attempt(_ body: () throws -> Void) {
                    do {
                        try body()
                    } catch let error as StorageError {
                        errors += 1
                        let isTyped = [.corrupted, .corruptedValue, .invalidKey, .duplicateKey].contains(error.kind)
                        #expect(isTyped, "\(error)")
                    } catch {
                        Issue.record("an error without a type: \(error)")
                    }
                }
                for query in ["w1", "w2 OR w3*", "\"w1 w2\"", "NOT w1"] { attempt { _ = try pages.search(query, limit: 5) } }
                attempt { _ = try pages.searchCount(SearchQuery("w1"), where: Condition { $0.id > 100 }) }
                attempt { try pages.create((1001...1040).map { Page(id: $0, text: "w1 w2 w3 w\($0)") }) }
                attempt { try pages.erase { $0.id < 50 } }
            }
        }
        #expect(errors > 500)
        #expect(try database.verify().isSound)
    }

    /// A damaged index is found, and made again.
    @Test func verifyFindsADamagedIndex() throws {
        let place = Place()
        let (database, pages) = try open("sqlite:", place)
        let rows = try IndexRows(database)
        try pages.create((1...50).map { Page(id: $0, text: "word w\($0)") })
        #expect(try database.verify().isSound)
        var block = try rows.blocks.read(Query())[0]
        block.content.removeLast(3)
        try rows.blocks.upsert([block])
        let report = try database.verify()
        #expect(report.problems.contains { $0.kind == .corrupted && $0.message.contains("rebuildSearchIndex") })
        try pages.rebuildSearchIndex()
        #expect(try database.verify().isSound)
        #expect(try pages.search("w7", limit: 9).map(\.value.id) == [7])
    }

    /// What a search costs follows what it finds, and not how many rows there are.
    @Test func aRareWordReadsFewBlocks() throws {
        let place = Place()
        let (database, pages) = try open("memory:", place)
        let rows = try IndexRows(database)
        var generator = SeededGenerator(seed: 4)
        for start in 0..<30 { try pages.create((0..<100).map { Page(id: start * 100 + $0 + 1, text: text(&generator, 40)) }) }
        try pages.create(Page(id: 9999, text: "zebra"))
        let reader = TermReader(rows: rows, fields: 1)
        let segments = try rows.segments(of: 1)
        let all = try rows.blocks.count(Query())
        let read = try segments.reduce(0) { $0 + (try reader.blocks(of: Array("zebra".utf8), in: $1).count) }
        #expect(read <= segments.count && all > 20 * segments.count)
    }
}

private struct Page: Model, Plain, Equatable {
    var id: Int
    var text: String

    static let schema = Schema("page", Self.init, Field("id", \.id, .primaryKey), Field("text", \.text, .searchable))
}
