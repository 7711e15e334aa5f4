import Foundation

/// Describes conditions with the names of fields, in the language of text predicates where that has words for them.
struct PredicateDescription {
    private let model: any Model.Type
    private let entity: EntityDescription
    /// The name of the part of an embedded value that the condition is on, its only field; nil for a condition on rows.
    private var part: String?

    /// - Parameter model: The model of the rows.
    init<Record: Model>(_ model: Record.Type) {
        self.model = model
        entity = Record.schema.description
    }

    /// Returns the text of a condition.
    ///
    /// - Parameter depth: How many further levels are described. What is deeper becomes `…`.
    func text(of node: PredicateNode, depth: Int = 32) -> String {
        if depth == 0 { return "…" }
        switch node {
        case .constant(let isTrue): return isTrue ? "TRUEPREDICATE" : "FALSEPREDICATE"
        case .and(let nodes): return nodes.isEmpty ? "TRUEPREDICATE" : joined(nodes, " AND ", depth)
        case .or(let nodes): return nodes.isEmpty ? "FALSEPREDICATE" : joined(nodes, " OR ", depth)
        case .not(let inner): return "NOT (\(text(of: inner, depth: depth - 1)))"
        case .compare(let field, let comparison, let value): return "\(name(field)) \(comparison.sign) \(value.literal)"
        case .compareFields(let left, let comparison, let right): return "\(name(left)) \(comparison.sign) \(name(right))"
        case .isIn(let field, let values):
            let shown = values.prefix(20).map(\.literal) + (values.count > 20 ? ["… (\(values.count))"] : [])
            return "\(name(field)) IN {\(shown.joined(separator: ", "))}"
        case .text(let field, let match, let pattern, let options):
            return "\(name(field)) \(match.sign)\(options.letters) \(Value.string(pattern).literal)"
        case .related(let field, let match, let inner):
            return "\(match.rawValue.uppercased()) \(onRelated(field, inner, depth))"
        case .relatedCount(let field, .constant(true), let comparison, let count):
            return "\(name(field)).@count \(comparison.sign) \(count)"
        case .relatedCount(let field, let inner, let comparison, let count):
            let text = model.relation(at: field).map { PredicateDescription($0.target).text(of: inner, depth: depth - 1) }
            return "SUBQUERY(\(name(field)), $x, \(text ?? "…")).@count \(comparison.sign) \(count)"
        case .compareRelated(let field, let comparison, let relation, let relatedField):
            let related = model.relation(at: relation).map { PredicateDescription($0.target).name(relatedField) }
            return "\(name(field)) \(comparison.sign) \(name(relation)).\(related ?? "…")"
        case .through(let field, let inner): return onRelated(field, inner, depth)
        case .embedded(let field, let part, let inner): return onPart(part, field, inner, depth)
        case .invalid(let problem): return "an invalid condition: \(problem.message)"
        }
    }

    private func joined(_ nodes: [PredicateNode], _ separator: String, _ depth: Int) -> String {
        nodes.map { node in
            let text = text(of: node, depth: depth - 1)
            return switch node {
            case .and(let inner), .or(let inner): inner.count > 1 && nodes.count > 1 ? "(\(text))" : text
            default: text
            }
        }.joined(separator: separator)
    }

    /// A condition on related rows: `writer.name == 'Ada'`, or `writer (name == 'Ada' AND age > 30)`.
    private func onRelated(_ field: Int, _ node: PredicateNode, _ depth: Int) -> String {
        guard let relation = model.relation(at: field) else { return name(field) }
        let text = PredicateDescription(relation.target).text(of: node, depth: depth - 1)
        switch node {
        case .and, .or, .not, .constant, .related: return "\(name(field)) (\(text))"
        default: return "\(name(field)).\(text)"
        }
    }

    /// A condition on a part of an embedded value: `ANY tags == 'swift'`, `tags.@count > 2`.
    private func onPart(_ part: EmbeddedPart, _ field: Int, _ node: PredicateNode, _ depth: Int) -> String {
        var inner = self
        switch part {
        case .anyElement:
            inner.part = name(field)
            let text = inner.text(of: node, depth: depth - 1)
            return switch node {
            case .and, .or: "ANY (\(text))"
            default: "ANY \(text)"
            }
        case .count: inner.part = name(field) + ".@count"
        case .member(let member): inner.part = name(field) + "." + member.name.inPredicate
        }
        return inner.text(of: node, depth: depth - 1)
    }

