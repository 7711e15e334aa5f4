import DAOCore
import Foundation

/// A row whose entity and fields have names as tables of other programs have them.
struct HardOrder: Plain, Model, Equatable {
    var number: Int
    var date: Date
    var price: Decimal
    var code: String
    var tags: [String] = []
    var rank: Int?
    var isOpen = true
    var place: Reference<HardPlace>?
    var lines: [HardLine]?

    static let schema = Schema(
        "Order Details (2024)", Self.init,
        Field("Order #", \.number, .primaryKey), Field("Order Date", \.date, .indexed), Field("price (net)", \.price),
        Field("x FROM y", \.code, .unique), Field("2024", \.tags), Field("a & b? $1", \.rank), Field("is open", \.isOpen),
        Field("ship to", \.place), Field("lines & more", \.lines, .owned, .cascade),
        indexes: [
            Index(\.price, \.rank), Index(elements: \.tags), Index(\.rank, isUnique: true, where: { $0.isOpen == true }),
        ])

    static let all = (1...5).map {
        HardOrder(
            number: $0, date: Date(timeIntervalSinceReferenceDate: Double($0)), price: Decimal($0 * 10), code: "c\($0)",
            tags: ["t\($0 % 2)"], rank: $0 == 3 ? nil : $0, isOpen: $0 != 4, place: $0 == 5 ? nil : Reference("p\($0 % 2)"),
            lines: [HardLine(id: $0 * 10, amount: $0)])
    }
}

/// The row that an order refers to.
struct HardPlace: Plain, Model, Equatable {
    var key: String
    var town: String

    static let schema = Schema("place–%", Self.init, Field("key", \.key, .primaryKey), Field("post town", \.town))
}

/// A row of the list of an order.
struct HardLine: Plain, Model, Equatable {
    var id: Int
    var amount: Int

    static let schema = Schema("line", Self.init, Field("line no", \.id, .primaryKey), Field("amount!", \.amount))
}

/// A later version of an order, with other names.
struct RenamedOrder: Plain, Model, Equatable {
    var number: Int
    var code: String
    var day: Date

    static let schema = Schema(
        "Order Details (2024)", Self.init,
        Field("no", \.number, .primaryKey, .renamed(from: "Order #")),
        Field("code of order", \.code, .unique, .renamed(from: "x FROM y")),
        Field("Order Date", \.day, .indexed)
    ).dropped("price (net)", "2024", "a & b? $1", "is open", "ship to", "lines & more")
}
