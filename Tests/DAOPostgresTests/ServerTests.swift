import DAOCore
import DAOPostgres
import DAOTestSupport
import Foundation
import Testing

@Suite("L1 · A server opens a database, or the error says what to do", .enabled(if: Server.isThere, "there is no server"))
struct OpeningTests {
    private func open(_ url: String) throws { try DatabaseDrivers(.postgres).open(url).close() }

    @Test func anUnknownHostIsUnreachable() throws {
        #expect(try storageError { try open("postgres://dao@no-such-host.invalid/postgres") }.kind == .unreachable)
        #expect(try storageError { try open("postgres://dao@127.0.0.1:1/postgres") }.kind == .unreachable)
        #expect(try storageError { try open("postgres://dao@%2Fno%2Fsuch%2Fplace/postgres") }.kind == .unreachable)
    }

    @Test func aWrongPasswordIsNotPermittedAndShownNowhere() throws {
        try Server.psql("CREATE ROLE dao_locked LOGIN PASSWORD 'right'")
        defer { _ = try? Server.psql("DROP ROLE dao_locked") }
        for user in ["dao_locked:hush-hush", "dao_locked"] {
            let error = try storageError { try open(Server.url(user: user)) }
            #expect(error.kind == .notPermitted)
            #expect(!"\(error)".contains("hush"))
            #expect(!"\(error)".contains("dao_locked"))
        }
    }

    @Test func aMissingDatabaseIsNotFound() throws {
        let error = try storageError { try open(Server.url(database: "nowhere")) }
        #expect(error.kind == .notFound)
    }

    @Test func aMissingSchemaIsNotFoundWhereNothingMayBeCreated() throws {
        let url = try Server.newURL()
        for option in ["create=false", "readOnly=true"] {
            #expect(try storageError { try open("\(url)&\(option)") }.kind == .notFound)
        }
        try open(url)
        for option in ["create=false", "readOnly=true"] { try open("\(url)&\(option)") }
    }

    @Test func aUserWithoutPrivilegesIsNotPermitted() throws {
        try Server.psql("CREATE ROLE dao_guest LOGIN")
        defer { _ = try? Server.psql("DROP ROLE dao_guest") }
        let error = try storageError { try open(Server.url(user: "dao_guest", options: "schema=guests")) }
        #expect(error.kind == .notPermitted)
    }

    @Test func anotherEncodingIsUnsupported() throws {
        try Server.psql("CREATE DATABASE latin TEMPLATE template0 ENCODING 'LATIN1' LOCALE 'C'")
        defer { _ = try? Server.psql("DROP DATABASE latin") }
        #expect(try storageError { try open(Server.url(database: "latin")) }.kind == .unsupported)
    }

    @Test func wrongOptionsAreInvalid() throws {
        for option in [
            "pool=1", "pool=many", "schema=", "schema=information_schema", "schema=PG_catalog", "schema=pg_toast",
            "schema=pg_temp", "no_such=1", "writers=some", "writers=many&pool=3", "statementTimeout=0",
        ] {
            #expect(try storageError { try open("\(Server.url(options: option))") }.kind == .invalidConfiguration)
        }
        #expect(try storageError { try open(Server.url(database: "")) }.kind == .invalidConfiguration)
    }

    @Test func readOnlyDatabasesRefuseWrites() throws {
        let url = try Server.newURL()
        let writable = try DatabaseDrivers(.postgres).open(url)
        try writable.books.create(Book(id: 1, title: "one", shelf: nil))
        let database = try DatabaseDrivers(.postgres).open(url + "&readOnly=true")
        #expect(try database.books.read().map(\.id) == [1])
        #expect(try storageError { try database.books.create(Book(id: 2, title: "two", shelf: nil)) }.kind == .readOnly)
        try database.close()
        try writable.close()
    }
}

