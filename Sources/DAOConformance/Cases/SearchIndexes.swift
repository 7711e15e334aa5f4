import DAOCore
import DAOSearch
import DAOTestSupport
import Foundation

/// A part of the entity of leaflets, with one of the fields that are searched.
private struct LeafletHead: Plain, Model, Equatable {
    var id: Int
    var title: String

    static let schema = Schema(
        partOf: Leaflet.self, Self.init, Field("id", \.id, .primaryKey), Field("title", \.title))
}

/// The same entity in a build that does not search.
private struct SilentLeaflet: Plain, Model, Equatable {
    var id: Int
    var title: String
    var text: String
    var note: String?
    var tags: [String] = []

    static let schema = Schema(
        "leaflet", Self.init, Field("id", \.id, .primaryKey), Field("title", \.title), Field("text", \.text),
        Field("note", \.note),
        Field("tags", \.tags))
}

/// The same entity in a build that searches other fields, one of them under another name.
private struct TaggedLeaflet: Plain, Model, Equatable {
    var id: Int
    var title: String
    var body: String
    var note: String?
    var tags: [String] = []

    static let schema = Schema(
        "leaflet", Self.init, Field("id", \.id, .primaryKey), Field("title", \.title),
        Field("body", \.body, .renamed(from: "text"), .searchable), Field("note", \.note),
        Field("tags", \.tags, .searchable(weight: 2)))
}

/// Another entity that is searched, with text keys.
private struct Notice: Plain, Model, Equatable {
    var id: String
    var text: String

    static let schema = Schema("notice", Self.init, Field("id", \.id, .primaryKey), Field("text", \.text, .searchable))
}

/// A row with leaflets that go with it.
private struct LeafletStand: Plain, Model, Equatable {
    var id: Int
    var leaflets: [Leaflet]?

    static let schema = Schema(
        "stand", Self.init, Field("id", \.id, .primaryKey), Field("leaflets", \.leaflets, .owned, .cascade))
}

/// S8 and S9: searches find what is stored, however it was written.
enum SearchIndexes {
    private static let queries = [
        "red", "wine", "red wine", "red OR wine", "wine -red", "NOT red", "\"red wine\"", "wi*", "r*", "red NEAR/2 wine",
        "\"old r\"*",
        "tower OR 東京", "two",
    ]

    private static func texts(of leaflet: Leaflet) -> (key: Key, texts: [[String]]) {
        (.integer(Int64(leaflet.id)), [[leaflet.title], [leaflet.text], leaflet.note.map { [$0] } ?? [], leaflet.tags])
    }

    /// Compares searches with what they find in the rows that are read.
    private static func expectFound(_ leaflets: DAO<Leaflet>, _ what: String, limit: Int = 1000) throws {
        let rows = try leaflets.read().map(texts)
        for text in queries {
            let found = SearchQuery(text).found(in: rows, weights: [3, 1, 1, 1]).prefix(limit)
            let hits = try leaflets.search(text, limit: limit)
            try expectEqual(
                hits.map { Int64($0.value.id) }, found.map { id in id.key.number }, "what '\(text)' finds after \(what)")
            try expectEqual(hits.map(\.score), found.map(\.score), "the scores of '\(text)' after \(what)")
        }
    }

    private static func leaflet(_ id: Int, _ text: String, title: String = "x") -> Leaflet {
        Leaflet(id: id, title: title, text: text)
    }

    /// A leaflet with a few of a few words.
    private static func random(_ id: Int, _ generator: inout SeededGenerator) -> Leaflet {
        let words = ["red", "wine", "white", "tower", "old", "two", "東京", "rose", "wires"]
        func text(_ most: Int) -> String {
            (0..<Int.random(in: 0...most, using: &generator)).map { _ in words.randomElement(using: &generator) ?? "" }
                .joined(separator: " ")
        }
        return Leaflet(
            id: id, title: text(2), text: text(12), note: Bool.random(using: &generator) ? text(3) : nil,
            tags: (0..<Int.random(in: 0...2, using: &generator)).map { _ in text(2) })
    }

