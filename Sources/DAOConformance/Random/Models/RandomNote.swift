import DAOCore
import Foundation

extension RandomProof {
    /// The model keyed by text.
    public struct Note: RandomProofModel, RandomRecord {
        /// The key.
        public var id: String
        /// Required, indexed.
        public var title: String
        /// As `title`, without an index.
        public var titleTwin: String
        /// Optional, not indexed.
        public var body: String?
        /// Optional, unique.
        public var alias: String?
        /// Required, indexed.
        public var rank: Int

        /// Creates a row; every field but the key has a default.
        public init(
            id: String, title: String = "", titleTwin: String = "", body: String? = nil, alias: String? = nil, rank: Int = 0
        ) {
            (self.id, self.title, self.titleTwin, self.body) = (id, title, titleTwin, body)
            (self.alias, self.rank) = (alias, rank)
        }

        /// The declaration.
        public static let schema = Schema(
            "random_note", Self.init,
            Field("id", \.id, .primaryKey), Field("title", \.title, .indexed), Field("titleTwin", \.titleTwin),
            Field("body", \.body), Field("alias", \.alias, .unique), Field("rank", \.rank, .indexed))

        /// The names of the fields that a merging translator does not carry.
        public static let keptFields: Set<String> = ["body", "alias"]
        /// The fields in the schema's order.
        public var cells: [Value] { columnCells }
        /// Makes a row of its fields.
        public init(cells: [Value]) { self = Self.make(cells) }

        static let blank = Self(id: "")
        static let columns: [Column<Self>] = [
            Column(\.id), Column(\.title), Column(\.titleTwin), Column(\.body), Column(\.alias), Column(\.rank),
        ]
    }
}
