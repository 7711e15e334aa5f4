import DAOCore
import Foundation

/// The entity in a version of an application whose fields may have other types.
struct Note<ID: PrimaryKeyValue & Equatable, Rank: FieldValue & Equatable, Mark: FieldValue & Equatable>: Plain, Model, Equatable
{
    var id: ID
    var title: String
    var rank: Rank
    var mark: Mark

    static var schema: Schema<Self> {
        Schema(
            "note", Self.init,
            Field("id", \.id, .primaryKey), Field("title", \.title), Field("rank", \.rank), Field("mark", \.mark))
    }
}

/// The entity in the first version of an application. Later versions open it.
typealias NoteV1 = Note<Int, Int, String?>

extension NoteV1 {
    /// Returns notes 1 to a count. Every third note has no mark; the ranks go up and down.
    static func make(_ count: Int) -> [NoteV1] {
        (1...count).map {
            NoteV1(id: $0, title: "Title \($0) é", rank: $0 * 7 % count, mark: $0 % 3 == 0 ? nil : "mark \($0)")
        }
    }
}

extension ConformanceContext {
    /// Opens a database in which the first version of the application has stored notes. No model is open: the
    /// case opens later versions.
    func databaseOfNotes(_ count: Int = 60) throws -> (database: any Database, notes: [NoteV1]) {
        var database = try open()
        let notes = NoteV1.make(count)
        try database.dao(NoteV1.self).create(notes)
        try renew(&database)
        return (database, notes)
    }
}

/// The first version with an additional optional field.
struct NoteWithOptional: Plain, Model, Equatable {
    var id: Int
    var title: String
    var rank: Int
    var mark: String?
    var color: String?

    static let schema = Schema(
        "note", Self.init,
        Field("id", \.id, .primaryKey), Field("title", \.title), Field("rank", \.rank), Field("mark", \.mark),
        Field("color", \.color))
}

extension NoteWithOptional {
    init(_ note: NoteV1, color: String? = nil) {
        self.init(id: note.id, title: note.title, rank: note.rank, mark: note.mark, color: color)
    }
}

/// The first version with a required number in `color`, which was an optional text in ``NoteWithOptional``.
struct NoteWithNumber: Plain, Model, Equatable {
    var id: Int
    var title: String
    var rank: Int
    var mark: String?
    var color: Int

    static let schema = Schema(
        "note", Self.init,
        Field("id", \.id, .primaryKey), Field("title", \.title), Field("rank", \.rank), Field("mark", \.mark),
        Field("color", \.color, .default(5), .indexed))
}

extension NoteWithNumber {
    init(_ note: NoteV1, color: Int = 5) {
        self.init(id: note.id, title: note.title, rank: note.rank, mark: note.mark, color: color)
    }
}

/// ``NoteWithNumber`` with a different default.
struct NoteWithOtherDefault: Plain, Model, Equatable {
    var id: Int
    var title: String
    var rank: Int
    var mark: String?
    var color: Int
    var size: Int

    static let schema = Schema(
        "note", Self.init,
        Field("id", \.id, .primaryKey), Field("title", \.title), Field("rank", \.rank), Field("mark", \.mark),
        Field("color", \.color, .default(9), .indexed), Field("size", \.size, .default(3)))
}

/// The first version without the fields that may be dropped.
struct NoteWithLess: Plain, Model, Equatable {
    var id: Int
    var title: String

    static let schema = Schema("note", Self.init, Field("id", \.id, .primaryKey), Field("title", \.title))
}

/// The first version with a default for every kind of value.
struct NoteWithEverything: Plain, Model, Equatable {
    var id: Int
    var title: String
    var rank: Int
    var mark: String?
    var flag: Bool
    var tiny: Int8
    var least: Int64
    var most: UInt64
    var ratio: Double
    var edge: Double
    var real: Float
    var price: Decimal
    var text: String
    var bytes: Data
    var uuid: UUID
    var link: URL
    var date: Date
    var timeout: Duration
    var list: [Int]
    var mood: Mood
    var maybe: String?
    var number: Int?

