// Conditions on related rows: `ANY messages.isRead == false`, `author.name == 'Ada'`, `messages.@count > 3`.

extension PredicateParser {

    /// A relationship in the path of a name.
    private struct Hop {
        let field: Int
        let match: RelatedMatch?
    }

    /// The number of related rows that must meet the following condition; nil when the current token is not a
    /// quantifier.
    private var quantifier: RelatedMatch? {
        // A word that is the name of a field is that field.
        guard case .word(let word) = token.kind, entity.index(of: word) == nil else { return nil }
        switch token.keyword {
        case "ANY", "SOME": return .any
        case "ALL": return .all
        case "NONE": return RelatedMatch.none
        default: return nil
        }
    }

    /// Parses a condition on the rows or on related rows. Afterwards the current token is the token after it.
    mutating func condition() throws(PredicateTextError) -> PredicateNode {
        let (match, matchToken) = (quantifier, token)
        if match != nil { try advance() }
        let (outerEntity, outerModel) = (entity, model)
        defer { (entity, model, elementOfPart) = (outerEntity, outerModel, nil) }
        let hops = try hops(match)
        let isOfRows = hops.contains { $0.match != nil }
        let embedded = try enterEmbedded(isOfRows ? nil : match)
        if match != nil, !isOfRows, embedded == nil {
            throw PredicateTextError(
                "expected a list of related rows, or an array, after '\(matchToken.source)'", at: token.start)
        }
        var node = try innermost()
        if let (field, parts) = embedded { node = .embedded(field: field, parts, isOfRows ? .any : match ?? .any, node) }
        for hop in hops.reversed() {
            node = hop.match.map { .related(field: hop.field, $0, node) } ?? .through(field: hop.field, node)
        }
        return node
    }

    /// Follows the relationships in the path of the name that is the current token. The last part of the path
    /// becomes the current token, and names are looked up in the related entity.
    private mutating func hops(_ match: RelatedMatch?) throws(PredicateTextError) -> [Hop] {
        let start = token.start
        guard var parts = nameParts(), parts.count > 1, relation(parts[0]) != nil else { return [] }
        if case .namePlaceholder = token.kind { _ = try argument() }
        let source = token.source
        var hops: [Hop] = []
        while parts.count > 1, parts[1] != "@count", let relation = relation(parts[0]) {
            if !relation.isToOne {
                guard match != nil, !hops.contains(where: { $0.match != nil }) else {
                    throw PredicateTextError(
                        "'\(parts[0])' is a list of related rows; begin the condition with ANY, ALL or NONE, and name only one list",
                        field: parts[0],
                        at: start)
                }
            }
            hops.append(Hop(field: relation.field, match: relation.isToOne ? nil : match))
            model = relation.target
            entity = relation.targetDescription
            parts.removeFirst()
        }
        token = PredicateToken(kind: .name(parts.joined(separator: ".")), start: start, source: source)
        return hops
    }

    private mutating func innermost() throws(PredicateTextError) -> PredicateNode {
        if let node = try relatedCount() { return node }
        if let node = try relatedRow() { return node }
        return try comparison()
    }

    /// Parses a comparison of `list.@count` with an integer; nil when the current token does not begin one.
    private mutating func relatedCount() throws(PredicateTextError) -> PredicateNode? {
        guard let parts = nameParts(), parts.count == 2, parts[1] == "@count", let relation = relation(parts[0]) else {
            return nil
        }
        try advance()
        guard case .comparison(let comparison) = token.kind else { throw .expected("a comparison after '@count'", at: token) }
        try advance()
        let literal = try literal("a whole number")
        let count: Int? =
            switch literal.form {
            case .number(let text): Int(text)
            case .value(.integer(let value)): Int(exactly: value)
            default: nil
            }
        guard let count else { throw .expected("a whole number after '@count'", at: token) }
        try advance()
        return .relatedCount(field: relation.field, comparison, count)
    }

    /// Parses a comparison of a to-one relationship with nil, a key or a list of keys; nil when the current token does not
    /// begin one.
    private mutating func relatedRow() throws(PredicateTextError) -> PredicateNode? {
        guard let parts = nameParts(), parts.count == 1, let relation = relation(parts[0]) else { return nil }
        guard relation.isToOne else {
            throw PredicateTextError(
                "'\(parts[0])' is a list of related rows; add one of their fields, or '@count'", field: parts[0], at: token.start
            )
        }
        if case .namePlaceholder = token.kind { _ = try argument() }
        try advance()
        let (outerEntity, outerModel) = (entity, model)
        defer { (entity, model) = (outerEntity, outerModel) }
        if token.keyword == "IN" {
            entity = relation.targetDescription
            return .isIn(field: relation.field, try list(of: entity.keyIndex, behind: token.source))
        }
        guard case .comparison(let comparison) = token.kind,
            relation.isReference || comparison == .equal || comparison == .notEqual
        else {
            throw .expected(
                relation.isReference ? "a comparison or 'IN' after a Reference" : "'==', '!=' or 'IN' after a related row",
                at: token)
        }
        try advance()
        let literal = try literal("nil or a key")
        if case .value(.null) = literal.form {
            try advance()
            return .compare(field: relation.field, comparison, .null)
        }
        entity = relation.targetDescription
        let key = try value(literal, for: entity.keyIndex)
        try advance()
        return .compare(field: relation.field, comparison, key)
    }

    /// Returns the parts of the name in the current token, separated at its dots; nil when the token is not a
    /// name.
    func nameParts() -> [String]? {
        let name: String
        switch token.kind {
        case .word(let word) where !isReserved(token.keyword) || entity.index(of: word) != nil: name = word
        case .name(let text): name = text
        case .namePlaceholder:
            guard case .string(let text)? = nextArgument?.value else { return nil }
            name = text
        default: return nil
        }
        return name.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    }

    private func relation(_ name: String) -> RelationPlace? {
        guard let model, let field = entity.index(of: name) else { return nil }
        return RelationPlace(model, field)
    }
}

/// The properties of a relationship that the grammar needs.
private struct RelationPlace {
    let field: Int
    let isToOne: Bool
    let isReference: Bool
    let target: any Model.Type
    let targetDescription: EntityDescription

    /// The relationship in a field of a model; nil when the field is not a relationship.
    init?<Record: Model>(_ model: Record.Type, _ field: Int) {
        guard let relation = Record.schema.relation(at: field) else { return nil }
        self.field = field
        isToOne = relation.isToOne
        isReference = relation.isReference
        target = relation.target
        targetDescription = relation.targetDescription
    }
}
