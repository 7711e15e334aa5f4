import DAOCore
import DAOSQLite
import DAOTestSupport
import Testing

private struct Folder: Model, Plain, Equatable {
    var id: Int
    var name: String
    static let notes = Inverse(\Note.folder)
    static let schema = Schema("folder", Self.init, Field("id", \.id, .primaryKey), Field("name", \.name))
}

private struct Note: Model, Plain, Equatable {
    var id: Int
    var folder: Reference<Folder>
    var isDone: Bool
    var date: Int
    var labels: [Label]?
    static let schema = Schema(
        "note", Self.init, Field("id", \.id, .primaryKey), Field("folder", \.folder, .restricted), Field("isDone", \.isDone),
        Field("date", \.date), Field("labels", \.labels, .linked),
        indexes: [Index(\.folder, \.date), Index(\.folder, \.isDone, \.date)])
}

private struct Label: Model, Plain, Equatable {
    var id: Int
    static let notes = Inverse(\Note.labels)
    static let schema = Schema("label", Self.init, Field("id", \.id, .primaryKey))
}

/// What totals and conditions over related rows ask of SQLite: ten folders and labels, and thousands of notes.
@Suite struct TotalsTests {
    private let place = Place()
    private final class Asked: Sendable {
        let statements = Lock<[StatementReport]>([])
    }

    private let asked = Asked()
    private let folders: DAO<Folder>
    private let notes: DAO<Note>
    private let labels: DAO<Label>

    init() throws {
        let asked = asked
        let database = try place.database {
            $0.instrument = Instrument { call in asked.statements.withLock { $0 += call.statements } }
        }
        folders = DAO(storage: try database.storage(for: Folder.self))
        notes = DAO(storage: try database.storage(for: Note.self))
        labels = DAO(storage: try database.storage(for: Label.self))
        let all = (0..<10).map { Label(id: $0) }
        try folders.create((0..<10).map { Folder(id: $0, name: "\($0)") })
        try labels.create(all)
        try notes.create(
            (0..<5_000).map {
                Note(
                    id: $0, folder: Reference($0 % 10), isDone: $0 % 4 != 0, date: $0,
                    labels: [all[$0 % 9], all[($0 + 1) % 9], all[$0 % 9]])
            })
    }

    /// Runs a closure, once to make the storages, and returns what a second run asked.
    private func statements(_ body: () throws -> Void) throws -> [StatementReport] {
        try body()
        asked.statements.withLock { $0 = [] }
        try body()
        return asked.statements.withLock { $0 }
    }

    /// Of indexes that lead to the same rows, the one that has all that is read leads to no row.
    @Test func totalsAreReadFromAnIndexThatHasAllTheirFields() throws {
        func names(_ statements: [StatementReport]) -> Bool {
            statements.contains { $0.text.contains("note_folder_isDone_date") }
        }
        let group = Condition<Note> { $0.folder.in([1, 2, 3].map { Reference($0) }) }
        #expect(names(try statements { _ = try notes.groups(by: \.folder, totals: .count { $0.isDone }, where: group) }))
        #expect(names(try statements { _ = try notes.count(where: group && Condition { $0.isDone != false }) }))
        // Whole rows are looked at by any of them.
        #expect(!names(try statements { _ = try notes.including().read(where: group) }))
    }

    /// A total with a condition is a condition of what is read.
    @Test func aTotalWithAConditionLooksAtTheRowsThatMeetIt() throws {
        var found: [Int] = []
        let statements = try statements {
            found = try folders.read(with: Folder.notes, totals: .count { !$0.isDone && $0.date >= 4_900 }).map { $0.1 }
        }
        #expect(found == [5, 0, 5, 0, 5, 0, 5, 0, 5, 0])
        let steps = statements.reduce(0) { $0 + ($1.steps ?? 0) }
        #expect(steps > 0 && steps < 2_500, "\(steps) steps")
    }

    /// Totals over lists read the links, and the keys of the rows that count.
    @Test func totalsOverListsReadLinksAndKeys() throws {
        var found: [Int] = []
        let statements = try statements {
            found = []
            let read = try labels.read(with: Label.notes, totals: .count, .count { $0.isDone }, .count { $0.date < 90 })
            for (_, _, _, early) in read { found.append(early) }
        }
        #expect(found == [20, 20, 20, 20, 20, 20, 20, 20, 20, 0])
        // The catalog is read again where the engine has new statistics.
        let reads = statements.filter {
            $0.text.hasPrefix("SELECT") && ($0.text.contains("\"note") || $0.text.contains("\"label"))
        }
        // Labels, links, and one for each condition.
        #expect(reads.count == 4, "\(reads)")
    }

    /// The links of each row of a small table end at the first match.
    @Test func conditionsOverLinksOfASmallTableEndAtTheFirstMatch() throws {
        var found: [Label] = []
        let statements = try statements { found = try labels.read { $0[Label.notes].contains { $0.date != 7 } } }
        #expect(found.map(\.id) == Array(0..<9))
        let steps = statements.reduce(0) { $0 + ($1.steps ?? 0) }
        #expect(steps > 0 && steps < 1_500, "\(steps) steps")
        let others = try labels.read { !$0[Label.notes].contains { $0.date != 7 } }
        #expect(others.map(\.id) == [9])
    }

    /// Conditions on the one row that a row leads to look that row up once.
    @Test func conditionsOnOneRowAreOneSubquery() throws {
        var found = 0
        let statements = try statements {
            found = try notes.count { $0.folder.name != "1" && !$0.isDone && $0.folder.name != "3" && $0.folder.name != "4" }
        }
        #expect(found == 1_000)
        let text = try #require(statements.last { $0.text.contains("\"folder\"") }?.text)
        #expect(text.components(separatedBy: "\"folder\" IN").count == 2, "\(text)")
        let condition = Condition<Note> {
            $0.folder.name != "1" && $0.isDone == true && ($0.folder.name < "5" || $0.folder.name > "7")
        }
        #expect("\(condition)" == "folder (name != '1' AND (name < '5' OR name > '7')) AND isDone == true", "\(condition)")
        #expect(try notes.count(where: condition) == notes.read(where: condition).count)
    }

    /// Where no index can have the order, a limit does not change how the rows are found.
    @Test func aLimitWithoutAnIndexForTheOrderLooksAtNoRowTwice() throws {
        func steps(_ limit: Int?) throws -> Int {
            let query = Query<Note>(
                where: Condition { $0.folder.name != "1" }, orderedBy: [.first { $0.isDone }], limit: limit)
            return try statements { _ = try notes.including().read(query) }.reduce(0) { $0 + ($1.steps ?? 0) }
        }
        let (all, few) = (try steps(nil), try steps(20))
        #expect(few > 0 && few < all + all / 4, "\(few) steps with a limit, \(all) without")
    }

    /// The compiler finds the types of several totals with conditions on fields that can be nil.
    @Test func totalsWithConditionsOnFieldsThatCanBeNil() throws {
        let (all, first, second) = try notes.totals(.count, .count { $0.folder.name == "1" }, .count { $0.folder.name != "2" })
        #expect([all, first, second] == [5_000, 500, 4_500])
        let groups = try notes.groups(by: \.isDone, totals: .count, .count { $0.folder.name < "5" })
        #expect(groups.map { [$0.1, $0.2] } == [[1_250, 750], [3_750, 1_750]])
        let read = try folders.read(with: Folder.notes, totals: .count, .count { $0.folder.name == "1" })
        #expect(read.map { $0.2 } == [0, 500, 0, 0, 0, 0, 0, 0, 0, 0])
    }
}
