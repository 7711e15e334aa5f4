import DAOCore
import DAOLMDB
import DAOMemory
import DAOPostgres
import DAOSQLite
import DAOTestSupport
import Foundation
import Testing

@testable import DAOSearch

/// Generated texts of the world's scripts, generated writes and generated queries: each database finds what the reference finds, which
/// reads the texts of all rows. `ROUNDS` says how many writes of each database are followed by queries, `SEED` repeats a run.
@Suite(.serialized, .timeLimit(.minutes(600))) struct SearchScriptTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let server = environment["DAO_POSTGRES_URL"]
    private static let schemes = ["memory", "sqlite", "lmdb"] + (server == nil ? [] : ["postgres"])

    @Test(arguments: schemes) func searchesFindWhatTheReferenceFinds(_ scheme: String) throws {
        let rounds = Self.environment["ROUNDS"].flatMap(Int.init) ?? (scheme == "postgres" ? 20 : 60)
        let seed = Self.environment["SEED"].flatMap(UInt64.init) ?? 1
        let drivers = DatabaseDrivers(.memory, .sqlite, .lmdb, .postgres)
        let (compared, time) = (Counter(), ContinuousClock())
        let start = time.now
        // A new database every hundred rounds: small ones have other segments than large ones.
        for first in stride(from: 0, to: rounds, by: 100) {
            let place = Place()
            let url =
                switch scheme {
                case "memory": "memory:"
                case "postgres": "\(Self.server ?? "")?schema=search-\(UUID().uuidString.lowercased())"
                default: "\(scheme):\(place.path("scripts.db"))?durability=relaxed"
                }
            let database = try drivers.open(url)
            defer { if scheme == "postgres" { try? PostgresDatabase.dropSchema(of: database.configuration) } }
            defer { try? database.close() }
            var script = Script(SeededGenerator(seed: seed &+ UInt64(first)), try DAO(storage: database.storage(for: Scrap.self)))
            for round in first..<min(first + 100, rounds) {
                try script.write()
                for query in script.queries() {
                    let difference = try script.difference(query)
                    #expect(difference == nil, "SEED=\(seed) \(scheme), round \(round): '\(query)': \(difference ?? "")")
                    compared.add(script.count)
                    if difference != nil { return }
                }
            }
            #expect(try database.verify().isSound)
        }
        print("\(scheme): \(compared.value) texts were compared with queries in \(time.now - start)")
    }

    private final class Counter {
        private(set) var value = 0
        func add(_ count: Int) { value += count }
    }
}

/// A row with two searchable fields.
private struct Scrap: Model, Plain, Equatable {
    var id: UUID
    var text: String
    var tags: [String]
    var number: Int

    static let schema = Schema(
        "scrap", Self.init, Field("id", \.id, .primaryKey), Field("text", \.text, .searchable),
        Field("tags", \.tags, .searchable(weight: 4)),
        Field("number", \.number, .indexed))
}

/// Writes rows, makes queries, and compares what they find.
private struct Script {
    private var generator: SeededGenerator
    private let scraps: DAO<Scrap>
    private var stored: [UUID: Scrap] = [:]

    init(_ generator: SeededGenerator, _ scraps: DAO<Scrap>) { (self.generator, self.scraps) = (generator, scraps) }

    /// The number of rows.
    var count: Int { stored.count }

    private static let words = [
        "red", "Red", "wine", "wines", "e-mail", "don't", "3.14", "1,000", "x_y", "Straße", "strasse", "Café", "cafe\u{301}",
        "naïve", "Ελλάδα", "ΟΔΟΣ",
        "οδός", "Ёлка", "елка", "Єгипет", "שָׁלוֹם", "שלום", "مِصْر", "مصر", "埃及", "東京都", "京都", "エジプト", "ガク", "カク", "かな", "がな", "한국어",
        "한국",
        "각", "가", "ภาษาไทย", "น้ำ", "ລາວ", "ភាសា", "मराठी", "தமிழ்", "👩‍👩‍👧", "❤️", "²³", "ǅ", "ﬁne", "İstanbul", "ıstanbul", "a.b", "a:b",
        "אב\"ג",
    ]
    private static let separators = [" ", " ", " ", ", ", "-", "\n", "。", "", "\u{200D}", " \u{301}", "(", "\"", "*"]

    private mutating func text(_ most: Int) -> String {
        var text = ""
        for _ in 0..<Int.random(in: 0...most, using: &generator) {
            // Some words are frequent.
            let place = Double.random(in: 0..<1, using: &generator)
            text += Self.words[Int(place * place * Double(Self.words.count))]
            text += Self.separators.randomElement(using: &generator) ?? " "
        }
        return text
    }

