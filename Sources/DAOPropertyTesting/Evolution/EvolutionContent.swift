import DAOCore

/// Everything that a database has, as lines of text.
enum EvolutionContent {
    /// Entities with their rows, and the version.
    ///
    /// - Parameter described: What the database tells of its entities.
    static func lines(_ described: [EntityDescription], _ stored: [EvolutionReference.Stored], version: Int) -> [String] {
        ["version \(version)"] + described.map(text)
            + stored.map { "\($0.description.name): " + $0.rows.map(Exact.text).joined(separator: " ") }
    }

    private static func text(_ entity: EntityDescription) -> String {
        let fields = entity.fields.map { field in
            "\(field.name) \(field.type)" + (field.isPrimaryKey ? " key" : "")
                + (field.isUnique ? " unique" : (field.isIndexed ? " indexed" : ""))
        }
        return "\(entity.name) of \(fields.joined(separator: ", "))"
    }

    /// Some of the values of a field, to look up.
    static func sample(_ values: [Value]) -> [Value] { values.isEmpty ? [] : [values[0], values[values.count / 2]] }
}

extension EvolutionReference {
    /// Everything that the database is to have.
    var content: [String] {
        let stored = entities.values.sorted { $0.description.name < $1.description.name }
        return EvolutionContent.lines(stored.map(\.description), stored, version: version ?? 0) + typed
    }

    /// What the storage of the last model is to give.
    private var typed: [String] {
        guard let model, let stored = entities[model.name] else { return [] }
        let rows = stored.rows.map { stored.part($0, of: model) }
        let key = model.keyIndex
        let each = rows.map { row in
            // Of several fields that cannot be read the first is named.
            guard let field = zip(model.fields, row).first(where: { !$0.reads($1) })?.0 else { return Exact.text(row) }
            return "corruptedValue of \(model.name), key \(Self.id(row[key])), field \(field.name)"
        }
        let unreadable = each.first { $0.hasPrefix("corruptedValue") }
        var lines = ["read: " + (unreadable ?? each.joined(separator: " ")), "one by one: " + each.joined(separator: " ")]
        if unreadable != nil { return lines }
        for (index, field) in model.fields.enumerated() where field.isIndexed || field.isUnique {
            for value in EvolutionContent.sample(rows.map { $0[index] }) {
                let found = rows.filter { ReferencePredicate.holds(.compare(field: index, .equal, value), $0) }.map {
                    Exact.text($0[key])
                }
                lines.append("\(field.name) \(Exact.text(value)): " + found.joined(separator: " "))
            }
            let order = rows.enumerated().sorted { left, right in
                let (first, second) = (left.element[index], right.element[index])
                let order =
                    first.isNull || second.isNull
                    ? (first.isNull ? 0 : 1) - (second.isNull ? 0 : 1) : ReferenceOrder.compare(first, second)
                return order == 0 ? left.offset < right.offset : order < 0
            }
            lines.append("by \(field.name): " + order.map { Exact.text($0.element[key]) }.joined(separator: " "))
        }
        return lines
    }
}
