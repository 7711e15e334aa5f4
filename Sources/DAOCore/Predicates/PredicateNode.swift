/// A predicate as plain data. Typed conditions and text predicates produce the same tree.
///
/// Fields are positions in the schema. The tree represents the predicate as it was written; backends
/// interpret ``Filter``.
public indirect enum PredicateNode: Sendable, Hashable {
    /// True or false for all rows.
    case constant(Bool)
    /// The conjunction of nodes; true when there are none.
    case and([PredicateNode])
    /// The disjunction of nodes; false when there are none.
    case or([PredicateNode])
    /// The exact negation of a node.
    case not(PredicateNode)
    /// A comparison of a field with a value.
    case compare(field: Int, Comparison, Value)
    /// A comparison of two fields of the same row.
    case compareFields(Int, Comparison, Int)
    /// Whether the value of a field is in a list; `.null` in the list matches nil.
    case isIn(field: Int, [Value])
    /// Whether the text of a field matches a pattern.
    case text(field: Int, TextMatch, String, TextOptions)
    /// Whether any, all or none of the related rows of a to-many relationship meet a condition.
    case related(field: Int, RelatedMatch, PredicateNode)
    /// A comparison of the number of related rows that meet a condition with a number.
    case relatedCount(field: Int, where: PredicateNode = .constant(true), Comparison, Int)
    /// A comparison of a field of the row with a field of the related row of a to-one relationship. Without a related row, that
    /// one is nil.
    case compareRelated(field: Int, Comparison, relation: Int, relatedField: Int)
    /// A condition on the related row of a to-one relationship. Without a related row, the condition is
    /// evaluated with all fields nil.
    case through(field: Int, PredicateNode)
    /// A condition on a part of an embedded value. In it, the part is the only field, at position zero.
    case embedded(field: Int, EmbeddedPart, PredicateNode)
    /// A node that is not valid. Its problem is thrown when the predicate is used.
    case invalid(PredicateProblem)
}

extension PredicateNode {
    /// Returns the conjunction of one or more nodes. A chain of conditions becomes wider, not deeper: a
    /// thousand conditions are one level.
    static func both(_ nodes: [PredicateNode]) -> PredicateNode {
        if nodes.count == 1 { return nodes[0] }
        return .and(nodes.flatMap { if case .and(let inner) = $0 { inner } else { [$0] } })
    }

    /// Returns the disjunction of one or more nodes. A chain becomes wider, not deeper, as in ``both(_:)``.
    static func either(_ nodes: [PredicateNode]) -> PredicateNode {
        if nodes.count == 1 { return nodes[0] }
        return .or(nodes.flatMap { if case .or(let inner) = $0 { inner } else { [$0] } })
    }

    /// The exact negation. Two negations are none.
    var negated: PredicateNode {
        if case .not(let inner) = self { return inner }
        return .not(self)
    }
}

/// The number of related rows that must meet a condition (contract P5).
public enum RelatedMatch: String, Sendable, Hashable, CaseIterable {
    /// At least one row; false when there are no rows.
    case any
    /// All rows; true when there are no rows.
    case all
    /// No row; true when there are no rows.
    case none
}

/// A comparison of two values, in two-valued logic (contract P1).
public enum Comparison: String, Sendable, Hashable, CaseIterable {
    /// Equal. Nil equals only nil.
    case equal
    /// Not equal. Nil differs from every value except nil.
    case notEqual
    /// Less. It is false when either value is nil.
    case less
    /// Less or equal. It is false when either value is nil.
    case lessOrEqual
    /// Greater. It is false when either value is nil.
    case greater
    /// Greater or equal. It is false when either value is nil.
    case greaterOrEqual

    /// The negated comparison. It holds between two values that are not nil exactly when this comparison does
    /// not hold.
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

    /// The comparison with exchanged operands.
    public var mirrored: Comparison {
        switch self {
        case .equal, .notEqual: self
        case .less: .greater
        case .lessOrEqual: .greaterOrEqual
        case .greater: .less
        case .greaterOrEqual: .lessOrEqual
        }
    }

    /// Returns whether the comparison holds for two values.
    ///
    /// - Parameter order: The order of the two values, a negative number, zero or a positive number; see
    ///   ``Value/order(_:_:)``.
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

/// A text operator. Nil matches nothing.
///
/// With options, what an operator finds begins and ends between characters of the folded text: `tüv` does not contain `U` without
/// case alone, and `각` does not contain `가`. A character is a scalar with the marks, or the jamo of its syllable, that follow it.
public enum TextMatch: String, Sendable, Hashable, CaseIterable {
    /// The text equals the pattern under the options.
    case equals
    /// The text contains the pattern.
    case contains
    /// The text begins with the pattern.
    case hasPrefix
    /// The text ends with the pattern.
    case hasSuffix
    /// The complete text matches a pattern. In the pattern, `*` stands for any number of characters, `?` for
    /// exactly one Unicode scalar, and a backslash makes the next character literal. With options, `?` stands
    /// for one character of the folded text.
    case matches
}

/// Differences that a text operator ignores. The options have the meaning that Unicode defines, without a
/// locale, and are the same on every backend (contract P2).
///
/// ```swift
/// try messages.read { $0.text.contains("cafe", [.caseInsensitive, .diacriticInsensitive]) }
/// ```
public struct TextOptions: OptionSet, Sendable, Hashable {
    /// The bits of the options.
    public let rawValue: Int
    /// Creates options from their bits.
    public init(rawValue: Int) { self.rawValue = rawValue }
    /// Ignores upper, lower and title case, by full case folding: "ß" equals "ss", final sigma equals sigma,
    /// "İ" equals "i̇".
    public static let caseInsensitive = TextOptions(rawValue: 1)
    /// Ignores combining marks on letters (general categories Mn and Me).
    public static let diacriticInsensitive = TextOptions(rawValue: 2)
}

/// The fault of a predicate. It becomes a ``StorageError`` when the predicate is used.
public struct PredicateProblem: Sendable, Hashable {
    /// A description of the fault and of what was expected.
    public var message: String
    /// The name of the field; nil when the fault does not concern a field.
    public var field: String?
    /// The offset in the text, in characters; nil for typed conditions.
    public var position: Int?

    /// Creates a problem.
    ///
    /// - Parameters:
    ///   - message: A description of the fault and of what was expected.
    ///   - field: The name of the field.
    ///   - position: The offset in the text, in characters.
    public init(_ message: String, field: String? = nil, position: Int? = nil) {
        self.message = message
        self.field = field
        self.position = position
    }

    /// Returns the problem as an error.
    public func error(entity: String) -> StorageError {
        StorageError(.invalidPredicate, message, entity: entity, field: field, position: position)
    }
}
