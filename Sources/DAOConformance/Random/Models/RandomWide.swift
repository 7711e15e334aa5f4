import DAOCore
import Foundation

extension RandomProof {
    /// A raw-valued enumeration in a field.
    public enum Mood: String, OrderedFieldValue, CaseIterable {
        /// One of two.
        case calm
        /// A raw value that is empty.
        case none = ""
    }

    /// A `Codable` value in a field.
    public struct Shape: Codable, FieldValue, Equatable {
        /// A text.
        public var name: String
        /// A number, or nil.
        public var sides: Int?

        /// Creates a value.
        ///
        /// - Parameters:
        ///   - name: A text.
        ///   - sides: A number, or nil.
        public init(name: String, sides: Int?) {
            self.name = name
            self.sides = sides
        }
    }

    /// The model with every kind of field, keyed by `Int`. The fields whose names end in `Twin` always hold what the field before them
    /// holds, without an index.
    public struct Wide: RandomProofModel, RandomRecord {
        /// The key.
        public var id: Int
        /// Required, not indexed.
        public var flag: Bool
        /// Optional, not indexed.
        public var tiny: Int8?
        /// Required, not indexed.
        public var short: Int16
        /// Optional, indexed.
        public var middle: Int32?
        /// Required, not indexed.
        public var long: Int64
        /// Optional, indexed.
        public var number: Int?
        /// As `number`, without an index.
        public var numberTwin: Int?
        /// Required, not indexed.
        public var byte: UInt8
        /// Optional, not indexed.
        public var word: UInt16?
        /// Optional, not indexed.
        public var span: UInt32?
        /// Optional, not indexed.
        public var natural: UInt?
        /// Optional, indexed.
        public var count: UInt64?
        /// Optional, indexed.
        public var ratio: Float?
        /// Optional, indexed.
        public var real: Double?
        /// As `real`, without an index.
        public var realTwin: Double?
        /// Optional, indexed.
        public var price: Decimal?
        /// Optional, not indexed.
        public var text: String?
        /// Optional, indexed.
        public var bytes: Data?
        /// Optional, indexed.
        public var token: UUID?
        /// Optional, indexed.
        public var site: URL?
        /// Optional, indexed.
        public var date: Date?
        /// Optional, not indexed.
        public var mood: Mood?
        /// An embedded array.
        public var tags: [String]
        /// An embedded value.
        public var shape: Shape?

        /// Creates a row; every field but the key has a default.
        public init(
            id: Int, flag: Bool = false, tiny: Int8? = nil, short: Int16 = 0, middle: Int32? = nil, long: Int64 = 0,
            number: Int? = nil, numberTwin: Int? = nil, byte: UInt8 = 0, word: UInt16? = nil, span: UInt32? = nil,
            natural: UInt? = nil, count: UInt64? = nil, ratio: Float? = nil, real: Double? = nil, realTwin: Double? = nil,
            price: Decimal? = nil, text: String? = nil, bytes: Data? = nil, token: UUID? = nil, site: URL? = nil,
            date: Date? = nil, mood: Mood? = nil, tags: [String] = [], shape: Shape? = nil
        ) {
            (self.id, self.flag, self.tiny, self.short, self.middle, self.long) = (id, flag, tiny, short, middle, long)
            (self.number, self.numberTwin, self.byte, self.word, self.span) = (number, numberTwin, byte, word, span)
            (self.natural, self.count, self.ratio, self.real, self.realTwin) = (natural, count, ratio, real, realTwin)
            (self.price, self.text, self.bytes, self.token, self.site) = (price, text, bytes, token, site)
            (self.date, self.mood, self.tags, self.shape) = (date, mood, tags, shape)
        }

        /// The declaration.
        public static let schema = Schema(
            "random_wide", Self.init,
            Field("id", \.id, .primaryKey), Field("flag", \.flag), Field("tiny", \.tiny), Field("short", \.short),
            Field("middle", \.middle, .indexed), Field("long", \.long), Field("number", \.number, .indexed),
            Field("numberTwin", \.numberTwin), Field("byte", \.byte), Field("word", \.word), Field("span", \.span),
            Field("natural", \.natural), Field("count", \.count, .indexed), Field("ratio", \.ratio, .indexed),
            Field("real", \.real, .indexed), Field("realTwin", \.realTwin), Field("price", \.price, .indexed),
            Field("text", \.text), Field("bytes", \.bytes, .indexed), Field("token", \.token, .indexed),
            Field("site", \.site, .indexed), Field("date", \.date, .indexed), Field("mood", \.mood), Field("tags", \.tags),
            Field("shape", \.shape))

        /// The names of the fields that a merging translator does not carry.
        public static let keptFields: Set<String> = ["flag", "number", "numberTwin", "price", "text", "shape"]
        /// The fields in the schema's order.
        public var cells: [Value] { columnCells }
        /// Makes a row of its fields.
        public init(cells: [Value]) { self = Self.make(cells) }

        static let blank = Self(id: 0)
        static let columns: [Column<Self>] = [
            Column(\.id), Column(\.flag), Column(\.tiny), Column(\.short), Column(\.middle), Column(\.long), Column(\.number),
            Column(\.numberTwin), Column(\.byte), Column(\.word), Column(\.span), Column(\.natural), Column(\.count),
            Column(\.ratio), Column(\.real), Column(\.realTwin), Column(\.price), Column(\.text), Column(\.bytes),
            Column(\.token), Column(\.site), Column(\.date), Column(\.mood), Column(\.tags), Column(\.shape),
        ]
    }
}
