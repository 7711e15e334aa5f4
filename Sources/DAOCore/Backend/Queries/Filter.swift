/// A predicate in the form that backends interpret. It is checked against the schema. Literals have the types
/// of their fields, negations are pushed down to the leaves, and constants are folded.
///
/// ``matches(_:)`` defines the meaning of every case. A backend that evaluates a part itself must return
/// exactly the same (contract P7).
public indirect enum Filter: Sendable, Hashable {
    /// All rows.
    case all
    /// No row.
    case none
    /// The conjunction of two or more filters, none of which is an `and`, `all` or `none`.
    case and([Filter])
    /// The disjunction of two or more filters, none of which is an `or`, `all` or `none`.
    case or([Filter])
    /// Whether the field is nil (`true`) or is not nil (`false`).
    case isNull(field: Int, Bool)
    /// A comparison of the field with a value that is not null and has the type of the field. A nil field
    /// matches only `.notEqual`.
    case compare(field: Int, Comparison, Value)
    /// A comparison of the field with another field of a comparable type. The flag negates the result.
    case compareFields(Int, Comparison, Int, isNegated: Bool)
    /// Whether the value of the field is in a set. A nil field is in no set. The flag negates the result.
    case isIn(field: Int, ValueSet, isNegated: Bool)
    /// Whether the text of the field matches. A nil field does not match. The flag negates the result.
    case text(field: Int, TextPattern, isNegated: Bool)
    /// A comparison of the text of the field, without what the options ignore, with a text without it, as pages of an order
    /// need it. A nil field matches only `.notEqual`.
    case compareFolded(field: Int, TextOptions, Comparison, String)
    /// A condition on the related rows, in the queries of SQL engines. The flag negates the result.
    case related(RelatedFilter, isNegated: Bool)
    /// A condition on a part of an embedded value. The flag negates the result.
    case embedded(EmbeddedFilter, isNegated: Bool)
}

extension Filter {
    /// The parts that all have to match.
    @inlinable package var conjuncts: [Filter] {
        switch self {
        case .all: []
        case .and(let parts): parts
        default: [self]
        }
    }

    /// Returns whether a row matches. This is the reference evaluator.
    ///
    /// - Parameter row: A closure that returns a field of the row by its position.
    public func matches(_ row: (Int) throws -> Value) rethrows -> Bool {
        // It has an explicit stack: the stack of a thread has no room for the deepest filter without optimisation. The
        // outermost level is not on it, so that most filters allocate nothing.
        var outer: [(rest: ArraySlice<Filter>, isAnd: Bool)] = []
        var level: (rest: ArraySlice<Filter>, isAnd: Bool)?
        var filter = self
        while true {
            let holds: Bool
            switch filter {
            case .and(let filters), .or(let filters):
                let isAnd = if case .and = filter { true } else { false }
                holds = isAnd
                if let first = filters.first {
                    if let level { outer.append(level) }
                    level = (filters.dropFirst(), isAnd)
                    filter = first
                    continue
                }
            default: holds = try filter.leafMatches(row)
            }
            // The first part that decides a level ends it.
            while let current = level, holds != current.isAnd || current.rest.isEmpty { level = outer.popLast() }
            guard let next = level?.rest.popFirst() else { return holds }
            filter = next
        }
    }

    /// Calls a closure with every part that is neither a conjunction nor a disjunction, until it returns false. The order is
    /// that of the filter.
    ///
    /// - Returns: Whether the closure returned true for all.
    @discardableResult package func allLeaves(_ body: (Filter) throws -> Bool) rethrows -> Bool {
        var pending: [Filter] = []
        var next: Filter? = self
        while let filter = next {
            switch filter {
            case .and(let filters), .or(let filters): pending += filters.reversed()
            default: if try !body(filter) { return false }
            }
            next = pending.popLast()
        }
        return true
    }

    private func leafMatches(_ row: (Int) throws -> Value) rethrows -> Bool {
        switch self {
        case .all: return true
        case .none: return false
        case .and, .or: return try matches(row)
        case .isNull(let field, let expected): return try row(field).isNull == expected
        case .compare(let field, let comparison, let value):
            let stored = try row(field)
            if stored.isNull { return comparison == .notEqual }
            return comparison.holds(Value.order(stored, value))
        case .compareFields(let left, let comparison, let right, let isNegated):
            let (left, right) = (try row(left), try row(right))
            let holds: Bool
            if left.isNull || right.isNull {
                switch comparison {
                case .equal: holds = left.isNull && right.isNull
                case .notEqual: holds = left.isNull != right.isNull
                default: holds = false
                }
            } else {
                holds = comparison.holds(Value.order(left, right))
            }
            return holds != isNegated
        case .isIn(let field, let set, let isNegated): return try set.contains(row(field)) != isNegated
        case .text(let field, let pattern, let isNegated):
            guard case .string(let text) = try row(field) else { return isNegated }
            return pattern.matches(text) != isNegated
        case .compareFolded(let field, let options, let comparison, let other):
            guard case .string(let text) = try row(field) else { return comparison == .notEqual }
            return comparison.holds(text.folded(options).orderOfBytes(against: other))
        // The values of a row do not tell.
        case .related: return false
        case .embedded(let filter, let isNegated): return try filter.matches(row(filter.field)) != isNegated
        }
    }

