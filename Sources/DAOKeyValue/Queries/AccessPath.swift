import DAOCore
import Foundation

/// One way to the rows of a query: runs of keys in the table or in an index, and what is left to check on every row.
struct AccessPath: Sendable {
    /// Where the keys are.
    enum Target: Sendable, Hashable {
        /// Among the rows themselves.
        case table
        /// In an index.
        case index(Table.Index)
    }

    /// How much a path narrows the search, most first.
    enum Shape: Int, Sendable, Comparable {
        /// Single keys of the table or of a unique index.
        case keys
        /// Single values.
        case values
        /// Between two bounds.
        case between
        /// On one side of a bound.
        case beyond
        /// Everything.
        case all

        static func < (left: Shape, right: Shape) -> Bool { left.rawValue < right.rawValue }
    }

    /// Where the keys are.
    var target: Target
    /// Which keys.
    var ranges: KeyRanges
    /// What the keys do not say; a conjunction.
    var residual: [Filter]
    /// How much it narrows the search.
    var shape: Shape
    /// Whether all rows have the same value in the field.
    var isOneValue: Bool

    /// The path through one field for the conjuncts of a filter.
    init(_ table: Table, _ field: KeyField, _ conjuncts: [Filter]) {
        target = field.index.map(Target.index) ?? .table
        residual = []
        var part = KeyField.Part(ranges: field.everything, isExact: true, shape: .all)
        for conjunct in conjuncts {
            let next = field.part(conjunct)
            if let next { part = part.intersection(next) }
            if next?.isExact != true { residual.append(conjunct) }
        }
        ranges = part.ranges
        isOneValue = part.values == 1
        if part.shape <= .values {
            shape = part.shape
        } else if ranges == field.everything {
            shape = .all
        } else {
            let isBounded = ranges.ranges.first?.lower != field.lowest && ranges.ranges.last?.upper != field.highest
            shape = isBounded ? .between : .beyond
        }
    }
}

/// A field whose values are in keys: the primary key, or one with an index. Turns conditions on it into runs of keys.
struct KeyField {
    /// The runs of keys that a condition narrows the search to.
    struct Part {
        /// The keys.
        var ranges: KeyRanges
        /// Whether the keys are exactly those that match.
        var isExact: Bool
        /// Whether they are those of single keys or values; else ``AccessPath/Shape/all``.
        var shape: AccessPath.Shape
        /// How many single values they are of.
        var values: Int?

        /// What both conditions say together.
        func intersection(_ other: Part) -> Part {
            Part(
                ranges: ranges.intersection(other.ranges), isExact: isExact && other.isExact, shape: min(shape, other.shape),
                values: [values, other.values].compactMap(\.self).min())
        }

        /// What either condition says.
        static func union(_ parts: [Part]) -> Part {
            Part(
                ranges: .union(parts.map(\.ranges)), isExact: parts.allSatisfy(\.isExact),
                shape: parts.map(\.shape).max() ?? .all,
                values: parts.reduce(0) { sum, part in part.values.flatMap { value in sum.map { $0 + value } } })
        }
    }

    /// The position of the field.
    let field: Int
    /// Its index; nil for the primary key.
    let index: Table.Index?
    private let form: KeyForm
    private let keyspace: UInt32

    /// The primary key of a table.
    init(primaryKeyOf table: Table) {
        field = table.keyField
        index = nil
        form = table.keyForm
        keyspace = table.keyspace
    }

    /// A field with an index.
    init(_ index: Table.Index) {
        field = index.field
        self.index = index
        form = index.form
        keyspace = index.keyspace
    }

    /// The first bytes of all its keys.
    var lowest: [UInt8] { withUnsafeBytes(of: keyspace.bigEndian) { Array($0) } }
    /// The first bytes beyond all its keys.
    var highest: [UInt8] { index == nil ? lowest.successor : lowest + [2] }
    /// All its keys.
    var everything: KeyRanges { KeyRanges(KeyRange(lower: lowest, upper: highest)) }
    private var firstValue: [UInt8] { index == nil ? lowest : lowest + [1] }

