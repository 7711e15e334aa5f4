import DAOCore
import DAOSQLite
import DAOSystemSQLite
import DAOTestSupport
import Foundation
import Testing

/// The tables as other tools see them, and what the suite does with tables that other tools created.
@Suite struct SchemaTests {
    private let place = Place()

    @Test func tablesHaveReadableNamesColumnsAndIndexes() throws {
        let database = try place.database()
        _ = try database.storage(for: Message.self)
        _ = try database.storage(for: User.self)
        _ = try database.storage(for: Big.self)
        _ = try database.storage(for: Token.self)
        let raw = try Raw(place.path())
        #expect(
            try raw.texts("SELECT sql FROM sqlite_master WHERE name = 'message'") == [
                """
                CREATE TABLE "message" (
                  "id" INTEGER PRIMARY KEY,
                  "isRead" BOOLEAN NOT NULL,
                  "score" REAL NOT NULL,
                  "sender" INTEGER NOT NULL,
                  "date" REAL NOT NULL,
                  "text" TEXT NOT NULL,
                  "subject" TEXT NOT NULL,
                  "draft" TEXT
                )
                """
            ])
        #expect(
            try raw.texts("SELECT sql FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL ORDER BY name") == [
                "CREATE INDEX \"message_date\" ON \"message\"(\"date\")",
                "CREATE INDEX \"message_sender\" ON \"message\"(\"sender\")",
                "CREATE UNIQUE INDEX \"user_email\" ON \"user\"(\"email\")",
            ])
        #expect(try raw.texts("SELECT sql FROM sqlite_master WHERE name = 'user'")[0].hasSuffix(") WITHOUT ROWID"))
        #expect(
            try raw.texts("SELECT sql FROM sqlite_master WHERE name = 'big'")[0].contains("\"id\" UNSIGNED BIG INT PRIMARY KEY"))
        #expect(try raw.texts("SELECT sql FROM sqlite_master WHERE name = 'token'")[0].contains("\"id\" BLOB PRIMARY KEY"))
    }

    @Test func catalogDescribesEntitiesWithoutTheApplicationsTypes() throws {
        do {
            let database = try place.database()
            _ = try database.storage(for: User.self)
            _ = try database.storage(for: Message.self)
        }
        let database = try place.database { $0.isReadOnly = true }
        #expect(try database.entities() == [Message.schema.description, User.schema.description])
        expectError(.readOnly) { try database.storage(for: Token.self) }
    }

    struct Changed: Model {
        var id: Int
        var sender: String
        var extra: Int?
        static let schema = Schema(
            "message", Self.init, Field("id", \.id, .primaryKey), Field("sender", \.sender), Field("extra", \.extra))
    }

    @Test func differentSchemaIsRefusedWithEveryDifference() throws {
        let first = try place.database()
        _ = try first.storage(for: Message.self)
        try first.close()
        let database = try place.database()
        let before = try Data(contentsOf: URL(fileURLWithPath: place.path()))
        let error = try #require(throws: StorageError.self) { try database.storage(for: Changed.self) }
        #expect(error.kind == .schemaMismatch)
        for part in [
            "'sender' is stored as int64 and declared as string", "'extra' is added",
            "'text' is stored, is not optional and has no default",
        ] {
            #expect(error.message.contains(part), "\(error)")
        }
        #expect(try Data(contentsOf: URL(fileURLWithPath: place.path())) == before)
        #expect(try database.storage(for: Message.self).count(Query()) == 0)
    }

    @Test func matchingTableIsAdoptedWithItsRows() throws {
        try Raw(place.path(), create: true).run(
            "CREATE TABLE user(name TEXT PRIMARY KEY, email VARCHAR(20), age INT NOT NULL); CREATE UNIQUE INDEX e ON user(email);"
                + "INSERT INTO user VALUES('ann', NULL, 7), ('bob', 'b@x', 8)")
        let database = try place.database { $0.options["adopt"] = "true" }
        let users = try database.storage(for: User.self)
        #expect(try users.read(Query()) == [User(name: "ann", email: nil, age: 7), User(name: "bob", email: "b@x", age: 8)])
        #expect(try database.entities() == [User.schema.description])
    }

    @Test(arguments: [
        ("CREATE TABLE user(name TEXT PRIMARY KEY, email TEXT UNIQUE, age TEXT NOT NULL)", "'age'"),
        ("CREATE TABLE user(name TEXT PRIMARY KEY, email TEXT, age INT NOT NULL)", "'email' has no index"),
        ("CREATE TABLE user(name TEXT PRIMARY KEY, email TEXT UNIQUE, age INT)", "allows NULL"),
        ("CREATE TABLE user(name TEXT PRIMARY KEY, email TEXT UNIQUE)", "no column 'age'"),
        ("CREATE TABLE user(name TEXT, email TEXT UNIQUE, age INT NOT NULL)", "primary key"),
        ("CREATE TABLE user(name TEXT PRIMARY KEY, email TEXT UNIQUE, age INT NOT NULL, more)", "'more' is not in the model"),
        ("CREATE TABLE User(name TEXT PRIMARY KEY, email TEXT UNIQUE, age INT NOT NULL)", "case"),
        ("CREATE VIEW user AS SELECT 1", "view"),
    ]) func aTableThatDoesNotMatchIsLeftAlone(sql: String, part: String) throws {
        try Raw(place.path(), create: true).run(sql)
        let database = try place.database { $0.options["adopt"] = "true" }
        let error = try #require(throws: StorageError.self) { try database.storage(for: User.self) }
        #expect(error.kind == .schemaMismatch)
        #expect(error.message.contains(part), "\(error)")
        #expect(
            try Raw(place.path()).texts(
                "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'dao!_%' ESCAPE '!'") == [sql])
    }

    struct AB: Model {
        var id: Int
        var c: Int
        static let schema = Schema("a_b", Self.init, Field("id", \.id, .primaryKey), Field("c", \.c, .indexed))
    }
    struct ABC: Model {
        var id: Int
        var c: Int
        static let schema = Schema("a_b_c", Self.init, Field("id", \.id, .primaryKey), Field("c", \.c, .indexed))
    }
    struct A: Model {
        var id: Int
        var other: Int
        static let schema = Schema("a", Self.init, Field("id", \.id, .primaryKey), Field("b_c", \.other, .indexed))
    }

    @Test func namesOfIndexesAndTablesDoNotCollide() throws {
        let database = try place.database()
        try database.storage(for: A.self).insert([A(id: 1, other: 2)])
        try database.storage(for: AB.self).insert([AB(id: 1, c: 2)])
        try database.storage(for: ABC.self).insert([ABC(id: 1, c: 2)])
        for plan in [
            try database.storage(for: A.self).explain(Query(where: Condition { $0.other == 2 })),
            try database.storage(for: AB.self).explain(Query(where: Condition { $0.c == 2 })),
            try database.storage(for: ABC.self).explain(Query(where: Condition { $0.c == 2 })),
        ] {
            #expect(plan.access != .scan, "\(plan.details)")
        }
    }

    @Test func tableOfARolledBackTransactionIsCreatedAgain() throws {
        struct Stop: Error {}
        let database = try place.database()
        var kept: (any Storage<User>)?
        #expect(throws: Stop.self) {
            try database.transaction {
                kept = try database.storage(for: User.self)
                try kept?.insert([User(name: "ann", email: nil, age: 1)])
                throw Stop()
            }
        }
        let users = try #require(kept)
        #expect(try users.count(Query()) == 0)
        try users.insert([User(name: "bob", email: nil, age: 1)])
        #expect(try users.read(Query()).map(\.name) == ["bob"])
        try Raw(place.path()).run("DROP TABLE user")
        #expect(try users.read(key: .string("bob")) == nil)
    }
}