    static let cases: [ConformanceCase] = [
        ConformanceCase("S.everyWrite", "S8", "S9", title: "a search finds what each kind of call has written") { context in
            let (database, leaflets) = try context.open(with: Leaflet.self)
            func check(_ what: String, _ call: () throws -> Void) throws {
                try call()
                try expectFound(leaflets, what)
            }
            try check("nothing") {}
            try check("create") { try leaflets.create(Leaflet.all) }
            try check("persist") { try leaflets.persist([leaflet(1, "white wine"), leaflet(8, "old red wires", title: "wine")]) }
            try check("persist of what is stored") { try leaflets.persist(leaflet(1, "white wine")) }
            try check("a repeated key") { try leaflets.persist([leaflet(2, "red"), leaflet(2, "red two two")]) }
            try check("set") { try leaflets.set(\.text, to: "a red red wine") { $0.id > 6 } }
            try check("set of another field to nil") { try leaflets.set(\.note, to: nil) { $0.id == 6 } }
            try check("update") { try leaflets.update(where: { $0.id < 3 }) { $0.tags = ["wine", "old red"] } }
            try check("update of nothing") { try leaflets.update(where: .all) { _ in } }
            try check("the first of an order") {
                try leaflets.update(orderedBy: .descending(\.id), limit: 1, where: .all) { $0.title = "tower" }
            }
            try check("an erasure") { try leaflets.erase(byPrimaryKey: 3) }
            try check("an erasure of a missing row") { try leaflets.erase(byPrimaryKeys: [3, 4, 99]) }
            try check("a row that returns") { try leaflets.create(leaflet(3, "wine and wine")) }
            try check("an erasure by a condition") { try leaflets.erase { $0.id > 6 } }
            struct Stop: Error {}
            try check("what is undone") {
                do {
                    try database.transaction {
                        try leaflets.create(leaflet(20, "red wine"))
                        try leaflets.erase(byPrimaryKey: 1)
                        try expectFound(leaflets, "writes of the transaction")
                        throw Stop()
                    }
                } catch is Stop {}
            }
            try check("a transaction that undoes a part") {
                try database.transaction {
                    try leaflets.create(leaflet(21, "red wine"))
                    do {
                        try database.transaction {
                            try leaflets.persist(leaflet(21, "tower"))
                            throw Stop()
                        }
                    } catch is Stop {}
                    try leaflets.persist(leaflet(22, "old red rose"))
                }
            }
            try check("a call that fails") {
                try expectKind(.duplicateKey, "create") { try leaflets.create([leaflet(30, "red"), leaflet(21, "red")]) }
            }
            try check("an erasure of all") { try leaflets.erase() }
            try check("a row after all") { try leaflets.create(leaflet(1, "red wine")) }
            if database.capabilities.hasEvolution {
                try expectEqual(try database.verify().problems.map(\.message), [], "problems")
            }
        },
        ConformanceCase(
            "S.countsOfRows", "S8", "S9", title: "any number of rows that one call changes or erases is searched as it is then"
        ) { context in
            let (database, leaflets) = try context.open(with: Leaflet.self)
            for count in [499, 500, 501, 1001] {
                try leaflets.create((1...count).map { leaflet($0, "red") })
                try leaflets.set(\.text, to: "blue") { $0.id > 0 }
                try expectEqual(try leaflets.searchCount("red"), 0, "\(count) rows whose word was set")
                try expectEqual(try leaflets.searchCount("blue"), count, "\(count) rows whose word was set")
                try leaflets.persist((1...count).map { leaflet($0, "white") })
                try expectEqual(try leaflets.searchCount("blue"), 0, "\(count) rows that were replaced")
                try leaflets.erase { $0.id > 0 }
                try expectEqual(try leaflets.searchCount("white"), 0, "\(count) rows that were erased")
                try database.expectVerified()
            }
        },
        ConformanceCase(
            "S.othersWrite", "S8", "S9", "E7", title: "a search finds what other models and rows without types have written"
        ) {
            context in
            var database = try context.open()
            var leaflets = try database.dao(Leaflet.self)
            try leaflets.create(Leaflet.all)
            let notices = try database.dao(Notice.self)
            try notices.create((1...9).map { Notice(id: "\($0):é", text: "red wine \($0)") })
            try expectFound(leaflets, "another entity that is searched")
            try notices.erase { $0.id < "5" }
            try expectEqual(
                try notices.search("red -7", limit: 9).map(\.value.id), ["5:é", "6:é", "8:é", "9:é"], "what is found there")
            let heads = try database.dao(LeafletHead.self)
            try heads.persist([LeafletHead(id: 1, title: "wine"), LeafletHead(id: 2, title: "Red car")])
            try expectFound(leaflets, "a part that persists")
            try heads.set(\.title, to: "old red tower") { $0.id == 5 }
            try heads.erase(byPrimaryKey: 4)
            try expectFound(leaflets, "a part that sets and erases")
            let stands = try database.dao(LeafletStand.self)
            try stands.create(
                LeafletStand(id: 1, leaflets: [leaflet(1, "two towers"), leaflet(40, "red wine"), leaflet(41, "rose")]))
            try expectFound(leaflets, "a row with leaflets")
            try stands.persist(LeafletStand(id: 1, leaflets: [leaflet(40, "white wine")]))
            try expectFound(leaflets, "a row that loses leaflets")
            try stands.erase(byPrimaryKey: 1)
            try expectFound(leaflets, "an erasure that cascades")
            guard database.capabilities.hasEvolution else { return }
            try context.renew(&database)
            let silent = try database.dao(SilentLeaflet.self)
            try silent.create(SilentLeaflet(id: 50, title: "tower", text: "red wine", tags: ["two"]))
            try silent.set(\.text, to: "wires") { $0.id == 2 }
            try silent.erase(byPrimaryKey: 7)
            try context.renew(&database)
            leaflets = try database.dao(Leaflet.self)
            try expectFound(leaflets, "a build that does not search")
            let rows = try database.rows(of: "leaflet")
            try rows.persist([
                ["id": .integer(60), "title": .string("red"), "text": .string("rose wine"), "tags": .string("[\"two\"]")]
            ])
            try rows.erase(byPrimaryKey: 5)
            try expectFound(leaflets, "rows without types")
            for text in queries {
                let (hits, found) = (try leaflets.search(text, limit: 3), try rows.search(text, limit: 3))
                try expectEqual(
                    found.map(\.value.key), hits.map { UniqueID(value: $0.value.id) }, "what '\(text)' finds without types")
                try expectEqual(found.map(\.score), hits.map(\.score), "its scores")
                try expectEqual(
                    try rows.searchCount(text, where: "id > 2"), try leaflets.searchCount(text, where: Condition { $0.id > 2 }))
            }
            let page = try rows.searchPage(SearchQuery("red OR wine"), limit: 2, where: "id > 1")
            let next = try rows.searchPage(SearchQuery("red OR wine"), limit: 100, after: page.next, where: "id > 1")
            try expectEqual(
                (page.hits + next.hits).map(\.value.key),
                try leaflets.search("red OR wine", limit: 100) { $0.id > 1 }.map { UniqueID(value: $0.value.id) },
                "pages without types")
            try expectKind(.invalidQuery, "a limit of 0 without types") { try rows.search("red", limit: 0) }
            try expectKind(.invalidQuery, "rows without a searchable field") {
                try database.rows(of: "stand").search("red", limit: 1)
            }
            try expectEqual(try database.verify().problems.map(\.message), [], "problems")
        },
        ConformanceCase(
            "S.manyWrites", "S8", "S9", title: "a search finds what hundreds of small writes have left, in every reopened state"
        ) {
            context in
            var database = try context.open()
            var leaflets = try database.dao(Leaflet.self)
            var generator = SeededGenerator(seed: 5)
            var stored: Set<Int> = []
            for round in 1...250 {
                try database.transaction {
                    let gone = stored.sorted().shuffled(using: &generator).prefix(Int.random(in: 0...3, using: &generator))
                    try leaflets.erase(byPrimaryKeys: gone.map { UniqueID(value: $0) })
                    stored.subtract(gone)
                    let next = (0..<Int.random(in: 0...6, using: &generator)).map { _ in
                        Int.random(in: 1...400, using: &generator)
                    }
                    try leaflets.persist(next.map { random($0, &generator) })
                    stored.formUnion(next)
                }
                if round % 50 == 0 {
                    try expectFound(leaflets, "\(round) writes", limit: round % 100 == 0 ? 10 : 1000)
                    if round % 150 == 0, database.capabilities.isPersistent {
                        database = try context.reopen(database)
                        leaflets = try database.dao(Leaflet.self)
                    }
                }
            }
            try expectFound(leaflets, "all writes")
            if database.capabilities.hasEvolution {
                try expectEqual(try database.verify().problems.map(\.message), [], "problems")
            }
        },
        ConformanceCase(
            "S.besideWriters", "S8", "N7",
            title: "transactions that store the same words beside each other do not meet in the index"
        ) { context in
            let (database, leaflets) = try context.open(with: Leaflet.self)
            try leaflets.create(Leaflet.all)
            // Stores only: two of them have no conflict.
            try onThreads(4) { thread in
                for round in 0..<12 {
                    let id = 100 + thread * 20 + round
                    try database.transaction {
                        try leaflets.create(leaflet(id, "old red wine of the tower", title: "wine"))
                        try leaflets.create(leaflet(id + 1000, "old red wine, thread \(thread)"))
                    }
                }
            }
            try expectFound(leaflets, "four writers")
            // Those that erase and change can meet in the table itself.
            try onThreads(4) { thread in
                for round in 0..<12 {
                    let id = 100 + thread * 20 + round
                    try database.transaction(retrying: 200) {
                        if round % 3 == 0 { try leaflets.erase(byPrimaryKey: id) }
                        try leaflets.persist(leaflet(id + 1000, round % 2 == 0 ? "a red tower" : "old wine"))
                    }
                }
            }
            try expectFound(leaflets, "four that change rows")
            try leaflets.persist((1...40).map { leaflet($0, "red wires") })
            try expectFound(leaflets, "a call after them")
            if database.capabilities.hasEvolution {
                try expectEqual(try database.verify().problems.map(\.message), [], "problems")
            }
        },
        ConformanceCase(
            "S.madeLater", "S8", "E2", "E5",
            title: "rows that were stored before a search, migrated, dropped or copied are found",
            requires: [.evolution]
        ) { context in
            var database = try context.open()
            let silent = try database.dao(SilentLeaflet.self)
            try silent.create(
                Leaflet.all.map { SilentLeaflet(id: $0.id, title: $0.title, text: $0.text, note: $0.note, tags: $0.tags) })
            try context.renew(&database)
            var leaflets = try database.dao(Leaflet.self)
            try expectFound(leaflets, "a declaration")
            try database.evolve(
                Evolution(
                    version: 1,
                    migrations: [
                        Migration(to: 1) { step in
                            try step.forEachRow(of: "leaflet") { row in
                                row["text"] = .string("old red wine")
                                if row["id"] == .integer(3) { row.erase() }
                            }
                            try step.insert(
                                [["id": .integer(90), "title": .string("tower"), "text": .string("red"), "tags": .string("[]")]],
                                into: "leaflet")
                        }
                    ], models: [Leaflet.self]))
            leaflets = try database.dao(Leaflet.self)
            try expectFound(leaflets, "a migration")
            let (other, _) = try context.openOther(with: Item.self)
            try database.copy(to: other)
            try expectFound(try other.dao(Leaflet.self), "a copy")
            try expectEqual(try other.verify().problems.map(\.message), [], "problems of the copy")
            try context.renew(&database)
            let tagged = try database.dao(TaggedLeaflet.self)
            try tagged.create(TaggedLeaflet(id: 95, title: "red", body: "rose", tags: ["wine"]))
            let rows = try tagged.read().map { row in
                (key: Key.integer(Int64(row.id)), texts: [[row.body], row.tags])
            }
            for text in queries {
                let found = SearchQuery(text).found(in: rows, weights: [1, 2])
                try expectEqual(
                    try tagged.search(text, limit: 100).map { Int64($0.value.id) }, found.map { $0.key.number },
                    "what '\(text)' finds in other fields")
            }
            try context.renew(&database)
            try database.evolve(
                Evolution(version: 2, migrations: [Migration(to: 2) { try $0.dropEntity("leaflet") }], models: []))
            leaflets = try database.dao(Leaflet.self)
            try leaflets.create(leaflet(1, "red wine"))
            try expectFound(leaflets, "an entity that returns")
            try expectEqual(try database.verify().problems.map(\.message), [], "problems")
        },
        ConformanceCase(
            "S.verified", "S9", title: "verify finds rows that were written past the index, and making it again mends it",
            requires: [.evolution]
        ) { context in
            let (database, leaflets) = try context.open(with: Leaflet.self)
            try leaflets.create(Leaflet.all)
            guard try database.entities().contains(where: { $0.name == "dao_search_indexes" }) else { return }
            try expectEqual(try database.verify().problems.map(\.message), [], "problems")
            try database.withEntityStore(.write) { store in
                guard let entity = try store.entity(named: "leaflet"), let text = entity.index(of: "text") else { return }
                var rows: [[Value]] = []
                try store.forEachRow(of: "leaflet", after: nil) { key, values in
                    if key == .integer(1) || key == .integer(2) { rows.append(values) }
                    return true
                }
                rows[0][text] = .string("green")
                rows[1][entity.keyIndex] = .integer(77)
                try store.store(rows, in: "leaflet", replaces: true)
                try store.erase([.integer(3)], from: "leaflet")
            }
            let problems = try database.verify().problems
            try expectEqual(problems.map(\.kind), [.corrupted, .corrupted, .corrupted], "problems after writes past the library")
            try expectEqual(Set(problems.compactMap(\.key?.rawValue)), ["1", "3", "77"], "their keys")
            try leaflets.rebuildSearchIndex()
            try expectEqual(try database.verify().problems.map(\.message), [], "problems afterwards")
            try expectFound(leaflets, "an index that was made again")
        },
    ]
}

extension Key {
    /// The number of an integer key.
    fileprivate var number: Int64 { if case .integer(let number) = self { number } else { -1 } }
}
