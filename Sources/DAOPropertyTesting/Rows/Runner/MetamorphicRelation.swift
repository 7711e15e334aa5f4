import DAOConformance
import DAOCore

/// Checks that queries agree with each other, independent of the rows.
struct MetamorphicRelation<Record: TestRecord> {
    private let storage: any Storage<Record>
    private let operation: RowStep

    init(_ dao: DAO<Record>, _ operation: RowStep) {
        storage = dao.storage
        self.operation = operation
    }

    /// Done, or a description of the difference.
    func check() throws -> Outcome {
        let sentence: String? =
            switch operation.verb {
            case .partition: try partition()
            case .inclusion: try inclusion()
            case .indexless: try indexless()
            case .windows: try windows()
            case .reversal: try reversal()
            default: try agreement()
            }
        return sentence.map(Outcome.wrong) ?? .done
    }

    private func keys(_ node: PredicateNode) throws -> [Key] { try storage.keys(Query(where: Condition(node))) }

    private func partition() throws -> String? {
        let (all, yes) = (try keys(.constant(true)), try keys(operation.query.node))
        let no = try keys(.not(operation.query.node))
        if Set(yes).intersection(no).isEmpty, Set(yes).union(no) == Set(all), yes.count + no.count == all.count { return nil }
        return "of \(all.count) rows \(yes.count) meet the condition and \(no.count) do not: \(list(yes)) and \(list(no))"
    }

    private func inclusion() throws -> String? {
        func count(_ node: PredicateNode) throws -> Int { try storage.count(Query(where: Condition(node))) }
        let (left, right) = (operation.query.node, operation.other)
        let (one, other) = (try count(left), try count(right))
        let (both, either) = (try count(.and([left, right])), try count(.or([left, right])))
        return one + other == both + either
            ? nil : "\(one) and \(other) rows meet the conditions, \(both) meet both, \(either) either: the sums differ"
    }

    private func indexless() throws -> String? {
        let expected = try keys(operation.query.node)
        for node in operation.indexlessForms {
            let got = try keys(node)
            if got != expected { return "with an index \(list(expected)), without one \(list(got))" }
        }
        return nil
    }

    private func windows() throws -> String? {
        let query = operation.query.query(Record.self)
        let whole = try storage.keys(query)
        let size = operation.number ?? 1
        var pieces: [Key] = []
        for offset in stride(from: 0, through: whole.count, by: size) {
            var window = query
            (window.limit, window.offset) = (size, offset)
            pieces += try storage.keys(window)
        }
        return pieces == whole ? nil : "the whole is \(list(whole)), windows of \(size) are \(list(pieces))"
    }

    private func reversal() throws -> String? {
        var query = operation.query
        let key = operation.entity.fields[operation.entity.key].name
        query.order = query.order.filter { $0.field != key } + [.init(field: key, isAscending: true)]
        let forth = try storage.keys(query.query(Record.self))
        query.order = query.order.map(\.reversed)
        let back = try storage.keys(query.query(Record.self))
        return back.reversed() == forth ? nil : "forth \(list(forth)), back \(list(back))"
    }

    private func agreement() throws -> String? {
        let query = operation.query.query(Record.self)
        let records = try storage.read(query)
        let rows = records.map { Record.schema.key(of: $0) }
        let (keys, count) = (try storage.keys(query), try storage.count(query))
        var walked: [Key] = []
        let cursor = try storage.cursor(query)
        while case let batch = try cursor.next(2), !batch.isEmpty { walked += batch.map { Record.schema.key(of: $0) } }
        guard keys == rows, count == rows.count, walked == rows else {
            return "read gives \(list(rows)), keys \(list(keys)), count \(count), a cursor \(list(walked))"
        }
        let fields = [operation.field, operation.entity.key]
        func values(_ record: Record) -> Row { fields.map { Record.schema.value(at: $0, of: record) } }
        var found: [Row] = []
        try storage.readFields(fields, query) { row in found.append(try fields.map { try row.readValue(at: $0) }) }
        if found != records.map(values) { return "whole rows have the fields \(records.map(values)), some fields are \(found)" }
        return try groups() ?? untyped() ?? plan(records.count)
    }

    /// Compares the rows in the order of the query with those that are read without their type (contract E8).
    private func untyped() throws -> String? {
        let (database, entity) = (storage.database, Record.schema.description)
        guard database.capabilities.hasSnapshotReads else { return nil }
        return try database.snapshot {
            // What created the entity can have been rolled back.
            guard try database.entities().contains(where: { $0.name == entity.name }) else { return nil }
            var query = operation.query.query(Record.self)
            query.predicate = .all
            // Generated conditions are not text.
            if operation.query.order.contains(where: { $0.condition != nil }) { return nil }
            let order = operation.query.order.map { term in
                let nils = term.nilsFirst ? NilPlacement.first : .last
                return term.isAscending
                    ? RowQuery.Order.ascending(term.field, term.options, nils: nils)
                    : .descending(term.field, term.options, nils: nils)
            }
            let rows = try database.rows(of: entity.name).read(
                RowQuery(orderedBy: order, limit: query.limit, offset: query.offset))
            let records = try storage.read(query)
            let expected = records.map { record in entity.fields.indices.map { Record.schema.value(at: $0, of: record) } }
            let found = rows.map { row in entity.fields.map { row[$0.name] ?? .null } }
            return Dump.text(of: found) == Dump.text(of: expected)
                ? nil : "the rows are \(Dump.text(of: expected)), and without their type \(Dump.text(of: found))"
        }
    }

