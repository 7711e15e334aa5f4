import DAOCore
import DAOTestSupport
import Foundation

/// A model with indexes over several fields of every encoding, in both directions.
struct Crate: Numbered {
    var id: Int
    var room: Int?
    var date: Double?
    var title: String?
    var isOpen: Bool
    var price: Decimal?
    var code: UUID?

    static let schema = Schema(
        "crate", Self.init,
        Field("id", \.id, .primaryKey), Field("room", \.room), Field("date", \.date), Field("title", \.title),
        Field("isOpen", \.isOpen), Field("price", \.price), Field("code", \.code),
        indexes: [
            Index(orderedBy: .ascending(\.room), .descending(\.date)), Index(orderedBy: .descending(\.room), .ascending(\.title)),
            Index(\.isOpen, \.room, \.date), Index(orderedBy: .descending(\.title)),
            Index(orderedBy: .descending(\.price), .ascending(\.code), .descending(\.title)),
            Index(orderedBy: .descending(\.code), .descending(\.id)),
        ])

    /// Returns crates 1 to a count. Values repeat, some are nil, and the texts differ after up to 600 bytes.
    static func make(_ count: Int) -> [Crate] {
        var random = SeededGenerator(seed: 5)
        let long = String(repeating: "x", count: 90)
        let titles: [String?] = [
            nil, "", "a", "a\0", "a\0b", "b", "é", long, long + "a", long + long + long, long + long + long + "b",
            String(repeating: "\0", count: 200), String(repeating: "y", count: 600),
            String(repeating: "y", count: 600) + "z",
        ]
        let rooms: [Int?] = [nil, .min, 0, 1, 1, 2, 2, .max]
        let dates: [Double?] = [nil, .nan, -.infinity, -2.5, 0, 1, 1e300, .infinity]
        let prices: [Decimal?] = [nil, 0, 1, -1, Decimal(string: "12.5"), Decimal(string: "-12.50001"), 1_000_000]
        return (1...count).map { id in
            Crate(
                id: id, room: rooms[random.below(rooms.count)], date: dates[random.below(dates.count)],
                title: titles[random.below(titles.count)], isOpen: random.below(2) == 0,
                price: prices[random.below(prices.count)],
                code: [nil, UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))][random.below(2)])
        }
    }
}

/// A seat: two unique indexes over two fields each, of which one may be nil.
struct Seat: Plain, Model, Equatable {
    var id: Int
    var row: Int?
    var number: Int
    var name: String = ""
    var hall: String = ""

    static let schema = Schema(
        "seat", Self.init,
        Field("id", \.id, .primaryKey), Field("row", \.row), Field("number", \.number, .default(0)),
        Field("name", \.name, .default("")),
        Field("hall", \.hall, .indexed, .default("")),
        indexes: [
            Index(\.row, \.number, isUnique: true), Index(orderedBy: .descending(\.hall), .ascending(\.name), isUnique: true),
        ])
}

/// Indexes over several texts, one of them unique, of an entity whose keys are texts.
struct Poster: Plain, Model, Equatable {
    var id: String
    var head: String
    var body: String
    var foot: String

    static let schema = Schema(
        "poster", Self.init,
        Field("id", \.id, .primaryKey), Field("head", \.head), Field("body", \.body), Field("foot", \.foot),
        indexes: [
            Index(\.head, \.body, \.foot),
            Index(orderedBy: .descending(\.foot), .ascending(\.body), .ascending(\.head), isUnique: true),
        ])

    /// Returns posters with each combination of some texts, which differ after 300 bytes, and keys of 256 bytes.
    static func make() -> [Poster] {
        let long = String(repeating: "t", count: 300)
        let texts = [long, long + "a", long + "b", "", String(repeating: "\0", count: 300)]
        return texts.indices.flatMap { head in
            texts.indices.flatMap { body in
                texts.indices.map { foot in
                    Poster(
                        id: String(repeating: "k", count: 253) + "\(head)\(body)\(foot)", head: texts[head], body: texts[body],
                        foot: texts[foot])
                }
            }
        }
    }
}

/// The entity of ``Seat`` without the row.
struct LightSeat: Plain, Model, Equatable {
    var id: Int
    var number: Int

    static let schema = Schema(
        "seat", Self.init, Field("id", \.id, .primaryKey), Field("number", \.number, .default(0)))
}

/// The first version of notes with an index over rank and mark.
struct NoteWithLongIndex: Plain, Model, Equatable {
    var id: Int
    var title: String
    var rank: Int
    var mark: String?

    static let schema = Schema(
        "note", Self.init,
        Field("id", \.id, .primaryKey), Field("title", \.title), Field("rank", \.rank), Field("mark", \.mark),
        indexes: [Index(orderedBy: .ascending(\.rank), .descending(\.mark)), Index(\.mark, \.title)])

    init(id: Int, title: String, rank: Int, mark: String?) {
        (self.id, self.title, self.rank, self.mark) = (id, title, rank, mark)
    }

    init(_ note: NoteV1) { self.init(id: note.id, title: note.title, rank: note.rank, mark: note.mark) }
}

/// As ``NoteWithLongIndex``, with fields that have other names, and other indexes: one in the other direction, and
/// one that is unique now.
struct NoteWithOtherLongIndex: Plain, Model, Equatable {
    var id: Int
    var headline: String
    var rank: Int
    var sign: String?

    static let schema = Schema(
        "note", Self.init,
        Field("id", \.id, .primaryKey), Field("headline", \.headline, .renamed(from: "title")), Field("rank", \.rank),
        Field("sign", \.sign, .renamed(from: "mark")),
        indexes: [Index(orderedBy: .descending(\.rank), .descending(\.sign)), Index(\.sign, \.headline, isUnique: true)])
}
