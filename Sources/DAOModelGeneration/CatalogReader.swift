import DAOCore
import Foundation

/// Declares a model for each entity of a database, from its catalog.
struct CatalogReader {
    /// How the origin of a file begins that is made from an entity.
    static let origin = "the entity "

    private(set) var models: [ModelDeclaration] = []
    private(set) var findings: [Finding] = []

    /// Declares models.
    ///
    /// - Parameters:
    ///   - entities: The entities of the database.
    ///   - folder: The folder of the files, for findings.
    init(_ entities: [EntityDescription], folder: String) {
        for entity in entities { models.append(model(of: entity, folder: folder)) }
        models.sort { $0.name < $1.name }
    }

    private mutating func model(of entity: EntityDescription, folder: String) -> ModelDeclaration {
        let name = Self.typeName(entity.name)
        let place = Place(path: "\(folder)/\(name).swift", line: 1)
        var model = ModelDeclaration(
            plain: nil, origin: "\(Self.origin)'\(entity.name)'", place: place, name: name, entity: entity.name, access: "",
            fields: [])
        let properties = Self.properties(of: entity)
        for field in entity.fields {
            let property = properties[field.name] ?? field.name
            guard let type = Self.type(of: field) else {
                let index = entity.indexes.first { $0.isOnElements(of: field.name) }
                let element = index?.elements.flatMap(Self.name(of:)) ?? "String"
                let example = field.type.isOptional ? "[\(element)]?" : "[\(element)]"
                model.missing.append(
                    "var \(property): \(example)    // JSON; its type is yours. Field(\"\(field.name)\", \\.\(property))"
                        + (index == nil ? "" : ", and indexes: [Index(elements: \\.\(property))]"))
                findings.append(
                    Finding(
                        place: place,
                        message:
                            "'\(field.name)' of '\(entity.name)' is JSON, and the catalog does not know its Swift type; declare it by "
                            + "hand, as in 'var \(property): \(example)', and delete the first two lines of the file"))
                continue
            }
            model.fields.append(
                ModelDeclaration.Field(
                    property: property, label: property, stored: field.name, type: type, options: Self.options(of: field),
                    access: "", place: place))
            if Self.foundationTypes.contains(field.type.kind) { model.imports.insert("Foundation") }
        }
        let left = Set(model.fields.map(\.stored))
        for index in entity.indexes where index.fields.allSatisfy({ left.contains($0.name) }) {
            let terms = index.fields.map {
                ".\($0.isAscending ? "ascending" : "descending")(\\.\(properties[$0.name] ?? $0.name))"
            }
            var text = terms.joined(separator: ", ") + (index.isUnique ? ", isUnique: true" : "")
            if let condition = index.condition {
                guard condition.fields.isSubset(of: left), let source = Self.source(of: condition, in: entity, properties) else {
                    findings.append(
                        Finding(
                            place: place,
                            message:
                                "the condition of the index on '\(index)' of '\(entity.name)' has a value without a Swift literal; "
                                + "declare the index by hand"))
                    continue
                }
                text += ", where: { \(source) }"
            }
            model.indexes.append("Index(orderedBy: \(text))")
        }
        return model
    }

    private static let foundationTypes: Set<ValueKind> = [.decimal, .data, .uuid, .url, .date]

    /// The name of the type of an entity, as in `BlogPost` for `blog_post`.
    static func typeName(_ entity: String) -> String {
        let words = entity.split { $0 == "_" || !Self.isNamePart($0) }
        let joined = words.map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
        let name = joined.first?.isNumber == true ? "_" + joined : joined
        return taken.contains(name) || name.isEmpty ? name + "Row" : name
    }

    /// The property of each field: its name where Swift can have it, otherwise its words, as in `orderDate` for `Order Date`.
    private static func properties(of entity: EntityDescription) -> [String: String] {
        var properties: [String: String] = [:]
        var taken = Set(entity.fields.map(\.name))
        for field in entity.fields where !field.name.allSatisfy(isNamePart) || field.name.first?.isNumber == true {
            let words = field.name.split { !isNamePart($0) }
            var name = words.map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
            name = name.prefix(1).lowercased() + name.dropFirst()
            if name.isEmpty { name = "field" }
            if name.first?.isNumber == true { name = "_" + name }
            let number = taken.contains(name) ? (2...).first { !taken.contains("\(name)\($0)") } : nil
            properties[field.name] = name + (number.map(String.init) ?? "")
            taken.insert(name + (number.map(String.init) ?? ""))
        }
        return properties
    }

    private static func isNamePart(_ character: Character) -> Bool {
        character == "_" || character.isLetter || character.isWholeNumber && character.isASCII
    }