    /// What a condition says about the keys; nil when it says nothing.
    func part(_ filter: Filter) -> Part? {
        switch filter {
        case .isNull(field: field, let expected):
            let nulls = index == nil ? KeyRanges.none : KeyRanges(KeyRange(prefix: lowest + [0]))
            let values = KeyRanges(KeyRange(lower: firstValue, upper: highest))
            return Part(
                ranges: expected ? nulls : values, isExact: true, shape: expected ? .values : .all, values: expected ? 1 : nil)
        case .compare(field: field, let comparison, let value): return part(comparison, value)
        case .isIn(field: field, let set, isNegated: false):
            let parts = set.values.compactMap { part(.equal, $0) }
            guard parts.count == set.values.count else { return nil }
            return .union(parts)
        case .text(field: field, let pattern, isNegated: false) where pattern.options.isEmpty && form == .bytes:
            switch pattern.match {
            case .hasPrefix: return prefix(pattern.text)
            case .equals: return part(.equal, .string(pattern.text))
            default: return nil
            }
        case .and(let filters):
            let parts = filters.compactMap(part)
            guard let first = parts.first else { return nil }
            var result = parts.dropFirst().reduce(first) { $0.intersection($1) }
            if parts.count < filters.count { result.isExact = false }
            return result
        case .or(let filters):
            let parts = filters.compactMap(part)
            return parts.count == filters.count ? .union(parts) : nil
        default: return nil
        }
    }

    private func part(_ comparison: Comparison, _ value: Value) -> Part? {
        guard let bound = bound(value) else { return nil }
        // The first key of the value and the first key beyond it.
        let from = firstValue + bound.bytes
        let to = index == nil ? from + [0] : from.successor
        let range: KeyRange
        switch comparison {
        case .equal:
            if index == nil, bound.isCut { return Part(ranges: .none, isExact: true, shape: .keys, values: 1) }
            return Part(
                ranges: KeyRanges(KeyRange(lower: from, upper: to)), isExact: !bound.isCut,
                shape: index.map(\.isUnique) ?? true ? .keys : .values, values: 1)
        case .notEqual: return nil
        case .less: range = KeyRange(lower: firstValue, upper: bound.isCut ? to : from)
        case .lessOrEqual: range = KeyRange(lower: firstValue, upper: to)
        case .greater: range = KeyRange(lower: bound.isCut && index != nil ? from : to, upper: highest)
        case .greaterOrEqual: range = KeyRange(lower: bound.isCut && index == nil ? to : from, upper: highest)
        }
        // No primary key is as long as a bound that was cut off, so none is equal to it: such a bound is exact.
        return Part(ranges: KeyRanges(range), isExact: !bound.isCut || index == nil, shape: .all)
    }

    private func prefix(_ text: String) -> Part? {
        var text = text
        guard index != nil else {
            let bytes = Array(text.utf8)
            if bytes.count > Key.maximumLength { return Part(ranges: .none, isExact: true, shape: .all) }
            return Part(ranges: KeyRanges(KeyRange(prefix: firstValue + bytes)), isExact: true, shape: .all)
        }
        return KeyBuilder.with { builder in
            let isCut = text.withUTF8 { builder.appendEscapes(of: UnsafeRawBufferPointer($0), limit: KeyForm.limit) }
            // Everything that begins with a text that does not fit was cut off at the same place.
            let bytes = firstValue + Array(builder.bytes) + (isCut ? [0, 2] : [])
            return Part(ranges: KeyRanges(KeyRange(prefix: bytes)), isExact: !isCut, shape: .all)
        }
    }

    /// A value as it stands in keys, and whether it was cut off; nil when it is not a value of the field.
    private func bound(_ value: Value) -> (bytes: [UInt8], isCut: Bool)? {
        if index == nil, form == .bytes {
            guard case .string(let text) = value else { return nil }
            let bytes = Array(text.utf8.prefix(Key.maximumLength))
            return (bytes, bytes.count < text.utf8.count)
        }
        return KeyBuilder.with { builder in
            builder.append(value, as: form).map { isCut in (Array(builder.bytes), isCut) }
        }
    }
}
