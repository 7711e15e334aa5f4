import DAOCore
import Foundation

extension Generator {
    /// A query over an entity.
    ///
    /// - Parameter mayFail: Whether it may be one that is refused.
    mutating func query(_ entity: Entity, mayFail: Bool = true) -> QuerySpec {
        var query = QuerySpec()
        if mayFail, chance(3) {
            // One thing wrong: of two, which is reported is nowhere said.
            switch int(4) {
            case 0: query.limit = -1
            case 1: query.offset = -1
            case 2: query.order = [.init(field: one(["nothing", ""]), isAscending: true)]
            default:
                let field = entity.fields.first { $0.type.kind == .embedded }
                query.order = field.map { [.init(field: $0.name, isAscending: chance(50))] } ?? []
            }
            return query
        }
        query.node = condition(entity, mayFail: mayFail)
        for _ in 0..<weighted([(4, 0), (4, 1), (2, 2), (2, 3)]) {
            query.order.append(.init(field: entity.fields[one(entity.table.ordered)].name, isAscending: chance(50)))
        }
        if chance(30) { query.limit = one([0, 1, 2, 3, 5, 100, .max]) }
        if chance(20) { query.offset = one([1, 2, 3, 100, .max]) }
        return query
    }

    /// A condition over an entity's fields: sound, but for a few where it may not be.
    mutating func condition(_ entity: Entity, mayFail: Bool = true) -> PredicateNode {
        if chance(20) { return .constant(chance(90)) }
        let node = node(entity, depth: weighted([(4, 0), (4, 1), (3, 2), (2, 3), (1, 4)]))
        return mayFail && chance(2) ? .and([node, unsound(entity)]) : node
    }

    private mutating func node(_ entity: Entity, depth: Int) -> PredicateNode {
        if depth > 0 {
            switch int(10) {
            case 0, 1, 2: return .and((0..<int(4)).map { _ in node(entity, depth: depth - 1) })
            case 3, 4, 5: return .or((0..<int(4)).map { _ in node(entity, depth: depth - 1) })
            case 6, 7: return .not(node(entity, depth: depth - 1))
            default: break
            }
        }
        let field = int(entity.fields.count)
        let kind = entity.fields[field].type.kind
        switch int(10) {
        case 0, 1: return .isIn(field: field, list(for: field, in: entity))
        case 2, 3, 4:
            let texts = entity.fields.indices.filter { entity.fields[$0].type.kind.isText }
            return texts.isEmpty || (!kind.isText && chance(70)) ? comparison(entity, field) : text(one(texts))
        case 5:
            let others = entity.fields.indices.filter { isComparable(kind, entity.fields[$0].type.kind) }
            return .compareFields(field, comparison(kind), one(Array(others)))
        case 6 where kind.isOrdered:
            let bounds = [literal(for: field, in: entity), literal(for: field, in: entity)]
            return .and([.compare(field: field, .greaterOrEqual, bounds[0]), .compare(field: field, .lessOrEqual, bounds[1])])
        default: return comparison(entity, field)
        }
    }

    private mutating func comparison(_ entity: Entity, _ field: Int) -> PredicateNode {
        .compare(field: field, comparison(entity.fields[field].type.kind), literal(for: field, in: entity))
    }

    private mutating func comparison(_ kind: ValueKind) -> Comparison {
        kind.isOrdered ? one(Comparison.allCases) : one([.equal, .notEqual])
    }

    private mutating func text(_ field: Int) -> PredicateNode {
        let match = one(TextMatch.allCases)
        let options = one(Pools.options)
        if match == .matches { return .text(field: field, match, one(Pools.patterns), options) }
        return .text(
            field: field, match, one(chance(60) ? Pools.strings : ["", "a", "e", "s", "ss", "i", "\u{301}", "\0", "p", "https"]),
            options)
    }

    private mutating func list(for field: Int, in entity: Entity) -> [Value] {
        let count = weighted([(1, 0), (3, 1), (4, 3), (3, 6), (1, 200)])
        if count < 200 { return (0..<count).map { _ in literal(for: field, in: entity) } }
        // A long list: every value of a few, many times over.
        let few = (0..<4).map { _ in literal(for: field, in: entity) }
        return (0..<count).map { few[$0 % few.count] }
    }

    /// Decimal and floating-point fields are not compared with each other: see ``ReferenceOrder``.
    private func isComparable(_ left: ValueKind, _ right: ValueKind) -> Bool {
        if left == right { return true }
        if left.isText { return right.isText }
        guard left.isNumeric, right.isNumeric else { return false }
        let floating: Set<ValueKind> = [.float, .double]
        return !(left == .decimal && floating.contains(right)) && !(right == .decimal && floating.contains(left))
    }

    /// A condition that is refused.
    private mutating func unsound(_ entity: Entity) -> PredicateNode {
        let field = int(entity.fields.count)
        let kind = entity.fields[field].type.kind
        switch int(3) {
        case 0: return .compare(field: entity.fields.count + int(3), .equal, .integer(1))
        case 1: return kind.isText ? .compare(field: field, .equal, .integer(1)) : .text(field: field, .contains, "a", [])
        default:
            if kind == .embedded { return .compare(field: field, .less, .string("[]")) }
            return .compare(field: field, .equal, kind == .data ? .bool(true) : .data(Data([1])))
        }
    }
}
