import DAOCore
import DAOMemory
import Foundation
import Testing

/// What `print` shows of conditions, queries and databases.
@Suite struct DescriptionTests {
    private struct Person: Plain, Model {
        var id: Int
        var name: String
        var age: Int?
        static let schema = Schema(
            "person", Self.init, Field("id", \.id, .primaryKey), Field("name", \.name, .unique), Field("age", \.age, .indexed))
    }

    private struct Note: Plain, Model {
        var id: Int
        var text: String
        var isRead: Bool
        var date: Date
        var author: Person?
        var readers: [Person]
        var tags: [String]
        static let schema = Schema(
            "note", Self.init, Field("id", \.id, .primaryKey), Field("text", \.text), Field("isRead", \.isRead),
            Field("date", \.date), Field("author", \.author, .linked), Field("readers", \.readers, .linked),
            Field("tags", \.tags),
            indexes: [Index(orderedBy: .ascending(\.isRead), .descending(\.date))])
    }

    private func text(_ build: (FieldProxy<Note>) -> some ConditionConvertible<Note>) -> String { "\(Condition<Note>(build))" }

    @Test func conditionsHaveNames() {
        #expect(text { !$0.isRead && $0.id == 5 } == "NOT (isRead == true) AND id == 5")
        #expect(text { ($0.id < 5 || $0.id >= 9) && $0.text != "it's" } == #"(id < 5 OR id >= 9) AND text != 'it\'s'"#)
        #expect(text { $0.text.contains("a", .caseInsensitive) } == "text CONTAINS[c] 'a'")
        #expect(text { $0.id.in([1, 2]) } == "id IN {1, 2}")
        #expect(text { $0.author.name == "Ada" } == "author.name == 'Ada'")
        #expect(text { $0.author == nil } == "author == nil")
        #expect(text { $0.readers.contains { $0.age > 30 } } == "ANY readers.age > 30")
        #expect(
            text { $0.readers.contains { $0.age > 30 && $0.name == "x" } } == "ANY readers (age > 30 AND name == 'x')")
        #expect(text { $0.readers.count > 2 } == "readers.@count > 2")
        #expect(text { $0.date < Date(timeIntervalSinceReferenceDate: 0.5) } == "date < '2001-01-01T00:00:00.500Z'")
        #expect(text { $0.tags.contains("a") } == "ANY tags == 'a'")
        #expect(text { $0.tags.contains { $0 == "a" || $0.hasPrefix("b") } } == "ANY (tags == 'a' OR tags BEGINSWITH 'b')")
        #expect(text { $0.tags.count > 2 } == "tags.@count > 2")
        #expect("\(Condition<Note>.all)" == "TRUEPREDICATE")
        #expect("\(Condition<Note>("nothing == 1"))".hasPrefix("an invalid condition: 'note' has no field 'nothing'"))
    }

    /// What is printed of conditions that the language of text predicates has words for, is such a text.
    @Test func printedConditionsCanBeParsed() throws {
        let conditions: [Condition<Note>] = [
            Condition { !$0.isRead && ($0.id == 5 || $0.text == "it's \\ \"so\"") }, Condition { $0.text.hasPrefix("x") },
            Condition { $0.id.in([1, 2, 3]) && $0.author.age == nil }, Condition { $0.readers.count >= 2 }, .all, .none,
            Condition { $0.readers.contains { $0.name.contains("q") } }, Condition { $0.author != nil },
        ]
        for condition in conditions { #expect("\(Condition<Note>("\(condition)"))" == "\(condition)") }
    }

    @Test func deepAndLongConditionsAreShortened() {
        var node = PredicateNode.constant(true)
        for _ in 0..<300 { node = .and([node, .not(.compare(field: 0, .equal, .integer(1)))]) }
        #expect("\(Condition<Note>(node))".contains("…"))
        #expect(text { $0.id.in(Array(0..<1000)) }.hasSuffix("19, … (1000)}"))
        #expect(text { $0.text == String(repeating: "x", count: 10_000) }.count < 120)
    }

    @Test func queriesHaveNames() {
        let query = Query<Note>(
            where: Condition { $0.id > 1 }, orderedBy: [.descending(\.author, \.name), .ascending(\.date)], limit: 5, offset: 2,
            includesSubentities: false)
        #expect(
            "\(query)"
                == "note where id > 1, ordered by author.name descending, then date, limit 5, offset 2, without related rows")
        #expect("\(Query<Note>())" == "note")
    }

    @Test func databasesShowTheirEntities() throws {
        let database = try DatabaseDrivers(.memory).open("memory:")
        _ = try database.storage(for: Note.self)
        #expect(
            "\(database)" == """
                \(database.capabilities.engine), memory:
                  note(id int64 key, text string, isRead bool, date date, author → person, readers → [person], tags embedded), \
                index (isRead, date descending)
                  person(id int64 key, name string unique, age int64? indexed)
                """)
        try database.close()
        #expect("\(database)".hasSuffix("the database is closed; open it again to use it"), "\(database)")
    }
}
