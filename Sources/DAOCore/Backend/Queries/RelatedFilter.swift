/// A condition on the related rows of a row, which an SQL engine evaluates in the statement of the query.
///
/// For every other storage, conditions on related rows are resolved into keys before it gets its query.
public final class RelatedFilter: Sendable, Hashable {
    // An object, because a filter of many levels is walked recursively: every level has room for the largest case.

    /// What must hold of the related rows.
    package indirect enum Test: Sendable, Hashable {
        /// There is a link. The row may be missing.
        case isLinked
        /// A related row matches a filter.
        case any(Filter)
        /// The number of links compares with a number.
        case count(Comparison, Int)
    }

    /// The relationship.
    package let relation: RelationDescription
    /// The declaration of the related model.
    package let target: EntityDeclaration
    /// What must hold of the related rows.
    package let test: Test

    fileprivate init(relation: RelationDescription, target: EntityDeclaration, test: Test) {
        self.relation = relation
        self.target = target
        self.test = test
    }

    /// Returns whether both are about the same relationship, model and rows.
    public static func == (left: RelatedFilter, right: RelatedFilter) -> Bool {
        left.relation == right.relation && left.target == right.target && left.test == right.test
    }

    /// Hashes the relationship and the test.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(relation)
        hasher.combine(test)
    }
}

extension Filter {
    /// Whether a part of the filter is about related rows.
    package var reachesRelated: Bool {
        switch self {
        case .and(let filters), .or(let filters): filters.contains(where: \.reachesRelated)
        case .related: true
        default: false
        }
    }
}

/// A storage whose queries can contain conditions on related rows.
package protocol RelatedEvaluating {}

/// The error of a storage that cannot evaluate the conditions on related rows of a query. They are then resolved into keys.
package struct RelatedConditionsUnavailable: Error {
    package init() {}
}

extension Relation {
    /// Returns the filter of the rows with a related row that meets a condition.
    fileprivate func holding(_ node: PredicateNode, isNegated: Bool) throws -> Filter {
        func filter<Child: Model>(_ model: Child.Type) throws -> Filter {
            let test: RelatedFilter.Test =
                node == .constant(true) ? .isLinked : .any(try node.filter(of: model))
            return .related(
                RelatedFilter(relation: description, target: model.schema.declaration, test: test), isNegated: isNegated)
        }
        return try filter(target)
    }

    fileprivate func counted(_ comparison: Comparison, _ count: Int, isNegated: Bool) -> Filter {
        func filter<Child: Model>(_ model: Child.Type) -> Filter {
            let test = RelatedFilter.Test.count(comparison, count)
            return .related(
                RelatedFilter(relation: description, target: model.schema.declaration, test: test), isNegated: isNegated)
        }
        return filter(target)
    }
}

extension PredicateNode {
    /// Returns the filter with its conditions on related rows.
    func filter<Record: Model>(of model: Record.Type) throws -> Filter {
        let entity = Record.schema.description
        return try filter(for: entity) { node, isNegated in
            switch node {
            case .related(let field, let match, let inner):
                let relation = try Record.schema.relation(at: field)
                return switch match {
                case .any: try relation.holding(inner, isNegated: isNegated)
                case .none: try relation.holding(inner, isNegated: !isNegated)
                case .all: try relation.holding(.not(inner), isNegated: !isNegated)
                }
            case .relatedCount(let field, let comparison, let count):
                return try Record.schema.relation(at: field).counted(comparison, count, isNegated: isNegated)
            case .through(let field, let inner):
                let relation = try Record.schema.relation(at: field)
                return try inner.holdsWithoutRow(of: relation.target)
                    ? relation.holding(.not(inner), isNegated: !isNegated) : relation.holding(inner, isNegated: isNegated)
            case .compare(let field, let comparison, let value):
                try Record.schema.relations.first { $0.field == field }?.check([value], comparison)
                return nil
            case .isIn(let field, let values):
                try Record.schema.relations.first { $0.field == field }?.check(values, .equal)
                return nil
            default: return nil
            }
        }
    }
}
