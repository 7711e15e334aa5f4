import DAOCore
import DAOSystemSQLite
import DAOTestSupport
import Foundation
import Testing

@testable import DAOSQLite

/// Tables of another program that move into a database: what a guess must not lose, and what a row is left out for.
@Suite struct MoveTests {
    private let place = Place()

    /// Makes a file of another program, and moves it as it is found.
    private func moved(
        _ statements: String, as model: Page.Type? = nil, changing change: (inout TableMapping) -> Void = { _ in }
    ) throws -> (mapping: TableMapping, report: MoveReport, database: SQLiteDatabase) {
        let path = place.directory.appendingPathComponent("theirs.db").path
        let raw = try Raw(path, create: true)
        try raw.makeCollation("theirs")
        try raw.run(statements)
        let old = try SQLiteDatabase(path: path)
        var mapping = try old.tableMapping()
        change(&mapping)
        let database = try SQLiteDatabase(path: place.directory.appendingPathComponent("ours.db").path)
        let report = try model.map { try old.move(by: mapping, to: database, as: $0) } ?? old.move(by: mapping, to: database)
        return (mapping, report, database)
    }

    private func values(_ entity: String, _ field: String, _ database: SQLiteDatabase) throws -> [Value?] {
        try database.rows(of: entity).read().map { $0[field] }
    }

    private func types(_ mapping: TableMapping, _ entity: String) -> [String: String] {
        let fields = mapping.entities.first { $0.entity == entity }?.fields ?? []
        return Dictionary(fields.map { ($0.field, "\($0.type)\($0.form.map { " \($0)" } ?? "")") }, uniquingKeysWith: { $1 })
    }

    @Test func aTableOfLinksWithoutALinkIsAnEntity() throws {
        let tables = "CREATE TABLE a(id INTEGER PRIMARY KEY); CREATE TABLE b(id INTEGER PRIMARY KEY); "
        let links =
            "CREATE TABLE ab(a_id REFERENCES a, b_id REFERENCES b); INSERT INTO a VALUES (1); INSERT INTO b VALUES (1), (2); "
        let (mapping, report, database) = try moved(tables + links + "INSERT INTO ab VALUES (1, 1), (NULL, 2), (NULL, 1)")
        #expect(mapping.entities.map(\.entity) == ["a", "ab", "b"])
        #expect(report.rows == ["a": 1, "ab": 3, "b": 2] && report.problems.isEmpty)
        #expect(try values("ab", "b", database) == [.integer(1), .integer(2), .integer(1)])
    }

    @Test func aLinkToAMissingRowIsReported() throws {
        let tables = "CREATE TABLE a(id INTEGER PRIMARY KEY); CREATE TABLE b(id INTEGER PRIMARY KEY); "
        let links = "CREATE TABLE ab(a_id REFERENCES a, b_id REFERENCES b); INSERT INTO a VALUES (1); INSERT INTO b VALUES (1); "
        let (mapping, report, _) = try moved(tables + links + "INSERT INTO ab VALUES (1, 1), (1, 9), (9, 1)")
        #expect(mapping.entities.map(\.entity) == ["a", "b"])
        #expect(report.problems.map(\.table) == ["ab", "ab"])
        // A mapping can say that a table has links where one of its rows has none.
        let path = place.directory.appendingPathComponent("theirs.db").path
        try Raw(path).run("INSERT INTO ab VALUES (NULL, 1)")
        let other = try SQLiteDatabase(path: place.directory.appendingPathComponent("other.db").path)
        #expect(try SQLiteDatabase(path: path).move(by: mapping, to: other).problems.count == 3)
    }

