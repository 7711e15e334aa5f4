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

/// Keeps a full-text index of all messages up to date from now on, whoever writes them.
func indexTexts(_ messages: DAO<MessageTranslator>) throws {
    let database = messages.storage.database
    try database.transaction {
        try database.underlying(as: SQLiteHandle.self, touching: .none) { handle in
            _ = try handle.execute(
                """
                CREATE VIRTUAL TABLE messageText USING fts5(text, content='message', content_rowid='id');
                CREATE TRIGGER messageTextInsert AFTER INSERT ON message BEGIN
                    INSERT INTO messageText(rowid, text) VALUES (new.id, new.text);
                END;
                CREATE TRIGGER messageTextDelete AFTER DELETE ON message BEGIN
                    INSERT INTO messageText(messageText, rowid, text) VALUES ('delete', old.id, old.text);
                END;
                CREATE TRIGGER messageTextUpdate AFTER UPDATE ON message BEGIN
                    INSERT INTO messageText(messageText, rowid, text) VALUES ('delete', old.id, old.text);
                    INSERT INTO messageText(rowid, text) VALUES (new.id, new.text);
                END;
                INSERT INTO messageText(messageText) VALUES ('rebuild');
                """)
        }
    }
}

/// Marks the messages as read that have two words.
func markNewsletters(_ messages: DAO<MessageTranslator>) throws -> Int {
    let database = messages.storage.database
    return try database.transaction {
        try database.underlying(as: SQLiteHandle.self, touching: .models(MessageModel.self)) { handle in
            try handle.execute(
                """
                UPDATE message SET isRead = 1
                WHERE id IN (SELECT rowid FROM messageText WHERE messageText MATCH 'newsletter AND unsubscribe')
                """)
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
