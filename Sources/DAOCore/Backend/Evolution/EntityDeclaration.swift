/// The declaration of a model without the Swift type: its description, earlier names, defaults and dropped
/// fields.
public struct EntityDeclaration: Sendable, Equatable {
    /// The description of the entity.
    public let description: EntityDescription
    /// The earlier names of every field, the newest first.
    public let earlierNames: [[String]]
    /// The value of every field in rows that were stored before the field; nil when there is none.
    public let defaults: [Value?]
    /// The names of the fields that are dropped.
    public let dropped: [String]

    /// Creates a declaration.
    ///
    /// - Parameters:
    ///   - description: The description of the entity.
    ///   - earlierNames: The earlier names of every field, the newest first; by default there are none.
    ///   - defaults: The value of every field in rows that were stored before the field; by default the
    ///     fields' defaults.
    ///   - dropped: The names of the fields that are dropped.
    public init(
        _ description: EntityDescription, earlierNames: [[String]] = [], defaults: [Value?] = [], dropped: [String] = []
    ) {
        self.description = description
        let count = description.fields.count
        self.earlierNames = earlierNames.count == count ? earlierNames : Array(repeating: [], count: count)
        self.defaults = defaults.count == count ? defaults : description.fields.map(\.defaultValue)
        self.dropped = dropped
    }
}

extension Schema {
    /// The declaration of the model, without its type.
    public var declaration: EntityDeclaration {
        EntityDeclaration(storedDescription, earlierNames: earlierNames, dropped: dropped)
    }
}
