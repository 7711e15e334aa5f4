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
    /// How many fields of the index restrict the keys, twice for a field with single values.
    var depth: Int
    /// The fields whose conditions restrict the keys.
    var restricted: Set<Int> = []
    /// The number of leading fields of the index that have one value in all rows.
    var fixedCount: Int
    /// Whether the keys are those of rows that indexes lead to, one for each alternative of a condition.
    var isUnion = false

    /// The greatest number of ranges that values of several fields are combined to.
    private static let maximumRangeCount = 1000

    /// Creates the path through the primary key for the conjuncts of a filter.
    init(primaryKeyOf table: Table, _ conjuncts: [Filter]) {
        target = .table
        residual = []
        let field = KeyField(primaryKeyOf: table)
        guard let part = field.part(of: conjuncts, residual: &residual) else {
            (ranges, shape, depth, fixedCount) = (field.everything, .all, 0, 0)
            return
        }
        ranges = part.ranges
        shape = part.shape(of: field)
        depth = shape == .all ? 0 : shape <= .values ? 2 : 1
        if shape != .all { restricted = [table.keyField] }
        fixedCount = part.values?.count == 1 ? 1 : 0
    }

    /// Creates the path through a partial index for the conjuncts of a filter that implies its condition.
    init(_ index: Table.Index, of table: Table, _ conjuncts: [Filter], meeting condition: Filter) {
        let met: [Filter] = if case .and(let parts) = condition { parts } else { [condition] }
        self.init(index, of: table, conjuncts)
        residual.removeAll(where: met.contains)
        restricted.formUnion(condition.fields)
        // All entries of the index are fewer than all rows.
        if shape == .all { (shape, depth) = (.beyond, 1) }
    }

    /// Creates the path through an index on the elements of an array; nil when a conjunct is not that an element has
    /// one value.
    ///
    /// - Parameters:
    ///   - index: The index.
    ///   - conjuncts: The conjuncts of a filter.
    ///   - number: The number of the conjunct that restricts the keys.
    init?(elements index: Table.Index, _ conjuncts: [Filter], _ number: Int) {
        guard let component = index.components.first, case .embedded(let filter, isNegated: false) = conjuncts[number],
            filter.field == component.field, case .anyElement(let type) = filter.part, type.kind == index.elements
        else { return nil }
        var rest: [Filter] = []
        // The element is the only field of the condition on it.
        // With several values, a row could be found several times.
        guard let part = KeyField(component, at: 0).part(of: [filter.condition], residual: &rest), part.values?.count == 1
        else { return nil }
        target = .index(index)
        ranges = part.ranges.prefixed(with: [index.keyspace.prefix])
        residual = conjuncts
        if rest.isEmpty { residual.remove(at: number) }
        (shape, depth, fixedCount) = (.values, 2, 1)
        // Each conjunct leads to other rows, unlike conditions on one value.
        restricted = [~number]
    }

    /// Creates the path through an index for the conjuncts of a filter.
    init(_ index: Table.Index, of table: Table, _ conjuncts: [Filter]) {
        target = .index(index)
        residual = conjuncts
        ranges = .none
        (shape, depth, fixedCount) = (.all, 0, 0)
        var hasNull = false
        var prefixes = [index.keyspace.prefix]
        for (number, component) in index.components.enumerated() {
            let field = KeyField(component)
            var rest: [Filter] = []
            guard let part = field.part(of: residual, residual: &rest) else {
                ranges = field.everything.prefixed(with: prefixes)
                return
            }
            residual = rest
            let partShape = part.shape(of: field)
            if number == 0 { shape = partShape }
            depth += partShape == .all ? 0 : partShape <= .values ? 2 : 1
            if partShape != .all { restricted.insert(component.field) }
            ranges = part.ranges.prefixed(with: prefixes)
            guard let values = part.values, !values.isEmpty else { return }
            hasNull = hasNull || part.hasNull
            if values.count == 1, fixedCount == number { fixedCount += 1 }
            if number == index.components.count - 1 {
                if index.isUnique, !hasNull { shape = .keys }
                if !index.isUnique, values.count <= Self.maximumRangeCount / prefixes.count {
                    restrictKeys(of: table, after: prefixes.flatMap { prefix in values.map { prefix + $0 } })
                }
            } else {
                guard values.count <= Self.maximumRangeCount / prefixes.count else { return }
                prefixes = prefixes.flatMap { prefix in values.map { prefix + $0 } }
            }
        }
    }

    /// Restricts the entries with single values to a range of primary keys, which follow the values. Single keys are sooner
    /// looked up among the rows.
    private mutating func restrictKeys(of table: Table, after prefixes: [[UInt8]]) {
        var rest: [Filter] = []
        let field = KeyField(primaryKeyOf: table)
        guard let part = field.part(of: residual, residual: &rest),
            part.values == nil, part.ranges.ranges.count <= Self.maximumRangeCount / prefixes.count
        else { return }
        ranges = field.ranges(of: part, after: prefixes)
        depth += 1
        restricted.insert(table.keyField)
    }
}

