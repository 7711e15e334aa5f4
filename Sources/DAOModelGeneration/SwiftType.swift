import Foundation

/// A type, as far as the storage of a field depends on it.
indirect enum SwiftType: Hashable {
    case optional(SwiftType)
    case array(SwiftType)
    /// A named type with its generic arguments, and its identifier in symbol graphs; nil when the compiler does not know it.
    case named(String, id: String?, arguments: [SwiftType] = [])
    /// A type that a field cannot have: a tuple, a function, a dictionary, a protocol.
    case other(String)

    /// The type as Swift writes it.
    var text: String {
        switch self {
        case .optional(let wrapped): wrapped.text + "?"
        case .array(let element): "[\(element.text)]"
        case .named(let name, _, let arguments):
            arguments.isEmpty ? name : "\(name)<\(arguments.map(\.text).joined(separator: ", "))>"
        case .other(let text): text
        }
    }

    /// The type without optionals and arrays around it.
    var element: SwiftType {
        switch self {
        case .optional(let type), .array(let type): type.element
        case .named, .other: self
        }
    }

    /// Whether it is the key of another row.
    var isReference: Bool {
        if case .named(_, "s:7DAOCore9ReferenceV", _) = self { return true }
        return false
    }

    /// The identifiers of all types in it.
    var ids: [String] {
        switch self {
        case .optional(let type), .array(let type): type.ids
        case .named(_, let id, let arguments): (id.map { [$0] } ?? []) + arguments.flatMap(\.ids)
        case .other: []
        }
    }
}

extension SwiftType {
    /// Parses the fragments of a type.
    ///
    /// - Parameters:
    ///   - fragments: The fragments of the type, and of nothing else.
    ///   - names: The full names of the module's types, by identifier.
    ///   - aliases: What the module's type aliases stand for, by identifier.
    init(_ fragments: [SymbolGraph.Fragment], names: [String: String], aliases: [String: SwiftType] = [:]) {
        var parser = TypeParser(fragments, names: names, aliases: aliases)
        let text = fragments.map(\.spelling).joined().trimmingCharacters(in: .whitespaces)
        guard let type = parser.type(), parser.isAtEnd else {
            self = .other(text)
            return
        }
        self = type
    }
}

/// Parses names, generic arguments, arrays and optionals; everything else is not a type of a field.
private struct TypeParser {
    private enum Token: Equatable {
        case name(String, id: String?)
        case mark(Character)
    }

    private var tokens: [Token] = []
    private var index = 0
    private let aliases: [String: SwiftType]
    private let names: [String: String]

    var isAtEnd: Bool { index == tokens.count }

    init(_ fragments: [SymbolGraph.Fragment], names: [String: String], aliases: [String: SwiftType]) {
        (self.names, self.aliases) = (names, aliases)
        for fragment in fragments {
            if fragment.kind == "typeIdentifier" {
                tokens.append(.name(fragment.spelling, id: fragment.preciseIdentifier))
                continue
            }
            var word = ""
            for character in fragment.spelling + " " {
                if character.isLetter || character.isNumber || "_`@".contains(character) {
                    word.append(character)
                    continue
                }
                if !word.isEmpty { tokens.append(.name(word, id: nil)) }
                word = ""
                if character != " " { tokens.append(.mark(character)) }
            }
        }
    }

    private mutating func take(_ mark: Character) -> Bool {
        guard index < tokens.count, tokens[index] == .mark(mark) else { return false }
        index += 1
        return true
    }

    mutating func type() -> SwiftType? {
        guard var type = base() else { return nil }
        while take("?") || take("!") { type = .optional(type) }
        return type
    }

    private mutating func base() -> SwiftType? {
        if take("[") {
            guard let element = type(), take("]") else { return nil }
            return .array(element)
        }
        var path: [String] = []
        var id: String?
        repeat {
            guard index < tokens.count, case .name(let name, let identifier) = tokens[index], !Self.keywords.contains(name) else {
                return nil
            }
            index += 1
            path.append(name)
            id = identifier
        } while take(".")
        var arguments: [SwiftType] = []
        if take("<") {
            repeat {
                guard let argument = type() else { return nil }
                arguments.append(argument)
            } while take(",")
            guard take(">") else { return nil }
        }
        if arguments.count == 1, id == "s:Sq" { return .optional(arguments[0]) }
        if arguments.count == 1, id == "s:Sa" { return .array(arguments[0]) }
        if let id, let meaning = aliases[id] { return meaning }
        return .named(id.flatMap { names[$0] } ?? path.joined(separator: "."), id: id, arguments: arguments)
    }

    private static let keywords: Set<String> = ["any", "some", "inout", "borrowing", "consuming", "sending", "each", "repeat"]
}
