import DAOCore
import DAOSQLite
import DAOSystemSQLite
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

private struct Shelf: Model, Plain, Equatable {
    var id: Int
    var above: Reference<Shelf>?
    var volumes: [Volume] = []
    var shelves: [Shelf] = []
    static let schema = Schema(
        "shelf", Self.init, Field("id", \.id, .primaryKey), Field("above", \.above), Field("volumes", \.volumes, .owned),
        Field("shelves", \.shelves, .owned))
}

/// Contract R5, R9 and R11, counted in statements.
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
        // Volumes, links, chapters, links, authors; the condition is part of the first.
        #expect(counts[0] == counts[2] && counts[2] == counts[4], "\(counts)")
        #expect(counts[1] == counts[3] && counts[3] == counts[5], "\(counts)")
        #expect(counts[4] <= 5 && counts[5] <= 5, "\(counts)")
    }

    @Test func readsBringWhatTheyNameInAFixedNumberOfStatements() throws {
        let place = Place()
        let database = try place.database()
        let shelves = DAO(storage: try database.storage(for: Shelf.self))
        var counts: [[Int]] = []
        for count in [2, 100] {
            try shelves.erase()
            try shelves.create(
                (0..<count).map { id in
                    Shelf(
                        id: id, above: id == 0 ? nil : Reference(id / 2),
                        volumes: (0..<3).map { Volume(id: id * 3 + $0, chapters: [Chapter(id: id, title: "", author: nil)]) },
                        shelves: id + 1 < count ? [Shelf(id: id + 1)] : [])
                })
            let reads: [DAO<IdentityTranslator<Shelf>>] = [
                try shelves.including(), try shelves.including(\.above), try shelves.including(\.volumes),
                try shelves.including(\.shelves, \.above),
            ]
            counts.append(
                try reads.map { dao in
                    try statements(database) {
                        let rows = try dao.read()
                        #expect(rows.count == count)
                    }
                })
        }
        // The rows, links, and related rows by their keys.
        #expect(counts[0] == counts[1] && counts[0].allSatisfy { $0 <= 4 }, "\(counts)")
    }

    @Test func conditionsOnRelatedRowsAreOneStatement() throws {
        let place = Place()
        let database = try place.database()
        let volumes = DAO(storage: try database.storage(for: Volume.self))
        try volumes.create(
            (0..<50).map { volume in
                Volume(
                    id: volume,
                    chapters: (0..<volume % 4).map {
                        Chapter(id: volume * 20 + $0, title: "\($0)", author: $0 == 2 ? Author(id: $0, name: "a") : nil)
                    })
            })
        let conditions: [(Condition<Volume>, Int)] = [
            (Condition { $0.chapters.contains { $0.title == "1" } }, 24),
            (Condition { $0.chapters.contains { $0.author.name == "a" } }, 12),
            (Condition { !$0.chapters.contains { $0.author.name == "a" } }, 38),
            (Condition { $0.chapters.count > 1 }, 24),
            (Condition { !($0.chapters.count > 1) && $0.id < 10 }, 6),
            (Condition { $0.chapters.isEmpty || $0.chapters.contains { $0.author == nil && $0.title != "0" } }, 37),
        ]
        for (condition, expected) in conditions {
            var found = 0
            // The keys of few related rows would be read first.
            let (count, plan) = try LimitedReading.$current.withValue(.low) {
                _ = try volumes.count(where: condition)
                let count = try statements(database) { found = try volumes.count(where: condition) }
                return (count, try volumes.storage.explain(Query(where: condition)))
            }
            #expect(count == 1 && found == expected, "\(condition): \(found) in \(count)")
            #expect(plan.filtersRows && plan.details.contains { $0.contains(".links0") }, "\(plan)")
        }
    }

    /// A missing table has no links, in conditions too.
    @Test func conditionsOverMissingLinks() throws {
        let place = Place()
        let database = try place.database()
        let volumes = DAO(storage: try database.storage(for: Volume.self))
        try volumes.create(Volume(id: 1, chapters: [Chapter(id: 1, title: "one", author: nil)]))
        try database.withWriterHandle { handle in
            #expect(sqlite3_exec(handle, "DROP TABLE \"volume.chapters\"", nil, nil, nil) == SQLITE_OK)
        }
        #expect(try volumes.count { $0.chapters.contains { $0.title == "one" } } == 0)
        #expect(try volumes.count { $0.chapters.isEmpty } == 1)
        #expect(try volumes.read(limit: 5) { $0.chapters.contains { $0.author.name == "a" } }.isEmpty)
    }
}
