import DAOCore
import Foundation

/// Values as Swift source.
enum SwiftLiteral {
    /// A row as a call of its initializer, defaults left out.
    static func row(_ row: Row, _ entity: Entity) -> String {
        let arguments = entity.fields.indices.filter { $0 == entity.key || !Exact.same(row[$0], entity.table.blank[$0]) }
            .map { "\(entity.property($0)): \(value(row[$0], at: $0, of: entity))" }
        return "\(entity.typeName)(\(arguments.joined(separator: ", ")))"
    }

    static func rows(_ rows: [Row], _ entity: Entity) -> String {
        "[" + rows.map { row($0, entity) }.joined(separator: ", ") + "]"
    }

    /// A value in the type of its field.
    static func value(_ value: Value, at index: Int, of entity: Entity) -> String {
        if let choice = entity.table.choices[index]?.first(where: { Exact.same($0.value, value) }) { return choice.source }
        let type = entity.table.types[index]
        if type == .ticket, !value.isNull { return "\(type.rawValue)(rawValue: \(plain(value)))" }
        switch (value, entity.fields[index].type.kind) {
        case (.null, _): return "nil"
        case (.string(let text), .url): return "URL(string: \(string(text)))!"
        case (.double(let number), .float): return number.isFinite ? "\(Float(number))" : float(number, "Float")
        default: return plain(value)
        }
    }

    /// A value as a case of `Value`.
    static func tagged(_ value: Value) -> String {
        switch value {
        case .null: ".null"
        case .bool: ".bool(\(plain(value)))"
        case .integer: ".integer(\(plain(value)))"
        case .unsigned: ".unsigned(\(plain(value)))"
        case .double: ".double(\(plain(value)))"
        case .decimal: ".decimal(\(plain(value)))"
        case .string: ".string(\(plain(value)))"
        case .data: ".data(\(plain(value)))"
        case .uuid: ".uuid(\(plain(value)))"
        case .date: ".date(\(plain(value)))"
        }
    }

    private static func plain(_ value: Value) -> String {
        switch value {
        case .null: "nil"
        case .bool(let value): "\(value)"
        case .integer(let number): "\(number)"
        case .unsigned(let number): "\(number)"
        case .double(let number): number.isFinite ? "\(number)" : float(number, "Double")
        case .decimal(let number): number.isNaN ? "Decimal.nan" : "Decimal(string: \"\(number)\")!"
        case .string(let text): string(text)
        case .data(let data): bytes(data)
        case .uuid(let uuid): "UUID(uuidString: \"\(uuid.uuidString)\")!"
        case .date(let date): "Date(timeIntervalSinceReferenceDate: \(plain(.double(date.timeIntervalSinceReferenceDate))))"
        }
    }

    private static func float(_ number: Double, _ type: String) -> String {
        if number.isInfinite { return (number < 0 ? "-" : "") + "\(type).infinity" }
        if type == "Float" || number.bitPattern == Double.nan.bitPattern { return "\(type).nan" }
        return "Double(bitPattern: 0x\(String(number.bitPattern, radix: 16)))"
    }

    private static func bytes(_ data: Data) -> String {
        guard data.count > 64, let first = data.first else {
            return "Data([" + data.map(String.init).joined(separator: ", ") + "])"
        }
        let run = data.prefix { $0 == first }.count
        let rest = data.dropFirst(run)
        return "Data(repeating: \(first), count: \(run))"
            + (rest.isEmpty ? "" : " + Data([" + rest.map(String.init).joined(separator: ", ") + "])")
    }

    /// A string with everything beyond printable ASCII escaped, and a long run of one letter as such.
    static func string(_ text: String) -> String {
        let scalars = Array(text.unicodeScalars)
        if scalars.count > 64, let first = scalars.first {
            let run = scalars.prefix { $0 == first }.count
            if run > 64 {
                let rest = String(scalars.dropFirst(run).reduce(into: String.UnicodeScalarView()) { $0.append($1) })
                return "String(repeating: \(quoted([first])), count: \(run))" + (rest.isEmpty ? "" : " + \(string(rest))")
            }
        }
        return quoted(scalars)
    }

