/// An index over one or several fields, without the application's types.
///
/// ```swift
/// let newest = IndexDescription([IndexedField("sender"), IndexedField("date", isAscending: false)])
/// print(newest)  // sender, date descending
/// ```
public struct IndexDescription: Sendable, Hashable, Codable, CustomStringConvertible {
    /// The maximum number of fields of an index.
    public static let maximumFieldCount = 8

    /// The fields, in order: at least one, and at most ``maximumFieldCount``.
    public var fields: [IndexedField]
    /// Whether two rows cannot have the same values in all fields. A row with nil in one of them is exempt.
    public var isUnique: Bool
    /// The condition of the rows that a partial index has; nil for an index of all rows.
    public var condition: IndexCondition?

    /// Creates a description.
    ///
    /// - Parameters:
    ///   - fields: The fields, in order.
    ///   - isUnique: Whether two rows cannot have the same values in all fields. It says nothing of rows that do not
    ///     meet the condition.
    ///   - condition: The condition of the rows that a partial index has; nil for an index of all rows.
    public init(_ fields: [IndexedField], isUnique: Bool = false, condition: IndexCondition? = nil) {
        self.fields = fields
        self.isUnique = isUnique
        self.condition = condition
    }

    /// The names of the fields with their directions, then the condition. The indexes of an entity differ in it.
    public var description: String {
        fields.map(\.description).joined(separator: ", ") + (condition.map { " where \($0)" } ?? "")
    }

    /// The names of the fields, separated by commas, as errors have them.
    public var fieldNames: String { fields.map(\.name).joined(separator: ", ") }

    /// The type of the elements, in an index on the elements of an array; nil for an index on the values of its fields.
    public var elements: FieldType? { fields.first?.elements }

    /// Whether the index is on the elements of a field.
    package func isOnElements(of field: String) -> Bool { elements != nil && fieldNames.hasSameBytes(as: field) }

    /// Returns the index with other names of its fields, and of those in its condition.
    package func renamed(_ name: (String) -> String) -> IndexDescription {
        var index = self
        for place in index.fields.indices { index.fields[place].name = name(index.fields[place].name) }
        index.condition = index.condition?.renamed(name)
        return index
    }

    /// Whether the indexes have the same fields, directions and conditions; one of them can be unique.
    func hasSameFields(as other: IndexDescription) -> Bool {
        fields.count == other.fields.count && condition == other.condition
            && zip(fields, other.fields).allSatisfy {
                $0.name.hasSameBytes(as: $1.name) && $0.isAscending == $1.isAscending && $0.elements == $1.elements
            }
    }
}

/// A field of an index, and the direction of its values in the index; or an array whose elements are in it.
public struct IndexedField: Sendable, Hashable, Codable, CustomStringConvertible {
    /// The name of the field.
    public var name: String
    /// Whether the values ascend.
    public var isAscending: Bool
    /// The type of the elements, in an index on the elements of an array; nil for the value of the field.
    public var elements: FieldType?

    /// Creates a field of an index.
    ///
    /// - Parameters:
    ///   - name: The name of the field.
    ///   - isAscending: Whether the values ascend.
    ///   - elements: The type of the elements of an array, for an index on them; nil for the value of the field.
    public init(_ name: String, isAscending: Bool = true, elements: FieldType? = nil) {
        self.name = name
        self.isAscending = isAscending
        self.elements = elements
    }

    /// The name, followed by "descending" when the values descend; for elements with their type, as in `the elements (string) of tags`.
    public var description: String {
        (elements.map { "the elements (\($0)) of " } ?? "") + name + (isAscending ? "" : " descending")
    }
}

extension EntityDescription {
    /// All indexes in addition to that of the primary key: those of single fields, in the order of the fields,
    /// then ``indexes``.
    public var allIndexes: [IndexDescription] {
        fields.filter { $0.isIndexed && !$0.isPrimaryKey }.map {
            IndexDescription([IndexedField($0.name)], isUnique: $0.isUnique)
        } + indexes
    }

    /// The names of the fields of each index, in the order of ``allIndexes``. `explain` names an index so.
    package var indexedNames: [[String]] { allIndexes.map { $0.fields.map(\.name) } }

    /// The unique indexes, in the order of ``allIndexes``.
    public var uniqueIndexes: [IndexDescription] { allIndexes.filter(\.isUnique) }

    /// Returns the positions of the fields of an index, without those that are only in its condition.
    public func positions(of index: IndexDescription) -> [Int] { index.fields.compactMap { self.index(of: $0.name) } }

    /// Returns the names of fields, separated by commas, as the error of a unique index has them.
    public func names(of positions: [Int]) -> String { positions.map { fields[$0].name }.joined(separator: ", ") }

    /// Renames a field in the indexes.
    mutating func renameInIndexes(_ field: String, to name: String) {
        indexes = indexes.map { $0.renamed { $0.hasSameBytes(as: field) ? name : $0 } }
    }
}
