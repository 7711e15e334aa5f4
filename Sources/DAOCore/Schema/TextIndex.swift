import Foundation

/// The index for searches of an entity, as the catalog has it (contract S8).
public struct TextIndex: Sendable, Hashable, Codable {
    /// The names of the searchable fields, in the order of the schema.
    public internal(set) var fields: [String]
    /// The version of the rules by which texts are cut into words.
    private var version: Int
    /// What tells this index from one that the entity had before. It is no part of what descriptions are compared by.
    package internal(set) var id = UUID()

    /// The version that this build writes.
    package static let currentVersion = 1

    init(fields: [String]) { (self.fields, version) = (fields, Self.currentVersion) }

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
        return stored == declared ? stored : declared.asNew
    }

    /// The same, of which nothing is stored.
    package var asNew: TextIndex {
        var index = self
        index.id = UUID()
        return index
    }

    /// Whether two indexes have the same fields.
    public static func == (left: TextIndex, right: TextIndex) -> Bool {
        left.version == right.version && left.fields.elementsEqual(right.fields) { $0.hasSameBytes(as: $1) }
    }

    /// Hashes what is compared.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(version)
        hasher.combine(fields)
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
