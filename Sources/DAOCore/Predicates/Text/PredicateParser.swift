/// Reads a text predicate into the tree that the typed form makes.
///
/// It keeps a stack of its own for parentheses, so that no text overflows the thread's.
struct PredicateParser {
    /// How deep parentheses and negations may nest; the tree is at most twice as deep, which normalization walks.
    static let maximumDepth = 300

    /// The entity that names are looked up in: a related one while its condition is read.
    var entity: EntityDescription
    /// The entity's model, which knows its relationships; nil when there is only a description.
    var model: (any Model.Type)?
    private let arguments: [(any PredicateArgument)?]
    private var usedArguments = 0
    private var lexer: PredicateLexer
    var token = PredicateToken(kind: .end, start: 0, source: "")
    private let length: Int

    /// What has been read inside one pair of parentheses.
    private struct Group {
        let start: Int
        var alternatives: [PredicateNode] = []
        var conditions: [PredicateNode] = []
        /// The negations that wait for the next condition.
        var negations = 0

        mutating func add(_ condition: PredicateNode) {
            var condition = condition
            for _ in 0..<negations { condition = .not(condition) }
            negations = 0
            conditions.append(condition)
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

    /// The whole text.
    mutating func parse() throws(PredicateTextError) -> PredicateNode {
        try advance()
        if token.kind == .end { throw PredicateTextError("the predicate is empty: TRUEPREDICATE is every row", at: 0) }
        var outer: [Group] = []
        var group = Group(start: 0)
        var depth = 0
        while true {
            // Where a condition is wanted.
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
            // Where a condition has ended.
            while token.kind == .closingParenthesis {
                guard var parent = outer.popLast() else { throw PredicateTextError("the ')' closes nothing", at: token.start) }
                depth -= 1 + parent.negations
                parent.add(group.node)
                group = parent
                try advance()
            }
            if token.kind == .end {
                guard outer.isEmpty else { throw PredicateTextError("the '(' has no closing ')'", at: group.start) }
                if usedArguments < arguments.count {
                    throw PredicateTextError(
                        "the text has \(counted(usedArguments, "placeholder")) for \(counted(arguments.count, "argument"))",
                        at: length)
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

    mutating func advance() throws(PredicateTextError) { token = try lexer.next() }

    /// The options behind an operator that is the current token; the next token is current afterwards.
    mutating func options(allowedFor name: String?) throws(PredicateTextError) -> TextOptions? {
        let operatorName = token.source
        let modifiers = try lexer.modifiers()
        try advance()
        guard let (letters, start) = modifiers else { return nil }
        guard name != nil else {
            throw PredicateTextError(
                "'\(operatorName)' takes no options: [c] and [d] are for text operators, == and !=", at: start)
        }
        switch letters {
        case "c": return .caseInsensitive
        case "d": return .diacriticInsensitive
        case "cd", "dc": return [.caseInsensitive, .diacriticInsensitive]
        default: throw PredicateTextError("the options are [c], [d] or [cd], not [\(letters)]", at: start)
        }
    }

    /// The argument of the placeholder that is the current token, which stays current.
    mutating func argument() throws(PredicateTextError) -> PredicateOperand {
        guard usedArguments < arguments.count else {
            let given =
                arguments.isEmpty
                ? "no argument is" : "only \(counted(arguments.count, "argument")) \(arguments.count == 1 ? "is" : "are")"
            throw PredicateTextError("'\(token.source)' has no value: \(given) given", at: token.start)
        }
        let argument = arguments[usedArguments]
        usedArguments += 1
        return argument?.predicateOperand ?? PredicateOperand(value: .null)
    }

    /// What the next placeholder stands for, without using it.
    var nextArgument: PredicateOperand? {
        usedArguments < arguments.count ? arguments[usedArguments]?.predicateOperand : nil
    }

    private func checkDepth(_ depth: Int) throws(PredicateTextError) {
        if depth > Self.maximumDepth {
            throw PredicateTextError("the predicate nests more than \(Self.maximumDepth) levels deep", at: token.start)
        }
    }

    private func counted(_ count: Int, _ word: String) -> String { count == 1 ? "1 \(word)" : "\(count) \(word)s" }
}
