import DAOCore
import Foundation

/// R1 and R2: what the tests of the earlier libraries store in relationships.
enum RelationsClassic {
    static let cases: [ConformanceCase] = [
        ConformanceCase(
            "R.classic10", "R2", "W5", title: "ten users who share five dialogs of a hundred messages store each row once"
        ) { context in
            let database = try context.open()
            let dao = try database.dao(Participant.self)
            // Created, and then persisted again with another age.
            try dao.create(Participant.make(10, age: 12))
            try checkParticipants(database, age: 12)
            try dao.persist(Participant.make(10, age: 13))
            try checkParticipants(database, age: 13)
        },
        ConformanceCase(
            "R.classic14", "R1", "R4",
            title: "ten categories of five positions of two additives are equal after a read, and erased"
        ) { context in
            let database = try context.open()
            let dao = try database.dao(Category.self)
            let categories = Category.make(10)
            try dao.create(categories)
            try expectSame(try dao.read(), categories)
            try expectEqual(try database.dao(Position.self).count(), 50, "positions")
            try expectEqual(try database.dao(Additive.self).count(), 100, "additives")
            try expectSame(try dao.read(byPrimaryKey: "category 7"), categories[7])
            for category in categories { try expectEqual(try dao.erase(byPrimaryKey: category.id), 1) }
            try expectEqual(try dao.count(), 0, "categories")
            try expectEqual(try database.dao(Position.self).count(), 0, "positions after the erases")
            try expectEqual(try database.dao(Additive.self).count(), 0, "additives after the erases")
        },
        ConformanceCase(
            "R.classic15", "R1", "W2",
            title: "a dialog that is stored with five, then with two messages has exactly these, in order"
        ) { context in
            let dao = try context.dao(Dialog.self)
            for messages in [[1, 2, 3], [5, 3, 1, 4, 2], [4, 2]] {
                let dialog = Dialog(id: 1, messages: messages.map { Message(id: Int64($0), text: "text \($0)") })
                try dao.persist(dialog)
                try expectSame(try dao.read(), [dialog])
            }
        },
        ConformanceCase(
            "R.classicNested", "T3", "R1", "C3",
            title: "a translator that opens the database again inside the write stores its rows in the same transaction"
        ) { context in
            let database = try context.open()
            let dao = DAO(storage: try database.storage(for: Dialog.self), translator: OpeningTranslator { try context.open() })
            let chats = (1...5).map { id in
                Chat(id: id, texts: (1...20).map { "text \($0)" })
            }
            try dao.create(chats)
            try expectSame(try dao.read(), chats)
            try expectEqual(try database.dao(Message.self).count(), 20, "messages that all chats share")
            var poisoned = chats
            for index in poisoned.indices { poisoned[index].texts[0] = index == 3 ? "poison" : "changed" }
            try expectDeliberate(DeliberateError(number: 4)) { try dao.persist(poisoned) }
            try expectSame(try dao.read(), chats, "after a persist that failed in the fourth chat")
            try dao.persist(Chat(id: 1, texts: ["text 1", "new"]))
            try expectEqual(try dao.read(byPrimaryKey: 1)?.texts, ["text 1", "new"])
            try expectEqual(try dao.read(byPrimaryKey: 5)?.texts.dropFirst().first, "new", "a message of another chat")
        },
    ]

    private static func checkParticipants(_ database: any Database, age: Int) throws {
        try expectSame(try database.dao(Participant.self).read(), Participant.make(10, age: age))
        try expectEqual(try database.dao(Dialog.self).read().map(\.id), [1, 2, 3, 4, 5], "the dialogs")
        try expectEqual(try database.dao(Message.self).count(), 100, "messages")
    }
}

private struct Message: Plain, Model, Equatable {
    var id: Int64
    var text: String
    static let schema = Schema("message", Self.init, Field("id", \.id, .primaryKey), Field("text", \.text))
}

private struct Dialog: Plain, Model, Equatable {
    var id: Int64
    var messages: [Message]
    static let schema = Schema("dialog", Self.init, Field("id", \.id, .primaryKey), Field("messages", \.messages, .owned))
}

private struct Participant: Plain, Model, Equatable {
    var id: Int64
    var name: String
    var age: Int
    var dialogs: [Dialog]
    static let schema = Schema(
        "participant", Self.init, Field("id", \.id, .primaryKey), Field("name", \.name), Field("age", \.age),
        Field("dialogs", \.dialogs, .owned))

    /// Participants who have the same five dialogs of the same hundred messages.
    static func make(_ count: Int64, age: Int) -> [Participant] {
        let messages = (1...100).map { Message(id: $0, text: "Message #\($0)") }
        let dialogs = (1...5).map { Dialog(id: $0, messages: messages) }
        return (1...count).map { Participant(id: $0, name: "Name #\($0)", age: age, dialogs: dialogs) }
    }
}

private struct Additive: Plain, Model, Equatable {
    var id: String
    static let schema = Schema("additive", Self.init, Field("id", \.id, .primaryKey))
}

private struct Position: Plain, Model, Equatable {
    var id: String
    var additives: [Additive]
    static let schema = Schema(
        "position", Self.init, Field("id", \.id, .primaryKey), Field("additives", \.additives, .cascade))
}

private struct Category: Plain, Model, Equatable {
    var id: String
    var positions: [Position]
    static let schema = Schema(
        "category", Self.init, Field("id", \.id, .primaryKey), Field("positions", \.positions, .cascade))

    /// Categories with five positions each, which have two additives each.
    static func make(_ count: Int) -> [Category] {
        (0..<count).map { category in
            Category(
                id: "category \(category)",
                positions: (0..<5).map { position in
                    Position(
                        id: "position \(category).\(position)",
                        additives: (0..<2).map { Additive(id: "additive \(category).\(position).\($0)") })
                })
        }
    }
}

/// A dialog as the application sees it.
private struct Chat: Plain, Equatable {
    var id: Int
    var texts: [String]
    var uniqueId: UniqueID { UniqueID(id) }
}

/// Stores the messages of a chat through a separate DAO, on a database that it opens in each call.
private struct OpeningTranslator: Translator {
    let open: @Sendable () throws -> any Database

    func translate(model: Dialog) throws -> Chat { Chat(id: Int(model.id), texts: model.messages.map(\.text)) }

    func translate(plain: Chat) throws -> Dialog {
        var dialog = Dialog(id: Int64(plain.id), messages: [])
        try translate(from: plain, to: &dialog)
        return dialog
    }

    func translate(from plain: Chat, to model: inout Dialog) throws {
        if plain.texts.contains("poison") { throw DeliberateError(number: plain.id) }
        let messages = plain.texts.enumerated().map { Message(id: Int64($0 + 1), text: $1) }
        let dao = try open().dao(Message.self)
        try dao.persist(messages)
        model.messages = try dao.read(byPrimaryKeys: messages.map(\.id))
    }
}
