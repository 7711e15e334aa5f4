import DAOCore

/// Rows in an order that begins with fields of an index, read lazily: ascending or descending, with ties in the
/// given order; see ``IndexOrder``.
///
/// The entries of equal values are a group. A group that has to be sorted (the order has more fields, or the
/// values are truncated in the index) is collected and sorted by its records. Every other group is read in
/// index order. Against the order of the entries, equal values still come in ascending order of their keys, so
/// each group is found at its end and read from its beginning.
final class IndexOrderSource: RowSource {
    @exclusivity(unchecked) private var walk: RangeWalk
    private let access: RowAccess
    private let index: Table.Index
    private let order: IndexOrder
    private let sorted: Candidates

    private enum State {
        /// The walk is before the next entry.
        case between
        /// The walk is on the first entry of the next group, in the direction of the walk.
        case atGroup
        /// A collected group is being returned.
        case inSortedGroup
        /// A group is read in ascending order while the groups are read in descending order.
        case inReversedGroup
        /// The walk is after the last entry.
        case atEnd
    }
    @exclusivity(unchecked) private var state = State.between
    /// Where the walk is while a collected group is returned.
    @exclusivity(unchecked) private var stateAfterGroup = State.atEnd
    /// The common prefix of the entries of the current group.
    @exclusivity(unchecked) private var group: [UInt8] = []

    /// Creates a source.
    ///
    /// - Parameters:
    ///   - access: The access to rows.
    ///   - index: The index.
    ///   - ranges: The ranges of entries.
    ///   - order: How the entries are read.
    ///   - terms: The order of the rows.
    ///   - wanted: The maximum number of requested rows.
    init(
        _ access: RowAccess, _ index: Table.Index, _ ranges: KeyRanges, _ order: IndexOrder, terms: [SortTerm], wanted: Int
    ) throws {
        self.access = access
        self.index = index
        self.order = order
        sorted = Candidates(access, order: terms, wanted: wanted)
        walk = try RangeWalk(ranges, isAscending: order.isForward, access.transaction, access.check(index))
    }

    override func next(_ reader: RecordReader) throws -> Bool {
        while try advance(reader) {
            if state == .inSortedGroup { return true }
            guard try access.show(reader.key, in: reader) else { throw access.table.corruptedIndex(index) }
            if try access.matches(reader) { return true }
        }
        return false
    }

    override func nextKey(_ reader: RecordReader) throws -> Bool {
        access.filter == nil ? try advance(reader) : try next(reader)
    }

    /// Moves a reader to the key of the next entry; in a sorted group, to its row.
    private func advance(_ reader: RecordReader) throws -> Bool {
        while true {
            switch state {
            case .between:
                guard try walk.next() else {
                    state = .atEnd
                    return false
                }
                state = .atGroup
            case .atGroup:
                let value = try indexedValue()
                if order.sortsGroups || value.isCut {
                    try collectGroup(value, reader)
                    continue
                }
                if order.isKeyParallel {
                    reader.show(entry: walk.key, key: try primaryKey())
                    state = .between
                } else {
                    try beginReversedGroup(value, reader)
                }
                return true
            case .inSortedGroup:
                if try sorted.next(reader) { return true }
                sorted.removeAll()
                state = stateAfterGroup
            case .inReversedGroup:
                if try walk.stepUp(), walk.key.begins(with: group) {
                    reader.show(entry: walk.key, key: walk.key.from(group.count))
                    return true
                }
                // The group before it.
                state = try walk.seekBefore(group) ? .atGroup : .between
            case .atEnd: return false
            }
        }
    }

    private func indexedValue() throws -> KeyParser.IndexedValue {
        guard let value = index.values(in: walk.key, fixed: order.fixedCount, count: order.groupCount) else {
            throw access.table.corruptedIndex(index)
        }
        return value
    }

    /// The primary key of the current entry of the walk.
    private func primaryKey() throws -> UnsafeRawBufferPointer {
        guard let offset = index.keyOffset(in: walk.key) else { throw access.table.corruptedIndex(index) }
        return walk.key.from(offset)
    }

    /// Saves the current group of the walk.
    private func enterGroup(_ value: KeyParser.IndexedValue) {
        group.removeAll(keepingCapacity: true)
        group.append(contentsOf: walk.key[..<value.end])
    }

    /// Collects and sorts the current group of the walk, which can have entries in several ranges.
    private func collectGroup(_ value: KeyParser.IndexedValue, _ reader: RecordReader) throws {
        enterGroup(value)
        var isThere = true
        while isThere, walk.key.begins(with: group) {
            guard try access.show(primaryKey(), in: reader) else { throw access.table.corruptedIndex(index) }
            if try access.matches(reader) { try sorted.add(reader, hasRecord: true) }
            isThere = try walk.next()
        }
        sorted.sort()
        (state, stateAfterGroup) = (.inSortedGroup, isThere ? .atGroup : .atEnd)
    }

    /// Moves from the last entry of a group to the first, and moves the reader there.
    private func beginReversedGroup(_ value: KeyParser.IndexedValue, _ reader: RecordReader) throws {
        enterGroup(value)
        let last = walk.key
        let isThere = try walk.stepDown()
        if isThere, walk.key.begins(with: group) {
            _ = try walk.seek(firstOfGroup)
            reader.show(entry: walk.key, key: walk.key.from(group.count))
            state = .inReversedGroup
        } else {
            // A group with one entry, which is common for dates: the walk is already at the next group.
            reader.show(entry: last, key: last.from(group.count))
            state = isThere ? .atGroup : .between
        }
    }

    /// The beginning of the group, or of the key range if the range begins inside the group.
    private var firstOfGroup: [UInt8] {
        let lower = walk.range.lower
        return lower.lexicographicallyPrecedes(group) ? group : lower
    }
}
