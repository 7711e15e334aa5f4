// swift-format-ignore-file
// The code of Docs/ComingFrom.md, compiled and run. `DAODocumentationTests` checks that both are the same.

import DAOCore
import DAONodes
import DAOSQLite
import DAOTransport
import Foundation

/// A change of stored rows, as Realm does it in a write block.
func changeInPlace(_ messages: DAO<MessageTranslator>) throws -> Int {
    let changed = try messages.update(where: { $0.id == 7 }) { message in      // the stored record, inout
        message.draft = "Dear Ada"
        message.isRead = true
    }
    return changed
}

/// Conditions as Core Data writes them.
func textPredicates(_ messages: DAO<MessageTranslator>, _ cutoff: Date, _ words: [String]) throws -> [[Int]] {
    let recent = try messages.read(predicatedBy: Condition("isRead == NO AND date > %@", cutoff), orderedBy: "date", ascending: false)
    let found = try messages.read(predicatedBy: Condition("text CONTAINS[cd] %@ OR text IN %@", "resume", words))
    return [recent.map(\.id), found.map(\.id)]
}

/// A block of reads, and one of reads and writes, off the calling thread.
func blocks(_ messages: DAO<MessageTranslator>) async throws -> Int {
    let unread = try await messages.reading { messages in                      // one snapshot, on a reader's thread
        try messages.count { !$0.isRead }
    }
    let erased = try await messages.writing { messages in                      // one transaction, on the writer's thread
        try messages.erase { $0.isRead }
    }
    return unread + erased
}

/// A translator that uses the translator of the children, as a classic DAO does.
struct ShelfTranslator: Translator {
    let comments: DAO<Comment>                                            // of the same database: joins its transaction

    func translate(model: ShelfModel) throws -> Shelf {
        Shelf(id: model.id, title: model.title, comments: try comments.read(byPrimaryKeys: model.comments))
    }
    func translate(plain: Shelf) throws -> ShelfModel {
        try comments.persist(plain.comments)
        return ShelfModel(id: plain.id, title: plain.title, comments: plain.comments.map(\.id))
    }
    func translate(from plain: Shelf, to model: inout ShelfModel) throws {     // a record is a value, so it is inout
        try comments.persist(plain.comments)
        model.title = plain.title
        model.comments = plain.comments.map(\.id)
    }
}

struct Shelf: Plain {
    let id: Int
    let title: String
    let comments: [Comment]
    var uniqueId: UniqueID { UniqueID(id) }
}

struct ShelfModel: Model {
    var id: Int
    var title: String
    var comments: [Int]

    static let schema = Schema(
        "shelf", Self.init, Field("id", \.id, .primaryKey), Field("title", \.title), Field("comments", \.comments))
}

/// The calls of a classic DAO.
func classicDAO(_ messages: DAO<MessageTranslator>, _ message: Message) throws -> Int {
    try messages.create(message)                                               // `duplicateKey` when it is there
    try messages.persist([message])                                            // creates or merges
    let one = try messages.read(byPrimaryKey: "7")                             // "7", 7 and UniqueID(7) are one key
    let all = try messages.read(orderedBy: "date", ascending: true)
    let same = one?.equals(message) ?? false                                   // compares ids
    try messages.erase(byPrimaryKeys: all.map(\.uniqueId))
    return same ? all.count : 0
}

/// JSON as a value.
func jsonValues() throws -> (String?, Int?) {
    let json: Json = ["user": ["name": "Ada", "age": 36], "tags": ["a", "b"]]
    let name = json["user"]?["name"]?.stringValue
    let age = json["user"]?["age"]?.intValue
    return (name, age)
}

/// The rows of an application's earlier file, at the first launch of the next version.
func firstLaunch(_ oldPath: String, _ mappingText: String, _ database: any Database) throws {
    let done = oldPath + ".moved"
    if FileManager.default.fileExists(atPath: oldPath), !FileManager.default.fileExists(atPath: done) {
        let old = try SQLiteDatabase(path: oldPath)
        let mapping = try TableMapping(text: mappingText)                      // the text of Notes.mapping.json
        let report = try old.move(by: mapping, to: database, as: Singer.self, Song.self)
        for problem in report.problems { print(problem) }                      // rows that could not come, and why
        try old.close()
        try Data().write(to: URL(fileURLWithPath: done))                       // a later version removes both files
    }
}

struct Singer: Plain, Model {
    var id: Int
    var name: String

    static let schema = Schema("singer", Self.init, Field("id", \.id, .primaryKey), Field("name", \.name))
}

struct Song: Plain, Model {
    var id: Int
    var title: String
    var singer: Reference<Singer>

    static let schema = Schema(
        "song", Self.init, Field("id", \.id, .primaryKey), Field("title", \.title), Field("singer", \.singer, .restricted))
}
