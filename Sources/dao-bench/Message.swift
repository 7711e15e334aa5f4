import DAOCore
import DAOTestSupport
import Foundation

/// The shape with three texts, of 10 to 80 characters.
struct Message: MeasuredRecord {
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

    /// Merges: the stored message keeps all fields that a receipt does not have.
    struct ReceiptTranslator: Translator {
        func translate(model: Message) throws -> Receipt {
            Receipt(id: model.id, isRead: model.isRead, rating: model.rating)
        }
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
}

extension Message {
    static let receipts = ReceiptTranslator()
    static var senderField: KeyPath<Message, Int> { \.senderId }
    static var dateField: KeyPath<Message, Date> { \.date }
    static var ratingField: KeyPath<Message, Double> { \.rating }

    init(id: Int, senderId: Int, date: Date, _ random: inout SeededGenerator) {
        self.init(
            id: id, senderId: senderId, date: date, title: random.text(of: 10..<20), text: random.text(of: 40..<81),
            note: random.below(3) == 0 ? random.text(of: 16..<24) : nil, isRead: random.chance(50),
            rating: Double(random.below(1000)) / 10)
    }

    func add(to checksum: inout Checksum) {
        checksum.add(
            UInt64(id) &+ UInt64(text.utf8.count) &+ UInt64(note?.utf8.count ?? 7)
                &+ date.timeIntervalSinceReferenceDate.bitPattern &+ (isRead ? 1 : 0) &+ rating.bitPattern)
    }
}
