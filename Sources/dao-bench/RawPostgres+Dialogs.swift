import DAOSystemPostgres
import Foundation

// Records with related records, written manually: a join table in both directions, filled in order.
extension RawPostgres {
    func insert(_ dialogs: [Dialog]) throws {
        try execute("BEGIN")
        try copy("dialog", columns: 3, dialogs) { rows, dialog in
            rows.begin()
            rows.append(Int64(dialog.id))
            rows.append(dialog.title)
            rows.append(dialog.date.timeIntervalSinceReferenceDate)
        }
        // A reply can be stored already.
        let replies = dialogs.flatMap { $0.replies ?? [] }
        for start in stride(from: 0, to: replies.count, by: 5000) {
            let some = replies[start..<min(start + 5000, replies.count)]
            values.append(array: some, of: BinaryValues.int8) { $0.append(Int64($1.id)) }
            values.append(array: some, of: BinaryValues.int8) { $0.append(Int64($1.senderId)) }
            values.append(array: some, of: BinaryValues.float8) { $0.append($1.date.timeIntervalSinceReferenceDate) }
            values.append(array: some, of: BinaryValues.text) { $0.append($1.text) }
            values.append(array: some, of: BinaryValues.bool) { $0.append($1.isRead) }
            for rows in try together([PGRES_COMMAND_OK], { try send(.upsertReplies) }) { rows.clear() }
        }
        try copy("dialog_replies", columns: 3, dialogs) { rows, dialog in
            for (position, reply) in (dialog.replies ?? []).enumerated() {
                rows.begin()
                rows.append(Int64(dialog.id))
                rows.append(Int64(position))
                rows.append(Int64(reply.id))
            }
        }
        try execute("COMMIT")
    }

    /// Dialogs without their replies.
    private func dialogs(_ rows: BinaryRows) -> [Dialog] {
        defer { rows.clear() }
        return (0..<rows.count).map { row in
            Dialog(
                id: rows.integer(row, 0), title: rows.text(row, 1),
                date: Date(timeIntervalSinceReferenceDate: rows.double(row, 2)), replies: [])
        }
    }

    /// The first dialogs with a reply of one of the first senders.
    func dialogs(repliedBy sender: Int, limit: Int) throws -> [Dialog] {
        values.append(Int64(sender))
        values.append(Int64(limit))
        return dialogs(try rows(.dialogsWithReply))
    }

    /// The first dialogs with a number of replies, or more.
    func dialogs(withReplies count: Int, limit: Int) throws -> [Dialog] {
        values.append(Int64(count))
        values.append(Int64(limit))
        return dialogs(try rows(.dialogsByCount))
    }

    /// The number of dialogs with a reply of one of the first senders.
    func countDialogs(repliedBy sender: Int) throws -> Int {
        values.append(Int64(sender))
        let rows = try rows(.countWithReply)
        defer { rows.clear() }
        return rows.integer(0, 0)
    }

    func fetchDialogs() throws -> [Dialog] {
        let answers = try together([PGRES_COMMAND_OK, PGRES_TUPLES_OK, PGRES_TUPLES_OK, PGRES_COMMAND_OK]) {
            for statement in [.beginReading, .fetchDialogs, .fetchReplies, .commit] as [Statement] { try send(statement) }
        }
        var dialogs = dialogs(answers[1])
        let rows = answers[2]
        var index = 0
        for row in 0..<rows.count {
            let parent = rows.integer(row, 0)
            while dialogs[index].id != parent { index += 1 }
            dialogs[index].replies?.append(
                Reply(
                    id: rows.integer(row, 1), senderId: rows.integer(row, 2),
                    date: Date(timeIntervalSinceReferenceDate: rows.double(row, 3)), text: rows.text(row, 4),
                    isRead: rows.flag(row, 5)))
        }
        for answer in [answers[0], rows, answers[3]] { answer.clear() }
        return dialogs
    }
}