    static let uuidValue = UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 0))
    static let link = URL(fileURLWithPath: "/a b")
    static let textValue = "it's \"so\"\0 é\u{301} 😀\\"

    static let schema = Schema(
        "note", Self.init,
        Field("id", \.id, .primaryKey), Field("title", \.title), Field("rank", \.rank), Field("mark", \.mark),
        Field("flag", \.flag, .default(true), .indexed), Field("tiny", \.tiny, .default(-128), .indexed),
        Field("least", \.least, .default(.min), .indexed), Field("most", \.most, .default(.max), .indexed),
        Field("ratio", \.ratio, .default(0.1), .indexed), Field("edge", \.edge, .default(-.infinity), .indexed),
        Field("real", \.real, .default(0.3), .indexed),
        Field("price", \.price, .default(Decimal(sign: .minus, exponent: -2, significand: 1999)), .indexed),
        Field("text", \.text, .default(textValue), .indexed), Field("bytes", \.bytes, .default(Data([0, 255, 1])), .indexed),
        Field("uuid", \.uuid, .default(uuidValue), .indexed), Field("link", \.link, .default(link), .indexed),
        Field("date", \.date, .default(Date(timeIntervalSinceReferenceDate: 0.1)), .indexed),
        Field("timeout", \.timeout, .default(.milliseconds(-1500)), .indexed),
        Field("list", \.list, .default([1, 2])), Field("mood", \.mood, .default(.calm), .indexed),
        Field("maybe", \.maybe, .default("yes"), .indexed), Field("number", \.number, .indexed))
}

/// The first version with an index and a unique field.
struct NoteWithIndexes: Plain, Model, Equatable {
    var id: Int
    var title: String
    var rank: Int
    var mark: String?

    static let schema = Schema(
        "note", Self.init,
        Field("id", \.id, .primaryKey), Field("title", \.title, .unique), Field("rank", \.rank, .indexed),
        Field("mark", \.mark, .unique))
}

extension NoteWithIndexes {
    init(_ note: NoteV1) { self.init(id: note.id, title: note.title, rank: note.rank, mark: note.mark) }
}

/// The title is renamed to headline, and is indexed.
struct NoteWithHeadline: Plain, Model, Equatable {
    var id: Int
    var headline: String
    var rank: Int
    var mark: String?

    static let schema = Schema(
        "note", Self.init,
        Field("id", \.id, .primaryKey), Field("headline", \.headline, .renamed(from: "title"), .indexed),
        Field("rank", \.rank), Field("mark", \.mark))
}

/// The headline is renamed to caption; older files may still call it title.
struct NoteWithCaption: Plain, Model, Equatable {
    var id: Int
    var caption: String
    var rank: Int
    var mark: String?

    static let schema = Schema(
        "note", Self.init,
        Field("id", \.id, .primaryKey),
        Field("caption", \.caption, .renamed(from: "headline"), .renamed(from: "title"), .indexed), Field("rank", \.rank),
        Field("mark", \.mark))
}

/// The title is renamed to headline, and a new field has the name title.
struct NoteWithReusedName: Plain, Model, Equatable {
    var id: Int
    var title: String?
    var headline: String
    var rank: Int
    var mark: String?

    static let schema = Schema(
        "note", Self.init,
        Field("id", \.id, .primaryKey), Field("title", \.title), Field("headline", \.headline, .renamed(from: "title")),
        Field("rank", \.rank), Field("mark", \.mark))
}

/// Every field has the name of its neighbour, the key included.
struct NoteWithShiftedNames: Plain, Model, Equatable {
    var number: Int
    var mark: String
    var title: Int
    var note: String?

    static let schema = Schema(
        "note", Self.init,
        Field("number", \.number, .primaryKey, .renamed(from: "id")), Field("mark", \.mark, .renamed(from: "title")),
        Field("title", \.title, .renamed(from: "rank")), Field("note", \.note, .renamed(from: "mark")))
}

/// Optional fields are required, and required fields are optional.
struct NoteWithOtherNils: Plain, Model, Equatable {
    var id: Int
    var title: String?
    var rank: Int?
    var mark: String

    static let schema = Schema(
        "note", Self.init,
        Field("id", \.id, .primaryKey), Field("title", \.title, .indexed), Field("rank", \.rank),
        Field("mark", \.mark, .default("none"), .indexed))
}

/// Renamed fields, a changed order, an added index, a dropped field and two added fields.
struct NoteWithAllAtOnce: Plain, Model, Equatable {
    var place: Int
    var color: String
    var headline: String
    var id: Int
    var size: Int?

