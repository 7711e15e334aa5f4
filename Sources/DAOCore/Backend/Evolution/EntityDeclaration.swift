/// The declaration of a model without the Swift type: its description, earlier names and defaults.
public struct EntityDeclaration: Sendable {
    /// The description of the entity.
    public let description: EntityDescription
    /// The earlier names of every field, the newest first.
    public let earlierNames: [[String]]
    /// The declared default of every field; nil when there is none.
    public let defaults: [Value?]

    /// Creates a declaration.
    ///
    /// - Parameters:
    ///   - description: The description of the entity.
    ///   - earlierNames: The earlier names of every field, the newest first; by default there are none.
    ///   - defaults: The declared default of every field; by default there are none.
    public init(_ description: EntityDescription, earlierNames: [[String]] = [], defaults: [Value?] = []) {
        self.description = description
        let count = description.fields.count
        self.earlierNames = earlierNames.count == count ? earlierNames : Array(repeating: [], count: count)
        self.defaults = defaults.count == count ? defaults : Array(repeating: nil, count: count)
    }
}

extension Schema {
    /// The declaration of the model, without its type.
    ///
    /// - Throws: Any error of encoding a declared default.
    public var declaration: EntityDeclaration {
        get throws {
            let values = try description.fields.indices.map { index -> Value? in
                guard let write = defaults[index] else { return nil }
                let writer = ValueRowWriter(count: description.fields.count)
                writer.offset = index
                try write(writer)
                return try ValueRowReader(entity: description, values: writer.values).readValue(at: index)
            }
            return EntityDeclaration(storedDescription, earlierNames: earlierNames, defaults: values)
        }
    }
}
