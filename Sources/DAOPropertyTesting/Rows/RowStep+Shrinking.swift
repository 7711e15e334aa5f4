import DAOCore
import Foundation

extension RowStep: ScriptStep {
    /// Whether it, or a step inside it, waits for what should come by itself.
    var waits: Bool {
        switch verb {
        case .watch, .leave, .outside, .snapshot, .outlive: true
        default: nested.contains(where: \.waits)
        }
    }

    /// How large the step is. Every smaller form weighs less, so shrinking ends.
    var weight: Int {
        var weight = 1000 + nested.reduce(0) { $0 + $1.weight }
        for row in rows {
            weight += 100 + zip(row, entity.table.blank).reduce(0) { $0 + (Exact.same($1.0, $1.1) ? 0 : $1.0.weight) }
        }
        weight += ids.reduce(0) { $0 + 20 + $1.utf8.count }
        weight += query.node.weight + other.weight + 30 * query.order.count
        weight += (query.limit == nil ? 0 : 20) + (query.offset == 0 ? 0 : 20)
        weight += changes.reduce(0) { $0 + 20 + $1.value.weight }
        weight += (number == nil ? 0 : 10 + min(9, abs(number ?? 0))) + (flag ? 5 : 0)
        return weight
    }

    /// What stands in the step's place when it is made smaller: steps with less in them, from the boldest cut
    /// to the finest.
    var smallerForms: [[RowStep]] {
        var forms: [[RowStep]] = []
        func add(_ change: (inout RowStep) -> Void) {
            var form = self
            change(&form)
            form.keepTwins()
            forms.append([form])
        }
        if !nested.isEmpty { forms.append(nested) }
        for list in [\RowStep.before, \.inner, \.after] {
            for index in self[keyPath: list].indices {
                add { $0[keyPath: list].remove(at: index) }
                // Smaller steps of a race might depend on which is first.
                if verb == .race { continue }
                for form in self[keyPath: list][index].smallerForms {
                    add { $0[keyPath: list].replaceSubrange(index...index, with: form) }
                }
            }
        }
        if verb == .findOrCreate || verb == .readKey || verb == .existsKey || verb == .increment {
            // These need their one key.
        } else {
            for index in ids.indices { add { $0.ids.remove(at: index) } }
        }
        if rows.count > 1 { for index in rows.indices { add { $0.rows.remove(at: index) } } }
        for row in rows.indices { for form in smallerRows(rows[row]) { add { $0.rows[row] = form } } }
        for node in query.node.smallerForms { add { $0.query.node = node } }
        for node in other.smallerForms { add { $0.other = node } }
        for index in query.order.indices { add { $0.query.order.remove(at: index) } }
        if query.limit != nil { add { $0.query.limit = nil } }
        if query.offset != 0 { add { $0.query.offset = 0 } }
        for index in changes.indices {
            add { $0.changes.remove(at: index) }
            for value in changes[index].value.smallerForms { add { $0.changes[index].value = value } }
        }
        if let number {
            if verb == .merge || verb == .update || verb == .forEach || verb == .translate { add { $0.number = nil } }
            if number > 1 { add { $0.number = 1 } }
        }
        if flag { add { $0.flag = false } }
        return forms
    }

    /// The row with all, half, or one of its values taken back to their defaults, then with smaller values.
    private func smallerRows(_ row: Row) -> [Row] {
        let blank = entity.table.blank
        let set = row.indices.filter { $0 != entity.key && !Exact.same(row[$0], blank[$0]) }
        var forms: [Row] = []
        func add(without fields: some Sequence<Int>) {
            var form = row
            for field in fields { form[field] = blank[field] }
            forms.append(form)
        }
        if set.count > 1 {
            add(without: set)
            add(without: set.prefix(set.count / 2))
            add(without: set.suffix(set.count / 2))
        }
        for field in set { add(without: [field]) }
        for field in [entity.key] + set {
            for value in row[field].smallerForms
            where entity.table.choices[field] == nil && entity.fields[field].type.kind != .url {
                var form = row
                form[field] = value
                forms.append(form)
            }
        }
        return forms
    }

    /// Makes twins equal again.
    private mutating func keepTwins() {
        for (field, twin) in entity.table.unindexedTwins {
            for index in rows.indices { rows[index][twin] = rows[index][field] }
            changes.removeAll { $0.field == twin }
            if let change = changes.first(where: { $0.field == field }) {
                changes.append(FieldChange(field: twin, value: change.value))
            }
        }
    }

    /// The single queries that a check of several against each other is made of.
    var components: [RowStep] {
        func keys(_ change: (inout QueryDescription) -> Void) -> RowStep {
            var query = query
            change(&query)
            return RowStep(verb: .keys, entity: entity, query: query)
        }
        switch verb {
        case .partition: return [keys { _ in }, keys { $0.node = .not($0.node) }]
        case .inclusion:
            return [query.node, other, .and([query.node, other]), .or([query.node, other])].map { node in
                RowStep(verb: .count, entity: entity, query: QueryDescription(node: node))
            }
        case .indexless: return [keys { _ in }] + indexlessForms.map { form in keys { $0.node = form } }
        case .windows:
            let size = number ?? 1
            return [keys { _ in }]
                + (0..<20).map { index in
                    keys { ($0.limit, $0.offset) = (size, index * size) }
                }
        case .reversal:
            let key = entity.fields[entity.key].name
            let order = query.order.filter { $0.field != key } + [.init(field: key, isAscending: true)]
            return [
                keys { $0.order = order },
                keys { $0.order = order.map { .init(field: $0.field, isAscending: !$0.isAscending) } },
            ]
        case .agreement:
            return [.read, .keys, .count, .forEach].map { RowStep(verb: $0, entity: entity, query: query) }
                + [RowStep(verb: .cursor, entity: entity, query: query, number: 2)]
        default: return []
        }
    }
}

