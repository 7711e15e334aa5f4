import DAOCore

extension PropertyTesting {
    /// One field of a generated model, as plain data.
    public struct GeneratedField: Sendable, Hashable {
        /// The name it is stored under.
        var name: String
        /// The type of its values.
        var type: GeneratedType
        /// Whether it may be nil.
        var isOptional: Bool
        /// Whether it is the primary key.
        var isKey: Bool
        /// Whether it has an index.
        var isIndexed: Bool
        /// Whether no two rows may have the same value in it.
        var isUnique: Bool
        /// What rows have in it that were stored before it was there; nil where nothing is declared.
        var defaultValue: Value?
        /// The names it had before, the newest first.
        var earlierNames: [String]

        /// Describes a field.
        public init(
            _ name: String, _ type: GeneratedType, isOptional: Bool = false, isKey: Bool = false, isIndexed: Bool = false,
            isUnique: Bool = false, defaultValue: Value? = nil, earlierNames: [String] = []
        ) {
            (self.name, self.type, self.isOptional, self.isKey) = (name, type, isOptional, isKey)
            (self.isIndexed, self.isUnique, self.defaultValue, self.earlierNames) = (
                isIndexed, isUnique, defaultValue, earlierNames
            )
        }
    }

    /// A generated model, as plain data: what a `Schema` declares.
    public struct GeneratedEntity: Sendable, Hashable {
        /// The entity's name.
        var name: String
        /// The fields, in order.
        var fields: [GeneratedField]
        /// The positions of the fields that a merging translator does not carry.
        var kept: Set<Int>
        /// The names of the stored fields that it drops.
        var dropped: [String]
        /// The indexes over several fields.
        var indexes: [IndexDescription]

        /// Describes a model.
        public init(
            _ name: String, _ fields: [GeneratedField], kept: Set<Int> = [], dropped: [String] = [],
            indexes: [IndexDescription] = []
        ) {
            (self.name, self.fields, self.kept, self.dropped, self.indexes) = (name, fields, kept, dropped, indexes)
        }
    }
}

extension PropertyTesting.GeneratedEntity {
    /// The position of the key.
    var keyIndex: Int { fields.firstIndex(where: \.isKey) ?? 0 }

    /// Removes the indexes over several fields that it cannot have, after a change of its fields.
    mutating func removeImpossibleIndexes() {
        let description = EntityDescription(name: name, fields: fields.map(\.description))
        indexes.removeAll { index in
            if let elements = index.elements {
                return !fields.contains { index.isOnElements(of: $0.name) && $0.type.elements == elements }
            }
            let isPossible = index.allFields.allSatisfy { indexed in
                fields.contains { $0.name.hasSameBytes(as: indexed) && $0.type.kind.isOrdered }
            }
            return !isPossible || index.condition?.isTyped(in: description) == false
        }
    }

    /// A row in which every field has the value that scripts leave out.
    var blank: [Value] { fields.map { $0.isOptional ? .null : $0.type.empty } }
}
