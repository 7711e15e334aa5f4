// The code of Docs/DAOPattern.md, compiled and run.

import DAOCore
import Foundation

struct Chat: Plain, Equatable {  // the application's value
    let id: String
    let title: String
    let lines: [ChatLine]
    var uniqueId: UniqueID { UniqueID(id) }
}

struct ChatLine: Plain, Equatable {
    let id: Int64
    let text: String
    var uniqueId: UniqueID { UniqueID(id) }
}

struct ChatModel: Model {  // the stored record
    var id: String
    var title: String
    var isMuted = false  // of this device: no server knows it
    var lines: [ChatLineModel] = []

    static let schema = Schema(
        "chat", Self.init,
        Field("id", \.id, .primaryKey), Field("title", \.title), Field("isMuted", \.isMuted), Field("lines", \.lines, .cascade)
    )
}

struct ChatLineModel: Model {
    var id: Int64
    var text: String

    static let schema = Schema("chat_line", Self.init, Field("id", \.id, .primaryKey), Field("text", \.text))
}

struct ChatLineTranslator: ReplacingTranslator {  // the value has every field of the record
    func translate(model: ChatLineModel) -> ChatLine { ChatLine(id: model.id, text: model.text) }
    func translate(plain: ChatLine) -> ChatLineModel { ChatLineModel(id: plain.id, text: plain.text) }
}

struct ChatTranslator: Translator {  // merges: what the value does not have stays
    let lines = ChatLineTranslator()

    func translate(model: ChatModel) throws -> Chat {
        Chat(id: model.id, title: model.title, lines: try lines.translate(models: model.lines))
    }
    func translate(plain: Chat) throws -> ChatModel {
        var model = ChatModel(id: plain.id, title: "")
        try translate(from: plain, to: &model)
        return model
    }
    func translate(from plain: Chat, to model: inout ChatModel) throws {
        model.title = plain.title
        model.lines = try lines.translate(plains: plain.lines)
    }
}

struct ChatService {  // the application: it does not know which database it is
    let chats: DAO<ChatTranslator>

    init(_ database: any Database) throws {
        chats = DAO(storage: try database.storage(for: ChatModel.self), translator: ChatTranslator())
    }

    func didFetch(_ fetched: [Chat]) throws { try chats.persist(fetched) }
    func chat(_ id: String) throws -> Chat? { try chats.read(byPrimaryKey: id) }
    func chats(named part: String) throws -> [Chat] {
        try chats.read(orderedBy: .ascending(\.title)) {
            $0.title.contains(part, [.caseInsensitive, .diacriticInsensitive])
        }
    }
    func count() throws -> Int { try chats.count() }
    func leave(_ chat: Chat) throws { try chats.erase(chat) }
}

/// The calls of older DAO libraries.
func classicCalls(_ chats: DAO<ChatTranslator>) throws -> [[String]] {
    let sorted = try chats.read(orderedBy: "title", ascending: false)
    let found = try chats.read(predicatedBy: Condition("title BEGINSWITH %@", "S"), orderedBy: "title", ascending: true)
    let some = try chats.read(predicatedBy: Condition("id IN %@", ["swift", "c"]))
    let muted = try chats.count(predicatedBy: Condition("isMuted == true"))
    let kept = try chats.read(byPrimaryKeys: ["swift", "unknown", "c"])
    return [sorted.map(\.id), found.map(\.id), some.map(\.id), ["\(muted)"], kept.map(\.id)]
}

struct Invoice: Plain, Model {
    var id: Int
    var customer: String

    static let schema = Schema("invoice", Self.init, Field("id", \.id, .primaryKey), Field("customer", \.customer))
}

struct InvoiceItem: Plain, Model {
    var id: Int
    var invoice: Reference<Invoice>  // the child names its parent
    var text: String

    static let schema = Schema(
        "invoice_item", Self.init,
        Field("id", \.id, .primaryKey), Field("invoice", \.invoice, .cascade), Field("text", \.text)
    )
}
