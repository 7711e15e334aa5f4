import DAOCore

extension RandomProof {
    /// One field of a made model, as plain data.
    public struct MadeField: Sendable, Hashable {
        /// The name it is stored under.
        public var name: String
        /// The type of its values.
        public var type: MadeType
        /// Whether it may be nil.
        public var isOptional: Bool
        /// Whether it is the primary key.
        public var isKey: Bool
        /// Whether it has an index.
        public var isIndexed: Bool
        /// Whether no two rows may have the same value in it.
        public var isUnique: Bool
        /// What rows have in it that were stored before it was there; nil where nothing is declared.
        public var standard: Value?
        /// The names it had before, the newest first.
        public var earlierNames: [String]

        /// Describes a field.
        public init(
            _ name: String, _ type: MadeType, isOptional: Bool = false, isKey: Bool = false, isIndexed: Bool = false,
            isUnique: Bool = false, standard: Value? = nil, earlierNames: [String] = []
        ) {
            (self.name, self.type, self.isOptional, self.isKey) = (name, type, isOptional, isKey)
            (self.isIndexed, self.isUnique, self.standard, self.earlierNames) = (isIndexed, isUnique, standard, earlierNames)
        }
    }

    /// A made model, as plain data: what a `Schema` declares.
    public struct MadeEntity: Sendable, Hashable {
        /// The entity's name.
        public var name: String
        /// The fields, in order.
        public var fields: [MadeField]
        /// The positions of the fields that a merging translator does not carry.
        public var kept: Set<Int>

        /// Describes a model.
        public init(_ name: String, _ fields: [MadeField], kept: Set<Int> = []) {
            (self.name, self.fields, self.kept) = (name, fields, kept)
        }
    }
}

extension RandomProof.MadeEntity {
    /// The position of the key.
    var keyIndex: Int { fields.firstIndex(where: \.isKey) ?? 0 }

    /// A row in which every field has the value that scripts leave out.
    var blank: [Value] { fields.map { $0.isOptional ? .null : $0.type.empty } }
}