    private static func quoted(_ scalars: [Unicode.Scalar]) -> String {
        "\""
            + scalars.map { scalar -> String in
                if scalar == "\"" || scalar == "\\" { return "\\\(scalar)" }
                if scalar.isASCII, scalar.value >= 32, scalar.value < 127 { return String(scalar) }
                return "\\u{\(String(scalar.value, radix: 16))}"
            }.joined() + "\""
    }

    /// Whether a name can be that of a property without more ado.
    static func isIdentifier(_ name: String) -> Bool {
        guard let first = name.utf8.first, !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains(first) else { return false }
        let letters = name.utf8.allSatisfy { byte in
            byte == UInt8(ascii: "_") || Unicode.Scalar(byte).properties.isAlphabetic && byte < 128
                || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
        }
        return letters && name.contains { $0 != "_" } && !words.contains(name)
    }

    /// Words of Swift, and what models have already.
    private static let words: Set<String> = [
        "in", "is", "where", "case", "default", "true", "false", "nil", "self", "Self", "Type", "init", "values", "schema",
        "uniqueId",
        "keptFields",
    ]

    // MARK: Queries

    static func node(_ node: PredicateNode) -> String {
        func list(_ nodes: [PredicateNode]) -> String { "([" + nodes.map { self.node($0) }.joined(separator: ", ") + "])" }
        return switch node {
        case .constant(let value): ".constant(\(value))"
        case .and(let nodes): ".and" + list(nodes)
        case .or(let nodes): ".or" + list(nodes)
        case .not(let node): ".not(\(self.node(node)))"
        case .compare(let field, let comparison, let value): ".compare(field: \(field), .\(comparison), \(tagged(value)))"
        case .compareFields(let left, let comparison, let right): ".compareFields(\(left), .\(comparison), \(right))"
        case .isIn(let field, let values): ".isIn(field: \(field), [\(values.map(tagged).joined(separator: ", "))])"
        case .text(let field, let match, let text, let options):
            ".text(field: \(field), .\(match), \(string(text)), \(self.options(options)))"
        case .related(let field, let match, let node): ".related(field: \(field), .\(match), \(self.node(node)))"
        case .relatedCount(let field, let comparison, let count): ".relatedCount(field: \(field), .\(comparison), \(count))"
        case .through(let field, let node): ".through(field: \(field), \(self.node(node)))"
        case .invalid: ".constant(false)"
        }
    }

    private static func options(_ options: TextOptions) -> String {
        var names: [String] = []
        if options.contains(.caseInsensitive) { names.append(".caseInsensitive") }
        if options.contains(.diacriticInsensitive) { names.append(".diacriticInsensitive") }
        return "[" + names.joined(separator: ", ") + "]"
    }

    static func condition(_ node: PredicateNode) -> String {
        if case .constant(true) = node { return ".all" }
        return "Condition(\(self.node(node)))"
    }

    static func query(_ query: QueryDescription, _ entity: Entity) -> String {
        var arguments: [String] = []
        if query.node != .constant(true) { arguments.append("where: \(condition(query.node))") }
        if !query.order.isEmpty {
            let terms = query.order.map { ".by(\(string($0.field)), ascending: \($0.isAscending))" }
            arguments.append("orderedBy: [\(terms.joined(separator: ", "))]")
        }
        if let limit = query.limit { arguments.append("limit: \(limit == .max ? ".max" : "\(limit)")") }
        if query.offset != 0 { arguments.append("offset: \(query.offset == .max ? ".max" : "\(query.offset)")") }
        return "Query<\(entity.typeName)>(\(arguments.joined(separator: ", ")))"
    }
}

extension Entity {
    /// The model's name in scripts.
    var typeName: String {
        switch self {
        case .wide: "Wide"
        case .note: "Note"
        case .pass: "Pass"
        case .tally: "Tally"
        case .generated(let model): "GeneratedRecord\(model.number)"
        }
    }

    /// The name of a field's property in scripts.
    func property(_ index: Int) -> String {
        let name = fields[index].name
        guard case .generated = self else { return name }
        return SwiftLiteral.isIdentifier(name) ? name : "field\(index)"
    }
}
