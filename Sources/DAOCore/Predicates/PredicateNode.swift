/// A predicate as plain data: the tree that the typed form and the text form both make.
///
/// Fields are positions in the schema. The tree says what was written; ``Filter`` is what backends interpret.
public indirect enum PredicateNode: Sendable, Hashable {
    /// Always, or never.
    case constant(Bool)
    /// All of them; true when empty.
    case and([PredicateNode])
    /// Any of them; false when empty.
    case or([PredicateNode])
    /// Exactly what the operand is not.
    case not(PredicateNode)
    /// A field against a value.
    case compare(field: Int, Comparison, Value)
    /// A field against another field of the same row.
    case compareFields(Int, Comparison, Int)
    /// Whether a field's value is one of these; `.null` among them stands for nil.
    case isIn(field: Int, [Value])
    /// Whether the text of a field matches a pattern.
    case text(field: Int, TextMatch, String, TextOptions)
    /// Whether any, all or none of a list of related rows meet a condition on them.
    case related(field: Int, RelatedMatch, PredicateNode)
    /// How many related rows there are, against a number.
    case relatedCount(field: Int, Comparison, Int)
    /// A condition on the one related row; where there is none, on a row of which everything is nil.
    case through(field: Int, PredicateNode)
    /// Something that could not be understood; thrown when the predicate is used.
    case invalid(PredicateProblem)
}

extension PredicateNode {
    /// The conjunction of one or more; a chain grows in width, not in depth, so that a thousand conditions are one level.
    static func both(_ nodes: [PredicateNode]) -> PredicateNode {
        if nodes.count == 1 { return nodes[0] }
        if case .and(let first) = nodes.first { return .and(first + nodes.dropFirst()) }
        return .and(nodes)
    }

    /// The disjunction of one or more; a chain grows in width, as with ``both(_:)``.
    static func either(_ nodes: [PredicateNode]) -> PredicateNode {
        if nodes.count == 1 { return nodes[0] }
        if case .or(let first) = nodes.first { return .or(first + nodes.dropFirst()) }
        return .or(nodes)
    }
}

/// How many of the related rows have to meet a condition (contract P5).
public enum RelatedMatch: String, Sendable, Hashable, CaseIterable {
    /// At least one; false of no rows.
    case any
    /// Every one; true of no rows.
    case all
    /// Not one; true of no rows.
    case none
}

/// How two values are compared, in two-valued logic (contract P1).
public enum Comparison: String, Sendable, Hashable, CaseIterable {
    /// Equal; nil equals nil only.
    case equal
    /// Not equal; nil differs from every value.
    case notEqual
    /// Less; false when either is nil.
    case less
    /// Less or equal; false when either is nil.
    case lessOrEqual
    /// Greater; false when either is nil.
    case greater
    /// Greater or equal; false when either is nil.
    case greaterOrEqual

    /// The comparison that holds between two non-nil values exactly when this one does not.
    public var negated: Comparison {
        switch self {
        case .equal: .notEqual
        case .notEqual: .equal
        case .less: .greaterOrEqual
        case .lessOrEqual: .greater
        case .greater: .lessOrEqual
        case .greaterOrEqual: .less
        }
    }

    /// The comparison with its operands exchanged.
    public var mirrored: Comparison {
        switch self {
        case .equal, .notEqual: self
        case .less: .greater
        case .lessOrEqual: .greaterOrEqual
        case .greater: .less
        case .greaterOrEqual: .lessOrEqual
        }
    }

    /// Whether the comparison holds between two values in this order.
    ///
    /// - Parameter order: Negative, zero or positive, as from ``Value/order(_:_:)``.
    @inlinable public func holds(_ order: Int) -> Bool {
        switch self {
        case .equal: order == 0
        case .notEqual: order != 0
        case .less: order < 0
        case .lessOrEqual: order <= 0
        case .greater: order > 0
        case .greaterOrEqual: order >= 0
        }
    }
}

/// How text matches a pattern. Nil matches nothing.
public enum TextMatch: String, Sendable, Hashable, CaseIterable {
    /// The whole text is the pattern, under the options.
    case equals
    /// The pattern is somewhere in the text.
    case contains
    /// The text begins with the pattern.
    case hasPrefix
    /// The text ends with the pattern.
    case hasSuffix
    /// The whole text matches a pattern in which `*` stands for any run of characters, `?` for any one Unicode scalar, and a
    /// backslash makes the next character literal. Under options `?` is one scalar of the folded text with the marks that follow it.
    case matches
}

/// What text matching looks past. The meaning is Unicode's, in no locale, the same on every backend (contract P2).
public struct TextOptions: OptionSet, Sendable, Hashable {
    /// The bits.
    public let rawValue: Int
    /// Creates options from their bits.
    public init(rawValue: Int) { self.rawValue = rawValue }
    /// Upper, lower and title case are the same, by full case folding: "ß" is "ss", final sigma is sigma, "İ" is "i̇".
    public static let caseInsensitive = TextOptions(rawValue: 1)
    /// Letters with and without combining marks are the same.
    public static let diacriticInsensitive = TextOptions(rawValue: 2)
}

/// Why a predicate cannot be used; becomes a ``StorageError`` when it is.
public struct PredicateProblem: Sendable, Hashable {
    /// What is wrong and what was expected.
    public var message: String
    /// The field it is about.
    public var field: String?
    /// Where in the text, in characters.
    public var position: Int?

    /// Creates a problem.
    ///
    /// - Parameters:
    ///   - message: What is wrong and what was expected.
    ///   - field: The field it is about.
    ///   - position: Where in the text, in characters.
    public init(_ message: String, field: String? = nil, position: Int? = nil) {
        self.message = message
        self.field = field
        self.position = position
    }

    /// The problem as the error to throw.
    public func error(entity: String) -> StorageError {
        StorageError(.invalidPredicate, message, entity: entity, field: field, position: position)
    }
}
