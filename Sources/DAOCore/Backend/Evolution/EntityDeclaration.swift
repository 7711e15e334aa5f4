/// The declaration of a model without the Swift type: its description, earlier names, defaults and dropped
/// fields. The declaration of a part also has the description of the whole entity.
public struct EntityDeclaration: Sendable, Equatable {
    /// The description of the entity.
    public let description: EntityDescription
    /// The earlier names of every field, the newest first.
    public let earlierNames: [[String]]
    /// The value of every field in rows that were stored before the field; nil when there is none.
    public let defaults: [Value?]
    /// The names of the fields that are dropped.
    public let dropped: [String]
    /// Whether the log of the entity's changes ends.
    public let endsLog: Bool
    /// What writes the JSON of every embedded field as its type encodes it. Without it, the order of sets stays.
    private(set) var recodings: [EmbeddedRecoding?] = []
    /// Whether the type of a field reads a JSON text; true for a field that has none.
    package func reads(_ json: String, of field: String) -> Bool {
        guard let index = description.index(of: field), recodings.indices.contains(index), let recoding = recodings[index] else {
            return true
        }
        return recoding.text(json) != nil
    }

    /// The description of the whole entity; nil unless the model is a part of it.
    private let entity: EntityDescription?

    /// The description of the whole entity, as it is created; the same as ``description`` unless the model is a
    /// part.
    public var whole: EntityDescription { entity ?? description }

    /// The names of the required fields without a default that the model, a part of its entity, lacks. Rows
    /// cannot be inserted through such a part.
    public var requiredElsewhere: [String] {
        guard let entity else { return [] }
        return entity.fields.filter { !$0.canRetire && description.index(of: $0.name) == nil }.map(\.name)
    }

    /// Creates a declaration.
    ///
    /// - Parameters:
    ///   - description: The description of the entity.
    ///   - earlierNames: The earlier names of every field, the newest first; by default there are none.
    ///   - defaults: The value of every field in rows that were stored before the field; by default the
    ///     fields' defaults.
    ///   - dropped: The names of the fields that are dropped.
    ///   - endsLog: Whether the log of the entity's changes ends.
    ///   - whole: The description of the whole entity, when the model is a part of it.
    public init(
        _ description: EntityDescription, earlierNames: [[String]] = [], defaults: [Value?] = [], dropped: [String] = [],
        endsLog: Bool = false, partOf whole: EntityDescription? = nil
    ) {
        self.description = description
        let count = description.fields.count
        self.earlierNames = earlierNames.count == count ? earlierNames : Array(repeating: [], count: count)
        self.defaults = defaults.count == count ? defaults : description.fields.map(\.defaultValue)
        self.dropped = dropped
        self.endsLog = endsLog
        entity = whole
    }
}

extension EntityDeclaration {
    fileprivate func recoding(_ recodings: [EmbeddedRecoding?]) -> EntityDeclaration {
        var declaration = self
        declaration.recodings = recodings
        return declaration
    }
}

extension Schema {
    /// The declaration of the model, without its type.
    public var declaration: EntityDeclaration {
        EntityDeclaration(
            storedDescription, earlierNames: earlierNames, dropped: dropped, endsLog: endsLog,
            partOf: whole.map { Self.storedDescription(of: $0) }
        ).recoding(recodings)
    }

    private static func storedDescription<Whole: Model>(of whole: Whole.Type) -> EntityDescription {
        Whole.schema.storedDescription
    }
}