    private mutating func scrap(_ id: UUID? = nil) -> Scrap {
        Scrap(
            id: id ?? generator.uuid(), text: text(20), tags: (0..<Int.random(in: 0...3, using: &generator)).map { _ in text(3) },
            number: Int.random(in: 0..<10, using: &generator))
    }

    private mutating func some(_ most: Int) -> [UUID] {
        let ids = stored.keys.sorted { $0.uuidString < $1.uuidString }
        return (0..<Int.random(in: 0...most, using: &generator)).compactMap { _ in ids.randomElement(using: &generator) }
    }

    /// One transaction of a few calls.
    mutating func write() throws {
        var next = stored
        try scraps.storage.database.transaction {
            for _ in 0..<Int.random(in: 1...3, using: &generator) {
                switch Int.random(in: 0..<8, using: &generator) {
                case 0..<4:
                    let new = (0..<Int.random(in: 1...12, using: &generator)).map { _ in scrap() }
                    try scraps.create(new)
                    for row in new { next[row.id] = row }
                case 4:
                    let changed = some(4).filter { next[$0] != nil }.map { scrap($0) }
                    try scraps.persist(changed)
                    for row in changed { next[row.id] = row }
                case 5:
                    let gone = some(6)
                    try scraps.erase(byPrimaryKeys: gone.map { UniqueID($0) })
                    for id in gone { next[id] = nil }
                case 6:
                    let (number, new) = (Int.random(in: 0..<10, using: &generator), text(6))
                    try scraps.set(\.text, to: new) { $0.number == number }
                    for (id, row) in next where row.number == number {
                        next[id] = Scrap(id: row.id, text: new, tags: row.tags, number: number)
                    }
                default:
                    let number = Int.random(in: 0..<40, using: &generator)
                    try scraps.erase { $0.number == number }
                    next = next.filter { $0.value.number != number }
                }
            }
        }
        stored = next
    }

    /// Queries as people and programs write them, with what nobody would write.
    mutating func queries() -> [String] {
        (0..<6).map { _ in
            var query = ""
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                let word = Self.words.randomElement(using: &generator) ?? ""
                let other = Self.words.randomElement(using: &generator) ?? ""
                switch Int.random(in: 0..<12, using: &generator) {
                case 0..<4: query += "\(word) "
                case 4:
                    query += "\(word.unicodeScalars.prefix(Int.random(in: 1...3, using: &generator)).map(String.init).joined())* "
                case 5: query += "\"\(word) \(other)\" "
                case 6: query += "\(word) OR \(other) "
                case 7: query += "-\(word) "
                case 8: query += "\(word) NEAR/\(Int.random(in: 0...6, using: &generator)) \(other) "
                case 9: query += "(\(word) \(other)) OR NOT \(word) "
                case 10: query += "\"\(word) \(other.unicodeScalars.prefix(1).map(String.init).joined())\"* "
                default: query += text(2)
                }
            }
            return query
        }
    }

    /// Returns in what a search differs from the reference; nil when it does not.
    mutating func difference(_ text: String) throws -> String? {
        let query = SearchQuery(text)
        let rows = stored.values.sorted { Key.uuid($0.id) < Key.uuid($1.id) }.map {
            (key: Key.uuid($0.id), texts: [[$0.text], $0.tags])
        }
        let found = query.found(in: rows, weights: [1, 4])
        let limit = Int.random(in: 1...30, using: &generator)
        let page = try scraps.searchPage(query, limit: limit)
        if page.hits.map({ Key.uuid($0.value.id) }) != found.prefix(limit).map(\.key)
            || page.hits.map(\.score) != found.prefix(limit).map(\.score)
        {
            return "\(page.hits.map { ($0.value.id, $0.score) }) instead of \(found.prefix(limit))"
        }
        if let next = page.next {
            let rest = try scraps.searchPage(query, limit: 1000, after: next).hits.map { Key.uuid($0.value.id) }
            if rest != found.dropFirst(limit).map(\.key) { return "the pages after \(limit) rows" }
        }
        let number = Int.random(in: 0..<10, using: &generator)
        let some = try scraps.search(query, limit: 1000, where: Condition { $0.number > number }).map { Key.uuid($0.value.id) }
        let numbers = stored
        let expected = found.map(\.key).filter { key in
            if case .uuid(let id) = key { (numbers[id]?.number ?? 0) > number } else { false }
        }
        if some != expected { return "with a condition: \(some) instead of \(expected)" }
        return try scraps.searchCount(query) == found.count ? nil : "the number"
    }
}

extension SeededGenerator {
    fileprivate mutating func uuid() -> UUID {
        var words = (next(), next())
        return withUnsafeBytes(of: &words) { UUID(uuid: $0.load(as: uuid_t.self)) }
    }
}
