import DAOCore
import DAOSQLite
import DAOSystemSQLite
import DAOTestSupport
import Foundation
import Testing

private struct Message: Model, Plain, Equatable {
    var id: Int
    var text: String
    static let schema = Schema("message", Self.init, Field("id", \.id, .primaryKey), Field("text", \.text))
}

private struct Discussion: Model, Plain, Equatable {
    var id: Int
    var messages: [Message]
    static let schema = Schema("thread", Self.init, Field("id", \.id, .primaryKey), Field("messages", \.messages, .owned))
}

/// Returns the rows of a statement, with columns separated by commas.
@discardableResult private func run(_ sql: String, _ path: String) throws -> [String] {
    var connection: OpaquePointer?
    var statement: OpaquePointer?
    defer {
        sqlite3_finalize(statement)
        sqlite3_close(connection)
    }
    try #require(sqlite3_open(path, &connection) == SQLITE_OK)
    try #require(sqlite3_prepare_v2(connection, sql, -1, &statement, nil) == SQLITE_OK)
    var rows: [String] = []
    while sqlite3_step(statement) == SQLITE_ROW {
        rows.append(
            (0..<sqlite3_column_count(statement)).map { column in
                sqlite3_column_text(statement, column).map { String(cString: $0) } ?? "NULL"
            }.joined(separator: ","))
    }
    return rows
}

private func discussion(_ ids: Int...) -> Discussion {
    Discussion(id: 1, messages: ids.map { Message(id: $0, text: "text \($0)") })
}

/// The links of SQLite files, read with plain SQL.
@Suite struct JoinTableTests {
    private let relation = RelationDescription(
        entity: "thread", field: "messages", keyField: "id", keyKind: .int64, target: "message", targetKeyKind: .int64)

    private let place = Place()
    private var path: String { place.file.path }

    @Test func linksCanBeJoinedInSQL() throws {
        let database = try SQLiteDatabase(path: path)
        try DAO(storage: database.storage(for: Discussion.self)).create([discussion(3, 1, 2)])
        let rows = try run(
            "SELECT thread.id, message.text FROM thread JOIN \"thread.messages\" ON parent = thread.id "
                + "JOIN message ON message.id = child ORDER BY thread.id, position", path)
        #expect(rows == ["1,text 3", "1,text 1", "1,text 2"])
        #expect(try database.entities().map(\.name).sorted() == ["message", "thread"])
    }

    @Test func queriesOnLinksUseTheirKeysAndIndexes() throws {
        let database = try SQLiteDatabase(path: path)
        _ = try database.storage(for: Discussion.self)
        let plan = try run(
            "EXPLAIN QUERY PLAN SELECT child FROM \"thread.messages\" WHERE parent = 1 ORDER BY position", path)
        #expect(plan.allSatisfy { !$0.contains("TEMP B-TREE") && $0.contains("PRIMARY KEY") })
        let back = try run("EXPLAIN QUERY PLAN SELECT parent FROM \"thread.messages\" WHERE child = 1", path)
        #expect(back.allSatisfy { $0.contains("COVERING INDEX thread.messages.child") })
    }

    @Test func linksFromOtherToolsAreRead() throws {
        let database = try SQLiteDatabase(path: path)
        let threads = DAO(storage: try database.storage(for: Discussion.self))
        try threads.create([discussion(1, 2)])
        // A gap in the positions, a link to a missing row, and a row that was erased without its links.
        try run("INSERT INTO message VALUES (7, 'text 7')", path)
        try run("INSERT INTO \"thread.messages\" VALUES (1, 100, 7)", path)
        try run("INSERT INTO \"thread.messages\" VALUES (1, 50, 99)", path)
        try run("DELETE FROM message WHERE id = 1", path)
        #expect(try threads.read() == [discussion(2, 7)])
        try threads.persist([discussion(2, 7, 2)])
        #expect(try threads.read() == [discussion(2, 7, 2)])
    }

    @Test func tableOfTheSameFormIsAdopted() throws {
        try SQLiteDatabase(path: path).close()
        try run(
            "CREATE TABLE \"thread.messages\" (parent INT NOT NULL, position BIGINT, child INTEGER, PRIMARY KEY (parent, position))",
            path)
        try run("CREATE INDEX \"thread.messages.child\" ON \"thread.messages\"(position)", path)
        try run("INSERT INTO \"thread.messages\" VALUES (5, 0, 6)", path)
        var configuration = DatabaseConfiguration(scheme: "sqlite", path: path)
        configuration.options["adopt"] = "true"
        let links = try SQLiteDatabase(configuration).makeLinks(for: relation)
        #expect(try links.children(of: [.integer(5)]).keys == [.integer(6)])
        let indexes = try run("SELECT name FROM pragma_index_list('thread.messages') WHERE origin = 'c' ORDER BY name", path)
        #expect(indexes == ["thread.messages.child", "thread.messages.child_2"])
    }

