import DAOCore
import Foundation

extension RandomProof {
    /// The model keyed by UUID, with three unique fields.
    public struct Pass: RandomProofModel, RandomRecord {
        /// The key.
        public var id: UUID
        /// Optional, unique.
        public var code: Int?
        /// Required, unique.
        public var serial: UInt64
        /// Required, not indexed.
        public var label: String
        /// Optional, unique.
        public var stamp: Date?
        /// Optional, indexed.
        public var parent: UUID?
        /// As `parent`, without an index.
        public var parentTwin: UUID?
        /// Required, indexed.
        public var isActive: Bool

        /// Creates a row; every field but the key has a default.
        public init(
            id: UUID, code: Int? = nil, serial: UInt64 = 0, label: String = "", stamp: Date? = nil, parent: UUID? = nil,
            parentTwin: UUID? = nil, isActive: Bool = false
        ) {
            (self.id, self.code, self.serial, self.label, self.stamp) = (id, code, serial, label, stamp)
            (self.parent, self.parentTwin, self.isActive) = (parent, parentTwin, isActive)
        }

        /// The declaration.
        public static let schema = Schema(
            "random_pass", Self.init,
            Field("id", \.id, .primaryKey), Field("code", \.code, .unique), Field("serial", \.serial, .unique),
            Field("label", \.label), Field("stamp", \.stamp, .unique), Field("parent", \.parent, .indexed),
            Field("parentTwin", \.parentTwin), Field("isActive", \.isActive, .indexed))

        /// The names of the fields that a merging translator does not carry.
        public static let keptFields: Set<String> = ["label", "stamp"]
        /// The fields in the schema's order.
        public var cells: [Value] { columnCells }
        /// Makes a row of its fields.
        public init(cells: [Value]) { self = Self.make(cells) }

        static let blank = Self(id: UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)))
        static let columns: [Column<Self>] = [
            Column(\.id), Column(\.code), Column(\.serial), Column(\.label), Column(\.stamp), Column(\.parent),
            Column(\.parentTwin), Column(\.isActive),
        ]
    }
}