/// A field whose values are in keys: the primary key, or a field of an index. Converts conditions on the field
/// into ranges of the bytes that encode its values.
struct KeyField {
    /// The ranges of encodings for a condition.
    struct Part {
        /// The encodings.
        var ranges: KeyRanges
        /// Whether exactly these encodings match the condition.
        var isExact: Bool
        /// The single encodings, in ascending order; nil for a range.
        var values: [[UInt8]]?
        /// Whether nil is one of the single values.
        var hasNull = false

        /// The conjunction of both conditions.
        func intersection(_ other: Part) -> Part {
            let ranges = ranges.intersection(other.ranges)
            return Part(
                ranges: ranges, isExact: isExact && other.isExact,
                values: (values ?? other.values)?.filter(ranges.contains), hasNull: hasNull && other.hasNull)
        }

        /// The disjunction of the conditions.
        static func union(_ parts: [Part]) -> Part {
            let values = parts.map(\.values)
            return Part(
                ranges: .union(parts.map(\.ranges)), isExact: parts.allSatisfy(\.isExact),
                values: values.contains(nil) ? nil : sorted(values.flatMap { $0 ?? [] }),
                hasNull: parts.contains(where: \.hasNull))
        }

        /// Sorts values and removes repeated ones. The values of a set are mostly in order already.
        private static func sorted(_ values: [[UInt8]]) -> [[UInt8]] {
            var sorted = values
            if zip(values, values.dropFirst()).contains(where: { !$0.lexicographicallyPrecedes($1) }) {
                sorted.sort { $0.lexicographicallyPrecedes($1) }
            }
            var unique: [[UInt8]] = []
            unique.reserveCapacity(sorted.count)
            for value in sorted where unique.last != value { unique.append(value) }
            return unique
        }

        /// The selectivity of the part for a field.
        func shape(of field: KeyField) -> AccessPath.Shape {
            if values != nil { return field.isKey ? .keys : .values }
            if ranges == field.everything { return .all }
            return field.isBounded(ranges) ? .between : .beyond
        }
    }

    /// The position of the field.
    let field: Int
    /// Whether the field is the primary key of its table in the keys of rows.
    let isKey: Bool
    /// What all encodings begin with: the keyspace of the rows, and nothing in an index.
    private let prefix: [UInt8]
    private let form: KeyForm
    private let isAscending: Bool
    /// The maximum number of escaped bytes of a value.
    private let limit: Int

    /// Creates the field of a table's primary key.
    init(primaryKeyOf table: Table) {
        field = table.keyField
        isKey = true
        prefix = table.keyspace.prefix
        form = table.keyForm
        isAscending = true
        limit = KeyForm.limit
    }

    /// Creates a field of an index.
    ///
    /// - Parameters:
    ///   - component: The field.
    ///   - position: Its position in the conditions, where that is another one.
    init(_ component: Table.Index.Component, at position: Int? = nil) {
        field = position ?? component.field
        isKey = false
        prefix = []
        form = component.form
        isAscending = component.isAscending
        limit = component.limit
    }

    /// The range of all its encodings.
    var everything: KeyRanges { KeyRanges(KeyRange(lower: prefix, upper: isKey ? prefix.successor : [3])) }
    /// The range of the values that are not nil; in an index, their encodings begin with 1.
    private var allValues: KeyRange {
        isKey ? KeyRange(prefix: prefix) : KeyRange(lower: [1], upper: [2])
    }

    /// The ranges of a primary key where it follows other bytes, which ascend, in place of the keyspace of the rows.
    func ranges(of part: Part, after prefixes: [[UInt8]]) -> KeyRanges {
        .union(
            prefixes.flatMap { other in
                part.ranges.ranges.map { range in
                    let upper = range.upper.starts(with: prefix) ? other + range.upper.dropFirst(prefix.count) : other.successor
                    return KeyRanges(KeyRange(lower: other + range.lower.dropFirst(prefix.count), upper: upper))
                }
            })
    }

    /// Whether ranges have a lower and an upper bound among the values.
    fileprivate func isBounded(_ ranges: KeyRanges) -> Bool {
        guard let first = ranges.ranges.first?.lower, let last = ranges.ranges.last?.upper else { return true }
        return allValues.lower.lexicographicallyPrecedes(first) && last.lexicographicallyPrecedes(allValues.upper)
    }

    /// Returns the encodings that all conditions allow; nil when none restricts them.
    ///
    /// - Parameters:
    ///   - conjuncts: The conditions.
    ///   - residual: The conditions that have to be checked in each row are appended to it.
    func part(of conjuncts: [Filter], residual: inout [Filter]) -> Part? {
        var part: Part?
        for conjunct in conjuncts {
            let next = self.part(conjunct)
            if let next { part = part?.intersection(next) ?? next }
            if next?.isExact != true { residual.append(conjunct) }
        }
        return part
    }

