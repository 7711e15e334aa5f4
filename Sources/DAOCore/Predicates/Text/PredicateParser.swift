/// Parses a text predicate into the same tree that a typed condition has.
///
/// The parser has an explicit stack for parentheses, so that no text can overflow the stack of the thread.
struct PredicateParser {
    /// The maximum nesting of parentheses and negations. The tree is at most twice as deep, and normalization
    /// recurses through it.
    static let maximumDepth = 300

    /// The entity whose names are looked up. It is the related entity while a condition on related rows is
    /// parsed.
    var entity: EntityDescription
    /// The model of the entity, which knows its relationships; nil when only a description is available.
    var model: (any Model.Type)?
    /// The type of the elements while the only field of the entity is a member that is an array; otherwise nil.
    var elementOfPart: FieldType?
    /// The variables of the SUBQUERYs that are parsed, the innermost last. Every field in one begins with its variable.
    var variables: [String] = []
    /// The row of the comparison that is parsed; nil where fields of different rows do not compare.
    var row: RowPlace?
    /// Whether a comparison is of a field of the row with one of the related row to which the last hop of its path leads.
    var comparesAcrossHop = false
    private let arguments: [(any PredicateArgument)?]
    private var usedArguments = 0
    private var lexer: PredicateLexer
    var token = PredicateToken(kind: .end, start: 0, source: "")
    private let length: Int

    /// The parsed contents of a pair of parentheses.
    private struct Group {
        let start: Int
        var alternatives: [PredicateNode] = []
        var conditions: [PredicateNode] = []
        /// The number of pending negations of the next condition.
        var negations = 0

        mutating func add(_ condition: PredicateNode) {
            // Two negations are none.
            conditions.append(negations.isMultiple(of: 2) ? condition : condition.negated)
            negations = 0
        }

        mutating func beginAlternative() {
            alternatives.append(.both(conditions))
            conditions = []
        }

        var node: PredicateNode { .either(alternatives + [.both(conditions)]) }
    }

    init(_ text: String, _ arguments: [(any PredicateArgument)?], _ entity: EntityDescription, _ model: (any Model.Type)?) {
        self.entity = entity
        self.model = model
        self.arguments = arguments
        lexer = PredicateLexer(text)
        length = text.unicodeScalars.count
    }

    /// Parses the complete text.
    mutating func parse() throws(PredicateTextError) -> PredicateNode {
        try advance()
        if token.kind == .end { throw PredicateTextError("the predicate is empty; use TRUEPREDICATE to match every row", at: 0) }
        let node = try conditions()
        if usedArguments < arguments.count {
            throw PredicateTextError(
                "the text has \(counted(usedArguments, "placeholder")) for \(counted(arguments.count, "argument"))", at: length)
        }
        return node
    }

    /// Parses conditions up to the end of the text; in a SUBQUERY, up to its closing parenthesis, which remains current.
    ///
    /// - Parameter opening: The offset of the SUBQUERY's parenthesis; nil for the whole text.
    mutating func conditions(after opening: Int? = nil) throws(PredicateTextError) -> PredicateNode {
        var outer: [Group] = []
        var group = Group(start: 0)
        // The stack of a SUBQUERY's conditions is in that of the others.
        var depth = variables.count * 24
        try checkDepth(depth)
        while true {
            // A condition is expected here.
            if token.kind == .not || token.keyword == "NOT" {
                group.negations += 1
                depth += 1
                try checkDepth(depth)
                try advance()
                continue
            }
            if token.kind == .openingParenthesis {
                outer.append(group)
                group = Group(start: token.start)
                depth += 1
                try checkDepth(depth)
                try advance()
                continue
            }
            depth -= group.negations
            group.add(try condition())
            // A condition ends here.
            while token.kind == .closingParenthesis {
                guard var parent = outer.popLast() else {
                    if opening != nil { return group.node }
                    throw PredicateTextError("the ')' has no opening '('", at: token.start)
                }
                depth -= 1 + parent.negations
                parent.add(group.node)
                group = parent
                try advance()
            }
            if token.kind == .end {
                if let start = outer.isEmpty ? opening : group.start {
                    throw PredicateTextError("the '(' has no closing ')'", at: start)
                }
                return group.node
            }
            if token.kind == .or || token.keyword == "OR" {
                group.beginAlternative()
            } else if token.kind != .and, token.keyword != "AND" {
                throw .expected("AND, OR or the end", at: token)
            }
            try advance()
        }
    }

    // MARK: Tokens

    mutating func advance() throws(PredicateTextError) {
        token = try lexer.next()
        // `$x.name` in a SUBQUERY
        if let variable = variables.last, case .variable(let name) = token.kind, name.hasPrefix(variable + ".") {
            let field = String(name.dropFirst(variable.count + 1))
            token = PredicateToken(kind: .name(field), start: token.start, source: token.source)
        }
    }

    /// Checks that the current token, the name of a field, begins with the variable of a SUBQUERY that it is in.
    func checkVariable() throws(PredicateTextError) {
        guard let variable = variables.last, !token.source.hasPrefix("$") else { return }
        throw PredicateTextError(
            "in SUBQUERY, the name of a field begins with its variable: '$\(variable).…', not '\(token.source)'", at: token.start)
    }

    /// Parses the options after the operator that is the current token. Afterwards the current token is the
    /// token after them.
    mutating func options(allowedFor name: String?) throws(PredicateTextError) -> TextOptions? {
        let operatorName = token.source
        let modifiers = try lexer.modifiers()
        try advance()
        guard let (letters, start) = modifiers else { return nil }
        guard name != nil else {
            throw PredicateTextError(
                "'\(operatorName)' takes no options; use [c] and [d] with text operators, ==, != and IN", at: start)
        }
        switch letters {
        case "c": return .caseInsensitive
        case "d": return .diacriticInsensitive
        case "cd", "dc": return [.caseInsensitive, .diacriticInsensitive]
        default: throw PredicateTextError("the options are [c], [d] or [cd], not [\(letters)]", at: start)
        }
    }

    /// Returns the argument of the placeholder that is the current token. The token remains current.
    mutating func argument() throws(PredicateTextError) -> PredicateOperand {
        guard usedArguments < arguments.count else {
            let given =
                arguments.isEmpty
                ? "no argument is" : "only \(counted(arguments.count, "argument")) \(arguments.count == 1 ? "is" : "are")"
            throw PredicateTextError(
                "'\(token.source)' has no value, because \(given) given; give an argument for each placeholder", at: token.start)
        }
        let argument = arguments[usedArguments]
        usedArguments += 1
        return argument?.predicateOperand ?? PredicateOperand(value: .null)
    }

    /// The argument of the next placeholder, without consuming it.
    var nextArgument: PredicateOperand? {
        usedArguments < arguments.count ? arguments[usedArguments]?.predicateOperand : nil
    }

    private func checkDepth(_ depth: Int) throws(PredicateTextError) {
        if depth > Self.maximumDepth {
            throw PredicateTextError(
                "the predicate nests more than \(Self.maximumDepth) levels deep; nest it less", at: token.start)
        }
    }

    private func counted(_ count: Int, _ word: String) -> String { count == 1 ? "1 \(word)" : "\(count) \(word)s" }
}