extension PredicateNode {
    /// How large the tree is.
    fileprivate var weight: Int {
        switch self {
        case .constant(true): 0
        case .constant: 5
        case .and(let nodes), .or(let nodes): nodes.reduce(30) { $0 + $1.weight }
        case .not(let node): 25 + node.weight
        case .compare(_, let comparison, let value): 20 + (comparison == .equal ? 0 : 1) + value.weight
        case .compareFields: 30
        case .isIn(_, let values): values.reduce(22) { $0 + 3 + $1.weight }
        case .text(_, _, let text, let options): 24 + text.utf8.count + options.rawValue
        case .related(_, _, let node), .through(_, let node): 40 + node.weight
        case .relatedCount: 30
        case .invalid: 50
        }
    }

    /// The tree with a part cut away.
    fileprivate var smallerForms: [PredicateNode] {
        func parts(_ nodes: [PredicateNode], _ make: ([PredicateNode]) -> PredicateNode) -> [PredicateNode] {
            var forms = nodes
            for index in nodes.indices {
                var rest = nodes
                rest.remove(at: index)
                forms.append(make(rest))
                for form in nodes[index].smallerForms {
                    var changed = nodes
                    changed[index] = form
                    forms.append(make(changed))
                }
            }
            return forms
        }
        switch self {
        case .constant(true): return []
        case .constant, .compareFields, .relatedCount, .invalid: return [.constant(true)]
        case .related(let field, let match, let node):
            return [.constant(true)] + node.smallerForms.map { .related(field: field, match, $0) }
        case .through(let field, let node): return [.constant(true)] + node.smallerForms.map { .through(field: field, $0) }
        case .and(let nodes): return [.constant(true)] + parts(nodes) { .and($0) }
        case .or(let nodes): return [.constant(true)] + parts(nodes) { .or($0) }
        case .not(let node): return [.constant(true), node] + node.smallerForms.map { .not($0) }
        case .compare(let field, let comparison, let value):
            return [.constant(true)] + value.smallerForms.map { .compare(field: field, comparison, $0) }
        case .isIn(let field, let values):
            var forms: [PredicateNode] = [.constant(true)]
            forms.append(.isIn(field: field, Array(values.prefix(values.count / 2))))
            forms.append(.isIn(field: field, Array(values.suffix(values.count / 2))))
            for index in values.indices.prefix(8) {
                var rest = values
                rest.remove(at: index)
                forms.append(.isIn(field: field, rest))
            }
            return forms
        case .text(let field, let match, let text, let options):
            var forms: [PredicateNode] = [.constant(true)]
            if !text.isEmpty {
                forms.append(.text(field: field, match, String(text.unicodeScalars.dropFirst()), options))
                forms.append(.text(field: field, match, String(text.unicodeScalars.dropLast()), options))
            }
            if !options.isEmpty { forms.append(.text(field: field, match, text, [])) }
            return forms
        }
    }
}

extension Value {
    /// How large the value is.
    fileprivate var weight: Int {
        switch self {
        case .null: 1
        case .bool(let value): value ? 3 : 2
        case .integer(let number): 2 + min(18, String(number).count + (number == 1 ? 1 : 0))
        case .unsigned: 20
        case .double(let number): number == 0 && number.sign == .plus ? 3 : (number == 1 ? 4 : 6)
        case .decimal(let number): 2 + number.description.count
        case .string(let text): 2 + text.utf8.count
        case .data(let data): 2 + data.count
        case .uuid: 10
        case .date: 6
        }
    }

    /// Smaller values of the type.
    fileprivate var smallerForms: [Value] {
        switch self {
        case .integer(let number): return number == 0 ? [] : [.integer(0), .integer(1)]
        case .unsigned: return [.integer(0), .integer(1)]
        case .double(let number): return number == 0 && number.sign == .plus ? [] : [.double(0), .double(1)]
        case .decimal(let number): return number == 0 ? [] : [.decimal(0), .decimal(1)]
        case .string(let text):
            if text.isEmpty { return [] }
            let scalars = Array(text.unicodeScalars)
            func string(_ scalars: some Sequence<Unicode.Scalar>) -> Value {
                .string(String(scalars.reduce(into: String.UnicodeScalarView()) { $0.append($1) }))
            }
            return [
                .string(""), .string("a"), string(scalars.prefix(scalars.count / 2)), string(scalars.suffix(scalars.count / 2)),
            ]
                + (scalars.count > 1 ? [string(scalars.dropLast()), string(scalars.dropFirst())] : [])
        case .data(let data): return data.isEmpty ? [] : [.data(Data()), .data(Data(data.prefix(data.count / 2)))]
        default: return []
        }
    }
}
