import DAOCore
import Foundation

/// Conditions that are joined, at any depth. They are a list in which each one leads to the next that has to be looked at.
final class JoinedNode: FilterNode {
    /// A condition, and the positions of what follows where it matches and where it does not.
    struct Step {
        let node: FilterNode
        var ifMatches: Int
        var ifNot: Int
    }

    /// The position that stands for the end of a filter that matches is the number of steps; the other end is after it.
    private let steps: [Step]

    init(_ steps: [Step]) { self.steps = steps }

    override func matches(_ reader: RecordReader) throws -> Bool {
        var position = 0
        while position < steps.count {
            position = try steps[position].node.matches(reader) ? steps[position].ifMatches : steps[position].ifNot
        }
        return position == steps.count
    }
}

/// A negation: matches when the condition does not match.
final class NegationNode: FilterNode {
    private let node: FilterNode
    init(_ node: FilterNode) { self.node = node }

    override func matches(_ reader: RecordReader) throws -> Bool { try !node.matches(reader) }
}

/// Any condition without a separate node, evaluated by the reference evaluator on decoded values.
final class ReferenceNode: FilterNode {
    private let filter: Filter
    init(_ filter: Filter) { self.filter = filter }

    override func matches(_ reader: RecordReader) throws -> Bool { try filter.matches(reader.readValue(at:)) }
}

/// A condition on embedded values as a whole, evaluated on their canonical JSON (contract V4).
final class CanonicalNode: FilterNode {
    private let filter: Filter
    private let contents: [Int: EmbeddedContent]
    init(_ filter: Filter, _ contents: [Int: EmbeddedContent]) { (self.filter, self.contents) = (filter, contents) }

    override func matches(_ reader: RecordReader) throws -> Bool {
        try filter.matches { field in
            let value = try reader.readValue(at: field)
            return contents[field]?.canonicalOrSame(value) ?? value
        }
    }
}

/// Whether a field is nil.
final class NullNode: FilterNode {
    private let field: Int
    private let expected: Bool

    init(_ field: Int, _ expected: Bool) {
        self.field = field
        self.expected = expected
    }

    override func matches(_ reader: RecordReader) throws -> Bool { reader.span(at: field).isNull == expected }
}

/// For which orders of a value and a literal a comparison holds. A row needs no branch for the kind of comparison.
private struct ExpectedOrder {
    /// A bit each for less, equal and greater.
    private let bits: UInt

    init(_ comparison: Comparison) {
        bits = (comparison.holds(-1) ? 1 : 0) | (comparison.holds(0) ? 2 : 0) | (comparison.holds(1) ? 4 : 0)
    }

    /// Whether the comparison holds. A value that is neither less nor equal counts as greater.
    @inline(__always) func holds<Value: Comparable>(_ value: Value, _ literal: Value) -> Bool {
        let order: UInt = value < literal ? 0 : (value == literal ? 1 : 2)
        return bits &>> order & 1 != 0
    }
}

/// Compares a signed integer with a literal.
final class SignedNode: FilterNode {
    private let field: Int
    private let order: ExpectedOrder
    private let holdsForNil: Bool
    private let literal: Int64

    init(_ field: Int, _ comparison: Comparison, _ literal: Int64) {
        self.field = field
        order = ExpectedOrder(comparison)
        holdsForNil = comparison == .notEqual
        self.literal = literal
    }

    override func matches(_ reader: RecordReader) throws -> Bool {
        let span = reader.span(at: field)
        if span.isNull { return holdsForNil }
        guard let value = span.signed else { throw reader.damaged(span, at: field) }
        return order.holds(value, literal)
    }
}

/// Compares an unsigned integer or a Boolean with a literal.
final class UnsignedNode: FilterNode {
    private let field: Int
    private let order: ExpectedOrder
    private let holdsForNil: Bool
    private let literal: UInt64

    init(_ field: Int, _ comparison: Comparison, _ literal: UInt64) {
        self.field = field
        order = ExpectedOrder(comparison)
        holdsForNil = comparison == .notEqual
        self.literal = literal
    }

    override func matches(_ reader: RecordReader) throws -> Bool {
        let span = reader.span(at: field)
        if span.isNull { return holdsForNil }
        guard let value = span.unsigned else { throw reader.damaged(span, at: field) }
        return order.holds(value, literal)
    }
}

/// Compares a floating-point number or a date with a literal, which is not NaN: NaN comes after all other numbers.
final class FloatingNode: FilterNode {
    private let field: Int
    private let order: ExpectedOrder
    private let holdsForNil: Bool
    private let literal: Double