    /// The ranges of encodings for a condition; nil when the condition does not restrict them. A part of a
    /// condition that is deeper than 20 levels does not.
    private func part(_ filter: Filter, depth: Int = 0) -> Part? {
        guard depth < 20 else { return nil }
        switch filter {
        case .isNull(field: field, let expected):
            guard expected else { return Part(ranges: KeyRanges(allValues), isExact: true) }
            if isKey { return Part(ranges: .none, isExact: true, values: []) }
            return single([isAscending ? 0 : 2], isExact: true, isNull: true)
        case .compare(field: field, let comparison, let value): return part(comparison, value)
        case .isIn(field: field, let set, isNegated: false):
            let parts = set.values.compactMap { part(.equal, $0) }
            guard parts.count == set.values.count else { return nil }
            return .union(parts)
        case .text(field: field, let pattern, isNegated: false) where pattern.options.isEmpty && form == .bytes:
            switch pattern.match {
            case .hasPrefix: return part(prefix: pattern.text)
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
        if comparison == .equal {
            // Every primary key is shorter than a truncated bound.
            if isKey, bound.isCut { return Part(ranges: .none, isExact: true, values: []) }
            return single(encoding(bound.bytes), isExact: !bound.isCut)
        }
        // The first encoding of the value, and the first encoding after the value, in ascending order.
        let from = allValues.lower + bound.bytes
        let to = isKey ? from + [0] : from.successor
        let range: KeyRange
        switch comparison {
        case .equal, .notEqual: return nil
        case .less: range = KeyRange(lower: allValues.lower, upper: bound.isCut ? to : from)
        case .lessOrEqual: range = KeyRange(lower: allValues.lower, upper: to)
        case .greater: range = KeyRange(lower: bound.isCut && !isKey ? from : to, upper: allValues.upper)
        case .greaterOrEqual: range = KeyRange(lower: bound.isCut && isKey ? to : from, upper: allValues.upper)
        }
        // Every primary key is shorter than a truncated bound, so no key equals the bound and the bound is
        // exact.
        return Part(ranges: KeyRanges(directed(range)), isExact: !bound.isCut || isKey)
    }

    private func part(prefix text: String) -> Part? {
        var text = text
        guard !isKey else {
            let bytes = Array(text.utf8)
            if bytes.count > Key.maximumLength { return Part(ranges: .none, isExact: true) }
            return Part(ranges: KeyRanges(KeyRange(prefix: prefix + bytes)), isExact: true)
        }
        return KeyBuilder.with { builder in
            let isCut = text.withUTF8 { builder.appendEscapes(of: UnsafeRawBufferPointer($0), limit: limit) }
            // All values with a prefix that does not fit are truncated at the same position.
            let bytes = Array(builder.bytes) + (isCut ? [0, 2] : [])
            return Part(ranges: KeyRanges(KeyRange(prefix: encoding(bytes))), isExact: !isCut)
        }
    }

    /// The part of one value.
    private func single(_ encoding: [UInt8], isExact: Bool, isNull: Bool = false) -> Part {
        let range = isKey ? KeyRange(lower: encoding, upper: encoding + [0]) : KeyRange(prefix: encoding)
        return Part(ranges: KeyRanges(range), isExact: isExact, values: [encoding], hasNull: isNull)
    }

    /// The encoding of a value, or of the beginning of values.
    private func encoding(_ bytes: [UInt8]) -> [UInt8] { allValues.lower + (isAscending ? bytes : bytes.map(~)) }

    /// A range of values in ascending order, as it is in the field's direction.
    private func directed(_ range: KeyRange) -> KeyRange {
        // A range without values stays as it is: nothing is greater than the greatest number.
        if isAscending || !range.lower.lexicographicallyPrecedes(range.upper) { return range }
        func flipped(_ bytes: [UInt8]) -> [UInt8] { ([bytes[0]] + bytes.dropFirst().map(~)).successor }
        return KeyRange(
            lower: range.upper == allValues.upper ? allValues.lower : flipped(range.upper),
            upper: range.lower == allValues.lower ? allValues.upper : flipped(range.lower))
    }

    /// The encoding of a value in ascending order, without what all values begin with, and whether it is
    /// truncated; nil when it is not a value of the field.
    private func bound(_ value: Value) -> (bytes: [UInt8], isCut: Bool)? {
        if isKey, form == .bytes {
            guard case .string(let text) = value else { return nil }
            let bytes = Array(text.utf8.prefix(Key.maximumLength))
            return (bytes, bytes.count < text.utf8.count)
        }
        return KeyBuilder.with { builder in
            builder.append(value, as: form, limit: limit).map { isCut in (Array(builder.bytes), isCut) }
        }
    }
}
