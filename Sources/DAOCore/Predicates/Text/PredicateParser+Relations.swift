// Conditions on related rows: `ANY messages.isRead == false`, `author.name == 'Ada'`, `messages.@count > 3`,
// `SUBQUERY(messages, $x, $x.isRead == false).@count > 3`.

extension PredicateParser {

    /// A relationship in the path of a name.
    private struct Hop {
        let field: Int
        let name: String
        let match: RelatedMatch?
        /// The rows that have the relationship.
        let entity: EntityDescription
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
        defer { (entity, model, elementOfPart, row) = (outerEntity, outerModel, nil, nil) }
        comparesAcrossHop = false
        var hops = try hops(match)
        let isOfRows = hops.contains { $0.match != nil }
        let embedded = try enterEmbedded(isOfRows ? nil : match)
        if match != nil, !isOfRows, embedded == nil {
            throw PredicateTextError(
                "expected a list of related rows, or an array, after '\(matchToken.source)'", at: token.start)
        }
        if embedded == nil, !isOfRows {
            row = RowPlace(entity: hops.last?.entity ?? outerEntity, relation: hops.last?.field, path: hops.map(\.name))
        }
        var node = try innermost()
        if comparesAcrossHop { hops.removeLast() }
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
            hops.append(Hop(field: relation.field, name: parts[0], match: relation.isToOne ? nil : match, entity: entity))
            model = relation.target
            entity = relation.targetDescription
            parts.removeFirst()
        }
        token = PredicateToken(kind: .name(parts.joined(separator: ".")), start: start, source: source)
        return hops
    }

    private mutating func innermost() throws(PredicateTextError) -> PredicateNode {
        if let node = try subquery() { return node }
        if let node = try relatedCount() { return node }
        if let node = try relatedRow() { return node }
        return try comparison()
    }

    /// Parses a comparison of `list.@count` with an integer; nil when the current token does not begin one.
    private mutating func relatedCount() throws(PredicateTextError) -> PredicateNode? {
        guard let parts = nameParts(), parts.count == 2, parts[1] == "@count", let relation = relation(parts[0]) else {
            return nil
        }
        try checkVariable()
        return try counted(relation.field, where: .constant(true))
    }

    /// Parses the comparison of `@count`, which is the current token, with a whole number.
    private mutating func counted(_ field: Int, where node: PredicateNode) throws(PredicateTextError) -> PredicateNode {
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
        return .relatedCount(field: field, where: node, comparison, count)
    }

    /// Parses `SUBQUERY(list, $x, condition).@count` and its comparison with a whole number; nil when the current token does not
    /// begin one.
    private mutating func subquery() throws(PredicateTextError) -> PredicateNode? {
        guard token.keyword == "SUBQUERY", entity.index(of: token.source) == nil else { return nil }
        try advance()
        let opening = token
        guard opening.kind == .openingParenthesis else { throw .expected("'(' after 'SUBQUERY'", at: opening) }
        try advance()
        guard let parts = nameParts(), parts.count == 1, let relation = relation(parts[0]), !relation.isToOne else {
            throw .expected("a list of related rows after 'SUBQUERY('", at: token)
        }
        if case .namePlaceholder = token.kind { _ = try argument() }
        try advance()
        guard token.kind == .comma else { throw .expected("',' after the list", at: token) }
        try advance()
        guard case .variable(let variable) = token.kind, !variable.isEmpty, !variable.contains(".") else {
            throw .expected("a variable such as '$x' after the list", at: token)
        }
        try advance()
        guard token.kind == .comma else { throw .expected("',' after the variable", at: token) }
        let outer = (entity, model)
        (entity, model) = (relation.targetDescription, relation.target)
        variables.append(variable)
        try advance()
        let node = try conditions(after: opening.start)
        variables.removeLast()
        (entity, model) = outer
        try advance()
        guard token.keyword == ".@COUNT" else { throw .expected("'.@count' after the SUBQUERY", at: token) }
        comparesAcrossHop = false
        return try counted(relation.field, where: node)
    }

    /// Parses the right side of a comparison of a field when that side, or the left one, is a field of the related row of a
    /// to-one relationship, as it is a path from the row.
    ///
    /// - Returns: Nil when the right side is no name, or names a field of the row of the left one.
    mutating func acrossHop(
        _ left: Int, _ comparison: Comparison, _ sign: PredicateToken
    ) throws(PredicateTextError) -> PredicateNode? {
        guard let row, var parts = nameParts() else { return nil }
        let start = token
        func unknown(_ name: String, _ entity: EntityDescription) -> PredicateTextError {
            PredicateTextError(PredicateProblem.unknownField(name, in: entity).message, field: name, at: start.start)
        }
        func check(_ left: FieldDescription, _ right: FieldDescription) throws(PredicateTextError) {
            try located(start.start) { try DAOCore.Literal.checkComparable(left, right, entity: row.entity.name) }
            try located(sign.start) { try DAOCore.Literal.checkOrder(comparison, left, entity: row.entity.name) }
        }
        func take(_ parser: inout PredicateParser) throws(PredicateTextError) {
            try parser.checkVariable()
            if case .namePlaceholder = parser.token.kind { _ = try parser.argument() }
            try parser.advance()
        }
        if let relation = row.relation {
            if parts.count > row.path.count, parts.starts(with: row.path) {
                // The right side, too, is a path from the row of the left one.
                parts.removeFirst(row.path.count)
                let name = parts.joined(separator: ".")
                if let right = entity.index(of: name) {
                    try check(entity.fields[left], entity.fields[right])
                    try take(&self)
                    return .compareFields(left, comparison, right)
                }
                if parts.count == 1 { throw unknown(name, entity) }
            } else {
                // The right side is of the row that has the relationship to that of the left one.
                let outer = row.path.dropLast()
                guard parts.starts(with: outer),
                    let right = row.entity.index(of: parts.dropFirst(outer.count).joined(separator: "."))
                else { throw unknown(parts.joined(separator: "."), row.entity) }
                try check(row.entity.fields[right], entity.fields[left])
                try take(&self)
                comparesAcrossHop = true
                return .compareRelated(field: right, comparison.mirrored, relation: relation, relatedField: left)
            }
        }
        guard parts.count == 2, let place = self.relation(parts.removeFirst()), place.isToOne else { return nil }
        guard let right = place.targetDescription.index(of: parts[0]) else { throw unknown(parts[0], place.targetDescription) }
        try check(entity.fields[left], place.targetDescription.fields[right])
        try take(&self)
        return .compareRelated(field: left, comparison, relation: place.field, relatedField: right)
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
        try checkVariable()
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

/// The row of a comparison, from which a path on its right side leads.
struct RowPlace {
    let entity: EntityDescription
    /// The to-one relationship of these rows to whose row the left side belongs; nil when it belongs to this row.
    let relation: Int?
    /// The names of the relationships that lead from the condition's row to the row of the left side.
    let path: [String]
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
