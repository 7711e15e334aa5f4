import DAOCore
import DAOSQL
import DAOSQLite
import DAOTestSupport
import Testing

private struct Note: Model, Plain, Equatable {
    var id: Int
    var list: Int
    var place: Int
    var color: Int?
    static let boards = Inverse(\Board.notes)
    static let schema = Schema(
        "note", Self.init, Field("id", \.id, .primaryKey), Field("list", \.list, .indexed), Field("place", \.place, .indexed),
        Field("color", \.color))
}

private struct Task: Model, Plain, Equatable {
    var id: Int
    var effort: Int
    static let schema = Schema(
        "task", Self.init, Field("id", \.id, .primaryKey), Field("effort", \.effort),
        indexes: [Index(\.effort, where: { $0.effort > 5 })])
}

private struct Board: Model, Plain, Equatable {
    var id: Int
    var notes: [Note] = []
    var rank = 0
    static let schema = Schema(
        "board", Self.init, Field("id", \.id, .primaryKey), Field("notes", \.notes, .owned), Field("rank", \.rank, .indexed))
}

/// The texts of statements are kept by the shape of their query, and the values are those of each query.
@Suite struct QueryTextTests {
    private let place = Place()

    private func open() throws -> SQLiteDatabase {
        ShapePlan.verifies.store(true, ordering: .relaxed)
        return try place.database()
    }

    @Test func queriesOfOneShapeHaveTheirOwnValues() throws {
        let database = try open()
        let notes = DAO(storage: try database.storage(for: Note.self))
        try notes.create((0..<400).map { Note(id: $0, list: $0 % 20, place: $0 / 20, color: $0 % 3 == 0 ? nil : $0 % 3) })
        for (list, position) in [(3, 3), (3, 7), (7, 3), (19, 0)] {
            #expect(try notes.read { $0.list == list && $0.place == position }.map(\.id) == [position * 20 + list])
            for limit in [1, 5, 50] {
                let found = try notes.read(
                    orderedBy: .descending(\.place), limit: limit, offset: 2, where: { $0.list == list })
                #expect(found.map(\.id) == (0..<20).reversed().dropFirst(2).prefix(limit).map { $0 * 20 + list })
            }
        }
        for color in [nil, 1, 2, nil] as [Int?] {
            #expect(try notes.read { $0.color == color }.count == (0..<400).count { ($0 % 3 == 0 ? nil : $0 % 3) == color })
            #expect(try notes.read { $0.color != color }.count == (0..<400).count { ($0 % 3 == 0 ? nil : $0 % 3) != color })
        }
    }

    @Test func partialIndexesServeByTheValue() throws {
        let database = try open()
        let tasks = DAO(storage: try database.storage(for: Task.self))
        try tasks.create((0..<100).map { Task(id: $0, effort: $0 % 10) })
        for least in [7, 3, 8, 0] {
            #expect(try tasks.read { $0.effort > least }.count == 10 * (9 - least))
        }
    }

    @Test func conditionsThatFewRelatedRowsMeetFollowTheData() throws {
        let database = try open()
        let boards = DAO(storage: try database.storage(for: Board.self))
        func board(_ id: Int, list: Int) -> Board {
            Board(id: id, notes: (0..<4).map { Note(id: id * 4 + $0, list: list, place: $0, color: nil) }, rank: id)
        }
        try boards.create((0..<400).map { board($0, list: $0 % 100 + 1) })
        func found(_ list: Int) throws -> [Int] {
            try boards.read(limit: 5) { $0.notes.contains { $0.list == list } }.map(\.id)
        }
        #expect(try found(7) == [6, 106, 206, 306])
        #expect(try boards.read(limit: 3) { !$0.notes.contains { $0.list == 1 } }.map(\.id) == [1, 2, 3])
        // Many now, and then no more.
        try boards.create((400..<800).map { board($0, list: 7) })
        #expect(try found(7) == [6, 106, 206, 306, 400])
        #expect(try found(8) == [7, 107, 207, 307])
        #expect(try boards.read { $0.notes.contains { $0.list == 7 } }.count == 404)
        try boards.erase { $0.id >= 400 }
        #expect(try found(7) == [6, 106, 206, 306])
        #expect(try boards.count { $0.notes.contains { $0.list == 7 } } == 4)
        let notes = DAO(storage: try database.storage(for: Note.self))
        for rank in [3, 300, 3_000] {
            let condition = Condition<Note> { $0[Note.boards].contains { $0.rank == rank } }
            let found = try notes.read(Query(where: condition, limit: 3)).map(\.id)
            #expect(found == (rank < 400 ? (0..<3).map { rank * 4 + $0 } : []))
            let others = try notes.count { !$0[Note.boards].contains { $0.rank == rank } }
            #expect(others == (rank < 400 ? 3_196 : 3_200))
        }
    }

    @Test func anIndexThatIsGoneIsNotAskedFor() throws {
        let database = try open()
        let boards = DAO(storage: try database.storage(for: Board.self))
        try boards.create((0..<1_100).map { Board(id: $0, notes: [Note(id: $0, list: $0 % 500, place: $0, color: nil)]) })
        func found() throws -> [Int] { try boards.read(limit: 5) { $0.notes.contains { $0.list == 7 } }.map(\.id) }
        #expect(try found() == [7, 507, 1007])
        try Raw(place.path()).run("DROP INDEX note_list; DROP INDEX note_place")
        #expect(try found() == [7, 507, 1007])
        let notes = DAO(storage: try database.storage(for: Note.self))
        #expect(try notes.read(orderedBy: .descending(\.place), limit: 2) { $0.list == 7 }.map(\.id) == [1007, 507])
    }
}