    /// Compares the number of rows with what explain says (contract Q12).
    private func plan(_ count: Int) throws -> String? {
        let plan = try storage.explain(operation.query.query(Record.self))
        switch plan.access {
        case .nothing: return count == 0 ? nil : "explain leads to nothing, and there are \(count) rows"
        case .index(let fields):
            let entity = try storage.database.entities().first { $0.name == Record.schema.description.name }
            let indexes = entity?.indexedNames ?? []
            return indexes.contains(fields) ? nil : "explain names an index on \(fields), and there are those on \(indexes)"
        case .primaryKey, .scan: return nil
        }
    }

    /// Compares groups by the field and by it and the key with the rows, and what is counted in them.
    private func groups() throws -> String? {
        let (field, key, condition) = (operation.field, operation.entity.key, operation.query.query(Record.self).predicate)
        let records = try storage.read(Query(where: condition))
        let meeting = Set(records.map { Record.schema.key(of: $0) })
        func value(_ field: Int, _ record: Record) -> Value { Record.schema.value(at: field, of: record) }
        let queries: [GroupQuery<Record>] = [
            GroupQuery(by: [field], counting: [.rows], where: condition), GroupQuery(by: [field], where: condition),
            GroupQuery(by: [field, key], counting: [.rows], where: condition),
            GroupQuery(by: [field], counting: [.rows, .rowsMeeting(condition), .values(field: key)]),
            GroupQuery(by: [key], counting: [.values(field: field)]),
        ]
        for query in queries {
            let rows = query.condition == condition ? records : try storage.read(Query())
            let groups = Dictionary(grouping: rows) { record in query.fields.map { value($0, record) } }
            let expected = groups.sorted { left, right in
                zip(left.key, right.key).lazy.map { ReferenceOrder.compareWithNull($0, $1) }.first { $0 != 0 } ?? 0 < 0
            }.map { values, rows in
                let numbers = query.counts.map { count in
                    switch count {
                    case .rows: rows.count
                    case .rowsMeeting: rows.count { meeting.contains(Record.schema.key(of: $0)) }
                    case .values(let field): Set(rows.map { value(field, $0) }.filter { !$0.isNull }).count
                    }
                }
                return "\(Dump.text(of: values)): \(numbers)"
            }
            var found: [String] = []
            try storage.groups(query) { row, counts in
                found.append("\(Dump.text(of: try query.fields.map { try row.readValue(at: $0) })): \(counts)")
            }
            if found != expected {
                return
                    "the rows have the groups \(expected) by \(query.fields), counting \(query.counts), and groups gives \(found)"
            }
        }
        return nil
    }

    private func list(_ keys: [Key]) -> String { Outcome.keys(keys.map(\.value)).text }
}

extension RowStep {
    /// The condition in forms that no index serves.
    var indexlessForms: [PredicateNode] {
        var forms = [query.node.replacingFields { entity.table.unindexedTwins[$0] ?? $0 }]
        if let wrapped = query.node.wrapped(for: entity) { forms.append(wrapped) }
        return forms
    }
}

extension PredicateNode {
    /// The same tree about other fields.
    func replacingFields(_ map: (Int) -> Int) -> PredicateNode {
        switch self {
        case .constant, .invalid: self
        case .and(let nodes): .and(nodes.map { $0.replacingFields(map) })
        case .or(let nodes): .or(nodes.map { $0.replacingFields(map) })
        case .not(let node): .not(node.replacingFields(map))
        case .compare(let field, let comparison, let value): .compare(field: map(field), comparison, value)
        case .compareFields(let left, let comparison, let right): .compareFields(map(left), comparison, map(right))
        case .isIn(let field, let values): .isIn(field: map(field), values)
        case .text(let field, let match, let pattern, let options): .text(field: map(field), match, pattern, options)
        case .related(let field, let match, let node): .related(field: map(field), match, node)
        case .relatedCount(let field, let node, let comparison, let count):
            .relatedCount(field: map(field), where: node, comparison, count)
        case .compareRelated(let field, let comparison, let relation, let relatedField):
            .compareRelated(field: map(field), comparison, relation: map(relation), relatedField: relatedField)
        case .through(let field, let node): .through(field: map(field), node)
        case .embedded(let field, let part, let node): .embedded(field: map(field), part, node)
        }
    }

    /// The condition in a disjunction with one that no row meets, on a field without an index. It requires a
    /// scan.
    func wrapped(for entity: Entity) -> PredicateNode? {
        entity.table.plainText.map { .or([self, .text(field: $0, .equals, "no row has this text", .caseInsensitive)]) }
    }
}
