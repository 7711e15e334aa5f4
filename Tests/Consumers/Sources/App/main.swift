import DAOCore
import Foundation

#if SQLite
    import CSQLite
    import DAOSQLite
    let driver = DatabaseDriver.sqlite
#elseif LMDB
    import DAOLMDB
    let driver = DatabaseDriver.lmdb
#else
    import DAOMemory
    let driver = DatabaseDriver.memory
#endif

#if Nodes
    import DAONodes
    import DAOTransport
    let client: any Client = URLSessionClient()
#endif

struct Message: Plain {
    let id: Int
    let date: Date
    let text: String
    let isRead: Bool
    var uniqueId: UniqueID { UniqueID(id) }
}

struct MessageModel: Model {
    var id: Int
    var date: Date
    var text: String
    var isRead: Bool
    var draft: String?

    static let schema = Schema(
        "message", Self.init,
        Field("id", \.id, .primaryKey),
        Field("date", \.date, .indexed),
        Field("text", \.text),
        Field("isRead", \.isRead),
        Field("draft", \.draft),
        indexes: [Index(orderedBy: .ascending(\.isRead), .descending(\.date))]
    )
}

struct MessageTranslator: Translator {
    func translate(model: MessageModel) throws -> Message {
        Message(id: model.id, date: model.date, text: model.text, isRead: model.isRead)
    }
    func translate(plain: Message) throws -> MessageModel {
        MessageModel(id: plain.id, date: plain.date, text: plain.text, isRead: plain.isRead, draft: nil)
    }
    func translate(from plain: Message, to model: inout MessageModel) throws {
        model.date = plain.date
        model.text = plain.text
        model.isRead = plain.isRead
    }
}

struct Note: Plain, Model {
    var id: Int
    var text: String

    static let schema = Schema("note", Self.init, Field("id", \.id, .primaryKey), Field("text", \.text))
}

let directory = FileManager.default.temporaryDirectory.appendingPathComponent("consumer-\(UUID())").path
try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
defer { try? FileManager.default.removeItem(atPath: directory) }
let database = try DatabaseDrivers(driver).open("\(driver.scheme):\(directory)/app.db")
let notes = DAO(storage: try database.storage(for: Note.self))
try notes.persist([Note(id: 1, text: "one"), Note(id: 2, text: "two")])
let found = try notes.read { $0.text == "two" }
precondition(found.map(\.id) == [2])
print("\(driver.scheme): \(try notes.count()) notes")
let messages = DAO(storage: try database.storage(for: MessageModel.self), translator: MessageTranslator())
try messages.persist(Message(id: 1, date: Date(), text: "text", isRead: false))
let unread = try messages.read { !$0.isRead }
precondition(unread.map(\.id) == [1])

#if SQLite
    print("CSQLite is SQLite \(String(cString: sqlite3_libversion()))")
#endif