    static let schema = Schema(
        "note", Self.init,
        Field("place", \.place, .renamed(from: "rank"), .indexed), Field("color", \.color, .default("red"), .indexed),
        Field("headline", \.headline, .renamed(from: "title"), .unique), Field("id", \.id, .primaryKey), Field("size", \.size))
}

// Models that need a migration step.

/// The rank is text.
typealias NoteWithTextRank = Note<Int, String, String?>

/// The mark is required.
typealias NoteWithRequiredMark = Note<Int, Int, String>

/// There is an additional required field without a default.
struct NoteWithRequiredField: Plain, Model, Equatable {
    var id: Int
    var title: String
    var rank: Int
    var mark: String?
    var extra: Int

    static let schema = Schema(
        "note", Self.init,
        Field("id", \.id, .primaryKey), Field("title", \.title), Field("rank", \.rank), Field("mark", \.mark),
        Field("extra", \.extra))
}

/// The rank has another name, without a word about it.
struct NoteWithLevel: Plain, Model, Equatable {
    var id: Int
    var title: String
    var level: Int
    var mark: String?

    static let schema = Schema(
        "note", Self.init,
        Field("id", \.id, .primaryKey), Field("title", \.title), Field("level", \.level, .default(0)), Field("mark", \.mark))
}

/// The mark has another name, without a word about it, and is required.
struct NoteWithLabel: Plain, Model, Equatable {
    var id: Int
    var title: String
    var rank: Int
    var label: String

    static let schema = Schema(
        "note", Self.init,
        Field("id", \.id, .primaryKey), Field("title", \.title), Field("rank", \.rank), Field("label", \.label))
}

/// The key has another name, without a word about it.
struct NoteWithOtherKey: Plain, Model, Equatable {
    var number: Int
    var title: String
    var rank: Int
    var mark: String?

    static let schema = Schema(
        "note", Self.init,
        Field("number", \.number, .primaryKey), Field("title", \.title), Field("rank", \.rank), Field("mark", \.mark))
}

/// The key is text.
typealias NoteWithTextKey = Note<String, Int, String?>

/// The title is the key.
struct NoteByTitle: Plain, Model, Equatable {
    var id: Int
    var title: String
    var rank: Int
    var mark: String?

    static let schema = Schema(
        "note", Self.init,
        Field("id", \.id), Field("title", \.title, .primaryKey), Field("rank", \.rank), Field("mark", \.mark))
}

extension OptionalScalars {
    /// Returns rows with the extreme values of every type, and a row with nil in every optional field.
    static var samples: [OptionalScalars] {
        var least = OptionalScalars(id: 1)
        (least.int, least.int8, least.int16, least.int32, least.int64) = (.min, .min, .min, .min, .min)
        (least.uint, least.uint8, least.uint16, least.uint32, least.uint64) = (0, 0, 0, 0, 0)
        (least.bool, least.float, least.double) = (false, -.infinity, -.greatestFiniteMagnitude)
        (least.decimal, least.string, least.data) = (-.greatestFiniteMagnitude, "", Data())
        (least.uuid, least.url) = (UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)), URL(fileURLWithPath: "/"))
        (least.date, least.duration, least.mood, least.level) = (.distantPast, Duration.hard.first, .empty, .low)
        var most = OptionalScalars(id: 2)
        (most.int, most.int8, most.int16, most.int32, most.int64) = (.max, .max, .max, .max, .max)
        (most.uint, most.uint8, most.uint16, most.uint32, most.uint64) = (.max, .max, .max, .max, .max)
        (most.bool, most.float, most.double) = (true, .leastNonzeroMagnitude, .leastNonzeroMagnitude)
        (most.decimal, most.string) = (.greatestFiniteMagnitude, "a\0b e\u{301} é 👩‍👩‍👧 'quoted\"")
        (most.data, most.uuid) = (Data((0...255).map { UInt8($0) }), NoteWithEverything.uuidValue)
        (most.url, most.date) = (NoteWithEverything.link, Date(timeIntervalSinceReferenceDate: 0.1))
        (most.duration, most.mood, most.level) = (Duration.hard.last, .other, .high)
        var odd = OptionalScalars(id: 3)
        (odd.float, odd.double, odd.decimal, odd.uint64) = (.nan, .nan, .nan, 1 << 63)
        return [least, most, odd, OptionalScalars(id: 4)]
    }
}
