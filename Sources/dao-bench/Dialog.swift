import DAOCore
import Foundation

/// A record with an ordered list of twenty related records.
struct Dialog: Plain, Model, Equatable {
    var id: Int
    var title: String
    var date: Date
    var replies: [Reply]?

    static let schema = Schema(
        "dialog", Self.init,
        Field("id", \.id, .primaryKey),
        Field("title", \.title),
        Field("date", \.date),
        Field("replies", \.replies, .owned)
    )
}

/// The related record: five fields, a text of 40 to 80 characters.
struct Reply: Plain, Model, Equatable {
    var id: Int
    var senderId: Int
    var date: Date
    var text: String
    var isRead: Bool

    static let schema = Schema(
        "reply", Self.init,
        Field("id", \.id, .primaryKey),
        Field("senderId", \.senderId),
        Field("date", \.date),
        Field("text", \.text),
        Field("isRead", \.isRead)
    )
}

extension Dialog {
    /// The number of replies of each dialog.
    static let replyCount = 20

    /// The dialogs whose replies are like records.
    static func all(from records: [some MeasuredRecord]) -> [Dialog] {
        stride(from: 0, to: records.count, by: replyCount).map { start in
            let replies = records[start..<min(start + replyCount, records.count)].map {
                Reply(id: $0.id, senderId: $0.senderId, date: $0.date, text: $0.text, isRead: $0.isRead)
            }
            return Dialog(
                id: start / replyCount, title: String(records[start].text.prefix(15)), date: records[start].date, replies: replies
            )
        }
    }
}

extension Checksum {
    mutating func add(_ dialogs: [Dialog]) {
        for dialog in dialogs {
            add(UInt64(dialog.id) &+ UInt64(dialog.title.utf8.count) &+ UInt64(dialog.replies?.count ?? 0))
            for reply in dialog.replies ?? [] {
                add(UInt64(reply.id) &+ UInt64(reply.senderId) &+ UInt64(reply.text.utf8.count) &+ (reply.isRead ? 1 : 0))
                add(reply.date.timeIntervalSinceReferenceDate.bitPattern)
            }
        }
    }
}
