import DAOCore
import Foundation

struct Expense: Plain, Model {
    var id: UUID
    var title: String
    var amount: Decimal
    var date: Date
    var isPaid: Bool

    static let schema = Schema(
        "expense", Self.init,
        Field("id", \.id, .primaryKey),
        Field("title", \.title),
        Field("amount", \.amount),
        Field("date", \.date, .indexed),
        Field("isPaid", \.isPaid)
    )
}
