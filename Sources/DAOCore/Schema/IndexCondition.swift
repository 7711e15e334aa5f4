import Foundation

/// The condition of a partial index, in canonical form: by the names of fields, with literals in the types of the
/// fields, negations in the leaves, and the parts of a conjunction or disjunction in one order.
///
/// A catalog stores it. Two conditions that differ only in the order of their parts have one form.
///
/// ```swift
/// for index in entity.indexes { print(index.condition.map { "only rows where \($0)" } ?? "all rows") }
/// ```
public indirect enum IndexCondition: Sendable, Hashable, Codable {
    /// The maximum number of values and comparisons in a condition.
    public static let maximumSize = 100
    /// The maximum number of conjunctions and disjunctions inside each other, and the comparison in them. SQLite's parser has room for
    /// twice as many.
    public static let maximumDepth = 16

    /// The conjunction of two or more conditions.
    case and(conditions: [IndexCondition])
    /// The disjunction of two or more conditions.
    case or(conditions: [IndexCondition])
    /// Whether the field is nil (`true`) or is not nil (`false`).
    case isNull(field: String, isNull: Bool)
    /// A comparison of the field with a value that is not null. A nil field matches only `.notEqual`.
    case compare(field: String, comparison: Comparison, value: Value)
    /// Whether the value of the field is one of some values. A nil field is none. The flag negates the result.
    case isIn(field: String, values: [Value], isNegated: Bool)
}

extension Comparison: Codable {}

extension IndexCondition {
    /// The canonical form of a filter; nil when the filter has a part that the condition of an index cannot have.
    ///
    /// - Parameters:
    ///   - filter: The filter.
    ///   - entity: The entity of its fields.
    package init?(_ filter: Filter, of entity: EntityDescription) {
        func name(_ field: Int) -> String? {
            entity.fields[field].type.kind.isRelationship ? nil : entity.fields[field].name
        }
        func all(_ filters: [Filter]) -> [IndexCondition]? {
            let conditions = filters.compactMap { IndexCondition($0, of: entity) }
            return conditions.count == filters.count ? conditions : nil
        }
        switch filter {
        case .and(let parts):
            guard let conditions = all(parts) else { return nil }
            self = .and(conditions: conditions)
        case .or(let parts):
            guard let conditions = all(parts) else { return nil }
            self = .or(conditions: conditions)
        case .isNull(let field, let expected):
            guard let name = name(field) else { return nil }
            self = .isNull(field: name, isNull: expected)
        case .compare(let field, let comparison, let value):
            guard let name = name(field) else { return nil }
            self = .compare(field: name, comparison: comparison, value: value)
        case .isIn(let field, let set, let isNegated):
            guard let name = name(field) else { return nil }
            self = .isIn(field: name, values: set.values, isNegated: isNegated)
        case .all, .none, .compareFields, .text, .compareFolded, .related, .embedded: return nil
        }
        self = sorted
    }

    /// The condition with the parts of every conjunction and disjunction in the order of their texts, each once.
    private var sorted: IndexCondition {
        func sorted(_ conditions: [IndexCondition]) -> [IndexCondition] {
            let parts = conditions.map { $0.sorted }
            return Set(parts).sorted { $0.description < $1.description }
        }
        switch self {
        case .and(let conditions):
            let parts = sorted(conditions)
            return parts.count == 1 ? parts[0] : .and(conditions: parts)
        case .or(let conditions):
            let parts = sorted(conditions)
            return parts.count == 1 ? parts[0] : .or(conditions: parts)
        default: return self
        }
    }

    /// The names of the fields.
    public var fields: Set<String> {
        switch self {
        case .and(let conditions), .or(let conditions): conditions.reduce(into: []) { $0.formUnion($1.fields) }
        case .isNull(let field, _), .compare(let field, _, _), .isIn(let field, _, _): [field]
        }
    }

    /// The number of values and comparisons.
    var size: Int {
        switch self {
        case .and(let conditions), .or(let conditions): conditions.reduce(0) { $0 + $1.size }
        case .isNull, .compare: 1
        case .isIn(_, let values, _): values.count
        }
    }

    /// The number of conjunctions and disjunctions inside each other, and the comparison in them.
    var depth: Int {
        switch self {
        case .and(let conditions), .or(let conditions): 1 + (conditions.map(\.depth).max() ?? 0)
        case .isNull, .compare, .isIn: 1
        }
    }

    /// What is said of an index whose condition is too deep; nil when it is not.
    var tooDeep: String? {
        let depth = depth
        return depth > Self.maximumDepth ? "has a condition of \(depth) levels; use at most \(Self.maximumDepth)" : nil
    }

    /// What is said of an index whose condition is too large.
    static func tooLarge(_ size: Int) -> String {
        "has a condition with \(size) values and comparisons; use at most \(maximumSize)"
    }

    /// Whether every conjunction, disjunction and list has parts.
    var isComplete: Bool {
        switch self {
        case .and(let conditions), .or(let conditions): conditions.count > 1 && conditions.allSatisfy(\.isComplete)
        case .isNull, .compare: true
        case .isIn(_, let values, _): !values.isEmpty
        }
    }

