/// A condition on the related rows of a row, which an SQL engine evaluates in the statement of the query.
///
/// For every other storage, conditions on related rows are resolved into keys before it gets its query.
public final class RelatedFilter: Sendable, Hashable {
    /// What must hold of the related rows.
    package indirect enum Test: Sendable, Hashable {
        /// There is a link. The row may be missing.
        case isLinked
        /// A related row matches a filter.
        case any(Filter)
        /// The number of links compares with a number.
        case count(Comparison, Int)
        /// The number of links to rows that match a filter compares with a number.
        case countMatching(Filter, Comparison, Int)
        /// A field of the row compares with a field of the related row.
        case compares(field: Int, Comparison, relatedField: Int)
    }

    /// The relationship.
    package let relation: RelationDescription
    /// Whether the related rows are those that refer to the row.
    package let isInverse: Bool
    /// The declaration of the related model.
    package let target: EntityDeclaration
    /// What must hold of the related rows.
    package let test: Test

    fileprivate init(relation: RelationDescription, isInverse: Bool, target: EntityDeclaration, test: Test) {
        self.relation = relation
        self.isInverse = isInverse
        self.target = target
        self.test = test
    }

    /// Returns whether both are about the same relationship, model and rows.
    public static func == (left: RelatedFilter, right: RelatedFilter) -> Bool {
        left.relation == right.relation && left.isInverse == right.isInverse && left.target == right.target
            && left.test == right.test
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
        !allLeaves { if case .related = $0 { false } else { true } }
    }
}

/// A sort by a field of the related row, which an SQL engine evaluates in the statement of the query. A row without a related
/// row is where one is whose related row has no value in the field.
package struct RelatedSort: Sendable {
    /// The relationship. Its rows have a column with the key of the related row.
    package let relation: RelationDescription
    /// The declaration of the related model.
    package let target: EntityDeclaration
    /// The position of the field in the related model.
    package let field: Int
    /// Whether the order is ascending.
    package let isAscending: Bool
    /// Whether the rows without a value come first.
    package let nilsFirst: Bool
    /// Where the rows begin; nil for the first one.
    package internal(set) var start: Start?

    /// A position: after the rows whose related row has the value, or has none where it is nil, and which do not match the
    /// filter.
    package struct Start: Sendable {
        package let value: Value
        package let filter: Filter
    }
}

/// A storage whose queries can contain conditions on related rows.
package protocol RelatedEvaluating<Record>: Storage {
    /// Whether it finds by itself the conditions that few rows of lists, or few rows that refer to a row, meet. Otherwise these
    /// are resolved into keys before.
    var findsFewInLists: Bool { get }

    /// Whether its queries can be sorted by a term that is not about related rows.
    func sorts(by term: SortTerm) -> Bool

    /// Returns the rows of a query ordered by a field of their related row first, then in the order of the query.
    ///
    /// - Throws: ``RelatedConditionsUnavailable``.
    func read(_ query: Query<Record>, sortedBy sort: RelatedSort) throws -> [Record]
}

/// The error of a storage that cannot evaluate the conditions on related rows of a query. They are then resolved into keys.
package struct RelatedConditionsUnavailable: Error {
    package init() {}
}

extension Relation {
    /// The declaration of the related model.
    var targetDeclaration: EntityDeclaration { Child.schema.declaration }

    /// Returns the filter of the rows whose related rows pass a test.
    fileprivate func filter(_ test: RelatedFilter.Test, isNegated: Bool) -> Filter {
        .related(
            RelatedFilter(relation: description, isInverse: inverted != nil, target: targetDeclaration, test: test),
            isNegated: isNegated)
    }
}

extension PredicateNode {
    /// Returns the filter with its conditions on related rows.
    func filter<Record: Model>(of model: Record.Type) throws -> Filter {
        let schema = Record.schema
        return try filter(for: schema.description) { node, isNegated in
            if let (relation, condition, isHeldByNone) = try schema.existence(node) {
                let test =
                    condition == .constant(true) ? .isLinked : RelatedFilter.Test.any(try condition.filter(of: relation.target))
                return relation.filter(test, isNegated: isNegated != isHeldByNone)
            }
            switch node {
            case .relatedCount(let field, let condition, let comparison, let count):
                let relation = try schema.checkedRelation(at: field)
                guard condition == .constant(true) else {
                    let filter = try condition.filter(of: relation.target)
                    return relation.filter(.countMatching(filter, comparison, count), isNegated: isNegated)
                }
                // There are never fewer than none.
                if count < 0 || (count == 0 && (comparison == .less || comparison == .greaterOrEqual)) {
                    return comparison.holds(0, against: count) != isNegated ? Filter.all : Filter.none
                }
                return relation.filter(.count(comparison, count), isNegated: isNegated)
            case .compareRelated(let field, let comparison, let relation, let relatedField):
                let relation = try schema.compared(field, comparison, relation, relatedField)
                return relation.filter(
                    .compares(field: field, comparison, relatedField: relatedField), isNegated: isNegated)
            case .compare(let field, let comparison, let value) where schema.description.isRelationship(at: field):
                try schema.checkedRelation(at: field).check([value], comparison)
            case .isIn(let field, let values) where schema.description.isRelationship(at: field):
                try schema.checkedRelation(at: field).check(values, .equal)
            default: break
            }
            return nil
        }
    }
}
