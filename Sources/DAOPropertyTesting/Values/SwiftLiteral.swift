import DAOCore
import Foundation

/// Plain data with a separate form in scripts.
protocol SwiftSource {
    /// The data as an expression.
    var source: String { get }
}

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

    /// Plain data as an expression: a case of an enumeration with the labels of its values, a literal of
    /// anything else.
    static func source(_ value: Any) -> String {
        if case .invalid? = value as? PredicateNode { return ".constant(false)" }
        switch value {
        case let value as any SwiftSource: return value.source
        case let text as String: return string(text)
        case let number as Double: return number.isFinite ? "\(number)" : float(number, "Double")
        case let number as Decimal: return number.isNaN ? "Decimal.nan" : "Decimal(string: \"\(number)\")!"
        case let data as Data: return bytes(data)
        case let uuid as UUID: return "UUID(uuidString: \"\(uuid.uuidString)\")!"
        case let date as Date: return "Date(timeIntervalSinceReferenceDate: \(source(date.timeIntervalSinceReferenceDate)))"
        case let options as TextOptions: return self.options(options)
        default: break
        }
        let mirror = Mirror(reflecting: value)
        let parts = mirror.children.lazy.map { child in
            // Values without a label are numbered.
            (child.label.map { $0.hasPrefix(".") ? "" : "\($0): " } ?? "") + source(child.value)
        }
        switch mirror.displayStyle {
        case .optional: return mirror.children.first.map { source($0.value) } ?? "nil"
        case .collection: return "[" + parts.joined(separator: ", ") + "]"
        case .tuple: return parts.joined(separator: ", ")
        case .enum:
            guard let content = mirror.children.first, let name = content.label else { return ".\(value)" }
            return ".\(name)(\(source(content.value)))"
        default: return "\(value)"
        }
    }

    /// The size of an expression for the shrinker: its length and the first digits of its numbers. False and
    /// nil weigh nothing.
    static func weight(of source: String) -> Int {
        var (weight, isInNumber) = (0, false)
        for byte in source.replacing("false", with: "").replacing("nil", with: "").utf8 {
            let isDigit = (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
            weight += 10 + (isDigit && !isInNumber ? Int(byte - UInt8(ascii: "0")) : 0)
            isInNumber = isDigit
        }
        return weight
    }

    private static func plain(_ value: Value) -> String {
        Mirror(reflecting: value).children.first.map { source($0.value) } ?? "nil"
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

    /// A string literal. Everything except printable ASCII is escaped; a long run of one letter is shortened.
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

    /// Whether a name can be the name of a property.
    static func isIdentifier(_ name: String) -> Bool {
        guard let first = name.utf8.first, !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains(first) else { return false }
        let letters = name.utf8.allSatisfy { byte in
            byte == UInt8(ascii: "_") || Unicode.Scalar(byte).properties.isAlphabetic && byte < 128
                || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
        }
        return letters && name.contains { $0 != "_" } && !words.contains(name)
    }

    /// Keywords of Swift, and the members that every model has.
    private static let words: Set<String> = [
        "in", "is", "where", "case", "default", "true", "false", "nil", "self", "Self", "Type", "init", "values", "schema",
        "uniqueId",
        "keptFields",
    ]

    // MARK: Queries

    private static func options(_ options: TextOptions) -> String {
        var names: [String] = []
        if options.contains(.caseInsensitive) { names.append(".caseInsensitive") }
        if options.contains(.diacriticInsensitive) { names.append(".diacriticInsensitive") }
        return "[" + names.joined(separator: ", ") + "]"
    }

    static func condition(_ node: PredicateNode) -> String {
        if case .constant(true) = node { return ".all" }
        return "Condition(\(source(node)))"
    }

    private static func term(_ term: QueryDescription.Term) -> String {
        if let condition = term.condition { return "\(term.isAscending ? ".last" : ".first")(Condition(\(source(condition))))" }
        let options = term.options.isEmpty ? "" : ", \(self.options(term.options))"
        return ".by(\(string(term.field)), ascending: \(term.isAscending)\(options)\(term.nils.map { ", nils: .\($0)" } ?? ""))"
    }

    static func query(_ query: QueryDescription, _ entity: Entity) -> String {
        var arguments: [String] = []
        if query.node != .constant(true) { arguments.append("where: \(condition(query.node))") }
        if !query.order.isEmpty {
            arguments.append("orderedBy: [\(query.order.map(term).joined(separator: ", "))]")
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
