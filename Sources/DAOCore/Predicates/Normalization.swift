import Foundation

extension PredicateNode {

    /// Returns the filter that backends interpret.
    ///
    /// - Parameter entity: The entity of the predicate.
    /// - Throws: `.invalidPredicate` for an unknown field, a literal of the wrong type, or an operator that
    ///   the type of the field does not have.
    public func filter(for entity: EntityDescription) throws -> Filter { try filter(for: entity) { _, _ in nil } }

    /// Returns the filter that backends interpret.
    ///
    /// - Parameters:
    ///   - entity: The entity of the predicate.
    ///   - special: Makes the filter of a leaf and whether it is negated; nil for the usual one.
    func filter(
        for entity: EntityDescription, _ special: (PredicateNode, _ isNegated: Bool) throws -> Filter?
    ) throws -> Filter {
        try folded(
            tooDeep: { PredicateProblem.tooDeep(Self.maximumDepth).error(entity: entity.name) },
            leaf: { try special($0, $1) ?? $0.leaf(isNegated: $1, for: entity) },
            join: { isAnd, filters in isAnd ? .every(filters) : .any(filters) })
    }

    /// The maximum depth of a tree that is no ``Condition``: it is far greater than the depth of real predicates.
    static let maximumDepth = 1000

    /// Replaces every leaf, then every conjunction and disjunction, from left to right. Negations are pushed down
    /// to the leaves. It has an explicit stack, so that no tree can overflow the stack of the thread.
    ///
    /// - Parameters:
    ///   - tooDeep: Makes the error for a tree that is deeper than the maximum.
    ///   - leaf: Makes the result of a node that is no conjunction, disjunction or negation, and whether it is
    ///     negated.
    ///   - join: Makes the result of a conjunction (`true`) or of a disjunction.
    func folded<Result>(
        tooDeep: () -> any Error,
        leaf: (PredicateNode, _ isNegated: Bool) throws -> Result,
        join: (_ isAnd: Bool, [Result]) throws -> Result
    ) throws -> Result {
        var levels: [(pending: ArraySlice<PredicateNode>, isAnd: Bool, isNegated: Bool, depth: Int, results: [Result])] = []
        var (node, isNegated, depth) = (self, false, 0)
        while true {
            guard depth < Self.maximumDepth else { throw tooDeep() }
            var result: Result?
            switch node {
            case .not(let inner):
                (node, isNegated, depth) = (inner, !isNegated, depth + 1)
                continue
            case .and(let nodes): levels.append((nodes[...], !isNegated, isNegated, depth + 1, []))
            case .or(let nodes): levels.append((nodes[...], isNegated, isNegated, depth + 1, []))
            default: result = try leaf(node, isNegated)
            }
            // The next node is that of the deepest level which is not complete.
            while true {
                let last = levels.count - 1
                if let result {
                    if last < 0 { return result }
                    levels[last].results.append(result)
                }
                if let next = levels[last].pending.popFirst() {
                    (node, isNegated, depth) = (next, levels[last].isNegated, levels[last].depth)
                    break
                }
                let level = levels.removeLast()
                result = try join(level.isAnd, level.results)
            }
        }
    }

    private func leaf(isNegated: Bool, for entity: EntityDescription) throws -> Filter {
        switch self {
        case .constant(let value): return value != isNegated ? .all : .none
        case .and, .or, .not: return try (isNegated ? .not(self) : self).filter(for: entity)
        case .compare(let field, let comparison, let value):
            let description = try entity.field(at: field)
            return try Literal.compare(field, description, comparison, value, isNegated: isNegated, entity: entity.name)
        case .compareFields(let left, let comparison, let right):
            let (leftField, rightField) = (try entity.field(at: left), try entity.field(at: right))
            try Literal.checkComparable(leftField, rightField, entity: entity.name)
            try Literal.checkOrder(comparison, leftField, entity: entity.name)
            return .compareFields(left, comparison, right, isNegated: isNegated)
        case .isIn(let field, let values):
            let description = try entity.field(at: field)
            return try Literal.isIn(field, description, values, isNegated: isNegated, entity: entity.name)
        case .text(let field, let match, let pattern, let options):
            let description = try entity.field(at: field)
            try Literal.checkText(match, description, entity: entity.name)
            return .text(field: field, TextPattern(match, pattern, options), isNegated: isNegated)
        case .embedded(let field, let part, let condition):
            return try EmbeddedFilter.filter(
                field, part, condition, of: entity.field(at: field), isNegated: isNegated, entity: entity.name)
        case .related(let field, _, _), .relatedCount(let field, _, _, _), .through(let field, _),
            .compareRelated(_, _, let field, _):
            let name = try entity.field(at: field).name
            throw StorageError(
                .unsupported, "a condition on the related rows of '\(name)' needs a database; use the storage of a database",
                entity: entity.name, field: name)
        case .invalid(let problem): throw problem.error(entity: entity.name)
        }
    }
}

extension EntityDescription {
    /// Returns the field at a position; throws when there is none.
    fileprivate func field(at index: Int) throws -> FieldDescription {
        guard fields.indices.contains(index) else {
            throw PredicateProblem("'\(name)' has no field at position \(index)").error(entity: name)
        }
        return fields[index]
    }
}

extension Filter {
    /// Returns the conjunction of filters, flattened and with constants folded.
    package static func every(_ filters: [Filter]) -> Filter {
        var parts: [Filter] = []
        for filter in filters {
            switch filter {
            case .all: continue
            case .none: return .none
            case .and(let inner): parts += inner
            default: parts.append(filter)
            }
        }
        return parts.isEmpty ? .all : (parts.count == 1 ? parts[0] : .and(parts))
    }

    /// Returns the disjunction of filters, flattened and with constants folded.
    package static func any(_ filters: [Filter]) -> Filter {
        var parts: [Filter] = []
        for filter in filters {
            switch filter {
            case .none: continue
            case .all: return .all
            case .or(let inner): parts += inner
            default: parts.append(filter)
            }
        }
        return parts.isEmpty ? .none : (parts.count == 1 ? parts[0] : .or(parts))
    }
}
