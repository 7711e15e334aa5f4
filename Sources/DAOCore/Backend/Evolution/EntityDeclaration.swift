/// What a model declares of its entity, without the Swift type: its description, earlier names and defaults.
public struct EntityDeclaration: Sendable {
    /// What the entity looks like.
    public let description: EntityDescription
    /// For every field the names it had before, the newest first.
    public let earlierNames: [[String]]
    /// For every field the declared default; nil where none is declared.
    public let defaults: [Value?]

    /// Declares an entity.
    ///
    /// - Parameters:
    ///   - description: What the entity looks like.
    ///   - earlierNames: For every field the names it had before, the newest first; none by default.
    ///   - defaults: For every field the declared default; none by default.
    public init(_ description: EntityDescription, earlierNames: [[String]] = [], defaults: [Value?] = []) {
        self.description = description
        let count = description.fields.count
        self.earlierNames = earlierNames.count == count ? earlierNames : Array(repeating: [], count: count)
        self.defaults = defaults.count == count ? defaults : Array(repeating: nil, count: count)
    }
}

extension Schema {
    /// What the model declares, without its type.
    ///
    /// - Throws: What encoding a declared default throws.
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
