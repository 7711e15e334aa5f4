import DAOCore
import DAOSQLite
import DAOTestSupport
import Foundation
import Testing

/// Contract L9: what other programs have done to a file is reported by entity, key and field.
@Suite struct VerificationTests {
    private struct Tag: Plain, Model, Equatable {
        var id: String
        static let schema = Schema("tag", Self.init, Field("id", \.id, .primaryKey))
    }

    private struct Page: Plain, Model, Equatable {
        var id: String
        var title: String
        var rank: Int
        var cover: Tag?
        var tags: [Tag]
        var words: [String] = []
        static let schema = Schema(
            "page", Self.init, Field("id", \.id, .primaryKey), Field("title", \.title), Field("rank", \.rank),
            Field("cover", \.cover, .owned), Field("tags", \.tags, .linked), Field("words", \.words),
            indexes: [Index(\.title, \.rank), Index(elements: \.words)])
    }

    private let place = Place()

    private func report(after sql: String...) throws -> VerificationReport {
        let database = try place.database()
        try DAO(storage: try database.storage(for: Page.self)).create(
            (1...9).map { Page(id: "p\($0)", title: "t\($0 % 3)", rank: $0, cover: Tag(id: "a"), tags: [Tag(id: "b")]) })
        try database.close()
        // Each on a connection of its own, which reads the schema anew.
        for sql in sql { try Raw(place.path()).run(sql) }
        return try place.database().verify()
    }

    @Test func anUndamagedFileIsSound() throws {
        let report = try report()
        #expect(report.isSound && report.rows == ["page": 9, "tag": 2], "\(report)")
    }

    @Test func valuesOfAnotherTypeAreReportedEach() throws {
        let report = try report(
            after: "UPDATE page SET rank = 'x' WHERE id IN ('p2', 'p7')", "UPDATE page SET title = x'01' WHERE id = 'p2'")
        #expect(report.problems.map(\.kind) == [.corruptedValue, .corruptedValue, .corruptedValue])
        #expect(report.problems.map(\.key) == ["p2", "p2", "p7"])
        #expect(report.problems.map(\.field) == ["title", "rank", "rank"])
        #expect(report.rows["page"] == 9)
    }

    @Test func anIndexThatLacksRowsNamesThem() throws {
        let index =
            "name = (SELECT name FROM sqlite_master WHERE tbl_name = 'page' AND sql LIKE '%title%rank%' AND type = 'index')"
        let report = try report(
            after:
                "PRAGMA writable_schema = ON; CREATE TABLE kept AS SELECT * FROM sqlite_master WHERE \(index); DELETE FROM sqlite_master WHERE \(index)",
            "UPDATE page SET rank = 100 WHERE id = 'p4'",
            "PRAGMA writable_schema = ON; INSERT INTO sqlite_master SELECT * FROM kept; DELETE FROM kept")
        let problem = try #require(report.problems.first, "\(report)")
        #expect(problem.kind == .corrupted && problem.entity == "page" && problem.field == "title, rank", "\(report)")
        #expect(report.problems.contains { $0.key == "p4" }, "\(report)")
    }

    @Test func whatIsNotThereAnyMoreIsReportedWithTheStatementThatMakesIt() throws {
        let report = try report(after: "DROP INDEX page_title_rank", "DROP TABLE tag", "ALTER TABLE page ADD COLUMN more")
        let page = try #require(report.problems.first { $0.entity == "page" }, "\(report)")
        let statement = "CREATE INDEX \"page_title_rank\" ON \"page\"(\"title\", \"rank\")"
        #expect(page.kind == .schemaMismatch && page.message.contains("(\(statement) makes it)"), "\(report)")
        #expect(page.message.contains("'more' is not in the model"), "\(report)")
        let tag = try #require(report.problems.first { $0.entity == "tag" }, "\(report)")
        #expect(tag.kind == .corrupted && tag.message.contains("the table of 'tag' is gone"), "\(report)")
        #expect(report.rows["page"] == 9, "\(report)")
        try Raw(place.path()).run(
            statement + "; ALTER TABLE page DROP COLUMN more; CREATE TABLE tag (id TEXT PRIMARY KEY) WITHOUT ROWID")
        let mended = try place.database().verify()
        #expect(mended.problems.allSatisfy { $0.field == "cover" || $0.field == "tags" }, "\(mended)")
    }

    @Test func indexesOfHelperTablesAreMissed() throws {
        let links = try report(after: "DROP INDEX \"page.tags.child\"")
        #expect(links.problems.map(\.kind) == [.schemaMismatch] && links.problems.map(\.field) == ["tags"], "\(links)")
        #expect(links.problems.first?.message.contains("CREATE INDEX \"page.tags.child\"") == true, "\(links)")
        let elements = try VerificationTests().report(after: "DROP INDEX \"page.words.elements.index\"")
        #expect(elements.problems.map(\.kind) == [.schemaMismatch], "\(elements)")
        #expect(elements.problems.map(\.field) == ["words"], "\(elements)")
    }

    @Test func linksWithoutRowsAreReported() throws {
        let report = try report(after: "DELETE FROM tag WHERE id = 'a'", "DELETE FROM page WHERE id = 'p9'")
        let covers = report.problems.filter { $0.field == "cover" }
        #expect(covers.map(\.key) == (1...8).map { UniqueID("p\($0)") }, "\(report)")
        #expect(report.problems.filter { $0.field == "tags" }.map(\.key) == ["p9"], "\(report)")
        #expect(report.problemCount == 9)
    }
}
