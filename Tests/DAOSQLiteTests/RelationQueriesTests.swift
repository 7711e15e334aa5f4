import DAOCore
import DAOSQLite
import DAOTestSupport
import Testing

private struct Author: Model, Plain, Equatable {
    var id: Int
    var name: String
    static let schema = Schema("author", Self.init, Field("id", \.id, .primaryKey), Field("name", \.name))
}

private struct Chapter: Model, Plain, Equatable {
    var id: Int
    var title: String
    var author: Author?
    static let schema = Schema(
        "chapter", Self.init, Field("id", \.id, .primaryKey), Field("title", \.title), Field("author", \.author, .linked))
}

private struct Volume: Model, Plain, Equatable {
    var id: Int
    var chapters: [Chapter]
    static let schema = Schema("volume", Self.init, Field("id", \.id, .primaryKey), Field("chapters", \.chapters, .cascade))
}

/// Contract R5, counted in statements.
@Suite struct RelationQueriesTests {
    /// Counts the statements that a closure runs on the snapshot's connection.
    private func statements(_ database: SQLiteDatabase, _ body: () throws -> Void) throws -> Int {
        try database.snapshot {
            let before = try database.statementStatistics
            try body()
            let after = try database.statementStatistics
            return after.hits + after.misses - before.hits - before.misses
        }
    }

    @Test func parentsWithChildrenTakeAFixedNumberOfStatements() throws {
        let place = Place()
        let database = try place.database()
        let volumes = DAO(storage: try database.storage(for: Volume.self))
        var counts: [Int] = []
        for count in [1, 10, 500] {
            try volumes.erase()
            let all = (0..<count).map { volume in
                Volume(
                    id: volume,
                    chapters: (0..<20).map {
                        Chapter(id: volume * 20 + $0, title: "\($0)", author: $0 % 2 == 0 ? Author(id: $0, name: "a") : nil)
                    })
            }
            try volumes.create(all)
            counts.append(
                try statements(database) {
                    let read = try volumes.read()
                    #expect(read == all)
                })
            counts.append(try statements(database) { _ = try volumes.read { $0.chapters.contains { $0.author.name == "a" } } })
        }
        // Volumes, links, chapters, links, authors; the condition adds three levels before them.
        #expect(counts[0] == counts[2] && counts[2] == counts[4], "\(counts)")
        #expect(counts[1] == counts[3] && counts[3] == counts[5], "\(counts)")
        #expect(counts[4] <= 5 && counts[5] <= 10, "\(counts)")
    }
}
