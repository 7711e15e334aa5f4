import DAOCore
import DAOSearch
import DAOTestSupport
import Foundation
import Testing

/// Searches of `dao` and its page, in databases whose model it does not know.
@Suite(.timeLimit(.minutes(30))) struct SearchCommandTests {
    private func library(_ scheme: String) throws -> Library {
        let library = try Library(scheme)
        try library.using { database in
            let essays = DAO(storage: try database.storage(for: Essay.self))
            try essays.create([
                Essay(id: "a", title: "Cellar", tags: ["old red wine"]), Essay(id: "b", title: "Red car", tags: []),
                Essay(id: "c", title: "Tower", tags: ["東京", "wine"]),
            ])
        }
        return library
    }

    @Test(arguments: Library.schemes) func queriesCanSearch(_ scheme: String) async throws {
        let library = try library(scheme)
        for (words, keys) in [
            (["--search", "red"], ["b", "a"]), (["--search", "wi* OR 東京"], ["c", "a"]), (["--search", "red", "id > 'a'"], ["b"]),
            (["--search", "red", "--limit", "1"], ["b"]), (["--search", "\"red wine\""], ["a"]), (["--search", "nothing"], []),
        ] as [([String], [String])] {
            let ended = try await library.dao(["query", library.url, "essay", "--format", "csv", "--fields", "id"] + words)
            #expect(
                ended.status == 0 && ended.output.split(whereSeparator: \.isNewline).dropFirst().map(String.init) == keys,
                "\(words): \(ended)")
        }
        #expect(try await library.dao("count", library.url, "essay", "--search", "wine").output == "2\n")
        let ordered = try await library.dao("query", library.url, "essay", "--search", "red", "--order", "id")
        #expect(ordered.status == 64 && ordered.errors.contains("order of its own"))
        let silent = try await library.dao("query", library.url, "book", "--search", "red")
        #expect(silent.status == 1 && silent.errors.contains("'book' has no searchable field"))
    }

    /// What a command writes is found afterwards, by the command and by the application.
    @Test(arguments: Library.schemes) func commandsKeepTheIndex(_ scheme: String) async throws {
        let library = try library(scheme)
        #expect(try await library.dao("erase", library.url, "essay", "id == 'b'", "--write").status == 0)
        try Data("id,title,tags\nd,White wine,\"[]\"\n".utf8).write(
            to: library.place.directory.appendingPathComponent("essays.csv"))
        let imported = try await library.dao("import", library.url, "essay", "essays.csv")
        #expect(imported.status == 0, "\(imported)")
        #expect(try await library.dao("count", library.url, "essay", "--search", "wine").output == "3\n")
        try library.using { database in
            let essays = DAO(storage: try database.storage(for: Essay.self))
            #expect(try essays.search("red OR wine", limit: 9).map(\.value.id).sorted() == ["a", "c", "d"])
        }
        #expect(try await library.dao("verify", library.url).status == 0)
        // The index is nobody's entity.
        let inspected = try await library.dao("inspect", library.url)
        #expect(!inspected.output.contains("dao_search") && inspected.output.contains("essay, 3 rows, searches title, tags"))
    }

    @Test(arguments: Library.files) func thePageSearches(_ scheme: String) throws {
        let library = try library(scheme)
        let page = try PageClient(library, library.url)
        let entities = try #require(try page.get("api/database").json["entities"] as? [[String: Any]])
        #expect(entities.filter { $0["isSearchable"] as? Bool == true }.map { $0["name"] as? String } == ["essay"])
        #expect(entities.count == 4)
        let first = try page.get("api/rows", ["entity": "essay", "search": "red OR wine", "limit": "1"])
        #expect(first.cells.map { $0[0] } == ["a"])
        let next = try #require(first.json["next"] as? String)
        let second = try page.get("api/rows", ["entity": "essay", "search": "red OR wine", "limit": "2", "after": next])
        #expect(second.cells.map { $0[0] } == ["b", "c"])
        #expect(
            try page.get("api/rows", ["entity": "essay", "search": "red", "where": "id == 'b'"]).cells.map { $0[0] } == ["b"])
        #expect(try page.get("api/count", ["entity": "essay", "search": "wine"]).json["count"] as? Int == 2)
        #expect(try page.get("api/rows", ["entity": "book", "search": "red"]).status == 400)
        #expect(try page.get("api/rows", ["entity": "essay", "search": "red", "after": "99"]).status == 400)
    }
}

private struct Essay: Plain, Model {
    var id: String
    var title: String
    var tags: [String]

    static let schema = Schema(
        "essay", Self.init, Field("id", \.id, .primaryKey), Field("title", \.title, .searchable(weight: 2)),
        Field("tags", \.tags, .searchable))
}
