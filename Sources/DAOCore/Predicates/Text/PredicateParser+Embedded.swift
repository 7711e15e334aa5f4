// Conditions on members of `Codable` values, `address.city == 'Berlin'`, and on the elements of arrays: `tags CONTAINS 'x'`, `'x' IN tags`, `ANY tags == 'x'`, `tags.@count > 2`.

extension PredicateParser {

    /// Enters the part of an embedded value that the current token names: the part becomes the only field of the entity,
    /// and the current token its name.
    ///
    /// - Parameter match: The quantifier before the name.
    /// - Returns: The field, and the parts that lead to the named one; nil when the token does not name a part.
    mutating func enterEmbedded(_ match: RelatedMatch?) throws(PredicateTextError) -> (field: Int, parts: [EmbeddedPart])? {
        guard let names = nameParts(), let field = entity.index(of: names[0]) else { return nil }
        var (element, rest, parts) = (elementType(of: field), names.dropFirst(), [EmbeddedPart]())
        if let member = members(of: field).first(where: { $0.name == rest.first }) {
            parts.append(.member(member))
            (element, rest) = (member.elementType, rest.dropFirst())
        }
        if let element, match != nil, rest.isEmpty {
            parts.append(.anyElement(element))
        } else if element != nil, match == nil, rest == ["@count"] {
            parts.append(.count)
            rest = []
        } else if match != nil {
            return nil
        }
        guard rest.isEmpty, let last = parts.last else { return nil }
        if case .namePlaceholder = token.kind { _ = try argument() }
        let name = names.joined(separator: ".")
        token = PredicateToken(kind: .name(name), start: token.start, source: token.source)
        var description = entity.fields[field]
        for part in parts { description = FieldDescription(name: name, type: part.type(in: description)) }
        entity = EntityDescription(name: entity.name, fields: [description])
        model = nil
        if case .member = last { elementOfPart = element }
        return (field, parts)
    }

    /// Returns the type of the elements of the array in a field; nil when the field is no array of values.
    func elementType(of field: Int) -> FieldType? {
        func type<Record: Model>(_ model: Record.Type) -> FieldType? { Record.schema.elementTypes[field] }
        return elementOfPart ?? model.flatMap { type($0) }
    }

    private func members(of field: Int) -> [EmbeddedMember] {
        func members<Record: Model>(_ model: Record.Type) -> [EmbeddedMember] { Record.schema.members[field] }
        return model.map { members($0) } ?? []
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

extension PredicateNode {
    /// Returns the condition that any, all or none of the elements at the end of some parts meet a condition.
    static func embedded(field: Int, _ parts: [EmbeddedPart], _ match: RelatedMatch, _ condition: PredicateNode) -> PredicateNode
    {
        var node = match == .all ? condition.negated : condition
        for (level, part) in parts.enumerated().reversed() { node = .embedded(field: level == 0 ? field : 0, part, node) }
        return match == .any ? node : node.negated
    }
}
