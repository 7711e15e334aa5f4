import DAOCore
import DAOTestSupport
import Foundation

/// The measured record: eight fields, two of them indexed, and texts of 40 to 80 characters.
struct Message: Plain, Model, Equatable {
    var id: Int
    var senderId: Int
    var date: Date
    var title: String
    var text: String
    var note: String?
    var isRead: Bool
    var rating: Double

    static let schema = Schema(
        "message", Self.init,
        Field("id", \.id, .primaryKey),
        Field("senderId", \.senderId, .indexed),
        Field("date", \.date, .indexed),
        Field("title", \.title),
        Field("text", \.text),
        Field("note", \.note),
        Field("isRead", \.isRead),
        Field("rating", \.rating)
    )
}

/// The part of a message that an application shows: two fields that change, and the key.
struct Receipt: Plain {
    let id: Int
    let isRead: Bool
    let rating: Double
    var uniqueId: UniqueID { UniqueID(id) }
}

/// Merges: the stored message keeps all fields that a receipt does not have.
struct ReceiptTranslator: Translator {
    func translate(model: Message) throws -> Receipt { Receipt(id: model.id, isRead: model.isRead, rating: model.rating) }
    func translate(plain: Receipt) throws -> Message {
        Message(
            id: plain.id, senderId: 0, date: Date(timeIntervalSinceReferenceDate: 0), title: "", text: "", note: nil,
            isRead: plain.isRead, rating: plain.rating)
    }
    func translate(from plain: Receipt, to model: inout Message) throws {
        model.isRead = plain.isRead
        model.rating = plain.rating
    }
}

/// The same rows in every run.
struct Dataset {
    /// The number of senders; each has about as many messages.
    let senderCount: Int
    let messages: [Message]
    let receipts: [Receipt]
    let pointKeys: [Int]
    let senders: [Int]
    let dialogs: [Dialog]

    init(count: Int, points: Int, queries: Int) {
        var random = SeededGenerator(seed: 42)
        let senderCount = max(count / 100, 1)
        self.senderCount = senderCount
        messages = (0..<count).map { index in
            Message(
                id: index,
                senderId: Int(random.next() % UInt64(senderCount)),
                date: Date(timeIntervalSinceReferenceDate: Double(index) * 60 + Double(random.next() % 7200)),
                title: Self.text(of: 10 + Int(random.next() % 10), &random),
                text: Self.text(of: 40 + Int(random.next() % 41), &random),
                note: random.next() % 3 == 0 ? Self.text(of: 16 + Int(random.next() % 8), &random) : nil,
                isRead: random.next() % 2 == 0,
                rating: Double(random.next() % 1000) / 10)
        }
        receipts = messages.map { Receipt(id: $0.id, isRead: !$0.isRead, rating: $0.rating + 1) }
        pointKeys = (0..<points).map { _ in Int(random.next() % UInt64(count)) }
        dialogs = Dialog.all(from: messages)
        senders = (0..<queries).map { _ in Int(random.next() % UInt64(senderCount)) }
    }

    /// Five hundred changes, spread over the rows and unique to the round.
    func commits(_ round: Int) -> [Receipt] {
        let step = max(receipts.count / 500, 1)
        return stride(from: 0, to: receipts.count, by: step).prefix(500).map { index in
            Receipt(id: index, isRead: round % 2 == 0, rating: 1000 + Double(round))
        }
    }

    private static func text(of length: Int, _ random: inout SeededGenerator) -> String {
        let letters = Array("abcdefghijklmnopqrstuvwxyz      ".utf8)
        return String(decoding: (0..<length).map { _ in letters[Int(random.next() % UInt64(letters.count))] }, as: UTF8.self)
    }
}

/// Adds up results, to verify that both sides have read the same values.
struct Checksum: Equatable {
    private(set) var sum: UInt64 = 0
    mutating func add(_ message: Message) {
        sum =
            sum &* 31 &+ UInt64(message.id) &+ UInt64(message.text.utf8.count) &+ UInt64(message.note?.utf8.count ?? 7)
            &+ message.date.timeIntervalSinceReferenceDate.bitPattern &+ (message.isRead ? 1 : 0) &+ message.rating.bitPattern
    }
    mutating func add(_ number: UInt64) { sum = sum &* 31 &+ number }
    mutating func add(_ messages: [Message]) { for message in messages { add(message) } }
}
