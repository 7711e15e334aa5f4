// The code of Docs/DirectAccess.md, compiled and run.

import DAOCore
import DAOSQLite

/// Shouts in every message since a date, in one statement, together with what the DAO stores.
func shout(_ fetched: [Message], _ messages: DAO<MessageTranslator>) throws -> Int {
    let database = messages.storage.database
    return try database.transaction {
        try messages.persist(fetched)
        return try database.underlying(as: SQLiteHandle.self, touching: .models(MessageModel.self)) { handle in
            try handle.execute("UPDATE message SET text = upper(text) WHERE isRead = 0")
        }
    }
}

/// The same where there is a faster way, and where there is none.
func shoutAnywhere(_ messages: DAO<MessageTranslator>) throws -> Int {
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
