import Foundation

/// The index for searches of an entity, as the catalog has it (contract S8).
public struct TextIndex: Sendable, Hashable, Codable {
    /// The names of the searchable fields, in the order of the schema.
    public internal(set) var fields: [String]
    /// As how many occurrences one counts in each field, for searches of rows without types.
    public internal(set) var weights: [Int]
    /// The version of the rules by which texts are cut into words.
    private var version: Int
    /// What tells this index from one that the entity had before. It is no part of what descriptions are compared by.
    package internal(set) var id = UUID()

    /// The version that this build writes.
    package static let currentVersion = 2

    init(fields: [(name: String, weight: Int)]) {
        (self.fields, weights, version) = (fields.map(\.name), fields.map(\.weight), Self.currentVersion)
    }

    /// Decodes an index of the catalog, which can be of any origin.
    ///
    /// - Throws: `DecodingError` when it does not have a weight for each field.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        fields = try container.decode([String].self, forKey: .fields)
        weights = try container.decode([Int].self, forKey: .weights)
        version = try container.decode(Int.self, forKey: .version)
        id = try container.decode(UUID.self, forKey: .id)
        guard weights.count == fields.count, weights.allSatisfy({ 1...SearchableField.maximumWeight ~= $0 }) else {
            throw DecodingError.dataCorruptedError(
                forKey: .weights, in: container, debugDescription: "a weight for each searchable field is missing")
        }
    }

    /// Whether this build can keep the index.
    package var isCurrent: Bool { version == Self.currentVersion }

    /// The declaration where there is no index: another program writes the rows, too, and would not keep it.
    package var withoutIndex: TextIndex {
        var index = self
        index.version = 0
        return index
    }

    /// The index that a stored entity has when a model declares it otherwise, or not at all.
    ///
    /// - Parameters:
    ///   - declared: What the model declares; nil leaves the stored index.
    ///   - stored: The stored index.
    ///   - name: Returns the name of a stored field in the changed entity; nil when the field is gone.
    static func wanted(_ declared: TextIndex?, _ stored: TextIndex?, _ name: (String) -> String?) -> TextIndex? {
        guard var stored else { return declared.map(\.asNew) }
        let names = stored.fields.compactMap(name)
        let isWhole = names.count == stored.fields.count
        stored.fields = names
        guard let declared else { return isWhole ? stored : nil }
        if stored.version == 0, isWhole { return stored }
        if !stored.hasFields(of: declared) { return declared.asNew }
        stored.weights = declared.weights
        return stored
    }

    /// The same, of which nothing is stored.
    package var asNew: TextIndex {
        var index = self
        index.id = UUID()
        return index
    }

    /// Whether what is stored of one index is what is stored of the other.
    private func hasFields(of other: TextIndex) -> Bool {
        version == other.version && fields.elementsEqual(other.fields) { $0.hasSameBytes(as: $1) }
    }

    /// Whether two indexes have the same fields with the same weights.
    public static func == (left: TextIndex, right: TextIndex) -> Bool {
        left.hasFields(of: right) && left.weights == right.weights
    }

    /// Hashes what is compared.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(version)
        hasher.combine(fields)
        hasher.combine(weights)
    }
}

extension EntityDescription {
    /// The description with which an entity is created. Its index has no rows yet, whatever an entity of the name had.
    package var asNew: EntityDescription {
        var entity = self
        entity.textIndex = textIndex?.asNew
        return entity
    }
}
