// Queries with a limit whose order begins with something that has two values: whether a row meets a condition, or has a value where
// nil is not in the place that indexes have it. The rows of each are read in the order of the other terms, which an index can have,
// the second ones only when there are too few of the first.

extension GraphStorage {
    /// Returns the rows of a query in parts; nil when it is better read at once.
    func rowsInParts(_ query: Query<Record>) throws -> [Record]? {
        guard let parts = try parts(of: query), let limit = query.limit, let wanted = query.wanted(limit) else { return nil }
        return try database.reads {
            var rows: [Record] = []
            for var part in parts where rows.count < wanted {
                part.limit = wanted - rows.count
                rows += try read(part)
            }
            return Array(rows.dropFirst(query.offset))
        }
    }

    /// Returns the parts of a query, one after the other in its order; nil when it is better read at once.
    func parts(of query: Query<Record>) throws -> [Query<Record>]? {
        guard let limit = query.limit, limit > 0, let first = query.uncheckedOrder.first,
            first.condition != nil || first.nilsFirst != first.isAscending, let wanted = query.wanted(limit)
        else { return nil }
        let schema = Record.schema
        let terms = try schema.terms(of: query.uncheckedOrder)
        guard let term = terms.first, term.relation == nil else { return nil }
        // The first term is that of a sort, and others can have the same subject.
        let rest = try query.order.filter { try schema.term(of: $0.term).map { !$0.hasSameSubject(as: term) } ?? false }
        let others = Array(terms.dropFirst())
        var halves: [(node: PredicateNode, order: [Sort<Record>])]
        let startsLater: Bool
        let start = try query.after?.values(of: terms, in: schema)
        switch term.subject {
        case .condition:
            guard let condition = first.condition, try schema.term(of: first) == term,
                try hasOrder(others) || sortsBeyondRows(query)
            else { return nil }
            halves = [(.not(condition.node), rest), (condition.node, rest)]
            if !term.isAscending { halves.reverse() }
            startsLater = start.map { ($0[0] == .bool(true)) == term.isAscending } ?? false
        case .field(let field):
            guard term.field == nil, hasOrder([SortTerm(.field(field), isAscending: term.isAscending)]) else { return nil }
            let name = schema.description.fields[field].name
            halves = [
                (.compare(field: field, .equal, .null), rest),
                (.compare(field: field, .notEqual, .null), [.by(name, ascending: term.isAscending)] + rest),
            ]
            if !term.nilsFirst { halves.reverse() }
            startsLater = start.map { $0[0].isNull != term.nilsFirst } ?? false
        case .folded: return nil
        }
        if startsLater { halves.removeFirst() }
        return try halves.enumerated().map { number, half in
            var part = query.restricted(to: half.node)
            (part.order, part.after, part.limit, part.offset) = (half.order, nil, wanted, 0)
            if number == 0, let start {
                // Without the first term, one that ignores case can have that of the exact text behind it again.
                let order = try schema.terms(of: part.uncheckedOrder)
                let values = order.compactMap { own in terms.firstIndex(where: own.hasSameSubject).map { start[$0] } }
                part.after = try PageCursor(after: values, in: order, of: schema)
            }
            return part
        }
    }

    /// Whether an index, or the table, may have the rows in an order.
    private func hasOrder(_ terms: [SortTerm]) -> Bool {
        let entity = Record.schema.description
        for term in terms {
            if term.relation != nil { return false }
            switch term.subject {
            // It is the beginning of parts again.
            case .condition: continue
            case .folded: return false
            case .field(let field):
                let name = entity.fields[field].name
                return field == entity.keyIndex
                    || entity.allIndexes.contains { $0.fields.contains { $0.name.hasSameBytes(as: name) } }
            }
        }
        return false
    }
}
