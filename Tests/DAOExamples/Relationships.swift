// swift-format-ignore-file
// The code about relationships in README.md and Docs/Relationships.md, compiled and run.
// `DAODocumentationTests` checks that all are the same.

import DAOCore
import Foundation

struct Writer: Plain, Model {
    var id: Int
    var name: String

    static let schema = Schema("writer", Self.init, Field("id", \.id, .primaryKey), Field("name", \.name))
}

struct Comment: Plain, Model {
    var id: Int
    var text: String
    var isApproved: Bool

    static let schema = Schema(
        "comment", Self.init,
        Field("id", \.id, .primaryKey), Field("text", \.text), Field("isApproved", \.isApproved)
    )
}

struct Article: Plain, Model {
    var id: Int
    var title: String
    var writer: Writer?                       // to one
    var comments: [Comment]                   // to many, in this order

    static let schema = Schema(
        "article", Self.init,
        Field("id", \.id, .primaryKey),
        Field("title", \.title),
        Field("writer", \.writer, .linked),
        Field("comments", \.comments, .cascade)
    )
}

struct Ticket: Plain, Model {
    var id: Int
    var title: String
    var owner: Writer?
    var revision = Revision()                 // zero: not stored

    static let schema = Schema(
        "ticket", Self.init,
        Field("id", \.id, .primaryKey),
        Field("title", \.title),
        Field("owner", \.owner, .linked),
        Field("revision", \.revision)
    )
}

struct Folder: Plain, Model {
    var id: Int
    var name: String
    var parent: Reference<Folder>?            // a model can refer to itself
    var owner: Reference<Writer>              // not optional: every folder has an owner

    static let schema = Schema(
        "folder", Self.init,
        Field("id", \.id, .primaryKey),
        Field("name", \.name),
        Field("parent", \.parent, .cascade),
        Field("owner", \.owner, .restricted)
    )
}

/// The results of the example: waiting articles, busy articles, and the remaining comments after each erase.
func relationships(_ database: any Database, _ ada: Writer, _ first: Comment, _ second: Comment) throws -> (
    waiting: [Int], busy: [Int], left: Int
) {
    let articles = DAO(storage: try database.storage(for: Article.self))
    let comments = DAO(storage: try database.storage(for: Comment.self))

    try articles.persist(Article(id: 1, title: "Hello", writer: ada, comments: [first, second]))   // rows and links in one commit
    let waiting = try articles.read(orderedBy: .ascending(\.writer, \.name)) {
        $0.comments.contains { !$0.isApproved } && $0.writer.name != nil
    }
    let busy = try articles.read(predicatedBy: "comments.@count > 1 AND ANY comments.text CONTAINS[c] 'swift'")
    try comments.erase(byPrimaryKey: first.id)    // removed from every list
    try articles.erase(byPrimaryKey: 1)           // its unshared comments are erased too
    return (waiting.map(\.id), busy.map(\.id), try comments.count())
}

/// Changes a linked row and its parent in one transaction.
func linkedRows(_ database: any Database, _ article: Article) throws {
    let articles = DAO(storage: try database.storage(for: Article.self))
    let writers = DAO(storage: try database.storage(for: Writer.self))

    try database.transaction {
        try writers.persist(Writer(id: 7, name: "Ada Lovelace"))
        try articles.persist(article)
    }
}

/// The folders that the example finds, the owner of the first of them, and the number of folders of each owner.
func references(_ database: any Database, _ ada: Writer) throws -> (found: [Folder], owner: Writer?, sizes: [Int]) {
    let folders = DAO(storage: try database.storage(for: Folder.self))
    let writers = DAO(storage: try database.storage(for: Writer.self))

    try writers.persist(ada)
    try folders.persist([
        Folder(id: 1, name: "Code", parent: nil, owner: Reference(ada)),       // made of a row
        Folder(id: 2, name: "Swift", parent: Reference(1), owner: Reference(7)),    // made of a key
    ])
    let found = try folders.read(orderedBy: .ascending(\.owner, \.name)) {
        $0.parent.name == "Code" && $0.owner == Reference(7)
    }
    let owner = try writers.read(byPrimaryKey: found[0].owner)
    let sizes = try folders.groups(by: \.owner, totals: .count)    // [(Reference<Writer>, Int)], in the order of the keys
    return (found, owner, sizes.map(\.1))
}

