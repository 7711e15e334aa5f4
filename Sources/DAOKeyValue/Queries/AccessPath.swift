import DAOCore

/// An access path to the rows of a query: ranges of keys in the table or in an index, and the remaining
/// filter for every row.
struct AccessPath: Sendable {
    /// Where the keys are.
    enum Target: Sendable, Hashable {
        /// In the rows themselves.
        case table
        /// In an index.
        case index(Table.Index)
    }

    /// The selectivity of a path, most selective first.
    enum Shape: Int, Sendable, Comparable {
        /// Single keys of the table or of a unique index.
        case keys
        /// Single values.
        case values
        /// A range with two bounds.
        case between
        /// A range with one bound.
        case beyond
        /// All keys.
        case all

        static func < (left: Shape, right: Shape) -> Bool { left.rawValue < right.rawValue }
    }

    /// Where the keys are.
    var target: Target
    /// The ranges of keys.
    var ranges: KeyRanges
    /// The remaining filter, as a conjunction.
    var residual: [Filter]
    /// The selectivity.
    var shape: Shape
    /// Whether all rows have the same value in the field.
    var isOneValue: Bool

    /// Creates the path through a field for the conjuncts of a filter.
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

/// A field whose values are in keys: the primary key, or an indexed field. Converts conditions on the field
/// into ranges of keys.
struct KeyField {
    /// The ranges of keys for a condition.
    struct Part {
        /// The keys.
        var ranges: KeyRanges
        /// Whether exactly these keys match the condition.
        var isExact: Bool
        /// The shape for single keys or values; otherwise ``AccessPath/Shape/all``.
        var shape: AccessPath.Shape
        /// The number of single values.
        var values: Int?

        /// The conjunction of both conditions.
        func intersection(_ other: Part) -> Part {
            Part(
                ranges: ranges.intersection(other.ranges), isExact: isExact && other.isExact, shape: min(shape, other.shape),
                values: [values, other.values].compactMap(\.self).min())
        }

        /// The disjunction of the conditions.
        static func union(_ parts: [Part]) -> Part {
            Part(
                ranges: .union(parts.map(\.ranges)), isExact: parts.allSatisfy(\.isExact),
                shape: parts.map(\.shape).max() ?? .all,
                values: parts.reduce(0) { sum, part in part.values.flatMap { value in sum.map { $0 + value } } })
        }
    }

    /// The position of the field.
    let field: Int
    /// The index of the field; nil for the primary key.
    let index: Table.Index?
    private let form: KeyForm
    private let keyspace: Keyspace

    /// Creates the field of a table's primary key.
    init(primaryKeyOf table: Table) {
        field = table.keyField
        index = nil
        form = table.keyForm
        keyspace = table.keyspace
    }

    /// Creates an indexed field.
    init(_ index: Table.Index) {
        field = index.field
        self.index = index
        form = index.form
        keyspace = index.keyspace
    }

    /// The common prefix of all its keys.
    var lowest: [UInt8] { keyspace.prefix }
    /// The upper bound of all its keys, exclusive.
    var highest: [UInt8] { index == nil ? lowest.successor : lowest + [2] }
    /// The range of all its keys.
    var everything: KeyRanges { KeyRanges(KeyRange(lower: lowest, upper: highest)) }
    private var firstValue: [UInt8] { index == nil ? lowest : lowest + [1] }

    /// The ranges of keys for a condition; nil when the condition does not restrict the keys. A part of a
    /// condition that is deeper than 20 levels does not.
    func part(_ filter: Filter, depth: Int = 0) -> Part? {
        guard depth < 20 else { return nil }
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
            let parts = filters.compactMap { part($0, depth: depth + 1) }
            guard let first = parts.first else { return nil }
            var result = parts.dropFirst().reduce(first) { $0.intersection($1) }
            if parts.count < filters.count { result.isExact = false }
            return result
        case .or(let filters):
            let parts = filters.compactMap { part($0, depth: depth + 1) }
            return parts.count == filters.count ? .union(parts) : nil
        default: return nil
        }
    }

    private func part(_ comparison: Comparison, _ value: Value) -> Part? {
        guard let bound = bound(value) else { return nil }
        // The first key of the value, and the first key after the value.
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
        // Every primary key is shorter than a truncated bound, so no key equals the bound and the bound is
        // exact.
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
            // All values with a prefix that does not fit are truncated at the same position.
            let bytes = firstValue + Array(builder.bytes) + (isCut ? [0, 2] : [])
            return Part(ranges: KeyRanges(KeyRange(prefix: bytes)), isExact: !isCut, shape: .all)
        }
    }

    /// The encoding of a value in keys, and whether it is truncated; nil when it is not a value of the field.
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
