import DAOCore
import DAOSQLite
import DAOSystemSQLite
import DAOTestSupport
import Testing

private struct Author: Model, Plain, Equatable {
    var id: Int
    var name: String
    static let chapters = Inverse(\Chapter.author)
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
    var chapters: [Chapter]?
    static let schema = Schema("volume", Self.init, Field("id", \.id, .primaryKey), Field("chapters", \.chapters, .cascade))
}

private struct Shelf: Model, Plain, Equatable {
    var id: Int
    var above: Reference<Shelf>?
    var volumes: [Volume]? = []
    var shelves: [Shelf]? = []
    static let schema = Schema(
        "shelf", Self.init, Field("id", \.id, .primaryKey), Field("above", \.above), Field("volumes", \.volumes, .owned),
        Field("shelves", \.shelves, .owned))
}

private struct Printer: Model, Plain, Equatable {
    var id: String
    var name: String?
    static let schema = Schema("printer", Self.init, Field("id", \.id, .primaryKey), Field("name", \.name, .indexed))
}

private struct Print: Model, Plain, Equatable {
    var id: Int
    var printer: Reference<Printer>
    static let schema = Schema("print", Self.init, Field("id", \.id, .primaryKey), Field("printer", \.printer, .restricted))
}

/// Contract R5, R9 and R11, counted in statements.
@Suite struct RelationQueriesTests {
    /// Counts the statements that a closure runs on the snapshot's connection.
    private func statements(_ database: SQLiteDatabase, _ body: () throws -> Void) throws -> Int {
        try database.snapshot {
            // The first read after a change of the catalog, which the engine's statistics are, too, looks it up.
            try body()
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
            let reads: [DAO<Shelf>] = [
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
            // Where an index may lead to few related rows, its entries are counted first.
            #expect(count <= 2 && found == expected, "\(condition): \(found) in \(count)")
            #expect(plan.filtersRows && plan.details.contains { $0.contains(".links0") }, "\(plan)")
        }
        let authors = DAO(storage: try database.storage(for: Author.self))
        let ofAuthors: [(Condition<Author>, Int)] = [
            (Condition { $0[Author.chapters].contains { $0.title == "2" } }, 1),
            (Condition { $0[Author.chapters].count == 12 }, 1), (Condition { $0[Author.chapters].isEmpty }, 0),
        ]
        for (condition, expected) in ofAuthors {
            var found = 0
            let count = try LimitedReading.$current.withValue(.low) {
                _ = try authors.count(where: condition)
                return try statements(database) { found = try authors.count(where: condition) }
            }
            #expect(count == 1 && found == expected, "\(condition): \(found) in \(count)")
        }
    }

    private struct Person: Model, Plain {
        var id: Int
        var name: String?
        static let schema = Schema(
            "person", Self.init, Field("id", \.id, .primaryKey), Field("name", \.name, .indexed))
    }

    private struct Letter: Model, Plain {
        var id: Int
        var topic: Int
        var rank: Int
        var writer: Reference<Person>?
        static let schema = Schema(
            "letter", Self.init, Field("id", \.id, .primaryKey), Field("topic", \.topic, .indexed), Field("rank", \.rank),
            Field("writer", \.writer))
    }

    /// A sort by a field of the related row with a limit follows the related rows while that is shorter, and sorts the rows
    /// that the condition leads to otherwise.
    @Test(arguments: [false, true]) func sortsByRelatedRowsFollowTheShorterWay(ascending: Bool) throws {
        let place = Place()
        let steps = Lock(0)
        var configuration = DatabaseConfiguration(scheme: "sqlite", path: place.path())
        configuration.instrument = Instrument { call in
            steps.withLock { $0 += call.statements.reduce(0) { $0 + ($1.steps ?? 0) } }
        }
        let database = try DatabaseDrivers(.sqlite).open(configuration)
        defer { try? database.close() }
        let letters = DAO(storage: try database.storage(for: Letter.self))
        let people = (0..<2_000).map { Person(id: $0, name: $0 == 7 ? nil : "\(1_000_000 + $0 * 7 % 1_999)") }
        try DAO(storage: database.storage(for: Person.self)).create(people)
        func writer(_ letter: Int) -> Int? { letter % 6_001 == 0 ? nil : letter * 7_919 % 2_000 }
        let all = (0..<30_000).map { id in
            Letter(id: id, topic: id % 3_000, rank: id * 7_919 % 1_000, writer: writer(id).map { Reference($0) })
        }
        try letters.create(all)
        func name(_ letter: Letter) -> String { writer(letter.id).flatMap { people[$0].name } ?? "" }
        let order: [Sort<Letter>] = [ascending ? .ascending(\.writer, \.name) : .descending(\.writer, \.name), .descending(\.id)]
        func expect(_ condition: Condition<Letter>, steps most: Int, of rows: (Letter) -> Bool) throws {
            let expected = all.filter(rows).sorted {
                name($0) == name($1) ? $0.id > $1.id : (name($0) < name($1)) == ascending
            }.map(\.id)
            steps.withLock { $0 = 0 }
            let found = try letters.read(Query(where: condition, orderedBy: order, limit: 50))
            let used = steps.withLock { $0 }
            #expect(found.map(\.id) == Array(expected.prefix(50)))
            #expect(used < most, "\(condition): \(used) steps")
            let rest = try letters.read(Query(where: condition, orderedBy: order, limit: 30_000, offset: 40))
            #expect(rest.map(\.id) == Array(expected.dropFirst(40)))
        }
        // One letter in ten: the related rows lead to them soon.
        try expect(Condition { $0.rank < 100 }, steps: 60_000) { $0.rank < 100 }
        // Ten letters, to which an index leads.
        try expect(Condition { $0.topic == 7 }, steps: 2_000) { $0.topic == 7 }
        // No condition.
        try expect(.all, steps: 5_000) { _ in true }
        // Few letters, and no index: all letters are looked at, and those that the related rows led to before.
        try expect(Condition { $0.rank == 3 }, steps: 1_000_000) { $0.rank == 3 }
        try expect(Condition { $0.rank == 1_001 }, steps: 1_000_000) { _ in false }
        // Another program has dropped the index.
        let other = try Raw(place.path())
        try other.run("DROP INDEX person_name")
        try expect(Condition { $0.rank < 100 }, steps: 1_000_000) { $0.rank < 100 }
    }

    /// A sort that leads from the related rows to the rows reads the keys of those without a value.
    @Test func aDamagedKeyOfARelatedRowIsAnError() throws {
        let place = Place()
        let database = try place.database()
        try DAO(storage: database.storage(for: Printer.self)).create(
            (0..<400).map { Printer(id: "p\($0)", name: $0 == 7 ? nil : "name \($0)") })
        let prints = DAO(storage: try database.storage(for: Print.self))
        try prints.create((0..<800).map { Print(id: $0, printer: Reference("p\($0 / 2)")) })
        let query = Query<Print>(orderedBy: [.ascending(\.printer, \.name)], limit: 3)
        #expect(try prints.read(query).map(\.id) == [14, 15, 0])
        try Raw(place.path()).run("UPDATE printer SET id = x'FF' WHERE name IS NULL")
        let error = expectError(.corruptedValue) { try prints.read(query) }
        #expect(error?.entity == "printer" && error?.field == "id", "\(String(describing: error))")
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
