import DAOCore
import DAOTestSupport
import Foundation

/// A model with partial indexes, whose conditions have values of every type.
struct Parcel: Numbered {
    var id: Int
    var sender: Int?
    var weight: Double?
    var isRead: Bool
    var state: String?
    var big: UInt64?
    var code: UUID?
    var price: Decimal?
    var day: Date?
    var seal: Data?

    static let schema = Schema(
        "parcel", Self.init,
        Field("id", \.id, .primaryKey), Field("sender", \.sender), Field("weight", \.weight), Field("isRead", \.isRead),
        Field("state", \.state), Field("big", \.big), Field("code", \.code), Field("price", \.price), Field("day", \.day),
        Field("seal", \.seal), indexes: comparing + ranging + composed)

    private static var comparing: [Index<Parcel>] {
        [
            Index(orderedBy: .ascending(\.sender), .descending(\.weight), where: { !$0.isRead }),
            Index(\.weight, where: { $0.sender == nil }), Index(\.weight, \.id, where: { $0.big == .max }),
            Index(\.state, \.id, where: { $0.code == codes[1] }),
            Index(orderedBy: .descending(\.state), where: { $0.seal == seals[2] }),
            Index(\.big, where: { $0.weight == .nan }), Index(\.sender, \.isRead, where: { $0.state == states[4] }),
            Index(\.sender, \.big, where: { $0.sender == .min }), Index(\.isRead, where: { $0.weight == weights[6] }),
        ]
    }

    private static var ranging: [Index<Parcel>] {
        [
            Index(orderedBy: .descending(\.id), where: { $0.weight > 0.1 }), Index(\.isRead, where: { $0.price > prices[3] }),
            Index(\.isRead, \.sender, where: { $0.day < days[2] }), Index(\.sender, where: { $0.weight <= -.infinity }),
            Index(\.sender, where: { $0.state >= states[5] }),
        ]
    }

    private static var composed: [Index<Parcel>] {
        [
            Index(\.sender, \.id, where: { $0.state.in([states[3], states[5], states[6]]) }),
            Index(\.sender, \.state, where: { !($0.sender > 1) && $0.state != nil }),
            Index(\.sender, \.weight, where: { !$0.state.in(["", "a"]) && $0.weight != 0.1 }),
            Index(
                orderedBy: .descending(\.weight), .ascending(\.sender),
                where: { $0.sender == nil || $0.isRead && $0.state == "a" }),
        ]
    }

    static let states: [String?] = [nil, "", "a", "it's", "back\\slash", "a\0b", "é\u{1}'%$1"]
    static let weights: [Double?] = [nil, .nan, -.infinity, 0.1, 0.3, .infinity, .leastNormalMagnitude / 3, -1.0e-17, 1e300]
    static let codes: [UUID?] = [nil, UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 0))]
    static let prices: [Decimal?] = [nil, 9, 10, Decimal(string: "9.5"), Decimal(string: "-0.001")]
    static let days: [Date?] = [nil, Date(timeIntervalSinceReferenceDate: -0.3), Date(timeIntervalSinceReferenceDate: 0.1)]
    static let seals: [Data?] = [nil, Data(), Data([0, 39, 255])]

    /// Returns parcels 1 to a count. Values repeat, and many are nil.
    static func make(_ count: Int) -> [Parcel] {
        var random = SeededGenerator(seed: 7)
        let (senders, numbers): ([Int?], [UInt64?]) = ([nil, .min, 0, 1, 2, 2], [nil, 0, 1 << 63, .max])
        return (1...count).map { id in
            Parcel(
                id: id, sender: senders[random.below(senders.count)], weight: weights[random.below(weights.count)],
                isRead: random.below(2) == 0, state: states[random.below(states.count)],
                big: numbers[random.below(numbers.count)], code: codes[random.below(codes.count)],
                price: prices[random.below(prices.count)], day: days[random.below(days.count)],
                seal: seals[random.below(seals.count)])
        }
    }
}

/// A tenant: the name is unique among those who have not left, and the desk among those with a badge.
struct Tenant: Plain, Model, Equatable {
    var id: Int
    var name: String?
    var hasLeft: Bool = false
    var desk: Int = 0
    var badge: Int?

    static let schema = Schema(
        "tenant", Self.init,
        Field("id", \.id, .primaryKey), Field("name", \.name, .default("")), Field("hasLeft", \.hasLeft, .default(false)),
        Field("desk", \.desk, .default(0)), Field("badge", \.badge),
        indexes: [
            Index(\.name, isUnique: true, where: { !$0.hasLeft }),
            Index(orderedBy: .descending(\.desk), .ascending(\.name), isUnique: true, where: { $0.badge != nil && $0.desk > 0 }),
        ])
}

/// The entity of ``Tenant`` without the field of a condition.
struct LightTenant: Plain, Model, Equatable {
    var id: Int
    var name: String?

    static let schema = Schema(
        "tenant", Self.init, Field("id", \.id, .primaryKey), Field("name", \.name, .default("")))
}

/// A part of ``Tenant``.
struct TenantName: Model, Equatable {
    var id: Int
    var name: String?
    var hasLeft: Bool

    static let schema = Schema(
        partOf: Tenant.self, Self.init, Field("id", \.id, .primaryKey), Field("name", \.name), Field("hasLeft", \.hasLeft))
}

/// The first version of notes with partial indexes.
struct NoteWithPartialIndex: Plain, Model, Equatable {
    var id: Int
    var title: String
    var rank: Int
    var mark: String?

    static let schema = Schema(
        "note", Self.init,
        Field("id", \.id, .primaryKey), Field("title", \.title), Field("rank", \.rank), Field("mark", \.mark),
        indexes: [
            Index(\.rank, where: { $0.mark == nil }),
            Index(orderedBy: .ascending(\.rank), .descending(\.title), where: { $0.rank > 3 }),
        ])
}

/// As ``NoteWithPartialIndex``, with another name of the field in the first condition, and another second condition.
struct NoteWithOtherPartialIndex: Plain, Model, Equatable {
    var id: Int
    var title: String
    var rank: Int
    var sign: String?

    static let schema = Schema(
        "note", Self.init,
        Field("id", \.id, .primaryKey), Field("title", \.title), Field("rank", \.rank),
        Field("sign", \.sign, .renamed(from: "mark")),
        indexes: [
            Index(\.rank, where: { $0.sign == nil }),
            Index(orderedBy: .ascending(\.rank), .descending(\.title), where: { $0.rank > 30 }),
        ])
}

/// As ``NoteWithPartialIndex``, with an index that is unique.
struct NoteWithUniquePartialIndex: Plain, Model, Equatable {
    var id: Int
    var title: String
    var rank: Int
    var mark: String?

    static let schema = Schema(
        "note", Self.init,
        Field("id", \.id, .primaryKey), Field("title", \.title), Field("rank", \.rank), Field("mark", \.mark),
        indexes: [Index(\.title, isUnique: true, where: { $0.mark == nil })])
}
