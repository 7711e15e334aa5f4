/// One word or sign of a text predicate.
struct PredicateToken {
    enum Kind: Equatable {
        /// A name or a keyword, with the dots of a key path.
        case word(String)
        /// A name that is no keyword: `#name`.
        case name(String)
        case number(String)
        case string(String)
        /// `%@`, `%d` and the like: the next argument is a value.
        case valuePlaceholder(String)
        /// `%K`: the next argument is the name of a field.
        case namePlaceholder
        /// `$NAME`.
        case variable(String)
        case comparison(Comparison)
        case and
        case or
        case not
        case openingParenthesis
        case closingParenthesis
        case openingBrace
        case closingBrace
        case comma
        case end
    }

    let kind: Kind
    /// Where it begins, in Unicode scalars.
    let start: Int
    /// How it is written.
    let source: String

    /// The word in upper case, to compare it with a keyword; empty for anything else.
    var keyword: String { if case .word(let word) = kind { word.uppercased() } else { "" } }

    /// What to call it in a message. Values are not shown.
    var name: String {
        switch kind {
        case .string: "a string"
        case .number: "a number"
        case .end: "the end of the text"
        default: "'\(source)'"
        }
    }
}

/// What is wrong with a text, and where.
struct PredicateTextError: Error {
    let message: String
    let field: String?
    /// In Unicode scalars.
    let position: Int

    init(_ message: String, field: String? = nil, at position: Int) {
        self.message = message
        self.field = field
        self.position = position
    }

    /// Something that was expected where something else is.
    static func expected(_ what: String, at token: PredicateToken) -> PredicateTextError {
        PredicateTextError(
            "expected \(what), \(token.kind == .end ? "but the text ends here" : "not \(token.name)")", at: token.start)
    }

    /// The problem with its position in characters.
    func problem(in text: String) -> PredicateProblem {
        let scalars = text.unicodeScalars
        let index = scalars.index(scalars.startIndex, offsetBy: position, limitedBy: scalars.endIndex) ?? scalars.endIndex
        return PredicateProblem(message, field: field, position: text.distance(from: text.startIndex, to: index))
    }
}
