import DAOCore
import Foundation

/// A raw-valued enumeration of text.
enum Mood: String, OrderedFieldValue, CaseIterable { case calm, busy, other = "something else", empty = "" }

/// A raw-valued enumeration of numbers.
enum Level: Int, OrderedFieldValue, CaseIterable { case low = -1, none = 0, high = 1_000_000 }

/// An embedded `Codable` structure.
struct Address: Codable, FieldValue, Equatable {
    var street: String
    var number: Int
    var tags: [String]
    var inner: Inner?

    struct Inner: Codable, Equatable {
        var ratio: Double
        var flag: Bool
    }
}

/// An embedded `Codable` enumeration with payload.
enum Shape: Codable, FieldValue, Equatable {
    case point
    case circle(radius: Double)
    case polygon([Int], name: String)
}

/// One field of every scalar type.
struct Scalars: Plain, Model, Equatable {
    var id: Int
    var int: Int = 0
    var int8: Int8 = 0
    var int16: Int16 = 0
    var int32: Int32 = 0
    var int64: Int64 = 0
    var uint: UInt = 0
    var uint8: UInt8 = 0
    var uint16: UInt16 = 0
    var uint32: UInt32 = 0
    var uint64: UInt64 = 0
    var bool: Bool = false
    var float: Float = 0
    var double: Double = 0
    var decimal: Decimal = 0
    var string: String = ""
    var data: Data = Data()
    var uuid: UUID = Scalars.zero
    var url: URL = Scalars.site
    var date: Date = Date(timeIntervalSinceReferenceDate: 0)
    var duration: Duration = .zero
    var mood: Mood = .calm
    var level: Level = .none

    static let zero = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
    static let site = URL(fileURLWithPath: "/")

    static let schema = Schema(
        "scalars", Self.init,
        Field("id", \.id, .primaryKey),
        Field("int", \.int), Field("int8", \.int8), Field("int16", \.int16), Field("int32", \.int32), Field("int64", \.int64),
        Field("uint", \.uint), Field("uint8", \.uint8), Field("uint16", \.uint16), Field("uint32", \.uint32),
        Field("uint64", \.uint64), Field("bool", \.bool), Field("float", \.float), Field("double", \.double),
        Field("decimal", \.decimal), Field("string", \.string), Field("data", \.data), Field("uuid", \.uuid),
        Field("url", \.url), Field("date", \.date), Field("duration", \.duration), Field("mood", \.mood),
        Field("level", \.level))
}

/// One optional field of every scalar type, some of them indexed.
struct OptionalScalars: Plain, Model, Equatable {
    var id: Int
    var int: Int?
    var int8: Int8?
    var int16: Int16?
    var int32: Int32?
    var int64: Int64?
    var uint: UInt?
    var uint8: UInt8?
    var uint16: UInt16?
    var uint32: UInt32?
    var uint64: UInt64?
    var bool: Bool?
    var float: Float?
    var double: Double?
    var decimal: Decimal?
    var string: String?
    var data: Data?
    var uuid: UUID?
    var url: URL?
    var date: Date?
    var duration: Duration?
    var mood: Mood?
    var level: Level?

    static let schema = Schema(
        "optionals", Self.init,
        Field("id", \.id, .primaryKey),
        Field("int", \.int, .indexed), Field("int8", \.int8), Field("int16", \.int16), Field("int32", \.int32),
        Field("int64", \.int64), Field("uint", \.uint), Field("uint8", \.uint8), Field("uint16", \.uint16),
        Field("uint32", \.uint32), Field("uint64", \.uint64, .indexed), Field("bool", \.bool, .indexed), Field("float", \.float),
        Field("double", \.double, .indexed), Field("decimal", \.decimal), Field("string", \.string, .indexed),
        Field("data", \.data, .indexed), Field("uuid", \.uuid, .indexed), Field("url", \.url),
        Field("date", \.date, .indexed), Field("duration", \.duration, .indexed), Field("mood", \.mood),
        Field("level", \.level))
}