    /// Whether every value is of the type of its field, and every comparison is one that the type has.
    package func isTyped(in entity: EntityDescription) -> Bool {
        func holds(_ field: String, _ comparison: Comparison, _ values: [Value]) -> Bool {
            guard let position = entity.index(of: field) else { return false }
            let description = entity.fields[position]
            // An engine has no form of JSON by which an index could find the same value that another program wrote.
            if description.type.kind == .embedded { return false }
            return (try? Literal.checkOrder(comparison, description, entity: entity.name)) != nil
                && values.allSatisfy { Literal.isValue($0, of: description) }
        }
        return switch self {
        case .and(let conditions), .or(let conditions): conditions.allSatisfy { $0.isTyped(in: entity) }
        case .isNull: true
        case .compare(let field, let comparison, let value): holds(field, comparison, [value])
        case .isIn(let field, let values, _): holds(field, .equal, values)
        }
    }

    /// Returns the condition with other names of its fields.
    package func renamed(_ name: (String) -> String) -> IndexCondition {
        func renamed(_ condition: IndexCondition) -> IndexCondition {
            switch condition {
            case .and(let conditions): .and(conditions: conditions.map(renamed))
            case .or(let conditions): .or(conditions: conditions.map(renamed))
            case .isNull(let field, let expected): .isNull(field: name(field), isNull: expected)
            case .compare(let field, let comparison, let value):
                .compare(field: name(field), comparison: comparison, value: value)
            case .isIn(let field, let values, let isNegated):
                .isIn(field: name(field), values: values, isNegated: isNegated)
            }
        }
        return renamed(self).sorted
    }

    /// Returns the filter of the rows that meet the condition. Its values have the types of the fields.
    ///
    /// - Parameter entity: The entity, whose fields give the positions.
    /// - Returns: Nil when the entity lacks a field.
    public func filter(of entity: EntityDescription) -> Filter? {
        func all(_ conditions: [IndexCondition]) -> [Filter]? {
            let filters = conditions.compactMap { $0.filter(of: entity) }
            return filters.count == conditions.count ? filters : nil
        }
        // A description written by hand may have an equal number of another type.
        func typed(_ value: Value, _ field: Int) -> Value {
            (try? Literal.typed(value, entity.fields[field], entity: entity.name)) ?? value
        }
        switch self {
        case .and(let conditions): return all(conditions).map { .every($0) }
        case .or(let conditions): return all(conditions).map { .any($0) }
        case .isNull(let field, let expected): return entity.index(of: field).map { .isNull(field: $0, expected) }
        case .compare(let field, let comparison, let value):
            return entity.index(of: field).map { .compare(field: $0, comparison, typed(value, $0)) }
        case .isIn(let field, let values, let isNegated):
            return entity.index(of: field).map { field in
                .isIn(field: field, ValueSet(values.map { typed($0, field) }), isNegated: isNegated)
            }
        }
    }
}

extension IndexCondition: CustomStringConvertible {
    /// The condition as text, with every value in full: `isRead == false AND sender IN {1, 2}`.
    public var description: String {
        func joined(_ conditions: [IndexCondition], _ word: String) -> String {
            conditions.map { condition in
                switch condition {
                case .and, .or: "(\(condition))"
                default: condition.description
                }
            }.joined(separator: " \(word) ")
        }
        switch self {
        case .and(let conditions): return joined(conditions, "AND")
        case .or(let conditions): return joined(conditions, "OR")
        case .isNull(let field, let expected): return "\(field) \(expected ? "==" : "!=") nil"
        case .compare(let field, let comparison, let value): return "\(field) \(comparison.sign) \(value.exactText)"
        case .isIn(let field, let values, let isNegated):
            let text = "\(field) IN {\(values.map(\.exactText).joined(separator: ", "))}"
            return isNegated ? "NOT (\(text))" : text
        }
    }
}

extension Value {
    /// A text that no other value of the same type has.
    fileprivate var exactText: String {
        switch self {
        case .string(let text): "'\(text.escaping("\\'", with: "\\"))'"
        case .data(let data): "<" + data.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined() + ">"
        case .date(let date): "\(date.timeIntervalSinceReferenceDate) s since 2001"
        default: literal
        }
    }
}

extension IndexDescription {
    /// Returns the filter of the rows that a partial index has; nil for an index of all rows.
    ///
    /// - Parameter entity: The entity, whose fields give the positions. A condition on a field that it lacks is the
    ///   filter of no row.
    public func filter(of entity: EntityDescription) -> Filter? { condition.map { $0.filter(of: entity) ?? .none } }

    /// The names of the fields, and of those that are only in the condition.
    package var allFields: Set<String> { Set(fields.map(\.name)).union(condition?.fields ?? []) }
}

extension EntityDescription {
    /// Whether the entity has all fields of an index and of its condition.
    func hasFields(of index: IndexDescription) -> Bool { index.allFields.allSatisfy { self.index(of: $0) != nil } }
}

/// The partial indexes of a schema. Their conditions are made when they are first asked for: a closure over the fields needs
/// the schema, which does not exist while its declaration is evaluated.
final class PartialIndexes: Sendable {
    private let make: @Sendable () -> Result<[IndexDescription], StorageError>
    private let made = Lock<Result<[IndexDescription], StorageError>?>(nil)

    /// - Parameter make: Makes the descriptions.
    init(_ make: @escaping @Sendable () -> Result<[IndexDescription], StorageError>) { self.make = make }

    /// The descriptions, or the first contradiction in them.
    var result: Result<[IndexDescription], StorageError> {
        if let result = made.withLock({ $0 }) { return result }
        // Outside the lock, because the closures are the application's.
        let result = make()
        made.withLock { $0 = result }
        return result
    }
}
