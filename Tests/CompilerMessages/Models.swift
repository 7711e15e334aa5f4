// swift-format-ignore-file
import DAOCore
import Foundation

// The correct models of the mistakes in this folder. `Scripts/check-compiler-messages.py` compiles all files
// together, and compares every error with the comment in its line.

enum Priority: Int, FieldValue { case low, high }

struct Address: Codable, FieldValue {
    var street: String
    var city: String
}

struct Message: Plain {
    let id: Int
    let text: String
    var uniqueId: UniqueID { UniqueID(id) }
}

struct MessageModel: Model {
    var id: Int
    var date: Date
    var text: String
    var isRead: Bool
    var rating: Double
    var priority: Priority
    var draft: String?
    var tags: [String]
    var address: Address?

    static let schema = Schema(
        "message", Self.init,
        Field("id", \.id, .primaryKey),
        Field("date", \.date, .indexed),
        Field("text", \.text),
        Field("isRead", \.isRead),
        Field("rating", \.rating),
        Field("priority", \.priority),
        Field("draft", \.draft),
        Field("tags", \.tags),
        Field("address", \.address),
        indexes: [Index(orderedBy: .ascending(\.isRead), .descending(\.date)), Index(\.priority, \.rating, isUnique: true)]
    )
}

struct MessageTranslator: Translator {
    func translate(model: MessageModel) throws -> Message { Message(id: model.id, text: model.text) }
    func translate(plain: Message) throws -> MessageModel {
        MessageModel(
            id: plain.id, date: Date(), text: plain.text, isRead: false, rating: 0, priority: .low, draft: nil, tags: [],
            address: nil)
    }
    func translate(from plain: Message, to model: inout MessageModel) throws { model.text = plain.text }
}

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
        "comment", Self.init, Field("id", \.id, .primaryKey), Field("text", \.text), Field("isApproved", \.isApproved))
}

struct Article: Plain, Model {
    var id: Int
    var title: String
    var writer: Writer?
    var comments: [Comment]

    static let schema = Schema(
        "article", Self.init,
        Field("id", \.id, .primaryKey), Field("title", \.title), Field("writer", \.writer, .linked),
        Field("comments", \.comments, .cascade)
    )
}