    @Test(arguments: [
        "(parent INTEGER, child INTEGER, position INTEGER, PRIMARY KEY (parent, position))",
        "(parent TEXT, position INTEGER, child INTEGER, PRIMARY KEY (parent, position))",
        "(parent INTEGER, position INTEGER, child INTEGER, PRIMARY KEY (parent, child))",
        "(parent INTEGER, position INTEGER, child INTEGER, note TEXT NOT NULL, PRIMARY KEY (parent, position))",
    ])
    func tableOfAnotherFormIsRefused(_ columns: String) throws {
        let database = try SQLiteDatabase(path: path)
        try run("CREATE TABLE \"thread.messages\" \(columns)", path)
        let error = #expect(throws: StorageError.self) { try database.storage(for: Discussion.self) }
        #expect(error?.kind == .schemaMismatch)
        #expect(error?.field == "messages")
    }

    @Test func readOnlyFileNeedsNoTable() throws {
        let database = try SQLiteDatabase(path: path)
        try DAO(storage: database.storage(for: Discussion.self)).create([discussion()])
        try database.close()
        try run("DROP TABLE \"thread.messages\"", path)
        var configuration = DatabaseConfiguration(scheme: DatabaseDriver.sqlite.scheme, path: path)
        configuration.isReadOnly = true
        let reader = try SQLiteDatabase(configuration)
        let threads = DAO(storage: try reader.storage(for: Discussion.self))
        #expect(try threads.read() == [discussion()])
        #expect(try threads.read { $0.messages.count == 0 } == [discussion()])
        let links = try reader.makeLinks(for: relation)
        let error = #expect(throws: StorageError.self) { try links.remove(parents: [.integer(1)]) }
        #expect(error?.kind == .readOnly)
    }
}

private struct Person: Model, Plain, Equatable {
    var id: Int
    var name: String
    static let schema = Schema("person", Self.init, Field("id", \.id, .primaryKey), Field("name", \.name))
}

private struct Ticket: Model, Plain, Equatable {
    var id: Int
    var owner: Person?
    static let schema = Schema("ticket", Self.init, Field("id", \.id, .primaryKey), Field("owner", \.owner, .linked))
}

/// To-one relationships, whose links are in the rows of the parents.
@Suite struct ReferenceTests {
    private let place = Place()
    private let ada = Person(id: 7, name: "Ada")
    private let bob = Person(id: 8, name: "Bob")

    @Test(arguments: Backend.allCases) func conditionOnTheKeyUsesTheIndex(_ backend: Backend) throws {
        let database = try backend.open(in: place.directory)
        let storage = try database.storage(for: Ticket.self)
        try storage.insert((1...500).map { Ticket(id: $0, owner: $0 % 250 == 0 ? ada : bob) })
        let owner = ada
        for condition in [Condition<Ticket> { $0.owner == owner }, Condition { $0.owner.name == "Ada" }] {
            let plan = try storage.explain(Query(where: condition))
            #expect(plan.access == .index(["owner"]) && !plan.sortsRows, "\(plan)")
            #expect(try storage.keys(Query(where: condition)) == [.integer(250), .integer(500)])
        }
        try database.close()
    }

    @Test(arguments: Backend.allCases) func linksAreThoseOfTheRows(_ backend: Backend) throws {
        let database = try backend.open(in: place.directory)
        let storage = try database.storage(for: Ticket.self)
        try storage.insert([Ticket(id: 1, owner: ada), Ticket(id: 2, owner: nil), Ticket(id: 3, owner: bob)])
        let entities = try database.entities()
        let relation = try #require(entities.flatMap { $0.relations(among: entities) }.first)
        let links = try database.makeLinks(for: relation)
        #expect(links.isInRows)
        let list = try links.children(of: [.integer(3), .integer(2), .integer(9), .integer(1), .integer(3)])
        #expect(list == LinkedKeys(counts: [1, 0, 0, 1, 1], keys: [.integer(8), .integer(7), .integer(8)]))
        #expect(try links.parents(of: [.integer(8), .integer(7), .integer(8), .integer(6)]) == [.integer(1), .integer(3)])
        #expect(try links.counts().map(\.parent) == [.integer(1), .integer(3)])
        #expect(try links.linked(among: [.integer(6), .integer(7)]) == [.integer(7)])
        // A parent without a row has no place for a link.
        try links.set(
            LinkedKeys(counts: [1, 0, 1], keys: [.integer(8), .integer(7)]), of: [.integer(2), .integer(3), .integer(9)])
        #expect(try storage.read(Query()).map(\.owner) == [ada, bob, nil])
        try links.remove(children: [.integer(7), .integer(7)])
        #expect(try storage.read(Query()).map(\.owner) == [nil, bob, nil])
        try links.remove(parents: [.integer(2), .integer(9)])
        #expect(try links.counts().isEmpty)
        try database.close()
    }

