import DAOCore
import Foundation

extension ReferenceState {
    /// The rows of a query, in its order.
    func rows(_ query: QueryDescription, in entity: Entity) throws -> [Row] {
        let terms = try check(query, in: entity)
        let all = sorted(self[entity].filter { ReferencePredicate.holds(query.node, $0) }, terms, entity.key)
        let rest = all.dropFirst(query.offset)
        return Array(query.limit.map { rest.prefix($0) } ?? rest)
    }

    /// The rows of a page: those after another row in the query's order, which may be there or not.
    func page(_ query: QueryDescription, in entity: Entity, after last: Row?, size: Int) throws -> [Row] {
        let terms = try check(query, in: entity)
        let all = sorted(self[entity].filter { ReferencePredicate.holds(query.node, $0) }, terms, entity.key)
        let rest = all.filter { row in last.map { Self.isBefore($0, row, terms, entity.key) } ?? true }
        return Array(rest.dropFirst(query.offset).prefix(size))
    }

    /// A sort term: what it compares, and where rows without a value come.
    private struct Term {
        /// The position of the field; nil for a condition.
        let field: Int?
        let term: QueryDescription.Term

        func value(_ row: Row) -> Value {
            if let condition = term.condition { return .bool(ReferencePredicate.holds(condition, row)) }
            guard let field else { return .null }
            guard !term.options.isEmpty, case .string(let text) = row[field] else { return row[field] }
            return .string(ReferenceText.folded(text, term.options))
        }

        /// Less than zero when a row with the first value comes before one with the second.
        func order(_ left: Value, _ right: Value) -> Int {
            if left.isNull || right.isNull {
                return left.isNull == right.isNull ? 0 : left.isNull == term.nilsFirst ? -1 : 1
            }
            let order = ReferenceOrder.compare(left, right)
            return term.isAscending ? order : -order
        }
    }

    private func check(_ query: QueryDescription, in entity: Entity) throws -> [Term] {
        if query.offset < 0 || (query.limit ?? 0) < 0 { throw Outcome.Failure(kind: .invalidQuery, entity: entity.name) }
        let terms = try query.order.map { term in
            if let condition = term.condition {
                guard ReferencePredicate.isSound(condition, entity.fields) else {
                    throw Outcome.Failure(kind: .invalidPredicate, entity: entity.name)
                }
                return Term(field: nil, term: term)
            }
            guard let field = entity.fields.firstIndex(where: { $0.name == term.field }),
                entity.fields[field].type.kind != .embedded
            else { throw Outcome.Failure(kind: .invalidPredicate, entity: entity.name) }
            return Term(field: field, term: term)
        }
        guard ReferencePredicate.isSound(query.node, entity.fields) else {
            throw Outcome.Failure(kind: .invalidPredicate, entity: entity.name)
        }
        // Keys are unique, so later terms order nothing. A page must not return to a row that changed only in
        // the field of such a term.
        return terms.firstIndex { $0.field == entity.key && $0.term.options.isEmpty }.map { Array(terms[...$0]) } ?? terms
    }

    /// Insertion sort: nil where the term says, ties by ascending key (Q1, Q2, Q13).
    private func sorted(_ rows: [Row], _ terms: [Term], _ key: Int) -> [Row] {
        if terms.isEmpty { return rows }
        var result: [Row] = []
        for row in rows {
            let place = result.firstIndex { Self.isBefore(row, $0, terms, key) } ?? result.count
            result.insert(row, at: place)
        }
        return result
    }

    private static func isBefore(_ left: Row, _ right: Row, _ terms: [Term], _ key: Int) -> Bool {
        for term in terms {
            let order = term.order(term.value(left), term.value(right))
            if order != 0 { return order < 0 }
        }
        // The key ends the terms. Without it, the exact texts follow those that ignore differences (Q13).
        if terms.last?.field != key || terms.last?.term.options.isEmpty == false {
            for term in terms where !term.term.options.isEmpty {
                let order = term.field.map { term.order(left[$0], right[$0]) } ?? 0
                if order != 0 { return order < 0 }
            }
        }
        return ReferenceOrder.compare(left[key], right[key]) < 0
    }

    /// A total of the values of a field that are not nil (Q7).
    func total(_ total: Total, of field: Int, where node: PredicateNode, in entity: Entity) throws -> Value {
        let values = try rows(QueryDescription(node: node), in: entity).map { $0[field] }.filter { !$0.isNull }
        switch total {
        case .min: return values.min { ReferenceOrder.compare($0, $1) < 0 } ?? .null
        case .max: return values.max { ReferenceOrder.compare($0, $1) < 0 } ?? .null
        case .sum: return try sum(values, of: field, in: entity)
        case .average:
            if values.isEmpty { return .null }
            let sum: Double
            switch values[0] {
            case .double: sum = doubles(values)
            default: sum = Double(exact(values).description) ?? .nan
            }
            return Self.stored(.double(sum / Double(values.count)))
        }
    }

    private func sum(_ values: [Value], of field: Int, in entity: Entity) throws -> Value {
        switch entity.fields[field].type.kind {
        case .double: return Self.stored(.double(doubles(values)))
        case .float: return Self.stored(.double(Double(Float(doubles(values)))))
        case .decimal: return .decimal(exact(values))
        case let kind:
            let sum = exact(values)
            let upper = kind == .uint64 ? Decimal(UInt64.max) : Decimal(kind.integerRange?.upperBound ?? 0)
            guard sum >= Decimal(kind.integerRange?.lowerBound ?? 0), sum <= upper else {
                throw Outcome.Failure(kind: .arithmeticOverflow, entity: entity.name, field: entity.fields[field].name)
            }
            return Int64(sum.description).map(Value.integer) ?? .unsigned(UInt64(sum.description) ?? 0)
        }
    }

    private func doubles(_ values: [Value]) -> Double {
        values.reduce(0) { sum, value in if case .double(let number) = value { sum + number } else { sum } }
    }

    private func exact(_ values: [Value]) -> Decimal {
        values.reduce(0) { sum, value in
            switch value {
            case .integer(let number): sum + Decimal(number)
            case .unsigned(let number): sum + Decimal(number)
            case .decimal(let number): sum + number
            default: sum
            }
        }
    }
}
