import DAOCore
import Foundation

extension RandomProof {
    /// The model keyed by unsigned numbers.
    public struct Tally: RandomProofModel, RandomRecord {
        /// The key.
        public var id: UInt64
        /// Required, indexed.
        public var amount: Double
        /// As `amount`, without an index.
        public var amountTwin: Double
        /// Optional, not indexed.
        public var delta: Int64?
        /// Optional, unique.
        public var price: Decimal?
        /// Optional, unique.
        public var blob: Data?
        /// Required, not indexed.
        public var ratio: Float
        /// Required, indexed.
        public var level: Int8

        /// Creates a row; every field but the key has a default.
        public init(
            id: UInt64, amount: Double = 0, amountTwin: Double = 0, delta: Int64? = nil, price: Decimal? = nil,
            blob: Data? = nil, ratio: Float = 0, level: Int8 = 0
        ) {
            (self.id, self.amount, self.amountTwin, self.delta) = (id, amount, amountTwin, delta)
            (self.price, self.blob, self.ratio, self.level) = (price, blob, ratio, level)
        }

        /// The declaration.
        public static let schema = Schema(
            "random_tally", Self.init,
            Field("id", \.id, .primaryKey), Field("amount", \.amount, .indexed), Field("amountTwin", \.amountTwin),
            Field("delta", \.delta), Field("price", \.price, .unique), Field("blob", \.blob, .unique),
            Field("ratio", \.ratio), Field("level", \.level, .indexed))

        /// The names of the fields that a merging translator does not carry.
        public static let keptFields: Set<String> = ["delta", "blob"]
        /// The fields in the schema's order.
        public var cells: [Value] { columnCells }
        /// Makes a row of its fields.
        public init(cells: [Value]) { self = Self.make(cells) }

        static let blank = Self(id: 0)
        static let columns: [Column<Self>] = [
            Column(\.id), Column(\.amount), Column(\.amountTwin), Column(\.delta), Column(\.price), Column(\.blob),
            Column(\.ratio), Column(\.level),
        ]
    }
}