    /// The name of a field.
    func name(_ field: Int) -> String {
        if let part { return part }
        if let relation = model.relation(at: field) { return relation.name.inPredicate }
        return entity.fields.indices.contains(field) ? entity.fields[field].name.inPredicate : "field \(field)"
    }
}

extension String {
    /// The name of a field as a text predicate has it: between backticks where it has spaces or signs.
    fileprivate var inPredicate: String { PredicateLexer.isWord(self) ? self : "`\(self)`" }
}

extension Model {
    /// The relationship of a field; nil when the field has none.
    fileprivate static func relation(at field: Int) -> (any Relation)? { schema.relation(at: field) }
}

extension Comparison {
    /// The operator in the language of text predicates.
    package var sign: String {
        switch self {
        case .equal: "=="
        case .notEqual: "!="
        case .less: "<"
        case .lessOrEqual: "<="
        case .greater: ">"
        case .greaterOrEqual: ">="
        }
    }
}

extension TextMatch {
    fileprivate var sign: String {
        switch self {
        case .equals: "=="
        case .contains: "CONTAINS"
        case .hasPrefix: "BEGINSWITH"
        case .hasSuffix: "ENDSWITH"
        case .matches: "LIKE"
        }
    }
}

extension TextOptions {
    var letters: String {
        let letters = (contains(.caseInsensitive) ? "c" : "") + (contains(.diacriticInsensitive) ? "d" : "")
        return letters.isEmpty ? "" : "[\(letters)]"
    }
}

extension Value {
    /// The value as people read it: text in quotes, a date by the calendar, data by its length.
    var literal: String {
        switch self {
        case .null: return "nil"
        case .bool(let value): return "\(value)"
        case .integer(let value): return "\(value)"
        case .unsigned(let value): return "\(value)"
        case .double(let value): return "\(value)"
        case .decimal(let value): return "\(value)"
        case .string(let value):
            let text = value.count > 80 ? value.prefix(80) + "…" : value[...]
            return "'\(String(text).escaping("\\'", with: "\\"))'"
        case .data(let value): return "<\(value.count) bytes>"
        case .uuid(let value): return value.uuidString
        case .date(let value):
            // Beyond this the calendar of ISO 8601 has no years of four digits.
            guard abs(value.timeIntervalSinceReferenceDate) < 2e11 else {
                return "\(value.timeIntervalSinceReferenceDate) s since 2001"
            }
            return "'\(value.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true)))'"
        }
    }
}

extension Condition: CustomStringConvertible {
    /// The condition with the names of its fields, in the language of text predicates where that has words for it.
    ///
    /// ```swift
    /// print(Condition<MessageModel> { !$0.isRead && $0.sender == 5 })  // NOT (isRead == true) AND sender == 5
    /// ```
    public var description: String { PredicateDescription(Record.self).text(of: node) }
}

extension Sort: CustomStringConvertible {
    /// The path of the field, followed by the options of a text, "descending" when the values descend, and the place of nil where
    /// it is not the usual one; or where the rows come that meet a condition.
    public var description: String {
        if let problem = term.problem { return problem.message }
        if let condition = term.condition {
            return (term.isAscending ? "last " : "first ") + "(\(Condition<Record>(condition)))"
        }
        let nils = term.nilsFirst == term.isAscending ? "" : term.nilsFirst ? ", nil first" : ", nil last"
        return pathDescription + term.options.letters + (term.isAscending ? "" : " descending") + nils
    }

    private var pathDescription: String {
        guard let index = term.index else { return "" }
        guard let relation = term.relation, let related = Record.relation(at: relation) else {
            return PredicateDescription(Record.self).name(index)
        }
        return "\(PredicateDescription(Record.self).name(relation)).\(related.targetDescription.fields[index].name.inPredicate)"
    }
}

extension Query: CustomStringConvertible {
    /// The entity, the condition, the order and the window.
    ///
    /// ```swift
    /// print(Query<MessageModel>(orderedBy: [.descending(\.date)], limit: 50))  // message, ordered by date descending, limit 50
    /// ```
    public var description: String {
        var parts = [Record.schema.description.name]
        if case .constant(true) = predicate.node {} else { parts[0] += " where \(predicate)" }
        if !order.isEmpty { parts.append("ordered by " + order.map(\.description).joined(separator: ", then ")) }
        if let limit { parts.append("limit \(limit)") }
        if offset != 0 { parts.append("offset \(offset)") }
        if after != nil { parts.append("after a page") }
        if !includesSubentities { parts.append("without related rows") }
        return parts.joined(separator: ", ")
    }
}
