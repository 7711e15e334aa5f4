import DAOCore
import DAOTestSupport

/// A unique index as the reference model sees it: the positions of its fields, and the condition of its rows.
struct UniqueIndex: Sendable {
    let fields: [Int]
    /// The condition of a partial index; nil for an index of all rows.
    let condition: PredicateNode?

    init(_ index: IndexDescription, of entity: EntityDescription) {
        fields = entity.positions(of: index)
        condition = index.condition?.node(of: entity.fields.map(\.name))
    }

    /// Whether two rows cannot both be stored.
    func collides(_ left: Row, _ right: Row) -> Bool {
        guard ReferenceOrder.collide(left, right, in: fields) else { return false }
        return condition.map { ReferencePredicate.holds($0, left) && ReferencePredicate.holds($0, right) } ?? true
    }
}

extension IndexCondition {
    /// The condition as the tree of a query.
    ///
    /// - Parameter names: The names of the fields, in order.
    func node(of names: [String]) -> PredicateNode {
        func position(_ name: String) -> Int { names.firstIndex { $0.hasSameBytes(as: name) } ?? names.count }
        return switch self {
        case .and(let conditions): .and(conditions.map { $0.node(of: names) })
        case .or(let conditions): .or(conditions.map { $0.node(of: names) })
        case .isNull(let field, let expected): .compare(field: position(field), expected ? .equal : .notEqual, .null)
        case .compare(let field, let comparison, let value): .compare(field: position(field), comparison, value)
        case .isIn(let field, let values, let isNegated):
            isNegated ? .not(.isIn(field: position(field), values)) : .isIn(field: position(field), values)
        }
    }
}

extension SeededGenerator {
    /// A condition that an index can have; nil where a part of it says nothing.
    mutating func generatedCondition(of entity: PropertyTesting.GeneratedEntity) -> IndexCondition? {
        var parts: [PredicateNode] = []
        for _ in 0..<weighted([(6, 1), (3, 2), (1, 3)]) {
            let field = below(entity.fields.count)
            let kind = entity.fields[field].type.kind
            guard kind.isOrdered else { continue }
            func value(_ random: inout SeededGenerator) -> Value { ReferenceState.stored(random.value(of: kind)) }
            let comparisons: [Comparison] = [.equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual]
            switch below(10) {
            case 0...1: parts.append(.compare(field: field, chance(50) ? .equal : .notEqual, .null))
            case 2...3: parts.append(.isIn(field: field, [value(&self), value(&self), value(&self)]))
            default: parts.append(.compare(field: field, pick(comparisons), value(&self)))
            }
            if chance(20) { parts.append(.not(parts.removeLast())) }
        }
        let description = EntityDescription(name: entity.name, fields: entity.fields.map(\.description))
        let node: PredicateNode = chance(70) ? .and(parts) : .or(parts)
        return (try? node.filter(for: description)).flatMap { IndexCondition($0, of: description) }
    }
}
