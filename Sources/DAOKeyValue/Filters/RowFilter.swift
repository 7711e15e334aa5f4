import DAOCore

/// A filter compiled for a query. It is evaluated on stored records in place, with the meaning of
/// `Filter.matches` (contract P7).
final class RowFilter {
    private let filter: Filter
    private let root: FilterNode
    /// The number of slots that a record needs for the compiled form.
    private let slotCount: Int

    /// Compiles a filter.
    init(_ filter: Filter, _ table: Table) {
        self.filter = filter
        root = FilterCompiler(table: table).node(filter)
        slotCount = filter.fields.reduce(0) { max($0, table.slot(of: $1) &+ 1) }
    }

    /// Creates the same filter, with rows that count for a race.
    init(_ other: RowFilter, _ race: PathRace) {
        filter = other.filter
        root = RacingNode(other, race)
        slotCount = 0
    }

    /// Whether the reader's current row matches.
    ///
    /// - Throws: `.corruptedValue` when an evaluated value cannot be read.
    @inline(__always) func matches(_ reader: RecordReader) throws -> Bool {
        if reader.view.slotCount < slotCount { return try filter.matches(reader.readValue(at:)) }
        return try root.matches(reader)
    }
}

/// The compiled conditions of a table's partial indexes.
///
/// It is used only by one call, as its reader is.
final class IndexConditions {
    /// The table.
    var table: Table { reader.table }
    private let filters: [RowFilter?]
    private let reader: RecordReader

    /// Compiles the conditions of a table.
    init(_ table: Table) {
        filters = table.indexes.map { index in table.condition(of: index).map { RowFilter($0, table) } }
        reader = RecordReader(table: table, verifies: false) { throw table.lacksDefault }
    }

    /// Whether an index has a row.
    ///
    /// - Parameters:
    ///   - index: An index of the table.
    ///   - record: The bytes of the row, whose checksum was verified.
    ///   - key: The primary key of the row, as in the store's key.
    func meets(_ index: Table.Index, _ record: UnsafeRawBufferPointer, _ key: UnsafeRawBufferPointer) throws -> Bool {
        guard let filter = filters[index.number] else { return true }
        try reader.show(verified: record, key: key)
        return try filter.matches(reader)
    }
}

/// A condition of a compiled filter. The base class matches every row.
class FilterNode {
    /// Whether the reader's current row matches.
    func matches(_ reader: RecordReader) throws -> Bool { true }
}

/// A filter whose rows count for a race. It is a node, so that all other filters have nothing to look at.
private final class RacingNode: FilterNode {
    private let filter: RowFilter
    private let race: PathRace

    init(_ filter: RowFilter, _ race: PathRace) {
        self.filter = filter
        self.race = race
    }

    override func matches(_ reader: RecordReader) throws -> Bool {
        try race.lookedAtRow()
        return try filter.matches(reader)
    }
}

/// Compiles filters to the fastest nodes for the types of their fields.
struct FilterCompiler {
    let table: Table

    /// The node of a filter.
    func node(_ filter: Filter) -> FilterNode {
        switch filter {
        case .and, .or: JoinedNode(steps(of: filter))
        default: leaf(filter)
        }
    }

    /// The conditions of a filter as a list, made from its end, where each condition knows what follows. It has an explicit
    /// stack, as `Filter.matches` does.
    private func steps(of filter: Filter) -> [JoinedNode.Step] {
        // Positions count from the end while the list is made; nil is the condition that was added last.
        let (matches, doesNot) = (-1, -2)
        var steps: [JoinedNode.Step] = []
        var pending: [(filter: Filter, ifMatches: Int?, ifNot: Int?)] = [(filter, matches, doesNot)]
        while let part = pending.popLast() {
            let (ifMatches, ifNot) = (part.ifMatches ?? steps.count - 1, part.ifNot ?? steps.count - 1)
            switch part.filter {
            case .and(let filters) where !filters.isEmpty:
                pending += filters.dropLast().map { ($0, nil, ifNot) }
                pending.append((filters[filters.count - 1], ifMatches, ifNot))
            case .or(let filters) where !filters.isEmpty:
                pending += filters.dropLast().map { ($0, ifMatches, nil) }
                pending.append((filters[filters.count - 1], ifMatches, ifNot))
            default: steps.append(JoinedNode.Step(node: leaf(part.filter), ifMatches: ifMatches, ifNot: ifNot))
            }
        }
        let last = steps.count - 1
        return steps.reversed().map { step in
            JoinedNode.Step(node: step.node, ifMatches: last - step.ifMatches, ifNot: last - step.ifNot)
        }
    }

