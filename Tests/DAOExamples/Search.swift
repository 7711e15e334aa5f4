// The code of Docs/Search.md.

import DAOCore
import DAOSearch
import Foundation

/// A story that can be searched.
struct Story: Plain, Model, Equatable {
    var id: UUID
    var title: String
    var text: String
    var tags: [String] = []
    var isArchived = false

    static let schema = Schema(
        "story", Self.init, Field("id", \.id, .primaryKey), Field("title", \.title, .searchable(weight: 3)),
        Field("text", \.text, .searchable), Field("tags", \.tags, .searchable), Field("isArchived", \.isArchived, .default(false))
    )
}

/// A line of a list of results.
struct ResultLine: Equatable {
    var id: UUID
    var title: String
    /// A part of the text, and what was found in it.
    var snippet: SearchQuery.Snippet
}

enum Search {
    /// Finds what somebody has typed, the best first, without what is in the archive.
    static func results(of typed: String, in stories: DAO<Story>) throws -> [ResultLine] {
        let query = SearchQuery(typed)
        let hits = try stories.search(query, limit: 50, where: Condition { !$0.isArchived })
        return hits.map { hit in
            ResultLine(id: hit.value.id, title: hit.value.title, snippet: query.snippet(of: hit.value.text, length: 120))
        }
    }

    /// Marks what was found with asterisks, as Markdown has it.
    static func marked(_ snippet: SearchQuery.Snippet) -> String {
        var text = snippet.text
        for range in snippet.ranges.reversed() { text.replaceSubrange(range, with: "**\(text[range])**") }
        return text
    }

    /// What a list without results says.
    static func noResults(_ typed: String, in stories: DAO<Story>) throws -> String {
        if SearchQuery(typed).isEmpty { return "Type a word." }
        let hidden = try stories.searchCount(typed, where: Condition { $0.isArchived })
        return hidden > 0 ? "Nothing but \(hidden) in the archive." : "Nothing has '\(typed)'."
    }

    /// Follows a search: once now, and after every commit that changes what it finds.
    static func observe(_ typed: String, in stories: DAO<Story>, _ show: ([ResultLine]) -> Void) async throws {
        for try await lines in stories.storage.database.observe({ try results(of: typed, in: stories) }) { show(lines) }
    }
}