    /// Names that a model would hide.
    private static let taken: Set = [
        "Any", "Array", "Bool", "Character", "Condition", "DAO", "Data", "Database", "Date", "Decimal", "Dictionary", "Double",
        "Duration",
        "Error", "Field", "Float", "Index", "Int", "Key", "Model", "Optional", "Plain", "Protocol", "Query", "Reference",
        "Result",
        "Revision", "Schema", "Self", "Set", "Sort", "Storage", "String", "Task", "Translator", "Type", "URL", "UUID", "UniqueID",
        "Value",
    ]

    /// The Swift type of a field; nil when the catalog does not know it.
    private static func type(of field: FieldDescription) -> String? {
        switch field.type.kind {
        // Rows that lead back to themselves need it, and a read can then leave the list out.
        case .toMany: return field.relation.map { "[\(typeName($0.entity))]?" }
        case .toOne:
            guard let relation = field.relation else { return nil }
            let target = typeName(relation.entity)
            if relation.cascades { return target + "?" }
            return "Reference<\(target)>" + (field.type.isOptional ? "?" : "")
        default: return name(of: field.type)
        }
    }

    /// The Swift type of a value; nil for an embedded value, whose type the catalog does not know.
    private static func name(of type: FieldType) -> String? {
        let name: String
        switch type.kind {
        case .bool: name = "Bool"
        case .int8: name = "Int8"
        case .int16: name = "Int16"
        case .int32: name = "Int32"
        case .int64: name = "Int"
        case .uint8: name = "UInt8"
        case .uint16: name = "UInt16"
        case .uint32: name = "UInt32"
        case .uint64: name = "UInt"
        case .float: name = "Float"
        case .double: name = "Double"
        case .decimal: name = "Decimal"
        case .string: name = "String"
        case .data: name = "Data"
        case .uuid: name = "UUID"
        case .url: name = "URL"
        case .date: name = "Date"
        case .embedded, .toOne, .toMany: return nil
        }
        return name + (type.isOptional ? "?" : "")
    }

    private static func options(of field: FieldDescription) -> [String] {
        var options: [String] = []
        if field.isPrimaryKey { options.append("primaryKey") }
        if let relation = field.relation {
            if relation.cascades {
                options.append("cascade")
            } else if field.type.kind == .toMany {
                // The catalog does not say whether rows are written with their parent. A linked row is never overwritten.
                options.append("linked")
            } else if relation.targetErasure != .unlink {
                options.append(relation.targetErasure == .restrict ? "restricted" : "cascade")
            }
            return options
        }
        if field.isUnique { options.append("unique") } else if field.isIndexed, !field.isPrimaryKey { options.append("indexed") }
        if let literal = field.defaultValue.flatMap({ literal($0, of: field) }) { options.append("default(\(literal))") }
        return options
    }

    /// A value in Swift; nil when there is no literal for it.
    private static func literal(_ value: Value, of field: FieldDescription) -> String? {
        switch value {
        case .bool(let value): "\(value)"
        case .integer(let value): "\(value)"
        case .unsigned(let value): "\(value)"
        case .double(let value) where value.isFinite && field.type.kind != .date: "\(value)"
        case .string(let value) where field.type.kind == .string: value.debugDescription
        default: nil
        }
    }

    /// The condition of a partial index in Swift; nil when it has a value without a literal.
    private static func source(
        of condition: IndexCondition, in entity: EntityDescription, _ properties: [String: String]
    ) -> String? {
        func joined(_ conditions: [IndexCondition], _ word: String) -> String? {
            let texts = conditions.compactMap { source(of: $0, in: entity, properties) }
            return texts.count == conditions.count ? "(\(texts.joined(separator: " \(word) ")))" : nil
        }
        func literal(_ value: Value, _ field: String) -> String? {
            entity.index(of: field).flatMap { self.literal(value, of: entity.fields[$0]) }
        }
        func property(_ field: String) -> String { properties[field] ?? field }
        switch condition {
        case .and(let conditions): return joined(conditions, "&&")
        case .or(let conditions): return joined(conditions, "||")
        case .isNull(let field, let expected): return "$0.\(property(field)) \(expected ? "==" : "!=") nil"
        case .compare(let field, let comparison, let value):
            return literal(value, field).map { "$0.\(property(field)) \(comparison.sign) \($0)" }
        case .isIn(let field, let values, let isNegated):
            let literals = values.compactMap { literal($0, field) }
            guard literals.count == values.count else { return nil }
            return "\(isNegated ? "!" : "")$0.\(property(field)).in([\(literals.joined(separator: ", "))])"
        }
    }
}
