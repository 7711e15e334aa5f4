import DAOCore

/// What a search looks for: words, `"phrases"`, `beginnings*`, with `AND`, `OR`, `NOT`, `NEAR` and parentheses (contract S3).
///
/// ```swift
/// let query = SearchQuery("\"data base\" OR sql* NOT oracle")
/// ```
///
/// | text | finds rows with |
/// |---|---|
/// | `red wine` | both words, anywhere in the searchable fields |
/// | `red OR wine` | one of them or both |
/// | `red NOT wine`, `red -wine` | the first word and not the second |
/// | `"red wine"` | the two words side by side in one field |
/// | `win*` | a word that begins so |
/// | `red NEAR wine`, `red NEAR/3 wine` | both words in one field, at most 10 (3) words between them, in either order |
/// | `(red OR white) wine` | … |
///
/// Operators are in capitals. `AND` binds closer than `OR`. The text is what somebody types: what is no complete query is read as far
/// as it goes, so an open quotation mark ends with the text, and an operator without an operand is left out.
public struct SearchQuery: Sendable, Hashable, CustomStringConvertible {
    indirect enum Node: Sendable, Hashable {
        /// Words side by side. The last one may be a beginning.
        case words([String], isPrefix: Bool)
        /// Two of them with at most so many words in between.
        case near(Node, Node, distance: Int)
        case and([Node])
        case or([Node])
        case not(Node)
    }

    /// The most words that can be between two with `NEAR`.
    static let maximumDistance = 100

    /// Its text.
    public let description: String
    /// What it looks for; nil when it has no word.
    let root: Node?
    /// What is wrong with it; nil when it is complete.
    private let fault: String?

    /// Reads what somebody has typed. It never fails.
    public init(_ text: String) {
        description = text
        var parser = Parser(text)
        root = parser.parse()
        fault = parser.fault
    }

    /// Reads a query that has to be complete.
    ///
    /// - Throws: `.invalidQuery` for an open quotation mark or parenthesis, an operator without an operand, and a text without a word.
    public init(validating text: String) throws {
        self.init(text)
        if let fault { throw StorageError(.invalidQuery, "the search \(fault)") }
        if root == nil { throw StorageError(.invalidQuery, "the search has no word; write at least one") }
    }

    /// Whether it looks for nothing: its text has no word. Such a search finds no rows.
    public var isEmpty: Bool { root == nil }

    /// Returns the search in which other forms of a word are enough, too: those with other endings, or words that mean the same.
    ///
    /// ```swift
    /// let query = SearchQuery(typed).expanded { word in word.count > 4 && word.hasSuffix("s") ? ["\(word.dropLast())*"] : [] }
    /// ```
    ///
    /// A row has words as they are written, so that forms can change at any time, and differ from user to user.
    ///
    /// - Parameter forms: Returns searches for a word, one of which is enough. It gets each word that stands alone in the form in which words
    ///   are compared (contract S2): `Wines` as `wines`. Words of phrases, of `NEAR` and beginnings stay as they are.
    /// - Complexity: A search costs what all its words cost.
    public func expanded(_ forms: (String) throws -> [String]) rethrows -> SearchQuery {
        guard let root else { return self }
        let other = try root.expanded(forms)
        return other == root ? self : SearchQuery(other, fault)
    }

    private init(_ root: Node, _ fault: String?) { (description, self.root, self.fault) = (root.text, root, fault) }
}

extension SearchQuery.Node {
    fileprivate func expanded(_ forms: (String) throws -> [String]) rethrows -> Self {
        switch self {
        case .words(let words, isPrefix: false) where words.count == 1:
            let others = try forms(words[0]).compactMap { SearchQuery($0).root }.filter { $0 != self }
            return others.isEmpty ? self : .or([self] + others)
        case .words, .near: return self
        case .and(let parts): return .and(try parts.map { try $0.expanded(forms) })
        case .or(let parts): return .or(try parts.map { try $0.expanded(forms) })
        case .not(let part): return .not(try part.expanded(forms))
        }
    }

    /// What somebody could have typed.
    fileprivate var text: String {
        switch self {
        case .words(let words, let isPrefix): "\"\(words.joined(separator: " "))\"" + (isPrefix ? "*" : "")
        case .near(let left, let right, let distance): "\(left.text) NEAR/\(distance) \(right.text)"
        case .and(let parts): "(\(parts.map(\.text).joined(separator: " AND ")))"
        case .or(let parts): "(\(parts.map(\.text).joined(separator: " OR ")))"
        case .not(let part): "NOT \(part.text)"
        }
    }
}

extension SearchQuery {
    private enum Token: Equatable {
        case words(String, isPrefix: Bool)
        case and, or, not
        case near(Int)
        case open, close
    }

    private struct Parser {
        private var tokens: ArraySlice<Token> = []
        private(set) var fault: String?
        private var depth = 0

        /// Deeper parentheses are left out, so that a text cannot overflow the stack.
        private static let maximumDepth = 64

