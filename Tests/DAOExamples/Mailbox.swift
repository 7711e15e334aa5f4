// The code of Docs/Testing.md that belongs to the application; its tests are in `DAODocumentationTests`.

import DAOCore
import Foundation

/// What the application does with messages. It does not know which database it is.
struct Mailbox {
    let database: any Database
    let messages: DAO<MessageTranslator>

    init(_ database: any Database) throws {
        self.database = database
        messages = DAO(storage: try database.storage(for: MessageModel.self), translator: MessageTranslator())
    }

    /// Stores what the server sent, and erases what is older than a date.
    func receive(_ fetched: [Message], erasingBefore oldest: Date) throws {
        try database.transaction {
            try messages.persist(fetched)
            try messages.erase { $0.date < oldest }
        }
    }
}
