// Conditions on the elements of arrays: `tags CONTAINS 'x'`, `'x' IN tags`, `ANY tags == 'x'`, `tags.@count > 2`.

extension PredicateParser {

    /// Enters the part of an embedded value that the current token names: the part becomes the only field of the entity,
    /// and the current token its name.
    ///
    /// - Parameter match: The quantifier before the name.
    /// - Returns: The part and its field; nil when the token does not name a part.
    mutating func enterEmbedded(_ match: RelatedMatch?) throws(PredicateTextError) -> (field: Int, part: EmbeddedPart)? {
        guard let names = nameParts(), let field = entity.index(of: names[0]), let element = elementType(of: field) else {
            return nil
        }
        let part: EmbeddedPart
        switch names.dropFirst() {
        case [] where match != nil: part = .anyElement(element)
        case ["@count"] where match == nil: part = .count
        default: return nil
        }
        if case .namePlaceholder = token.kind { _ = try argument() }
        let name = names.joined(separator: ".")
        token = PredicateToken(kind: .name(name), start: token.start, source: token.source)
        entity = part.entity(named: name, in: entity.fields[field], entity.name)
        model = nil
        return (field, part)
    }

    /// Returns the type of the elements of the array in a field; nil when the field is no array of values.
    func elementType(of field: Int) -> FieldType? {
        func type<Record: Model>(_ model: Record.Type) -> FieldType? { Record.schema.elementTypes[field] }
        return model.flatMap { type($0) }
    }

    /// Returns the condition that the array in a field contains the value of a literal.
    mutating func array(
        in field: Int, of element: FieldType, contains literal: Literal
    ) throws(PredicateTextError) -> PredicateNode {
        let part = EmbeddedPart.anyElement(element)
        let outer = entity
        defer { entity = outer }
        entity = part.entity(named: entity.fields[field].name, in: entity.fields[field], entity.name)
        return .embedded(field: field, part, .compare(field: 0, .equal, try value(literal, for: 0)))
    }
}

extension RelatedMatch {
    /// Returns the condition that so many elements of an array meet a condition.
    func node(field: Int, _ part: EmbeddedPart, _ condition: PredicateNode) -> PredicateNode {
        switch self {
        case .any: .embedded(field: field, part, condition)
        case .all: .not(.embedded(field: field, part, condition.negated))
        case .none: .not(.embedded(field: field, part, condition))
        }
    }
}
