import DAOCore
import DAOSQLite
import DAOTestSupport
import Foundation
import Testing

/// JSON that other programs write into embedded fields, and rows from before the catalog knew what these contain.
@Suite struct EmbeddedJSONTests {
    private struct Card: Codable, FieldValue, Equatable {
        var words: Set<String>
        var score: Double
        var note: String?
    }

    private struct Deck: Plain, Model, Equatable {
        var id: Int
        var tags: [String] = []
        var marks: [Double]?
        var owners: [UUID] = []
        var card: Card?
        static let schema = Schema(
            "deck", Self.init, Field("id", \.id, .primaryKey), Field("tags", \.tags), Field("marks", \.marks),
            Field("owners", \.owners), Field("card", \.card))
    }

    private let place = Place()

    @Test func whatAnotherProgramWritesIsEqual() throws {
        let database = try place.database()
        let decks = DAO(storage: try database.storage(for: Deck.self))
        let owner = UUID()
        let card = Card(words: ["a", "é"], score: 2, note: nil)
        let deck = Deck(id: 1, tags: ["a", "é/"], marks: [1, 0.5], owners: [owner], card: card)
        try decks.create([deck, Deck(id: 3)])
        let raw = try Raw(place.path())
        try raw.run(
            """
            INSERT INTO deck VALUES (2, '[ "\\u0061", "\\u00e9\\/" ]', '[1.0,5e-1]', '["\(owner.uuidString.lowercased())"]',
            '{"words": ["a", "\\u00e9"], "score": 2.0}')
            """)
        for _ in 0..<2 {
            #expect(try decks.read { $0.tags == ["a", "é/"] }.map(\.id) == [1, 2])
            #expect(try decks.read { $0.tags != ["a", "é/"] }.map(\.id) == [3])
            #expect(try decks.read { $0.tags.in([["x"], ["a", "é/"]]) }.map(\.id) == [1, 2])
            #expect(try decks.read { $0.marks == [1, 0.5] }.map(\.id) == [1, 2])
            #expect(try decks.read { !($0.marks == [1, 0.5]) }.map(\.id) == [3])
            #expect(try decks.read { $0.owners == [owner] }.map(\.id) == [1, 2])
            #expect(try decks.read { $0.card == card }.map(\.id) == [1, 2])
            #expect(try decks.count { $0.card != card } == 1)
            var deep = Condition<Deck> { $0.card == card }
            // Too deep for SQL. The identifier in lower case is the same one.
            for _ in 0..<100 {
                deep = !(deep && Condition { $0.id == 9 }) && Condition { $0.card == card && $0.owners == [owner] }
            }
            #expect(try decks.read(predicatedBy: deep).map(\.id) == [1, 2])
            #expect(try database.verify().problems.isEmpty)
        }
        // An equal value is no change.
        try decks.update(where: { $0.id == 2 }) {
            ($0.tags, $0.marks, $0.owners, $0.card) = (["a", "é/"], [1, 0.5], [owner], card)
        }
        #expect(try raw.texts("SELECT tags FROM deck WHERE id = 2") == [#"[ "\u0061", "\u00e9\/" ]"#])
        // Rows are copied in the canonical form.
        let copy = try place.database("copy.db")
        try database.copy(to: copy)
        #expect(try Raw(place.path("copy.db")).texts("SELECT tags FROM deck WHERE id = 2") == [#"["a","é/"]"#])
        try copy.close()
        try database.close()
    }

    @Test func verifyFindsWhatTheFieldCannotRead() throws {
        let database = try place.database()
        let decks = DAO(storage: try database.storage(for: Deck.self))
        try decks.create((1...4).map { Deck(id: $0) })
        try Raw(place.path()).run(
            "UPDATE deck SET tags = 'x' WHERE id = 1; UPDATE deck SET tags = '[1]' WHERE id = 2; UPDATE deck SET card = '{' WHERE id = 3"
        )
        let problems = try database.verify().problems
        #expect(problems.map(\.kind) == [.corruptedValue, .corruptedValue, .corruptedValue])
        #expect(problems.map(\.key) == [1, 2, 3])
        #expect(problems.map(\.field) == ["tags", "tags", "card"])
        try database.close()
    }

    @Test func rowsFromBeforeAreStoredAnewOnce() throws {
        let url = place.path()
        do {
            let database = try place.database()
            try DAO(storage: try database.storage(for: Deck.self)).create([Deck(id: 1), Deck(id: 2)])
            try database.close()
        }
        let raw = try Raw(url)
        let card = #"{"words":["é","a"],"score":1e1}"#
        try raw.run(
            #"UPDATE deck SET tags = '["a", "b"]', card = '\#(card)' WHERE id = 1; UPDATE deck SET tags = 'x' WHERE id = 2"#)
        // A catalog that does not say what fields contain.
        try raw.run(
            """
            UPDATE dao_catalog SET description = json_remove(
            description, '$.fields[1].content', '$.fields[2].content', '$.fields[3].content', '$.fields[4].content')
            """)
        let database = try place.database()
        #expect(try database.entities().first { $0.name == "deck" }?.fields.map(\.content) == [nil, nil, nil, nil, nil])
        let decks = DAO(storage: try database.storage(for: Deck.self))
        #expect(try database.entities().first { $0.name == "deck" }?.fields[1].content == .array(of: FieldType(.string)))
        #expect(try raw.texts("SELECT tags FROM deck ORDER BY id") == [#"["a","b"]"#, "x"])
        #expect(try raw.texts("SELECT card FROM deck WHERE id = 1") == [#"{"score":10,"words":["a","é"]}"#])
        #expect(try decks.read { $0.card == Card(words: ["é", "a"], score: 10) }.map(\.tags) == [["a", "b"]])
        try database.close()
    }
}
