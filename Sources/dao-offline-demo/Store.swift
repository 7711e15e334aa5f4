import DAOCore

// What is stored, and the translators between it and the application's values.

struct DialogModel: Model {
    var id: Int
    var title: String
    var isPinned: Bool

    static let schema = Schema(
        "dialog", Self.init, Field("id", \.id, .primaryKey), Field("title", \.title), Field("isPinned", \.isPinned))
}

struct MessageModel: Model {
    var id: Int
    var dialog: Int
    var position: Int
    var author: String
    var text: String

    static let schema = Schema(
        "message", Self.init,
        Field("id", \.id, .primaryKey),
        Field("dialog", \.dialog, .indexed),
        Field("position", \.position),
        Field("author", \.author),
        Field("text", \.text)
    )
}

/// Stores the messages of a dialog as separate rows. It runs inside the transaction that stores the dialog,
/// and its changes are part of that transaction.
struct DialogTranslator: ReplacingTranslator {
    let messages: any Storage<MessageModel>

    func translate(model: DialogModel) throws -> Dialog {
        let query = Query<MessageModel>(where: Condition { $0.dialog == model.id }, orderedBy: [.ascending(\.position)])
        let messages = try messages.read(query).map { Message(id: $0.id, author: $0.author, text: $0.text) }
        return Dialog(id: model.id, title: model.title, isPinned: model.isPinned, messages: messages)
    }

    func translate(plain: Dialog) throws -> DialogModel {
        let rows = plain.messages.enumerated().map { position, message in
            MessageModel(id: message.id, dialog: plain.id, position: position, author: message.author, text: message.text)
        }
        let gone = Condition<MessageModel> { $0.dialog == plain.id && !$0.id.in(rows.map(\.id)) }
        _ = try messages.erase(Query(where: gone))
        try messages.upsert(rows)
        return DialogModel(id: plain.id, title: plain.title, isPinned: plain.isPinned)
    }
}

/// The DAO of the dialogs, and its storages.
struct DialogStore {
    let dialogs: DAO<DialogTranslator>

    init(_ database: any Database) throws {
        dialogs = DAO(
            storage: try database.storage(for: DialogModel.self),
            translator: DialogTranslator(messages: try database.storage(for: MessageModel.self)))
    }

    /// All stored rows as text, to compare two states of the database.
    func rows() throws -> [String] {
        try dialogs.storage.read(Query()).map { "\($0)" } + dialogs.translator.messages.read(Query()).map { "\($0)" }
    }
}
