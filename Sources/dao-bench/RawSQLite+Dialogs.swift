import DAOSystemSQLite
import Foundation

// Records with related records, written manually: a join table in both directions, filled in order, and read
// together with the rows in one statement.
extension RawSQLite {
    static var dialogTables: String {
        """
        CREATE TABLE IF NOT EXISTS dialog (id INTEGER PRIMARY KEY, title TEXT NOT NULL, date REAL NOT NULL);
        CREATE TABLE IF NOT EXISTS reply (id INTEGER PRIMARY KEY, senderId INTEGER NOT NULL, date REAL NOT NULL,
            text TEXT NOT NULL, isRead INTEGER NOT NULL);
        CREATE TABLE IF NOT EXISTS dialog_replies (parent INTEGER NOT NULL, position INTEGER NOT NULL, child INTEGER NOT NULL,
            PRIMARY KEY (parent, position)) WITHOUT ROWID;
        CREATE INDEX IF NOT EXISTS dialog_replies_child ON dialog_replies (child);
        """
    }

    func insert(_ dialogs: [Dialog]) throws {
        try run(statement(.beginWriting))
        let insertDialog = statement(.insertDialog)
        let upsertReply = statement(.upsertReply)
        let insertLink = statement(.insertLink)
        for dialog in dialogs {
            sqlite3_bind_int64(insertDialog, 1, Int64(dialog.id))
            sqlite3_bind_double(insertDialog, 3, dialog.date.timeIntervalSinceReferenceDate)
            try RawSQLiteText.bind(insertDialog, 2, dialog.title) { try run(insertDialog) }
            for (position, reply) in (dialog.replies ?? []).enumerated() {
                sqlite3_bind_int64(upsertReply, 1, Int64(reply.id))
                sqlite3_bind_int64(upsertReply, 2, Int64(reply.senderId))
                sqlite3_bind_double(upsertReply, 3, reply.date.timeIntervalSinceReferenceDate)
                sqlite3_bind_int64(upsertReply, 5, reply.isRead ? 1 : 0)
                try RawSQLiteText.bind(upsertReply, 4, reply.text) { try run(upsertReply) }
                sqlite3_bind_int64(insertLink, 1, Int64(dialog.id))
                sqlite3_bind_int64(insertLink, 2, Int64(position))
                sqlite3_bind_int64(insertLink, 3, Int64(reply.id))
                try run(insertLink)
            }
        }
        try run(statement(.commit))
    }

    /// Reads dialogs without their replies.
    private func read(_ kind: Statement, _ numbers: Int...) throws -> [Dialog] {
        let statement = statement(kind)
        for (index, number) in numbers.enumerated() { sqlite3_bind_int64(statement, Int32(index + 1), Int64(number)) }
        var dialogs: [Dialog] = []
        while sqlite3_step(statement) == SQLITE_ROW {
            dialogs.append(
                Dialog(
                    id: Int(sqlite3_column_int64(statement, 0)), title: RawSQLiteText.read(statement, 1),
                    date: Date(timeIntervalSinceReferenceDate: sqlite3_column_double(statement, 2)), replies: []))
        }
        sqlite3_reset(statement)
        return dialogs
    }

    /// The first dialogs with a reply of one of the first senders.
    func dialogs(repliedBy sender: Int, limit: Int) throws -> [Dialog] { try read(.dialogsWithReply, sender, limit) }

    /// The first dialogs with a number of replies, or more.
    func dialogs(withReplies count: Int, limit: Int) throws -> [Dialog] { try read(.dialogsByCount, count, limit) }

    /// The number of dialogs with a reply of one of the first senders.
    func countDialogs(repliedBy sender: Int) throws -> Int {
        let statement = statement(.countWithReply)
        sqlite3_bind_int64(statement, 1, Int64(sender))
        defer { sqlite3_reset(statement) }
        guard sqlite3_step(statement) == SQLITE_ROW else { throw BenchError("the dialogs cannot be counted") }
        return Int(sqlite3_column_int64(statement, 0))
    }

    func fetchDialogs() throws -> [Dialog] {
        try run(statement(.begin))
        var dialogs = try read(.fetchDialogs)
        let selectReplies = statement(.fetchReplies)
        var index = 0
        while sqlite3_step(selectReplies) == SQLITE_ROW {
            let parent = Int(sqlite3_column_int64(selectReplies, 0))
            while dialogs[index].id != parent { index += 1 }
            dialogs[index].replies?.append(
                Reply(
                    id: Int(sqlite3_column_int64(selectReplies, 1)), senderId: Int(sqlite3_column_int64(selectReplies, 2)),
                    date: Date(timeIntervalSinceReferenceDate: sqlite3_column_double(selectReplies, 3)),
                    text: RawSQLiteText.read(selectReplies, 4), isRead: sqlite3_column_int64(selectReplies, 5) != 0))
        }
        sqlite3_reset(selectReplies)
        try run(statement(.commit))
        return dialogs
    }
}