    @Test func columnIsWrittenByOtherPrograms() throws {
        let path = place.file.path
        let database = try DatabaseDrivers(.sqlite).open("sqlite:\(path)")
        let tickets = DAO(storage: try database.storage(for: Ticket.self))
        try tickets.persist([Ticket(id: 1, owner: ada), Ticket(id: 2, owner: bob)])
        let joined = "SELECT ticket.id, person.name FROM ticket JOIN person ON person.id = ticket.owner ORDER BY 1"
        #expect(try run(joined, path) == ["1,Ada", "2,Bob"])
        #expect(try run("SELECT name FROM sqlite_schema WHERE name LIKE 'ticket%'", path) == ["ticket", "ticket_owner"])
        try run("UPDATE ticket SET owner = 8", path)
        #expect(try tickets.read().map(\.owner) == [bob, bob])
        try database.close()
    }

    @Test func foreignKeyOfAnotherProgramIsAdopted() throws {
        let path = place.file.path
        for sql in [
            "CREATE TABLE person (id INTEGER PRIMARY KEY, name TEXT NOT NULL)",
            "CREATE TABLE ticket (id INTEGER PRIMARY KEY, owner INTEGER REFERENCES person(id) DEFERRABLE INITIALLY DEFERRED)",
            "CREATE INDEX by_owner ON ticket(owner)", "INSERT INTO person VALUES (7, 'Ada')",
            "INSERT INTO ticket VALUES (1, 7), (2, NULL)",
        ] { try run(sql, path) }
        let database = try DatabaseDrivers(.sqlite).open("sqlite:\(path)?adopt=true")
        let tickets = DAO(storage: try database.storage(for: Ticket.self))
        #expect(try tickets.read() == [Ticket(id: 1, owner: ada), Ticket(id: 2, owner: nil)])
        try tickets.persist(Ticket(id: 2, owner: bob))
        #expect(try run("SELECT owner FROM ticket", path) == ["7", "8"])
        try database.close()
    }
}

/// Links whose storage is first created in a transaction that is rolled back, or in a snapshot, on every
/// database.
@Suite struct FirstLinksTests {
    private struct Rollback: Error {}

    private let place = Place()
    private let relation = RelationDescription(
        entity: "owner", field: "rows", keyField: "id", keyKind: .int64, target: "row", targetKeyKind: .string)

    @Test(arguments: Backend.allCases) func linksWorkAfterTheirFirstTransactionIsRolledBack(_ backend: Backend) throws {
        let database = try backend.open(in: place.directory)
        var links: (any LinkStorage)?
        let list = LinkedKeys(counts: [2], keys: [.string("b"), .string("a")])
        for isInner in [false, true] {
            do {
                try database.transaction {
                    do {
                        try database.transaction {
                            links = try database.makeLinks(for: relation)
                            try links?.set(list, of: [.integer(1)])
                            #expect(try links?.children(of: [.integer(1)]) == list)
                            if isInner { throw Rollback() }
                        }
                    } catch is Rollback where isInner {}
                    if !isInner { throw Rollback() }
                }
            } catch is Rollback {}
            #expect(try links?.children(of: [.integer(1)]).keys == [])
            #expect(try links?.counts().isEmpty == true)
            #expect(try links?.linked(among: [.string("a")]) == [])
            try links?.remove(children: [.string("a")])
        }
        try links?.set(list, of: [.integer(1)])
        #expect(try links?.children(of: [.integer(1)]) == list)
        try database.close()
    }

    @Test(arguments: Backend.allCases) func snapshotCreatesNoLinks(_ backend: Backend) throws {
        let database = try backend.open(in: place.directory)
        let links = try database.snapshot {
            let links = try database.makeLinks(for: relation)
            #expect(try links.children(of: [.integer(1)]).keys == [])
            let error = #expect(throws: StorageError.self) {
                try links.set(LinkedKeys(counts: [1], keys: [.string("a")]), of: [.integer(1)])
            }
            #expect(error?.kind == .invalidTransaction)
            return links
        }
        try links.set(LinkedKeys(counts: [1], keys: [.string("a")]), of: [.integer(1)])
        #expect(try links.parents(of: [.string("a")]) == [.integer(1)])
        try database.close()
    }
}