        init(_ text: String) {
            var scalars = text.unicodeScalars[...]
            while let first = scalars.first {
                scalars = scalars.dropFirst()
                switch first {
                case "(": tokens.append(.open)
                case ")": tokens.append(.close)
                case "\"", "\u{201C}", "\u{201D}", "\u{201E}":
                    let phrase = scalars.prefix { !["\"", "\u{201C}", "\u{201D}"].contains($0) }
                    scalars = scalars.dropFirst(phrase.count)
                    if scalars.isEmpty { fault = fault ?? "has an open quotation mark; close it" }
                    scalars = scalars.dropFirst()
                    tokens.append(.words(String(phrase), isPrefix: Self.takeStar(&scalars)))
                case "-" where scalars.first.map({ !$0.properties.isWhitespace }) ?? false: tokens.append(.not)
                case _ where first.properties.isWhitespace: break
                default:
                    let rest = scalars.prefix { !$0.properties.isWhitespace && !["(", ")", "\"", "*"].contains($0) }
                    scalars = scalars.dropFirst(rest.count)
                    let word = String(String.UnicodeScalarView([first])) + String(rest)
                    let isPrefix = Self.takeStar(&scalars)
                    tokens.append(isPrefix ? .words(word, isPrefix: true) : Self.token(of: word))
                }
            }
        }

        private static func takeStar(_ scalars: inout Substring.UnicodeScalarView) -> Bool {
            guard scalars.first == "*" else { return false }
            scalars = scalars.drop { $0 == "*" }
            return true
        }

        private static func token(of word: String) -> Token {
            switch word {
            case "AND": .and
            case "OR": .or
            case "NOT": .not
            case "NEAR": .near(10)
            default:
                if word.hasPrefix("NEAR/"), let distance = Int(word.dropFirst(5)), distance >= 0 {
                    .near(min(distance, maximumDistance))
                } else {
                    .words(word, isPrefix: false)
                }
            }
        }

        mutating func parse() -> Node? {
            var parts: [Node] = []
            while !tokens.isEmpty {
                if let part = alternatives() { parts.append(part) }
                // A parenthesis that was not opened.
                if tokens.first == .close {
                    fault = fault ?? "closes a parenthesis that is not open; leave it out"
                    tokens.removeFirst()
                }
            }
            return Self.all(parts)
        }

        private static func all(_ parts: [Node]) -> Node? { parts.count > 1 ? .and(parts) : parts.first }

        private mutating func alternatives() -> Node? {
            var parts: [Node] = []
            while true {
                if let part = conjunction() {
                    parts.append(part)
                } else if tokens.first == .or {
                    fault = fault ?? "has nothing before 'OR'; write a word there"
                }
                guard tokens.first == .or else { break }
                tokens.removeFirst()
                if tokens.isEmpty { fault = fault ?? "has nothing after 'OR'; write a word there" }
            }
            return parts.count > 1 ? .or(parts) : parts.first
        }

        private mutating func conjunction() -> Node? {
            var parts: [Node] = []
            while let token = tokens.first, token != .or, token != .close {
                if token == .and {
                    tokens.removeFirst()
                    if parts.isEmpty || tokens.isEmpty { fault = fault ?? "has an 'AND' without a word beside it; write one" }
                    continue
                }
                if let part = neighbours() { parts.append(part) }
            }
            return Self.all(parts)
        }

        private mutating func neighbours() -> Node? {
            var left = operand()
            while case .near(let distance)? = tokens.first {
                tokens.removeFirst()
                let right = operand()
                switch (left, right) {
                case (.words(let first, let firstIsPrefix)?, .words(let second, let secondIsPrefix)?):
                    left = .near(
                        .words(first, isPrefix: firstIsPrefix), .words(second, isPrefix: secondIsPrefix), distance: distance)
                default:
                    fault = fault ?? "has a 'NEAR' that is not between two words or phrases; write them there"
                    left = Self.all([left, right].compactMap { $0 })
                }
            }
            return left
        }

        private mutating func operand() -> Node? {
            var negations = 0
            while tokens.first == .not {
                tokens.removeFirst()
                negations += 1
            }
            guard let part = primary() else {
                if negations > 0 { fault = fault ?? "has a 'NOT' without a word after it; write one" }
                return nil
            }
            return negations % 2 == 1 ? .not(part) : part
        }

        private mutating func primary() -> Node? {
            switch tokens.first {
            case .words(let text, let isPrefix)?:
                tokens.removeFirst()
                let terms = Term.terms(of: text).map(\.text)
                return terms.isEmpty ? nil : .words(terms, isPrefix: isPrefix)
            case .open?:
                tokens.removeFirst()
                if depth >= Self.maximumDepth {
                    fault = fault ?? "has more than \(Self.maximumDepth) parentheses inside of each other; write fewer"
                    return nil
                }
                depth += 1
                defer { depth -= 1 }
                let part = alternatives()
                if tokens.first == .close {
                    tokens.removeFirst()
                } else {
                    fault = fault ?? "has an open parenthesis; close it"
                }
                return part
            default: return nil
            }
        }
    }
}
