import DAOCore
import DAOExamples
import Foundation
import Testing

@testable import DAOKeyValue

/// Contract Q10, Q11: what an index has is not read from the rows.
@Suite struct IndexAloneTests {
    private struct Sample: Plain, Model, Equatable {
        var id: Int
        var place: String
        var date: Date
        var level: Double?
        var text: String

        static let schema = Schema(
            "sample", Self.init,
            Field("id", \.id, .primaryKey), Field("place", \.place, .indexed), Field("date", \.date), Field("level", \.level),
            Field("text", \.text), indexes: [Index(orderedBy: .ascending(\.place), .descending(\.date), .ascending(\.level))])
    }

    private static let samples = (0..<60).map {
        Sample(
            id: $0, place: ["north", "so\0uth", "west"][$0 % 3], date: Date(timeIntervalSinceReferenceDate: Double($0 - 30)),
            level: $0 % 4 == 0 ? nil : Double($0) - 10.5, text: "text \($0)")
    }

    /// A database in which the records of some rows are missing.
    private func opened(without missing: Set<Int>) throws -> KeyValueDatabase {
        let store = SortedArrayStore()
        let database = try KeyValueDatabase(store: store)
        try database.storage(for: Sample.self).insert(Self.samples)
        // The first keyspace after the catalog has the rows, whose keys are eight bytes.
        let entries = try store.entries().filter { entry in
            !(entry.key.count == 9 && entry.key[0] == 1 && missing.contains(Int(entry.key[8])))
        }
        #expect(try store.entries().count - entries.count == missing.count)
        return try KeyValueDatabase(store: try SortedArrayStore.containing(entries))
    }

    @Test func fieldsOfAnIndexAreReadWithoutTheRows() throws {
        let storage = try opened(without: [4, 31]).storage(for: Sample.self)
        let dao = DAO(storage: storage)
        let inPlace = Self.samples.filter { $0.place == "so\0uth" }.sorted { $0.date > $1.date }
        let found = try dao.read(
            \.id, \.place, \.date, \.level, orderedBy: .descending(\.date), .ascending(\.level)
        ) { $0.place == "so\0uth" }
        #expect(found.map { Sample(id: $0, place: $1, date: $2, level: $3, text: "text \($0)") } == inPlace)
        #expect(try dao.read(\.id, orderedBy: .descending(\.place), limit: 3) == [2, 5, 8])
        #expect(
            errorKind {
                _ = try dao.read(\.text, orderedBy: .descending(\.date)) { $0.place == "so\0uth" }
            } == .corrupted)
    }

    @Test func aFieldThatWasNotAskedForIsReadFromTheRow() throws {
        let storage = try opened(without: []).storage(for: Sample.self)
        let query = Query<Sample>(orderedBy: [.ascending(\.place)], limit: 3)
        var texts: [String] = []
        try storage.readFields([1], query) { texts.append("\(try $0.readString(at: 1)) \(try $0.readString(at: 4))") }
        #expect(texts == ["north text 0", "north text 3", "north text 6"])
        for place in [5, 99] {
            #expect(errorKind { try storage.readFields([1], query) { _ = try $0.readString(at: place) } } == .corruptedValue)
        }
    }

    @Test func groupsOfAnIndexReadOneRowEach() throws {
        // The first row of each place is there.
        let storage = try opened(without: [4, 31, 59]).storage(for: Sample.self)
        let dao = DAO(storage: storage)
        #expect(try dao.distinct(\.place) == ["north", "so\0uth", "west"])
        #expect(try dao.groups(by: \.place, totals: .count).map { "\($0) \($1)" } == ["north 20", "so\0uth 20", "west 20"])
        #expect(try dao.distinct(\.place) { $0.place >= "p" } == ["so\0uth", "west"])
    }

    @Test func groupsReadAnIndexWithTheFieldsOfTheirConditions() throws {
        // An entry has a zero without its sign, so the row of the date zero is looked up. No other row is there.
        let dao = DAO(storage: try opened(without: Set(0..<60).subtracting([30])).storage(for: Sample.self))
        let groups = try dao.groups(by: \.place, totals: .count, .count { $0.level == nil }, .countDistinct(\.level)) {
            $0.date > Date(timeIntervalSinceReferenceDate: -9.5)
        }
        let expected = Dictionary(grouping: Self.samples.filter { $0.id > 20 }, by: \.place).sorted { $0.key < $1.key }
        #expect(
            groups.map { "\($0) \($1) \($2) \($3)" }
                == expected.map { place, rows in
                    "\(place) \(rows.count) \(rows.count { $0.level == nil }) \(Set(rows.compactMap(\.level)).count)"
                })
    }
}
