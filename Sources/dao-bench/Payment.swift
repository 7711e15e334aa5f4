import DAOCore
import DAOTestSupport
import Foundation

/// The shape with one text, of 10 to 40 characters: what a field costs is not hidden by creating texts.
struct Payment: MeasuredRecord {
    var id: Int
    var senderId: Int
    var date: Date
    var text: String
    var isRead: Bool
    var rating: Double
    var cents: Int
    var previous: Int?

    static let schema = Schema(
        "payment", Self.init,
        Field("id", \.id, .primaryKey),
        Field("senderId", \.senderId, .indexed),
        Field("date", \.date, .indexed),
        Field("text", \.text),
        Field("isRead", \.isRead),
        Field("rating", \.rating),
        Field("cents", \.cents),
        Field("previous", \.previous)
    )

    /// Merges: the stored payment keeps all fields that a receipt does not have.
    struct ReceiptTranslator: Translator {
        func translate(model: Payment) throws -> Receipt {
            Receipt(id: model.id, isRead: model.isRead, rating: model.rating)
        }
        func translate(plain: Receipt) throws -> Payment {
            Payment(
                id: plain.id, senderId: 0, date: Date(timeIntervalSinceReferenceDate: 0), text: "", isRead: plain.isRead,
                rating: plain.rating, cents: 0, previous: nil)
        }
        func translate(from plain: Receipt, to model: inout Payment) throws {
            model.isRead = plain.isRead
            model.rating = plain.rating
        }
    }
}

extension Payment {
    static let receipts = ReceiptTranslator()
    static var senderField: KeyPath<Payment, Int> { \.senderId }
    static var dateField: KeyPath<Payment, Date> { \.date }
    static var ratingField: KeyPath<Payment, Double> { \.rating }

    init(id: Int, senderId: Int, date: Date, _ random: inout SeededGenerator) {
        self.init(
            id: id, senderId: senderId, date: date, text: random.text(of: 10..<41), isRead: random.chance(50),
            rating: Double(random.below(1000)) / 10, cents: random.below(1_000_000),
            previous: random.below(3) == 0 ? random.below(id + 1) : nil)
    }

    func add(to checksum: inout Checksum) {
        checksum.add(
            UInt64(id) &+ UInt64(text.utf8.count) &+ UInt64(cents) &+ UInt64(previous ?? 7)
                &+ date.timeIntervalSinceReferenceDate.bitPattern &+ (isRead ? 1 : 0) &+ rating.bitPattern)
    }
}
