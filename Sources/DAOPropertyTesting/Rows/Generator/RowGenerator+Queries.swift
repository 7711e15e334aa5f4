import DAOCore
import DAOTestSupport
import Foundation

extension RowGenerator {
    /// A query over an entity.
    ///
    /// - Parameter mayFail: Whether it may be one that is refused.
    mutating func query(_ entity: Entity, mayFail: Bool = true) -> QueryDescription {
        var query = QueryDescription()
        if mayFail, random.chance(3) {
            // One thing wrong: of two, which is reported is nowhere said.
            switch random.below(4) {
            case 0: query.limit = -1
            case 1: query.offset = -1
            case 2: query.order = [.init(field: random.pick(["nothing", ""]), isAscending: true)]
            default:
                let field = entity.fields.first { $0.type.kind == .embedded }
                query.order = field.map { [.init(field: $0.name, isAscending: random.chance(50))] } ?? []
            }
            return query
        }
        query.node = condition(entity, mayFail: mayFail)
        query.order = entity.table.predicates.order(using: &random).map { term($0.field, isAscending: $0.isAscending, entity) }
        if random.chance(30) { query.limit = random.pick([0, 1, 2, 3, 5, 100, .max]) }
        if random.chance(20) { query.offset = random.pick([1, 2, 3, 100, .max]) }
        return query
    }

    /// A sort term: mostly a field, with or without a place for nil and differences that are ignored; sometimes a condition.
    private mutating func term(_ field: String, isAscending: Bool, _ entity: Entity) -> QueryDescription.Term {
        var term = QueryDescription.Term(field: field, isAscending: isAscending)
        if random.chance(15) {
            term.field = ""
            term.condition = entity.table.predicates.predicate(using: &random)
            return term
        }
        if random.chance(30) { term.nils = random.pick(NilPlacement.allCases) }
        let isText = entity.fields.contains { $0.name == field && $0.type.kind.isText }
        if isText, random.chance(40) { term.options = random.pick(HardValues.options) }
        return term
    }

    /// A condition over an entity's fields: sound, but for a few where it may not be.
    mutating func condition(_ entity: Entity, mayFail: Bool = true) -> PredicateNode {
        var node = entity.table.predicates.predicate(using: &random)
        // A partial index serves only queries that imply its condition.
        if !entity.table.conditions.isEmpty, random.chance(40) {
            let condition = random.pick(entity.table.conditions)
            node = random.chance(30) ? condition : .and([condition, node])
        }
        return mayFail && random.chance(2) ? .and([node, unsound(entity)]) : node
    }

    /// A condition that is refused.
    private mutating func unsound(_ entity: Entity) -> PredicateNode {
        let field = random.below(entity.fields.count)
        let kind = entity.fields[field].type.kind
        switch random.below(3) {
        case 0: return .compare(field: entity.fields.count + random.below(3), .equal, .integer(1))
        case 1: return kind.isText ? .compare(field: field, .equal, .integer(1)) : .text(field: field, .contains, "a", [])
        default:
            if kind == .embedded { return .compare(field: field, .less, .string("[]")) }
            return .compare(field: field, .equal, kind == .data ? .bool(true) : .data(Data([1])))
        }
    }
}