    /// The number of parts that are neither conjunctions nor disjunctions.
    package var leafCount: Int {
        var count = 0
        allLeaves { _ in
            count += 1
            return true
        }
        return count
    }

    /// What the embedded fields contain whose whole value the filter compares with a value or another field: a row has to give
    /// their canonical JSON, since another program can have written another form of it.
    package func comparedContents(of entity: EntityDescription) -> [Int: EmbeddedContent] {
        var contents: [Int: EmbeddedContent] = [:]
        func compares(_ field: Int) {
            if entity.fields[field].type.kind == .embedded { contents[field] = entity.fields[field].content ?? .value }
        }
        allLeaves { leaf in
            switch leaf {
            case .compare(let field, _, _), .isIn(let field, _, _): compares(field)
            case .compareFields(let left, _, let right, _):
                compares(left)
                compares(right)
            case .and, .or, .all, .none, .isNull, .text, .compareFolded, .related, .embedded: break
            }
            return true
        }
        return contents
    }

    /// The fields that the filter uses.
    public var fields: Set<Int> {
        var fields: Set<Int> = []
        allLeaves { leaf in
            switch leaf {
            case .all, .none, .related, .and, .or: break
            case .isNull(let field, _), .compare(let field, _, _), .isIn(let field, _, _), .text(let field, _, _),
                .compareFolded(let field, _, _, _):
                fields.insert(field)
            case .compareFields(let left, _, let right, _): fields.formUnion([left, right])
            case .embedded(let filter, _): fields.insert(filter.field)
            }
            return true
        }
        return fields
    }
}

// The derived comparison and hash recurse; these do not.
extension Filter {
    /// Returns whether both filters have the same parts in the same order.
    public static func == (left: Filter, right: Filter) -> Bool {
        var pending: [(Filter, Filter)] = []
        var next: (Filter, Filter)? = (left, right)
        while let pair = next {
            let isSame: Bool
            switch pair {
            case (.and(let parts), .and(let others)), (.or(let parts), .or(let others)):
                isSame = parts.count == others.count
                pending += zip(parts, others)
            case (.all, .all), (.none, .none): isSame = true
            case (.isNull(let field, let expected), .isNull(let otherField, let otherExpected)):
                isSame = field == otherField && expected == otherExpected
            case (.compare(let field, let comparison, let value), .compare(let otherField, let otherComparison, let otherValue)):
                isSame = field == otherField && comparison == otherComparison && value == otherValue
            case (
                .compareFields(let first, let comparison, let second, let isNegated),
                .compareFields(let otherFirst, let otherComparison, let otherSecond, let otherIsNegated)
            ):
                isSame =
                    first == otherFirst && comparison == otherComparison && second == otherSecond && isNegated == otherIsNegated
            case (.isIn(let field, let set, let isNegated), .isIn(let otherField, let otherSet, let otherIsNegated)):
                isSame = field == otherField && set == otherSet && isNegated == otherIsNegated
            case (.text(let field, let pattern, let isNegated), .text(let otherField, let otherPattern, let otherIsNegated)):
                isSame = field == otherField && pattern == otherPattern && isNegated == otherIsNegated
            case (
                .compareFolded(let field, let options, let comparison, let text),
                .compareFolded(let otherField, let otherOptions, let otherComparison, let otherText)
            ):
                isSame =
                    field == otherField && options == otherOptions && comparison == otherComparison
                    && text.hasSameBytes(as: otherText)
            case (.related(let filter, let isNegated), .related(let other, let otherIsNegated)):
                isSame = filter == other && isNegated == otherIsNegated
            case (.embedded(let filter, let isNegated), .embedded(let other, let otherIsNegated)):
                isSame = filter == other && isNegated == otherIsNegated
            default: isSame = false
            }
            if !isSame { return false }
            next = pending.popLast()
        }
        return true
    }

    /// Hashes the parts.
    public func hash(into hasher: inout Hasher) {
        allLeaves { leaf in
            switch leaf {
            case .all, .and: hasher.combine(0)
            case .none, .or: hasher.combine(1)
            case .isNull(let field, let expected):
                hasher.combine(field)
                hasher.combine(expected)
            case .compare(let field, let comparison, let value):
                hasher.combine(field)
                hasher.combine(comparison)
                hasher.combine(value)
            case .compareFields(let first, let comparison, let second, _):
                hasher.combine(first)
                hasher.combine(comparison)
                hasher.combine(second)
            case .isIn(let field, let set, _):
                hasher.combine(field)
                hasher.combine(set)
            case .text(let field, let pattern, _):
                hasher.combine(field)
                hasher.combine(pattern)
            case .compareFolded(let field, _, let comparison, _):
                hasher.combine(field)
                hasher.combine(comparison)
            case .related(let filter, _): hasher.combine(filter)
            case .embedded(let filter, _): hasher.combine(filter)
            }
            return true
        }
    }
}
