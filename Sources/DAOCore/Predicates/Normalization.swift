import Foundation

extension PredicateNode {

    /// Returns the filter that backends interpret.
    ///
    /// - Parameter entity: The entity of the predicate.
    /// - Throws: `.invalidPredicate` for an unknown field, a literal of the wrong type, or an operator that
    ///   the type of the field does not have.
    public func filter(for entity: EntityDescription) throws -> Filter {
        try filter(isNegated: false, depth: 0, for: entity)
    }

    /// The maximum depth of a tree. It is far greater than the depth of real predicates, and small enough for
    /// the stack of a thread.
    static let maximumDepth = 1000

    private func filter(isNegated: Bool, depth: Int, for entity: EntityDescription) throws -> Filter {
        guard depth < Self.maximumDepth else {
            throw PredicateProblem("the predicate nests more than \(Self.maximumDepth) levels deep").error(entity: entity.name)
        }
        switch self {
        case .constant(let value): return value != isNegated ? .all : .none
        case .and(let nodes):
            let filters = try nodes.map { try $0.filter(isNegated: isNegated, depth: depth + 1, for: entity) }
            return isNegated ? .any(filters) : .every(filters)
        case .or(let nodes):
            let filters = try nodes.map { try $0.filter(isNegated: isNegated, depth: depth + 1, for: entity) }
            return isNegated ? .every(filters) : .any(filters)
        case .not(let node): return try node.filter(isNegated: !isNegated, depth: depth + 1, for: entity)
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
        case .related(let field, _, _), .relatedCount(let field, _, _), .through(let field, _):
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
