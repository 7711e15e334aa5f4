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

/// Somebody who writes stories.
struct Author: Plain, Model, Equatable {
    var id: UUID
    var name: String
    var about: String

    static let schema = Schema(
        "author", Self.init, Field("id", \.id, .primaryKey), Field("name", \.name, .searchable(weight: 3)),
        Field("about", \.about, .searchable))
}

/// A line of a list of everything.
enum AnyLine: Equatable {
    case story(UUID, String)
    case author(UUID, String)
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

    /// Finds what somebody has typed in stories and authors, the best first.
    static func everything(_ typed: String, in database: any Database) throws -> [AnyLine] {
        let stories = DAO(storage: try database.storage(for: Story.self))
        let authors = DAO(storage: try database.storage(for: Author.self))
        let sources: [SearchSource<AnyLine>] = [
            SearchSource(stories, where: Condition { !$0.isArchived }) { .story($0.id, $0.title) },
            SearchSource(authors) { .author($0.id, $0.name) },
        ]
        return try database.search(typed, in: sources, limit: 50).map(\.value)
    }

    /// Finds plurals, and what else a word can be called.
    static func wider(_ typed: String, synonyms: [String: [String]]) -> SearchQuery {
        SearchQuery(typed).expanded { word in
            (word.count > 4 && word.hasSuffix("s") ? [String(word.dropLast())] : ["\(word)s"]) + (synonyms[word] ?? [])
        }
    }
}