/// A model with every kind of embedded value.
struct Embeddings: Plain, Model, Equatable {
    var id: Int
    var numbers: [Int] = []
    var texts: [String] = []
    var reals: [Double] = []
    var blobs: [Data] = []
    var uuids: [UUID] = []
    var dates: [Date] = []
    var flags: [Bool] = []
    var large: [UInt64] = []
    var decimals: [Decimal] = []
    var durations: [Duration] = []
    var gaps: [Int?] = []
    var nested: [[Int]] = []
    var moods: [Mood] = []
    var address: Address = Address(street: "", number: 0, tags: [], inner: nil)
    var perhaps: Address?
    var addresses: [Address] = []
    var shape: Shape = .point
    var twice: Int?? = .none
    var list: [String]?

    static let schema = Schema(
        "embeddings", Self.init,
        Field("id", \.id, .primaryKey),
        Field("numbers", \.numbers), Field("texts", \.texts), Field("reals", \.reals), Field("blobs", \.blobs),
        Field("uuids", \.uuids), Field("dates", \.dates), Field("flags", \.flags), Field("large", \.large),
        Field("decimals", \.decimals), Field("durations", \.durations), Field("gaps", \.gaps), Field("nested", \.nested),
        Field("moods", \.moods),
        Field("address", \.address), Field("perhaps", \.perhaps), Field("addresses", \.addresses), Field("shape", \.shape),
        Field("twice", \.twice), Field("list", \.list))
}

/// An embedded value with a set, a dictionary with other keys than texts and integers, and numbers of every size.
struct Roster: Codable, FieldValue, Equatable {
    var names: Set<String> = []
    var days: Set<Int> = []
    var shifts: [UUID: [String]] = [:]
    var rooms: [String: Set<Double>] = [:]
    var wage: Decimal = 0
    var since: Date = Date(timeIntervalSinceReferenceDate: 0)
    var badge: Data = Data()
    var ratio: Double = 0
    var size: Float = 0
    var large: UInt64 = 0
    var least: Int64 = 0
    var site: URL?

    /// A roster of some people. The same one has its sets and dictionaries in another order when it is made in another way.
    static func of(_ count: Int, reversed: Bool) -> Roster {
        var roster = Roster(wage: 12.5, large: .max, least: .min, site: Scalars.site)
        // Another capacity is another order.
        if reversed { roster.names.reserveCapacity(8 * count) }
        if reversed { roster.days.reserveCapacity(16 * count) }
        if reversed { roster.shifts.reserveCapacity(8 * count) }
        for number in reversed ? Array((0..<count).reversed()) : Array(0..<count) {
            roster.names.insert("name \(number)")
            roster.days.insert(number - 5)
            roster.shifts[UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, UInt8(truncatingIfNeeded: number)))] = [
                "\(number)"
            ]
            roster.rooms["room \(number)", default: []].formUnion([0.1, Double(number), 1e300])
        }
        return roster
    }
}

/// A row with a roster, and arrays that other programs can write.
struct Duty: Plain, Model, Equatable {
    var id: Int
    var roster: Roster = Roster()
    var other: Roster?
    var texts: [String] = []
    var numbers: [Int] = []
    var reals: [Double] = []
    var uuids: [UUID] = []
    var gaps: [Int?] = []
    var sites: [URL] = []
    var moods: [Mood]?

    static let schema = Schema(
        "duty", Self.init,
        Field("id", \.id, .primaryKey), Field("roster", \.roster), Field("other", \.other), Field("texts", \.texts),
        Field("numbers", \.numbers), Field("reals", \.reals), Field("uuids", \.uuids), Field("gaps", \.gaps),
        Field("sites", \.sites), Field("moods", \.moods))
}

extension Duration {
    /// The least and the greatest duration, one attosecond, and lengths between them, in ascending order.
    static let hard: [Duration] = [
        Duration(_high: .min, low: 0), Duration(secondsComponent: .min, attosecondsComponent: 0), .seconds(-90), .seconds(-9),
        Duration(secondsComponent: 0, attosecondsComponent: -1), .zero, Duration(secondsComponent: 0, attosecondsComponent: 1),
        .milliseconds(1500), Duration(secondsComponent: 1, attosecondsComponent: 500_000_000_000_000_001), .seconds(10),
        Duration(secondsComponent: .max, attosecondsComponent: 999_999_999_999_999_999), Duration(_high: .max, low: .max - 1),
        Duration(_high: .max, low: .max),
    ]
}