@Suite("L1 · A standby as the only host", .enabled(if: Server.standby != nil, "there is no standby"))
struct StandbyTests {
    @Test(arguments: ["one", "many"])
    func aStandbyIsReadAndRefusesWrites(_ writers: String) throws {
        let url = try Server.newURL("writers=\(writers)")
        let primary = try DatabaseDrivers(.postgres).open(url)
        try primary.books.create(Book(id: 1, title: "one", shelf: nil))
        let host = try #require(Server.standby).replacing("/", with: "%2F")
        let standby = url.replacing(try Server.directory.replacing("/", with: "%2F"), with: host)
        let deadline = ContinuousClock.now + .seconds(60)
        while (try? DatabaseDrivers(.postgres).open(standby).books.count()) != 1, ContinuousClock.now < deadline {
            usleep(50_000)
        }
        let database = try DatabaseDrivers(.postgres).open(standby)
        #expect(try database.books.read().map(\.id) == [1])
        #expect(try storageError { try database.books.create(Book(id: 2, title: "two", shelf: nil)) }.kind == .readOnly)
        #expect(try storageError { try database.transaction { try database.books.count() } }.kind == .readOnly)
        #expect(try database.books.count() == 1)
        #expect(
            try storageError { try DatabaseDrivers(.postgres).open(standby.replacing("schema=", with: "schema=new-")) }.kind
                == .readOnly)
        try database.close()
        try primary.close()
    }
}

@Suite("Other programs and lost connections", .enabled(if: Server.isThere, "there is no server"))
struct StrangerTests {
    /// A database in a new schema, and the name of the schema.
    private func database(_ options: String = "") throws -> (any Database, String) {
        let configuration = try DatabaseConfiguration(url: Server.newURL(options))
        return (try DatabaseDrivers(.postgres).open(configuration), try #require(configuration.options["schema"]))
    }

    @Test func psqlReadsAndWritesRealTables() throws {
        let (database, schema) = try database()
        try database.books.create(Book(id: 1, title: "one", shelf: "A"))
        #expect(try Server.psql("SELECT title FROM \"\(schema)\".book WHERE id = 1") == ["one"])
        try Server.psql("INSERT INTO \"\(schema)\".book (id, title) VALUES (2, 'two')")
        #expect(try database.books.read().map(\.title) == ["one", "two"])
        #expect(throws: ServerFailure.self) {
            try Server.psql("INSERT INTO \"\(schema)\".book (id, title, shelf) VALUES (3, 'three', 'A')")
        }
        try database.close()
    }

    @Test func aForeignTableOfTheNameIsASchemaMismatch() throws {
        let (database, schema) = try database()
        try Server.psql("CREATE TABLE \"\(schema)\".book (id INTEGER PRIMARY KEY, pages INTEGER)")
        let error = try storageError { try database.books.count() }
        #expect(error.kind == .schemaMismatch)
        #expect(error.message.contains("pages"))
        try database.close()
    }

    @Test func aTableAlteredUnderneathIsNoticed() throws {
        let (database, schema) = try database()
        try database.books.create(Book(id: 1, title: "one", shelf: nil))
        #expect(try database.books.count { $0.title == "one" } == 1)
        try Server.psql("ALTER TABLE \"\(schema)\".book DROP COLUMN title")
        #expect(try storageError { try database.books.read() }.kind == .schemaMismatch)
        try database.close()
    }

    @Test func connectionsThatWereLostWhileIdleAreReplaced() throws {
        let (database, schema) = try database("application_name=lost")
        try database.books.create(Book(id: 1, title: "one", shelf: nil))
        #expect(try database.books.count() == 1)
        try Server.psql("SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE application_name = 'lost'")
        try database.books.create(Book(id: 2, title: "two", shelf: nil))
        #expect(try database.books.read().map(\.id) == [1, 2])
        #expect(!schema.isEmpty)
        try database.close()
    }

    @Test func aConnectionLostInATransactionIsUnreachableAndTheNextOneWorks() throws {
        let (database, _) = try database("application_name=cut")
        try database.books.create(Book(id: 1, title: "one", shelf: nil))
        let error = try storageError {
            try database.transaction {
                try database.books.create(Book(id: 2, title: "two", shelf: nil))
                try Server.psql("SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE application_name = 'cut'")
                try database.books.create(Book(id: 3, title: "three", shelf: nil))
            }
        }
        #expect(error.kind == .unreachable)
        try database.transaction { try database.books.create(Book(id: 4, title: "four", shelf: nil)) }
        #expect(try database.books.read().map(\.id) == [1, 4])
        try database.close()
    }

    @Test func aServerThatIsRestartedIsUsedAgain() throws {
        let place = try ProxiedBooks("connect_timeout=1")
        for _ in 0..<2 {
            place.proxy.setDown(true)
            place.proxy.cutAll()
            #expect(try storageError { try place.database.books.read() }.kind == .unreachable)
            #expect(try storageError { try place.increase() }.kind == .unreachable)
            place.proxy.setDown(false)
            #expect(try place.database.books.count() == 1)
            try place.increase()
        }
        #expect(try place.number == 2)
        try place.close()
    }

