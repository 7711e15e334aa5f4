import DAOCore
import DAOMemory
import Testing

/// Every form of a call passes on what it was given.
@Suite struct CallFormsTests {
    private struct Folder: Plain, Model, Equatable {
        var id: Int
        static let notes = Inverse(\Note.folder)
        static let schema = Schema("folder", Self.init, Field("id", \.id, .primaryKey))
    }

    private struct Note: Plain, Model, Equatable {
        var id: Int
        var title: String
        var rank: Int
        var folder: Reference<Folder>?
        static let schema = Schema(
            "note", Self.init, Field("id", \.id, .primaryKey), Field("title", \.title), Field("rank", \.rank),
            Field("folder", \.folder))
    }

    /// Notes 1 to 6 with the ranks 1, 2, 0, 1, 2, 0 in folders 1, 0, 1, 0, 1, 0.
    private static func opened() throws -> DAO<Note> {
        let database = try DatabaseDrivers([.memory]).open("memory:")
        try DAO(storage: try database.storage(for: Folder.self)).create([Folder(id: 0), Folder(id: 1)])
        let notes = DAO(storage: try database.storage(for: Note.self))
        try notes.create((1...6).map { Note(id: $0, title: "t\($0)", rank: $0 % 3, folder: Reference($0 % 2)) })
        return notes
    }

    private let high = Condition<Note> { $0.rank > 0 }

    @Test func rowsAreRead() async throws {
        let notes = try Self.opened()
        #expect(try await notes.read(predicatedBy: high).map(\.id) == [1, 2, 4, 5])
        #expect(try await notes.read(orderedBy: "rank", ascending: false).map(\.id) == [2, 5, 1, 4, 3, 6])
        #expect(try await notes.read(predicatedBy: high, orderedBy: "title", ascending: false).map(\.id) == [5, 4, 2, 1])
        #expect(try await notes.count(predicatedBy: high) == 4)
        let byFolder = try await notes.read(
            Folder.notes, of: [1, 0], orderedBy: .descending(\.id), first: 2, where: { $0.rank > 0 })
        #expect(byFolder.map { $0.map(\.id) } == [[5, 1], [4, 2]])
        let prepared = try await notes.read(Folder.notes, of: [0], orderedBy: .descending(\.id), first: 1, where: high)
        #expect(prepared.map { $0.map(\.id) } == [[4]])
    }

    @Test func partsOfRowsAreRead() async throws {
        let notes = try Self.opened()
        #expect(
            try await notes.read(\.title, orderedBy: .descending(\.id), limit: 2, offset: 1, where: { $0.rank > 0 })
                == ["t4", "t2"])
        let pairs = try await notes.read(\.id, \.rank, orderedBy: .descending(\.id), limit: 2, offset: 1, where: high)
        #expect(pairs.map { [$0.0, $0.1] } == [[4, 1], [2, 2]])
        #expect(try await notes.distinct(\.rank, where: high) == [1, 2])
        let kinds = try await notes.distinct(\.rank, \.title, where: { $0.id < 3 })
        #expect(kinds.map(\.1) == ["t1", "t2"])
        #expect(try await notes.distinct(\.rank, \.title, where: high).map(\.1) == ["t1", "t4", "t2", "t5"])
        let totals = try await notes.groups(by: \.rank, totals: .count, .sum(\.id), where: high)
        #expect(totals.map { [$0.0, $0.1, $0.2] } == [[1, 2, 5], [2, 2, 7]])
        let last = try await notes.groups(by: \.rank, first: 1, orderedBy: .descending(\.id), where: { $0.rank > 0 })
        #expect(last.map { $0.1.map(\.id) } == [[4], [5]])
        let prepared = try await notes.groups(by: \.rank, first: 1, orderedBy: .descending(\.id), where: high)
        #expect(prepared.map { $0.1.map(\.id) } == [[4], [5]])
    }

    @Test func rowsAreWritten() async throws {
        let notes = try Self.opened()
        let made = try await notes.findOrCreate(byPrimaryKey: 7) { Note(id: 7, title: "t7", rank: 9, folder: nil) }
        #expect(made.rank == 9)
        #expect(try await notes.findOrCreate(byPrimaryKey: 1) { made }.title == "t1")
        #expect(try await notes.erase(made) == 1)
        #expect(try await notes.erase([Note(id: 1, title: "", rank: 0, folder: nil), made]) == 1)
        #expect(try await notes.erase(predicatedBy: high) == 3)
        #expect(try await notes.read().map(\.id) == [3, 6])
    }

    @Test func pagesAndFieldsAreRead() throws {
        let notes = try Self.opened()
        var page = try notes.page(orderedBy: .ascending(\.rank), .descending(\.id), limit: 2, where: { $0.rank < 2 })
        #expect(page.elements.map(\.id) == [6, 3])
        page = try notes.page(
            orderedBy: .ascending(\.rank), .descending(\.id), limit: 9, after: page.next, where: { $0.rank < 2 })
        #expect(page.elements.map(\.id) == [4, 1])
        #expect(try notes.read { $0.rank >= $0.id }.map(\.id) == [1, 2])
    }
}