struct Section: Plain, Model {
    var id: Int
    var title: String
    var sections: [Section]?                  // nil where a read has left them out

    static let schema = Schema(
        "section", Self.init,
        Field("id", \.id, .primaryKey), Field("title", \.title), Field("sections", \.sections, .cascade)
    )
}

/// The paths of the folders, and the sections of a chapter that was changed without them.
func including(_ database: any Database) throws -> (path: [String], sections: [Int]) {
    let folders = DAO(storage: try database.storage(for: Folder.self))
    let sections = DAO(storage: try database.storage(for: Section.self))
    try sections.create(Section(id: 1, title: "", sections: [Section(id: 3, title: "b"), Section(id: 2, title: "a")]))

    let shown = try folders.including(\.parent, \.owner).read()
    let path = shown.map { "\($0.parent?.row?.name ?? "")/\($0.name) of \($0.owner.row?.name ?? "")" }

    var chapter = try sections.including().read(byPrimaryKey: 1)!  // chapter.sections is nil
    chapter.title = "Introduction"
    chapter.sections?.sort { $0.title < $1.title }                 // nothing is there to sort
    try sections.persist(chapter)                                  // the stored sections stay as they are
    let whole = try sections.read(byPrimaryKey: 1)?.sections ?? []
    return (path, whole.map(\.id))
}

extension Writer {
    static let articles = Inverse(\Article.writer)
}

/// The numbers of writers and articles that the example finds, and the newest articles of each writer.
func inverses(_ database: any Database) throws -> (counts: [Int], newest: [[Int]]) {
    let articles = DAO(storage: try database.storage(for: Article.self))
    let writers = DAO(storage: try database.storage(for: Writer.self))

    let prolific = try writers.read { $0[Writer.articles].count > 10 }
    let approved = try writers.read { $0[Writer.articles].contains { $0.comments.allSatisfy { $0.isApproved } } }
    let siblings = try articles.read { $0.writer[Writer.articles].count > 1 }

    let shown = try writers.read(limit: 20)
    let newest = try articles.read(Writer.articles, of: shown.map(\.id), orderedBy: .descending(\.id), first: 3)
    for (writer, articles) in zip(shown, newest) { print(writer.name, articles.map(\.title)) }

    let waiting = try writers.read(with: Writer.articles, totals: .count { $0.title.hasPrefix("Draft") }, orderedBy: .ascending(\.name))
    let busiest = try writers.read(
        with: Writer.articles, totals: .count, .max(\.id), orderedByTotals: .descending(.count), limit: 5, having: .count > 0)
    let discussed = try articles.read(with: \.comments, totals: .count, orderedByTotals: .descending(.count), limit: 3)
    return (
        [prolific.count, approved.count, siblings.count, waiting.count, busiest.first?.1 ?? 0, discussed.count],
        newest.map { $0.map(\.id) }
    )
}

/// The ticket that the example leaves; nil when an outdated value was stored.
func revisions(_ database: any Database, _ ada: Writer) throws -> Ticket? {
    let tickets = DAO(storage: try database.storage(for: Ticket.self))

    try tickets.create(Ticket(id: 1, title: "Printer", owner: ada))
    var ticket = try tickets.read(byPrimaryKey: 1)!
    ticket.title = "Printer on fire"
    try tickets.persist(ticket)                   // stores revision 2
    ticket.revision = ticket.revision.next
    try database.transaction(retrying: 3) {
        guard var current = try tickets.read(byPrimaryKey: 1) else { return }
        current.title += "!"
        try tickets.persist(current)
    }
    do {
        try tickets.persist(ticket)
        return nil
    } catch let error as StorageError where error.kind == .conflict {
        return try tickets.read(byPrimaryKey: 1)
    }
}
