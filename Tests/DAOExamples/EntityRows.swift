// swift-format-ignore-file
// The code of Docs/EntityRows.md, compiled and run. `DAODocumentationTests` checks that both are the same.

import DAOCore

/// The results of the reads of Docs/EntityRows.md.
struct EntityRowsResults {
    var waiting: [UniqueID]
    var plan: QueryPlan
    var page: Page<EntityRow>
    var titles: [Value?]
    var change: [EntityRow]?
}

func entityRows(_ database: any Database) async throws -> EntityRowsResults {
    for entity in try database.entities() {
        print(entity, try database.rows(of: entity.name).count())
    }

    let articles = try database.rows(of: "article")
    let waiting = try articles.read(
        where: TextPredicate("writer.name == %@ AND ANY comments.isApproved == false", "Ada"), orderedBy: .descending("title"),
        limit: 50)
    for article in waiting {
        print(article.key, article["title"] ?? .null, try articles.related("comments", of: article.key).count)
    }

    let plan = try articles.explain(RowQuery(where: "id BETWEEN {1, 9}"))
    var page = try articles.page(RowQuery(orderedBy: [.ascending("title")]), limit: 100)
    if let next = page.next { page = try articles.page(RowQuery(orderedBy: [.ascending("title")], after: next), limit: 100) }

    let titles = try await database.snapshot { try articles.read(limit: 10).map { $0["title"] } }
    let changes = database.observe { try articles.read(where: "writer == nil") }
    var change: [EntityRow]?
    for try await rows in changes {
        change = rows
        break
    }
    try database.rows(of: "writer").persist([["id": .integer(7), "name": .string("Eve")]])
    try articles.persist([["id": .integer(2), "writer": .integer(7)]])
    try articles.erase(where: "writer == nil")
    return EntityRowsResults(waiting: waiting.map(\.key), plan: plan, page: page, titles: titles, change: change)
}
