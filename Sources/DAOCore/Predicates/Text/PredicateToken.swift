/// A token of a text predicate.
struct PredicateToken {
    enum Kind: Equatable {
        /// A name or a keyword, including the dots of a key path.
        case word(String)
        /// A name that is written as `#name`, or between backticks. It is never a keyword.
        case name(String)
        case number(String)
        case string(String)
        /// `%@`, `%d` and similar placeholders: the next argument is a value.
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
    /// The offset of its first scalar, in Unicode scalars.
    let start: Int
    /// Its text.
    let source: String

    /// The word in upper case for comparisons with keywords; empty for other tokens.
    var keyword: String { if case .word(let word) = kind { word.uppercased() } else { "" } }

    /// The name of the token in messages. It does not show values.
    var name: String {
        switch kind {
        case .string: "a string"
        case .number: "a number"
        case .end: "the end of the text"
        default: "'\(source)'"
        }
    }
}

/// The fault of a text and its position.
struct PredicateTextError: Error {
    let message: String
    let field: String?
    /// The offset in Unicode scalars.
    let position: Int

    init(_ message: String, field: String? = nil, at position: Int) {
        self.message = message
        self.field = field
        self.position = position
    }

    /// Returns the error for an unexpected token.
    static func expected(_ what: String, at token: PredicateToken) -> PredicateTextError {
        PredicateTextError(
            "expected \(what), \(token.kind == .end ? "but the text ends here" : "not \(token.name)")", at: token.start)
    }

    /// Returns the problem with its position in characters.
    func problem(in text: String) -> PredicateProblem {
        let scalars = text.unicodeScalars
        let index = scalars.index(scalars.startIndex, offsetBy: position, limitedBy: scalars.endIndex) ?? scalars.endIndex
        return PredicateProblem(message, field: field, position: text.distance(from: text.startIndex, to: index))
    }
}
