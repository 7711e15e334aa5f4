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

/// The links of SQLite files, read with plain SQL.
@Suite struct JoinTableTests {
    private let relation = RelationDescription(
        entity: "thread", field: "messages", keyKind: .int64, target: "message", targetKeyKind: .int64)

    private let place = Place()
    private var path: String { place.file.path }

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
        let links = try SQLiteDatabase(path: path).makeLinks(for: relation)
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

/// Links whose storage is first created in a transaction that is rolled back, or in a snapshot, on every
/// database.
@Suite struct FirstLinksTests {
    private struct Rollback: Error {}

    private let place = Place()
    private let relation = RelationDescription(
        entity: "owner", field: "rows", keyKind: .int64, target: "row", targetKeyKind: .string)

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
