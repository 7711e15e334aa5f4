import DAOCore
import Foundation

// The models that every script has. A field whose name ends in `Twin` always holds what the field before it
// holds, without an index.

/// The model with every kind of field, keyed by `Int`.
struct Wide: TestRecord {
    var id: Int
    var flag = false
    var tiny: Int8?
    var short: Int16 = 0
    var middle: Int32?
    var long: Int64 = 0
    var number: Int?
    var numberTwin: Int?
    var byte: UInt8 = 0
    var word: UInt16?
    var span: UInt32?
    var natural: UInt?
    var count: UInt64?
    var ratio: Float?
    var real: Double?
    var realTwin: Double?
    var price: Decimal?
    var text: String?
    var bytes: Data?
    var token: UUID?
    var site: URL?
    var date: Date?
    var mood: PropertyTesting.Mood?
    var tags: [String] = []
    var shape: PropertyTesting.Shape?

    static let schema = Schema(
        "random_wide", Self.init,
        Field("id", \.id, .primaryKey), Field("flag", \.flag), Field("tiny", \.tiny), Field("short", \.short),
        Field("middle", \.middle, .indexed), Field("long", \.long), Field("number", \.number, .indexed),
        Field("numberTwin", \.numberTwin), Field("byte", \.byte), Field("word", \.word), Field("span", \.span),
        Field("natural", \.natural), Field("count", \.count, .indexed), Field("ratio", \.ratio, .indexed),
        Field("real", \.real, .indexed), Field("realTwin", \.realTwin), Field("price", \.price, .indexed),
        Field("text", \.text), Field("bytes", \.bytes, .indexed), Field("token", \.token, .indexed),
        Field("site", \.site, .indexed), Field("date", \.date, .indexed), Field("mood", \.mood), Field("tags", \.tags),
        Field("shape", \.shape))
    static let keptFields: Set<String> = ["flag", "number", "numberTwin", "price", "text", "shape"]
    static let blank = Self(id: 0)
    static let columns: [Column<Self>] = [
        Column(\.id), Column(\.flag), Column(\.tiny), Column(\.short), Column(\.middle), Column(\.long), Column(\.number),
        Column(\.numberTwin), Column(\.byte), Column(\.word), Column(\.span), Column(\.natural), Column(\.count),
        Column(\.ratio), Column(\.real), Column(\.realTwin), Column(\.price), Column(\.text), Column(\.bytes),
        Column(\.token), Column(\.site), Column(\.date), Column(\.mood), Column(\.tags), Column(\.shape),
    ]
}

/// The model keyed by text.
struct Note: TestRecord {
    var id: String
    var title = ""
    var titleTwin = ""
    var body: String?
    var alias: String?
    var rank = 0

    static let schema = Schema(
        "random_note", Self.init,
        Field("id", \.id, .primaryKey), Field("title", \.title, .indexed), Field("titleTwin", \.titleTwin),
        Field("body", \.body), Field("alias", \.alias, .unique), Field("rank", \.rank, .indexed))
    static let keptFields: Set<String> = ["body", "alias"]
    static let blank = Self(id: "")
    static let columns: [Column<Self>] = [
        Column(\.id), Column(\.title), Column(\.titleTwin), Column(\.body), Column(\.alias), Column(\.rank),
    ]
}

/// The model keyed by UUID, with three unique fields.
struct Pass: TestRecord {
    var id: UUID
    var code: Int?
    var serial: UInt64 = 0
    var label = ""
    var stamp: Date?
    var parent: UUID?
    var parentTwin: UUID?
    var isActive = false

    static let schema = Schema(
        "random_pass", Self.init,
        Field("id", \.id, .primaryKey), Field("code", \.code, .unique), Field("serial", \.serial, .unique),
        Field("label", \.label), Field("stamp", \.stamp, .unique), Field("parent", \.parent, .indexed),
        Field("parentTwin", \.parentTwin), Field("isActive", \.isActive, .indexed))
    static let keptFields: Set<String> = ["label", "stamp"]
    static let blank = Self(id: UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)))
    static let columns: [Column<Self>] = [
        Column(\.id), Column(\.code), Column(\.serial), Column(\.label), Column(\.stamp), Column(\.parent),
        Column(\.parentTwin), Column(\.isActive),
    ]
}

/// The model keyed by unsigned numbers.
struct Tally: TestRecord {
    var id: UInt64
    var amount = 0.0
    var amountTwin = 0.0
    var delta: Int64?
    var price: Decimal?
    var blob: Data?
    var ratio: Float = 0
    var level: Int8 = 0

    static let schema = Schema(
        "random_tally", Self.init,
        Field("id", \.id, .primaryKey), Field("amount", \.amount, .indexed), Field("amountTwin", \.amountTwin),
        Field("delta", \.delta), Field("price", \.price, .unique), Field("blob", \.blob, .unique),
        Field("ratio", \.ratio), Field("level", \.level, .indexed))
    static let keptFields: Set<String> = ["delta", "blob"]
    static let blank = Self(id: 0)
    static let columns: [Column<Self>] = [
        Column(\.id), Column(\.amount), Column(\.amountTwin), Column(\.delta), Column(\.price), Column(\.blob),
        Column(\.ratio), Column(\.level),
    ]
}
