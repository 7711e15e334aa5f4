import DAOCore

/// Models in Swift, as an application declares them.
enum ModelSource {
    static func declaration(of entity: Entity) -> String {
        let declaration = entity.declaration
        let fields = declaration.fields
        let properties = fields.indices.map { index in
            "    var \(entity.property(index)): \(fields[index].type.rawValue)\(fields[index].isOptional ? "?" : "")"
                + (fields[index].isKey || fields[index].isOptional ? "" : " = \(blank(index, entity))")
        }
        let declared = fields.indices.map { index in
            "Field(\(SwiftLiteral.string(fields[index].name)), \\.\(entity.property(index))"
                + options(of: index, entity, fields[index]) + ")"
        }
        let labels = fields.indices.map { entity.property($0) + ":" }.joined()
        let kept = declaration.kept.sorted().map { SwiftLiteral.string(fields[$0].name) }.joined(separator: ", ")
        return """
            private struct \(entity.typeName): PropertyTestModel {
            \(properties.joined(separator: "\n"))

                static let schema = Schema(
                    \(SwiftLiteral.string(declaration.name)), Self.init(\(labels)),
                    \(wrapped(declared))\(indexes(of: entity)))
                static let keptFields: Set<String> = [\(kept)]
            }

            """
    }

    /// The indexes over several fields; nothing when there are none.
    private static func indexes(of entity: Entity) -> String {
        let (fields, indexes) = (entity.declaration.fields, entity.declaration.indexes)
        if indexes.isEmpty { return "" }
        let declared = indexes.map { index in
            if index.elements != nil {
                let position = fields.firstIndex { $0.name.hasSameBytes(as: index.fieldNames) } ?? 0
                return "Index(elements: \\.\(entity.property(position)))"
            }
            let terms = index.fields.map { term in
                let position = fields.firstIndex { $0.name.hasSameBytes(as: term.name) } ?? 0
                return ".\(term.isAscending ? "ascending" : "descending")(\\.\(entity.property(position)))"
            }
            let node = index.condition.map { SwiftLiteral.source($0.node(of: fields.map(\.name))) }
            let condition = node.map { ", where: { _ in Condition(\($0)) }" } ?? ""
            return "Index(\(terms.joined(separator: ", "))\(index.isUnique ? ", isUnique: true" : "")\(condition))"
        }
        return ",\n        indexes: [\(declared.joined(separator: ", "))]"
    }

    /// The value that scripts leave out.
    private static func blank(_ index: Int, _ entity: Entity) -> String {
        SwiftLiteral.value(entity.table.blank[index], at: index, of: entity)
    }

    /// As many fields on a line as fit.
    private static func wrapped(_ fields: [String]) -> String {
        fields.reduce(into: [String]()) { lines, field in
            if let line = lines.last, line.count + field.count <= 100 {
                lines[lines.count - 1] += ", " + field
            } else {
                lines.append(field)
            }
        }
        .joined(separator: ",\n        ")
    }

    private static func options(of index: Int, _ entity: Entity, _ field: PropertyTesting.GeneratedField) -> String {
        var options = field.isKey ? [".primaryKey"] : []
        if field.isIndexed { options.append(".indexed") }
        if field.isUnique { options.append(".unique") }
        if let value = field.defaultValue { options.append(".default(\(SwiftLiteral.value(value, at: index, of: entity)))") }
        options += field.earlierNames.map { ".renamed(from: \(SwiftLiteral.string($0)))" }
        return options.map { ", " + $0 }.joined()
    }
}
