import DAOCore
import DAOMemory
import Testing

@testable import DAOExamples

@Suite struct EntityRowsTests {
    /// The reads of Docs/EntityRows.md have the documented results.
    @Test func rowsWithoutTypesBehaveAsDocumented() async throws {
        let database = try DatabaseDrivers(.memory).open("memory:")
        let articles = DAO(storage: try database.storage(for: Article.self))
        let comments = [Comment(id: 1, text: "First!", isApproved: true), Comment(id: 2, text: "Swift.", isApproved: false)]
        try await articles.persist([
            Article(id: 1, title: "Hello", writer: Writer(id: 1, name: "Ada"), comments: comments),
            Article(id: 2, title: "Bye", writer: nil, comments: []),
        ])
        let result = try await entityRows(database)
        #expect(result.waiting == [1])
        #expect(result.plan.access == .primaryKey)
        #expect(result.page.elements.map(\.key) == [2, 1])
        #expect(result.titles == [.string("Hello"), .string("Bye")])
        #expect(result.change?.map(\.key) == [2])
        #expect(try await articles.read(byPrimaryKey: 2)?.writer?.name == "Eve")
    }
}