    private func leaf(_ filter: Filter) -> FilterNode {
        switch filter {
        case .all, .and: FilterNode()
        case .none, .or: NegationNode(FilterNode())
        case .isNull(let field, let expected): NullNode(field, expected)
        case .compare(let field, _, _) where keepsDigits(field), .isIn(let field, _, _) where keepsDigits(field),
            .compareFields(let field, _, _, _) where keepsDigits(field):
            CanonicalNode(filter, filter.comparedContents(of: table.description))
        case .compare(let field, let comparison, let value): compare(field, comparison, value) ?? ReferenceNode(filter)
        case .isIn(let field, let set, let isNegated): isIn(field, set, isNegated) ?? ReferenceNode(filter)
        case .text(let field, let pattern, let isNegated): TextNode(field, pattern, isNegated)
        case .compareFields, .compareFolded, .related, .embedded: ReferenceNode(filter)
        }
    }

    /// Whether a field has JSON that can have another text than a value that equals it.
    private func keepsDigits(_ field: Int) -> Bool {
        let field = table.description.fields[field]
        return field.type.kind == .embedded && field.content?.keepsDigits == true
    }

    private func compare(_ field: Int, _ comparison: Comparison, _ value: Value) -> FilterNode? {
        switch (KeyForm(table.description.fields[field].type.kind), value) {
        case (.signed, .integer(let number)): return SignedNode(field, comparison, number)
        case (.unsigned, .integer(let number)) where number >= 0: return UnsignedNode(field, comparison, UInt64(number))
        case (.unsigned, .unsigned(let number)): return UnsignedNode(field, comparison, number)
        case (.unsigned, .bool(let flag)): return UnsignedNode(field, comparison, flag ? 1 : 0)
        case (.floating, .double(let number)) where !number.isNaN: return FloatingNode(field, comparison, number)
        case (.floating, .date(let date)) where !date.timeIntervalSinceReferenceDate.isNaN:
            return FloatingNode(field, comparison, date.timeIntervalSinceReferenceDate)
        case (.bytes, _), (.uuid, _): return value.plainBytes.map { BytesNode(field, comparison, $0) }
        default: return nil
        }
    }

    private func isIn(_ field: Int, _ set: ValueSet, _ isNegated: Bool) -> FilterNode? {
        switch KeyForm(table.description.fields[field].type.kind) {
        case .signed:
            let numbers = set.values.compactMap { if case .integer(let number) = $0 { number } else { nil } }
            return numbers.count == set.values.count ? SignedSetNode(field, Set(numbers), isNegated) : nil
        case .bytes, .uuid:
            // For these kinds, ascending order of values is ascending order of bytes.
            let members = set.values.compactMap(\.plainBytes)
            return members.count == set.values.count ? BytesSetNode(field, members, isNegated) : nil
        default: return nil
        }
    }
}

extension Value {
    /// The bytes of a text, data or a UUID.
    fileprivate var plainBytes: [UInt8]? {
        switch self {
        case .string(let text): Array(text.utf8)
        case .data(let data): Array(data)
        case .uuid(let uuid): withUnsafeBytes(of: uuid.uuid) { Array($0) }
        default: nil
        }
    }
}
