import DAOCore

/// The content of a database, as lines of text.
enum EvolutionContent {
    /// Entities with their rows, and the version.
    ///
    /// - Parameter described: The entities as the database describes them.
    static func lines(_ described: [EntityDescription], _ stored: [EvolutionReference.Stored], version: Int) -> [String] {
        ["version \(version)"] + described.map(text)
            + stored.map { "\($0.description.name): " + $0.rows.map(Exact.text).joined(separator: " ") }
    }

    private static func text(_ entity: EntityDescription) -> String {
        let fields = entity.fields.map { field in
            "\(field.name) \(field.type)" + (field.isPrimaryKey ? " key" : "")
                + (field.isUnique ? " unique" : (field.isIndexed ? " indexed" : ""))
        }
        let indexes = entity.indexes.map { "; index on \($0)" + ($0.isUnique ? " unique" : "") }
        return "\(entity.name) of \(fields.joined(separator: ", "))\(indexes.joined())"
    }

    /// Some values of a field, or rows, for look-ups.
    static func sample<Item>(_ values: [Item]) -> [Item] { values.isEmpty ? [] : [values[0], values[values.count / 2]] }
}

extension EvolutionReference {
    var lines: [String] {
        let stored = entities.values.sorted { $0.description.name < $1.description.name }
        return EvolutionContent.lines(stored.map(\.description), stored, version: version ?? 0) + (model.map(typed) ?? [])
    }

    /// The expected results of the storage of a model.
    func typed(_ model: PropertyTesting.GeneratedEntity) -> [String] {
        guard let stored = entities[model.name] else { return [] }
        let rows = stored.rows.map { stored.part($0, of: model) }
        let key = model.keyIndex
        let each = rows.map(model.text)
        let unreadable = each.first { $0.hasPrefix("corruptedValue") }
        let given = each.filter { !$0.hasPrefix("corruptedValue") } + each.filter { $0.hasPrefix("corruptedValue") }
        var lines = [
            "read: " + (unreadable ?? each.joined(separator: " ")), "one by one: " + each.joined(separator: " "),
            "given and reported: " + given.joined(separator: " "),
        ]
        if unreadable != nil { return lines }
        for (index, field) in model.fields.enumerated() where field.isIndexed || field.isUnique {
            for value in EvolutionContent.sample(rows.map { $0[index] }) {
                let found = rows.filter { ReferencePredicate.holds(.compare(field: index, .equal, value), $0) }.map {
                    Exact.text($0[key])
                }
                lines.append("\(field.name) \(Exact.text(value)): " + found.joined(separator: " "))
            }
            let order = rows.enumerated().sorted { left, right in
                let order = ReferenceOrder.compareWithNull(left.element[index], right.element[index])
                return order == 0 ? left.offset < right.offset : order < 0
            }
            lines.append("by \(field.name): " + order.map { Exact.text($0.element[key]) }.joined(separator: " "))
        }
        for index in model.indexes {
            if index.elements != nil {
                for row in EvolutionContent.sample(rows) {
                    for condition in model.conditions(on: index, of: row) {
                        let found = rows.filter { ReferencePredicate.holds(condition, $0) }.map { Exact.text($0[key]) }
                        lines.append("with an element of \(Exact.text(row[key])) in \(index): " + found.joined(separator: " "))
                    }
                }
                continue
            }
            if let condition = index.condition?.node(of: model.fields.map(\.name)) {
                let found = rows.filter { ReferencePredicate.holds(condition, $0) }.map { Exact.text($0[key]) }
                lines.append("in \(index): " + found.joined(separator: " "))
            }
            let order = rows.enumerated().sorted { left, right in
                for (position, isAscending) in model.terms(of: index) {
                    let order = ReferenceOrder.compareWithNull(left.element[position], right.element[position])
                    if order != 0 { return (order < 0) == isAscending }
                }
                return left.offset < right.offset
            }
            lines.append("by \(index): " + order.map { Exact.text($0.element[key]) }.joined(separator: " "))
            for row in EvolutionContent.sample(rows) {
                let count = rows.count { other in
                    model.terms(of: index).allSatisfy {
                        ReferencePredicate.holds(.compare(field: $0.field, .equal, row[$0.field]), other)
                    }
                }
                lines.append("as \(Exact.text(row[key])) in \(index): \(count)")
            }
        }
        return lines
    }
}

extension PropertyTesting.GeneratedEntity {
    /// The conditions that an array has the elements that it has in a row, for an index on them.
    func conditions(on index: IndexDescription, of row: [Value]) -> [PredicateNode] {
        guard let elements = index.elements, let field = terms(of: index).first?.field, case .string(let json) = row[field] else {
            return []
        }
        return (EmbeddedPart.elements(of: json, elements.kind) ?? []).prefix(3).map { value in
            .embedded(field: field, .anyElement(elements), .compare(field: 0, .equal, value))
        }
    }

    /// The positions of the fields of an index, with their directions.
    func terms(of index: IndexDescription) -> [(field: Int, isAscending: Bool)] {
        index.fields.compactMap { term in
            fields.firstIndex { $0.name.hasSameBytes(as: term.name) }.map { ($0, term.isAscending) }
        }
    }
}