    init(_ field: Int, _ comparison: Comparison, _ literal: Double) {
        self.field = field
        order = ExpectedOrder(comparison)
        holdsForNil = comparison == .notEqual
        self.literal = literal
    }

    override func matches(_ reader: RecordReader) throws -> Bool {
        let span = reader.span(at: field)
        if span.isNull { return holdsForNil }
        guard let value = span.floating else { throw reader.damaged(span, at: field) }
        return order.holds(value, literal)
    }
}

/// Compares text, data or a UUID with a literal, by bytes.
final class BytesNode: FilterNode {
    private let field: Int
    private let comparison: Comparison
    private let literal: [UInt8]

    init(_ field: Int, _ comparison: Comparison, _ literal: [UInt8]) {
        self.field = field
        self.comparison = comparison
        self.literal = literal
    }

    override func matches(_ reader: RecordReader) throws -> Bool {
        let span = reader.span(at: field)
        if span.isNull { return comparison == .notEqual }
        guard span.isPresent else { throw reader.damaged(span, at: field) }
        return comparison.holds(span.bytes.order(against: literal))
    }
}

/// Whether a signed integer is a member of a set.
final class SignedSetNode: FilterNode {
    private let field: Int
    private let members: Set<Int64>
    private let isNegated: Bool

    init(_ field: Int, _ members: Set<Int64>, _ isNegated: Bool) {
        self.field = field
        self.members = members
        self.isNegated = isNegated
    }

    override func matches(_ reader: RecordReader) throws -> Bool {
        let span = reader.span(at: field)
        if span.isNull { return isNegated }
        guard let value = span.signed else { throw reader.damaged(span, at: field) }
        return members.contains(value) != isNegated
    }
}

/// Whether text, data or a UUID is a member of a set, by bytes.
final class BytesSetNode: FilterNode {
    private let field: Int
    /// In ascending order.
    private let members: [[UInt8]]
    private let isNegated: Bool

    init(_ field: Int, _ members: [[UInt8]], _ isNegated: Bool) {
        self.field = field
        self.members = members
        self.isNegated = isNegated
    }

    override func matches(_ reader: RecordReader) throws -> Bool {
        let span = reader.span(at: field)
        if span.isNull { return isNegated }
        guard span.isPresent else { throw reader.damaged(span, at: field) }
        return contains(span.bytes) != isNegated
    }

    private func contains(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var range = members.indices
        while !range.isEmpty {
            let middle = range.lowerBound + range.count / 2
            let order = bytes.order(against: members[middle])
            if order == 0 { return true }
            range = order < 0 ? range.lowerBound..<middle : middle + 1..<range.upperBound
        }
        return false
    }
}

/// Whether text matches a pattern. A pattern without options is matched by bytes, without creating a string.
final class TextNode: FilterNode {
    private let field: Int
    private let pattern: TextPattern
    private let isNegated: Bool
    private let bytes: [UInt8]

    init(_ field: Int, _ pattern: TextPattern, _ isNegated: Bool) {
        self.field = field
        self.pattern = pattern
        self.isNegated = isNegated
        bytes = Array(pattern.text.utf8)
    }

    override func matches(_ reader: RecordReader) throws -> Bool {
        let span = reader.span(at: field)
        if span.isNull { return isNegated }
        guard pattern.options.isEmpty, pattern.match != .matches else {
            return try pattern.matches(reader.readString(at: field)) != isNegated
        }
        guard span.isPresent else { throw reader.damaged(span, at: field) }
        return bytes.withUnsafeBytes { matches(span.bytes, $0) } != isNegated
    }

    private func matches(_ text: UnsafeRawBufferPointer, _ literal: UnsafeRawBufferPointer) -> Bool {
        guard text.count >= literal.count else { return false }
        switch pattern.match {
        case .equals: return text.order(against: literal) == 0
        case .hasPrefix: return UnsafeRawBufferPointer(rebasing: text[..<literal.count]).order(against: literal) == 0
        case .hasSuffix: return text.from(text.count - literal.count).order(against: literal) == 0
        case .contains: return text.contains(run: literal)
        case .matches: return false
        }
    }
}

extension UnsafeRawBufferPointer {
    /// Whether the bytes contain other bytes: finds the first byte, then compares.
    fileprivate func contains(run: UnsafeRawBufferPointer) -> Bool {
        guard let first = run.first, let literal = run.baseAddress else { return true }
        guard let start = baseAddress, run.count <= count else { return false }
        var position = start
        let end = start + (count - run.count + 1)
        while position < end, let found = memchr(position, Int32(first), end - position) {
            if memcmp(found, literal, run.count) == 0 { return true }
            position = UnsafeRawPointer(found) + 1
        }
        return false
    }
}
