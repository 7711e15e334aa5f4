import DAOCore
import Foundation

/// Writes predicates as text, in every spelling that the grammar has, and damages such texts.
package struct PredicateWriter: Sendable {
    private let fields: [FieldDescription]
    private let prefix: String
    private let bindsArguments: Bool
    /// Whether a value may be the left operand.
    private let writesValuesFirst: Bool

    /// Writes predicates over an entity.
    ///
    /// - Parameters:
    ///   - entity: The entity of the predicates.
    ///   - prefix: The text before the name of each field, such as `owner.`.
    ///   - bindsArguments: Whether values may be arguments instead of literals.
    package init(_ entity: EntityDescription, prefix: String = "", bindsArguments: Bool = true) {
        self.init(entity.fields, prefix, bindsArguments: bindsArguments, writesValuesFirst: true)
    }

    private init(_ fields: [FieldDescription], _ prefix: String, bindsArguments: Bool, writesValuesFirst: Bool) {
        self.fields = fields
        self.prefix = prefix
        self.bindsArguments = bindsArguments
        self.writesValuesFirst = writesValuesFirst
    }

    /// A text predicate and its arguments.
    package struct Text: Sendable {
        package var format: String
        package var arguments: [(any PredicateArgument)?]

        package init(_ format: String, _ arguments: [(any PredicateArgument)?] = []) {
            (self.format, self.arguments) = (format, arguments)
        }

        fileprivate static func + (left: Text, right: Text) -> Text {
            Text(left.format + right.format, left.arguments + right.arguments)
        }

        fileprivate static func joined(_ texts: [Text], by separator: () -> String) -> Text {
            var result = texts.first ?? Text("")
            for text in texts.dropFirst() { result = result + Text(separator()) + text }
            return result
        }
    }

    /// Writes a predicate. Relationships are not written.
    package func text(of node: PredicateNode, using random: inout SeededGenerator) -> Text {
        switch node {
        case .constant(let isTrue): return constant(isTrue, &random)
        case .and(let nodes) where nodes.isEmpty: return constant(true, &random)
        case .or(let nodes) where nodes.isEmpty: return constant(false, &random)
        case .and(let nodes):
            if case (let field, let low, let high)? = bounds(of: nodes), random.chance(60) {
                let list = Text("{") + value(low, field, &random) + Text(",") + value(high, field, &random) + Text("}")
                return name(field, &random) + Text(keyword(" BETWEEN ", &random)) + list
            }
            return chain(nodes, [" AND ", "&&", " && "], &random)
        case .or(let nodes): return chain(nodes, [" OR ", "||", " || "], &random)
        case .not(.embedded(let field, .anyElement(let type), let inner)) where random.chance(50):
            let words = part(.anyElement(type), fields[field].name, of: field)
            return Text(keyword("NONE ", &random)) + words.text(of: inner, using: &random)
        case .not(let inner):
            return Text(random.chance(50) ? "! " : keyword("NOT ", &random)) + parenthesized(inner, &random)
        case .compare(let field, let comparison, let operand):
            let (name, value) = (name(field, &random), value(operand, field, &random))
            if writesValuesFirst, random.chance(20) { return value + Text(sign(mirrored(comparison), &random)) + name }
            return name + Text(sign(comparison, &random)) + value
        case .compareFields(let left, let comparison, let right):
            return name(left, &random) + Text(sign(comparison, &random)) + name(right, &random)
        case .isIn(let field, let values):
            let list = Text.joined(values.map { value($0, field, &random) }) { random.chance(50) ? "," : " , " }
            return name(field, &random) + Text(keyword(" IN ", &random) + "{") + list + Text("}")
        case .text(let field, let match, let pattern, let options):
            let sign = keyword(operators[match, default: "=="], &random) + letters(options, &random)
            return name(field, &random) + Text(" \(sign) ") + value(.string(pattern), field, &random)
        case .embedded(let field, .member(let member), let inner):
            return part(.member(member), "\(fields[field].name).\(member.name)", of: field).text(of: inner, using: &random)
        case .embedded(let field, .count, let inner):
            return part(.count, fields[field].name + ".@count", of: field).text(of: inner, using: &random)
        case .embedded(let field, let part, .compare(0, .equal, let element)) where random.chance(50):
            let value = self.part(part, fields[field].name, of: field).value(element, 0, &random)
            if random.chance(50) { return value + Text(keyword(" IN ", &random)) + name(field, &random) }
            return name(field, &random) + Text(keyword(" CONTAINS ", &random)) + value
        case .embedded(let field, let part, let inner):
            return Text(keyword(random.pick(["ANY ", "SOME "]), &random))
                + self.part(part, fields[field].name, of: field).text(of: inner, using: &random)
        case .related, .relatedCount, .compareRelated, .through, .invalid: return constant(true, &random)
        }
    }

    /// Changes a few places of a text. Some of the texts remain valid.
    package static func damaged(_ text: Text, using random: inout SeededGenerator) -> Text {
        var scalars = Array(text.format.unicodeScalars)
        var arguments = text.arguments
        for _ in 0..<random.weighted([(5, 1), (3, 2), (1, 6)]) {
            let start = random.below(scalars.count + 1)
            let range = start..<min(scalars.count, start + random.weighted([(5, 1), (3, 5), (1, 50)]))
            switch random.below(9) {
            case 0: scalars.removeSubrange(range)
            case 1: scalars.insert(contentsOf: scalars[range], at: random.below(scalars.count + 1))
            case 2: scalars.removeSubrange(start...)
            case 3: scalars.insert(contentsOf: Array(random.pick(HardValues.strings).unicodeScalars), at: start)
            case 4:
                let count = random.pick([1, 10, 400, 5000])
                let opening = random.pick(["(", "!", "NOT ", "{", "[", "'", "%@", "ANY ", "id=="])
                scalars.insert(contentsOf: Array(String(repeating: opening, count: count).unicodeScalars), at: start)
                if opening == "(", random.chance(50) { scalars += Array(String(repeating: ")", count: count).unicodeScalars) }
            case 5: if !arguments.isEmpty { arguments.remove(at: random.below(arguments.count)) }
            case 6: arguments.append(random.pick([1, "id", nil, [1, 2], Double.nan] as [(any PredicateArgument)?]))
            default: scalars.insert(contentsOf: Array(random.pick(tokens).unicodeScalars), at: start)
            }
        }
        var view = String.UnicodeScalarView()
        view.append(contentsOf: scalars)
        return Text(String(view), arguments)
    }

    // MARK: Parts

    private static let tokens = [
        "(", ")", "{", "}", "[", "]", ",", "'", "\"", "\\", "\\u12", "%", "%@", "%K", "%d", "%lld", "#", "$", ".", "..", "@",
        "@count", ".@count", "-", "0x", "0xG", "1e", "1e999", "-0", "99999999999999999999999", "=", "==", "=>", "<>", "!", "!=",
        "&", "&&", "|", "||", "\0", "\u{301}", "\u{10FFFF}", "[c]", "[cd]", "[x]", " AND ", " OR ", " NOT ", " IN ", " BETWEEN ",
        " LIKE ", " MATCHES ", " CONTAINS ", " nil ", " TRUE ", "TRUEPREDICATE", "ANY ", "ALL ", "NONE ", "SUBQUERY(", "SELF",
        "id",
        "posts", "owner", "text", "nothing",
    ]

    private let operators: [TextMatch: String] = [
        .contains: "CONTAINS", .hasPrefix: "BEGINSWITH", .hasSuffix: "ENDSWITH", .matches: "LIKE", .equals: "==",
    ]

    /// Writes conditions on a part of an embedded value.
    private func part(_ part: EmbeddedPart, _ name: String, of field: Int) -> PredicateWriter {
        PredicateWriter(
            [FieldDescription(name: name, type: part.type(in: fields[field]))], prefix, bindsArguments: bindsArguments,
            writesValuesFirst: false)
    }

    private func constant(_ isTrue: Bool, _ random: inout SeededGenerator) -> Text {
        Text(keyword(isTrue ? "TRUEPREDICATE" : "FALSEPREDICATE", &random))
    }

    private func chain(_ nodes: [PredicateNode], _ separators: [String], _ random: inout SeededGenerator) -> Text {
        let parts = nodes.map { parenthesized($0, &random) }
        return Text.joined(parts) { random.pick(separators) }
    }

    private func parenthesized(_ node: PredicateNode, _ random: inout SeededGenerator) -> Text {
        let text = text(of: node, using: &random)
        switch node {
        case .and, .or: return Text("(") + text + Text(")")
        default: return random.chance(30) ? Text("( ") + text + Text(" )") : text
        }
    }

    private func bounds(of nodes: [PredicateNode]) -> (Int, Value, Value)? {
        guard nodes.count == 2, case .compare(let field, .greaterOrEqual, let low) = nodes[0],
            case .compare(field, .lessOrEqual, let high) = nodes[1]
        else { return nil }
        return (field, low, high)
    }

    private func name(_ field: Int, _ random: inout SeededGenerator) -> Text {
        let name = fields[field].name
        if bindsArguments, prefix.isEmpty, random.chance(15) { return Text("%K", [name]) }
        return Text(prefix.isEmpty && random.chance(15) ? "#" + name : prefix + name)
    }

    private func sign(_ comparison: Comparison, _ random: inout SeededGenerator) -> String {
        let signs: [String] =
            switch comparison {
            case .equal: ["==", "="]
            case .notEqual: ["!=", "<>"]
            case .less: ["<"]
            case .lessOrEqual: ["<=", "=<"]
            case .greater: [">"]
            case .greaterOrEqual: [">=", "=>"]
            }
        let space = random.pick(["", " ", "  ", "\n"])
        return space + random.pick(signs) + space
    }

    private func mirrored(_ comparison: Comparison) -> Comparison {
        switch comparison {
        case .equal, .notEqual: comparison
        case .less: .greater
        case .lessOrEqual: .greaterOrEqual
        case .greater: .less
        case .greaterOrEqual: .lessOrEqual
        }
    }

    private func letters(_ options: TextOptions, _ random: inout SeededGenerator) -> String {
        switch options {
        case .caseInsensitive: "[c]"
        case .diacriticInsensitive: "[d]"
        case [.caseInsensitive, .diacriticInsensitive]: random.chance(50) ? "[cd]" : "[DC]"
        default: ""
        }
    }

    private func keyword(_ word: String, _ random: inout SeededGenerator) -> String {
        random.chance(20) ? word.lowercased() : word
    }

    private func value(_ value: Value, _ field: Int, _ random: inout SeededGenerator) -> Text {
        if bindsArguments, random.chance(25) { return argument(value) }
        switch value {
        case .null: return Text(random.pick(["nil", "NULL", "Nil"]))
        case .bool(let flag): return Text(random.pick(flag ? ["true", "YES"] : ["false", "NO"]))
        case .integer(let number): return Text("\(number)")
        case .unsigned(let number): return Text(random.chance(50) ? "\(number)" : "0x" + String(number, radix: 16))
        // A number in the text is exact where a decimal is expected.
        case .double(let number) where number.isFinite && fields[field].type.kind != .decimal: return Text("\(number)")
        case .string(let text): return Text(quoted(text, &random))
        // A date in the text is exact where it has whole seconds.
        case .date(let date) where date.isWhole: return Text(quoted(date.formatted(.iso8601), &random))
        default: return bindsArguments ? argument(value) : Text("nil")
        }
    }

    private func argument(_ value: Value) -> Text {
        let argument: (any PredicateArgument)? =
            switch value {
            case .null: nil
            case .bool(let value): value
            case .integer(let value): value
            case .unsigned(let value): value
            case .double(let value): value
            case .decimal(let value): value
            case .string(let value): value
            case .data(let value): value
            case .uuid(let value): value
            case .date(let value): value
            }
        return Text("%@", [argument])
    }

    private func quoted(_ text: String, _ random: inout SeededGenerator) -> String {
        let quote: Unicode.Scalar = random.chance(50) ? "'" : "\""
        var view = String.UnicodeScalarView([quote])
        for scalar in text.unicodeScalars {
            let code = String(scalar.value, radix: 16)
            if scalar == quote || scalar == "\\" {
                view += [Unicode.Scalar("\\"), scalar]
            } else if random.chance(5) {
                view += (code.count <= 4 ? "\\u" : "\\U").unicodeScalars
                view += String(repeating: "0", count: (code.count <= 4 ? 4 : 8) - code.count).unicodeScalars
                view += code.unicodeScalars
            } else {
                view.append(scalar)
            }
        }
        view.append(quote)
        return String(view)
    }
}

extension Date {
    /// Whether the date has whole seconds and a year of four digits.
    fileprivate var isWhole: Bool {
        let seconds = timeIntervalSinceReferenceDate
        return seconds == seconds.rounded() && abs(seconds) < 6e10
    }
}
