// The code of Docs/DirectAccess.md, compiled and run.

import DAOCore
import DAOSQLite

/// Uppercases the text of all unread messages in one statement, in the same transaction as a DAO's writes.
func uppercaseUnread(_ fetched: [Message], _ messages: DAO<MessageTranslator>) throws -> Int {
    let database = messages.storage.database
    return try database.transaction {
        try messages.persist(fetched)
        return try database.underlying(as: SQLiteHandle.self, touching: .models(MessageModel.self)) { handle in
            try handle.execute("UPDATE message SET text = upper(text) WHERE isRead = 0")
        }
    }
}

/// Uses SQLite directly if possible, and the DAO on every other database.
func uppercaseUnreadOnAnyDatabase(_ messages: DAO<MessageTranslator>) throws -> Int {
    let database = messages.storage.database
    return try database.transaction {
        guard database.capabilities.underlyingTypes.contains(UnderlyingType(SQLiteHandle.self)) else {
            return try messages.update(where: { !$0.isRead }) { $0.text = $0.text.uppercased() }
        }
        return try database.underlying(as: SQLiteHandle.self, touching: .models(MessageModel.self)) { handle in
            try handle.execute("UPDATE message SET text = upper(text) WHERE isRead = 0")
        }
    }
}