    @Test(arguments: ["one", "many"])
    func whoFindsNoConnectionIsBusy(_ writers: String) throws {
        let (database, _) = try database("pool=4&timeout=0.2&writers=\(writers)")
        try database.books.create(Book(id: 1, title: "one", shelf: nil))
        // Each thread keeps one until all have tried.
        let errors = Lock<[StorageError.Kind]>([])
        let tries = Lock(0)
        let body: @Sendable () throws -> Void = {
            do {
                try database.snapshot {
                    _ = try database.books.count()
                    tries.withLock { $0 += 1 }
                    let deadline = ContinuousClock.now + .seconds(60)
                    while tries.withLock({ $0 }) < 5, ContinuousClock.now < deadline { usleep(1000) }
                }
            } catch let error as StorageError {
                errors.withLock { $0.append(error.kind) }
                tries.withLock { $0 += 1 }
            }
        }
        together(Array(repeating: body, count: 5))
        #expect(errors.withLock { $0 } == Array(repeating: .busy, count: writers == "one" ? 2 : 3))
        #expect(try database.books.count() == 1)
        try database.close()
    }

    @Test func aServerWithoutFreeConnectionsIsBusy() throws {
        try Server.psql("CREATE ROLE dao_few LOGIN CONNECTION LIMIT 1; GRANT CREATE ON DATABASE postgres TO dao_few")
        let schema = "test-\(UUID().uuidString.lowercased())"
        defer { _ = try? Server.psql("DROP SCHEMA \"\(schema)\" CASCADE; DROP OWNED BY dao_few; DROP ROLE dao_few") }
        let error = try storageError {
            let database = try DatabaseDrivers(.postgres).open(Server.url(user: "dao_few", options: "schema=\(schema)"))
            try database.books.create(Book(id: 1, title: "one", shelf: nil))
        }
        #expect(error.kind == .busy)
        #expect(error.message.contains("connections"))
    }

    @Test func aTransactionGoesOnAfterARefusedRow() throws {
        let (database, _) = try database()
        try database.books.create(Book(id: 1, title: "one", shelf: "A"))
        try database.transaction {
            try database.books.create(Book(id: 2, title: "two", shelf: nil))
            #expect(try storageError { try database.books.create(Book(id: 1, title: "again", shelf: nil)) }.kind == .duplicateKey)
            #expect(try storageError { try database.books.create(Book(id: 3, title: "x", shelf: "A")) }.kind == .uniqueViolation)
            try database.books.create(Book(id: 4, title: "four", shelf: nil))
        }
        #expect(try database.books.read().map(\.id) == [1, 2, 4])
        try database.close()
    }

    @Test func longTextsAreIndexedAndUnique() throws {
        let (database, _) = try database()
        let long = String((0..<5000).map { Character(Unicode.Scalar(0x4E00 + UInt32($0 % 97))!) })
        try database.books.create([Book(id: 1, title: long, shelf: long), Book(id: 2, title: long + "!", shelf: long + "!")])
        #expect(try database.books.read { $0.title == long }.map(\.id) == [1])
        #expect(try database.books.read { $0.title > long }.map(\.id) == [2])
        #expect(try database.books.read(orderedBy: .descending(\.title)).map(\.id) == [2, 1])
        let error = try storageError { try database.books.create(Book(id: 3, title: "", shelf: long)) }
        #expect(error.kind == .uniqueViolation)
        #expect(error.conflictingKey == UniqueID(1))
        try database.close()
    }

    @Test func indexesServeConditionsAndOrders() throws {
        let (database, _) = try database()
        let storage = try database.storage(for: Book.self)
        #expect(try storage.explain(Query(where: Condition { $0.title == "one" })).access == .index(["title"]))
        #expect(try storage.explain(Query(where: Condition { $0.title.hasPrefix("o") })).access == .index(["title"]))
        #expect(try storage.explain(Query(where: Condition { $0.id == 1 })).access == .primaryKey)
        #expect(try storage.explain(Query(where: Condition { $0.title.contains("O", .caseInsensitive) })).filtersRows)
        try database.close()
    }
}
