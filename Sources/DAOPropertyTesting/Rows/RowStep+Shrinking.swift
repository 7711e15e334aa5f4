import DAOCore
import Foundation

extension RowStep: ScriptStep {
    /// Whether the step, or a nested step, waits for an event.
    var waits: Bool {
        switch verb {
        case .watch, .leave, .outside, .snapshot, .outlive: true
        default: nested.contains(where: \.waits)
        }
    }

    /// How large the step is. Every smaller form weighs less, so shrinking ends.
    var weight: Int {
        let values = rows.map { SwiftLiteral.row($0, entity) } + changes.map { SwiftLiteral.source($0.value) }
        let parts = values + ids + [SwiftLiteral.query(query, entity), SwiftLiteral.source(other)]
        let own = 1000 + (number.map { 10 + min(9, abs($0)) } ?? 0) + (flag ? 5 : 0)
        return parts.reduce(own) { $0 + 20 + SwiftLiteral.weight(of: $1) } + nested.reduce(0) { $0 + $1.weight }
    }

    /// Replacements of the step with less content, from the largest reduction to the smallest.
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
            // The outcome of smaller steps could depend on the order of the threads.
            for form in self[keyPath: list].smaller({ verb == .race ? [] : $0.smallerForms }) {
                add { $0[keyPath: list] = form }
            }
        }
        if verb == .findOrCreate || verb == .readKey || verb == .existsKey || verb == .increment {
            // These need their one key.
        } else {
            for form in ids.smaller() { add { $0.ids = form } }
        }
        for form in rows.smaller({ smallerRows($0).map { [$0] } }) where !form.isEmpty { add { $0.rows = form } }
        for node in query.node.smallerForms { add { $0.query.node = node } }
        for node in other.smallerForms { add { $0.other = node } }
        for form in query.order.smaller() { add { $0.query.order = form } }
        if query.limit != nil { add { $0.query.limit = nil } }
        if query.offset != 0 { add { $0.query.offset = 0 } }
        let smallerChanges = changes.smaller { change in
            change.value.smallerForms.map { [FieldChange(field: change.field, value: $0)] }
        }
        for form in smallerChanges where verb != .set || form.count == 1 { add { $0.changes = form } }
        if let number {
            if verb == .merge || verb == .update || verb == .forEach || verb == .translate { add { $0.number = nil } }
            if number > 1 { add { $0.number = 1 } }
        }
        if flag { add { $0.flag = false } }
        return forms
    }

    /// The row with all, half or one of its values reset to their defaults, then with smaller values.
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

    /// The single queries of a metamorphic relation.
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
                keys { $0.order = order.map(\.reversed) },
            ]
        case .agreement:
            return [.read, .keys, .count, .forEach].map { RowStep(verb: $0, entity: entity, query: query) }
                + [RowStep(verb: .cursor, entity: entity, query: query, number: 2)]
        default: return []
        }
    }
}

extension PredicateNode {
    /// The tree without a part.
    fileprivate var smallerForms: [PredicateNode] {
        func parts(_ nodes: [PredicateNode], _ make: ([PredicateNode]) -> PredicateNode) -> [PredicateNode] {
            [PredicateNode.constant(true)] + nodes + nodes.smaller { $0.smallerForms.map { [$0] } }.map(make)
        }
        switch self {
        case .constant(true): return []
        case .constant, .compareFields, .relatedCount, .compareRelated, .invalid: return [.constant(true)]
        case .related(let field, let match, let node):
            return [.constant(true)] + node.smallerForms.map { .related(field: field, match, $0) }
        case .through(let field, let node): return [.constant(true)] + node.smallerForms.map { .through(field: field, $0) }
        case .embedded(let field, let part, let node):
            return [.constant(true)] + node.smallerForms.map { .embedded(field: field, part, $0) }
        case .and(let nodes): return parts(nodes) { .and($0) }
        case .or(let nodes): return parts(nodes) { .or($0) }
        case .not(let node): return [.constant(true), node] + node.smallerForms.map { .not($0) }
        case .compare(let field, let comparison, let value):
            return [.constant(true)] + value.smallerForms.map { .compare(field: field, comparison, $0) }
        case .isIn(let field, let values):
            let halves = [Array(values.prefix(values.count / 2)), Array(values.suffix(values.count / 2))]
            return [.constant(true)]
                + (halves + (values.count > 100 ? [] : values.smaller().prefix(8))).map { .isIn(field: field, $0) }
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
