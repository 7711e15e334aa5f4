// swift-format-ignore-file
import DAOCore
import Foundation

struct NoMerge: Translator {  // expect-error: type 'NoMerge' does not conform to protocol 'Translator'  // expect-note: protocol requires function 'translate(from:to:)' with type '(Message, inout MessageModel) throws -> Void'
    func translate(model: MessageModel) throws -> Message { try MessageTranslator().translate(model: model) }
    func translate(plain: Message) throws -> MessageModel { try MessageTranslator().translate(plain: plain) }
}

struct MisspeltMerge: Translator {  // expect-error: type 'MisspeltMerge' does not conform to protocol 'Translator'  // expect-note: protocol requires function 'translate(from:to:)' with type '(Message, inout MessageModel) throws -> Void'
    func translate(model: MessageModel) throws -> Message { try MessageTranslator().translate(model: model) }
    func translate(plain: Message) throws -> MessageModel { try MessageTranslator().translate(plain: plain) }
    func translate(from plain: Message, into model: inout MessageModel) throws { model.text = plain.text }
}

struct MergeWithoutInout: Translator {  // expect-error: type 'MergeWithoutInout' does not conform to protocol 'Translator'  // expect-note: protocol requires function 'translate(from:to:)' with type '(Message, inout MessageModel) throws -> Void'
    func translate(model: MessageModel) throws -> Message { try MessageTranslator().translate(model: model) }
    func translate(plain: Message) throws -> MessageModel { try MessageTranslator().translate(plain: plain) }
    func translate(from plain: Message, to model: MessageModel) throws {}
}

struct NoWayBack: ReplacingTranslator {  // expect-error: type 'NoWayBack' does not conform to protocol 'Translator'  // expect-note: protocol requires function 'translate(plain:)'
    func translate(model: MessageModel) throws -> Message { try MessageTranslator().translate(model: model) }
}

struct MisspeltMethod: ReplacingTranslator {
    func translate(model: MessageModel) throws -> Message { try MessageTranslator().translate(model: model) }
    func translate(plane: Message) throws -> MessageModel { try MessageTranslator().translate(plain: plane) }  // expect-error: instance method 'translate(plane:)' has different argument labels from those required by protocol 'Translator' ('translate(plain:)')
}

struct NotPlain: ReplacingTranslator {  // expect-error: type 'NotPlain' does not conform to protocol 'Translator'
    func translate(model: MessageModel) throws -> String { model.text }
    func translate(plain: String) throws -> MessageModel { throw CancellationError() }
}

struct AnotherOrder: ReplacingTranslator {  // expect-error: type 'AnotherOrder' does not conform to protocol 'Translator'
    func translate(model: Message) throws -> MessageModel { try MessageTranslator().translate(plain: model) }
    func translate(plain: MessageModel) throws -> Message { try MessageTranslator().translate(model: plain) }
}

func daos(_ database: any Database) throws {
    let noTranslator: DAO<MessageTranslator> = DAO(storage: try database.storage(for: MessageModel.self))  // expect-error: cannot assign value of type 'DAO<MessageModel>' to type 'DAO<MessageTranslator>'
    let ofValue: DAO<Message>? = nil  // expect-error: type 'Message' does not conform to protocol 'TranslatorOrModel'
    let ofAnother: DAO<Writer> = DAO(storage: try database.storage(for: Comment.self))  // expect-error: cannot assign value of type 'DAO<Comment>' to type 'DAO<Writer>'
    let list: ObservedList<Message>? = nil  // expect-error: type 'Message' does not conform to protocol 'TranslatorOrModel'
    _ = DAO(storage: try database.storage(for: Writer.self), translator: MessageTranslator())  // expect-error: cannot convert value of type 'Writer' to expected argument type 'MessageModel'
    _ = try database.storage(for: Message.self)  // expect-error: instance method 'storage(for:)' requires that 'Message' conform to 'Model'
    let messages = DAO(storage: try database.storage(for: MessageModel.self), translator: MessageTranslator())
    try messages.persist(MessageTranslator().translate(plain: Message(id: 1, text: "")))  // expect-error: no exact matches in call to instance method 'persist'
    try messages.persist([1: Message(id: 1, text: "")])  // expect-error: no exact matches in call to instance method 'persist'
    let models: [MessageModel] = try messages.read()  // expect-error: cannot assign value of type '[Message]' to type '[MessageModel]'
    try messages.create(Message(id: "1", text: ""))  // expect-error: cannot convert value of type 'String' to expected argument type 'Int'
    _ = (models, noTranslator, ofValue, ofAnother, list)
}