    @Test func everyDigitComes() throws {
        let table = "CREATE TABLE m(id INTEGER PRIMARY KEY, v DECIMAL(10,2), w); "
        let (mapping, _, database) = try moved(
            table + "INSERT INTO m VALUES (1, 0.1 + 0.2, 1.0 / 3), (2, 'n/a', x'00ff'), (3, 123456789.12345679, 1)")
        #expect(types(mapping, "m") == ["id": "int64", "v": "string?", "w": "data?"])
        #expect(
            try values("m", "v", database) == [.string("0.30000000000000004"), .string("n/a"), .string("123456789.12345679")])
        #expect(try values("m", "w", database).first == .data(Data("0.3333333333333333".utf8)))
    }

    @Test func keysOfNumbersWithManyDigitsAreDifferent() throws {
        let (_, report, _) = try moved(
            "CREATE TABLE k(x REAL, y TEXT, PRIMARY KEY(x, y)); INSERT INTO k VALUES (0.3, 'a'), (0.1 + 0.2, 'a')")
        #expect(report.rows == ["k": 2] && report.problems.isEmpty)
    }

    @Test func numbersWithTheDigitsOfADateAreNumbers() throws {
        let table = "CREATE TABLE d(id INTEGER PRIMARY KEY, day DATE, second DATETIME, year DATE, nano DATETIME, unix DATETIME); "
        let (mapping, _, database) = try moved(
            table + "INSERT INTO d VALUES (1, 20240101, 20240101120000, 2019, 1687377219200000000, 1700000000), "
                + "(2, 19991231, 19991231235959, 2000, 1687377219200000001, 1)")
        #expect(
            types(mapping, "d") == [
                "id": "int64", "day": "int64?", "second": "int64?", "year": "int64?", "nano": "int64?",
                "unix": "date? seconds1970",
            ])
        #expect(try values("d", "nano", database).last == .integer(1_687_377_219_200_000_001))
    }

    @Test func aGuessOfTheBeginningOfDatesIsNoted() throws {
        let (mapping, _, _) = try moved(
            "CREATE TABLE t(id INTEGER PRIMARY KEY, at TIMESTAMP); INSERT INTO t VALUES (1, 700000000.5)")
        let field = mapping.entities[0].fields[1]
        #expect(field.form == .seconds2001)
        #expect(
            field.note
                == "taken for seconds since 2001, 2023-03-08 to 2023-03-08; if they begin in 1970, its form is seconds1970, "
                + "1992-03-07 to 1992-03-07")
    }

    @Test func digitsOfAChecksumAreText() throws {
        let (mapping, _, database) = try moved(
            "CREATE TABLE f(id INTEGER PRIMARY KEY, sum CHAR(32)); INSERT INTO f VALUES (1, 'cfcd208495d565ef66e7dff9f98764da')")
        #expect(types(mapping, "f")["sum"] == "string?")
        #expect(try values("f", "sum", database) == [.string("cfcd208495d565ef66e7dff9f98764da")])
    }

    @Test func uniqueValuesStayUnique() throws {
        let (mapping, _, _) = try moved(
            "CREATE TABLE u(id INTEGER PRIMARY KEY, uuid BLOB NOT NULL UNIQUE, weight REAL UNIQUE); INSERT INTO u VALUES (1, randomblob(16), 1.5)"
        )
        #expect(mapping.entities[0].fields.map(\.unique) == [nil, true, true])
    }

    @Test func aColumnCanHaveTheNameOfTheRowsNumber() throws {
        let (_, report, database) = try moved("CREATE TABLE r(rowid, a); INSERT INTO r VALUES (1, 'x'), (1, 'y'), (NULL, 'z')")
        #expect(report.rows == ["r": 3] && report.problems.isEmpty)
        #expect(try values("r", "a", database) == [.string("x"), .string("y"), .string("z")])
    }

    @Test func valuesInFilesThatAreMissing() throws {
        let core =
            "CREATE TABLE Z_METADATA(Z_VERSION INTEGER PRIMARY KEY, Z_UUID VARCHAR, Z_PLIST BLOB); "
            + "CREATE TABLE Z_PRIMARYKEY(Z_ENT INTEGER PRIMARY KEY, Z_NAME VARCHAR, Z_SUPER INTEGER, Z_MAX INTEGER); "
            + "INSERT INTO Z_PRIMARYKEY VALUES (1, 'Note', 0, 3); "
            + "CREATE TABLE ZNOTE(Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZTITLE VARCHAR, ZFILE BLOB); "
        let name = "x'02' || CAST('\(UUID())' AS BLOB) || x'00'"
        let (mapping, report, database) = try moved(
            core
                + "INSERT INTO ZNOTE VALUES (1, 1, 1, 'a', x'01aabb'), (2, 1, 1, 'b', CAST(\(name) AS BLOB)), (3, 1, 1, 'c', NULL)"
        )
        #expect(types(mapping, "note")["file"] == "data? externalData")
        #expect(try values("note", "title", database) == [.string("a"), .string("b"), .string("c")])
        #expect(try values("note", "file", database) == [.data(Data([0xAA, 0xBB])), .null, .null])
        #expect(report.rowsLeftOut == 0 && report.problems.map(\.isRow) == [false])
        #expect(report.problems.first?.reason.contains("_EXTERNAL_DATA") == true)
    }

    struct Page: Plain, Model {
        var id: Int
        var tags: [String]?
        static let schema = Schema("page", Self.init, Field("id", \.id, .primaryKey), Field("tags", \.tags))
    }

    @Test func jsonThatTheModelDoesNotReadIsLeftOut() throws {
        let (_, report, database) = try moved(
            "CREATE TABLE page(id INTEGER PRIMARY KEY, tags TEXT); "
                + "INSERT INTO page VALUES (1, '[\"a\"]'), (2, ''), (3, 'no'), (4, '{\"a\": 1}'), (5, NULL), (6, '[ \"b\" ]')",
            as: Page.self
        ) { mapping in mapping.entities[0].fields[1].type = "embedded?" }
        #expect(try DAO(storage: database.storage(for: Page.self)).read().map(\.tags) == [["a"], nil, nil, ["b"]])
        #expect(report.rowsLeftOut == 2 && report.problems.map(\.isRow) == [true, true])
    }

    /// Nothing is found by an index whose order is not known, and all is read.
    @Test func collationsOfAnotherProgramMatterToNothing() throws {
        let numbers = "WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n WHERE i < 300) "
        let (mapping, report, database) = try moved(
            "CREATE TABLE p(code TEXT COLLATE theirs PRIMARY KEY, name TEXT COLLATE theirs UNIQUE) WITHOUT ROWID; "
                + "CREATE TABLE c(id INTEGER PRIMARY KEY, p TEXT REFERENCES p(code)); CREATE INDEX pn ON p(name, code); "
                + "CREATE TABLE l(p TEXT COLLATE theirs REFERENCES p, c INTEGER REFERENCES c, PRIMARY KEY(p, c)); "
                + "\(numbers)INSERT INTO p SELECT 'k' || i, 'n' || i FROM n; \(numbers)INSERT INTO c SELECT i, 'k' || i FROM n; "
                + "\(numbers)INSERT INTO l SELECT 'k' || i, 301 - i FROM n")
        #expect(report.rows == ["c": 300, "p": 300] && report.problems.isEmpty, "\(report)")
        #expect(types(mapping, "c")["p"] == "toOne?" && types(mapping, "p")["name"] == "string?")
        let rows = try database.rows(of: "c").read()
        #expect(rows.map { $0["p"] } == (1...300).map { .string("k\($0)") })
        let list = try #require(mapping.entities.lazy.flatMap(\.fields).first { $0.list != nil })
        let linked = try database.rows(of: list.list?.parent == "p" ? "p" : "c").related(
            list.field, of: list.list?.parent == "p" ? "k7" : "294")
        #expect(linked.count == 1)
        #expect(try database.verify().isSound)
    }

    /// Rails writes dates in UTC. Tables that only name its migrations stay, and so do those of other tools.
    @Test func tablesOfToolsStayBehind() throws {
        let (mapping, report, database) = try moved(
            "CREATE TABLE schema_migrations(version TEXT PRIMARY KEY); CREATE TABLE ar_internal_metadata(key TEXT PRIMARY KEY); "
                + "CREATE TABLE alembic_version(v TEXT); INSERT INTO alembic_version VALUES ('1'); "
                + "CREATE TABLE posts(id INTEGER PRIMARY KEY, at DATETIME); INSERT INTO posts VALUES (1, '2024-01-02 03:04:05')")
        #expect(mapping.dialect == "Rails" && report.left.count == 3 && report.rows == ["posts": 1], "\(report)")
        #expect(try values("posts", "at", database) == [.date(Date(timeIntervalSince1970: 1_704_164_645))])
    }

    @Test func aTableWithTheNameOfAToolIsATable() throws {
        let (_, report, _) = try moved(
            "CREATE TABLE schema_migrations(id INTEGER PRIMARY KEY); INSERT INTO schema_migrations VALUES (1)")
        #expect(report.left.isEmpty && report.rowsWritten == 1)
    }

    @Test func errorsOfSQLiteThatAreNoChangeOfTables() {
        let collation = SQLiteError.error(SQLITE_ERROR, "no such collation sequence: LOCALIZED", path: "app.db")
        #expect(collation.kind == .unsupported && collation.message.contains("collation"))
        let columns = SQLiteError.error(SQLITE_ERROR, "too many columns on wide", path: "app.db")
        #expect(columns.kind == .unsupported && columns.message.contains("2000"))
    }
}
