import DAOCore
import Foundation

/// Rows in an order that begins with the field of an index, walked lazily: ascending or descending, ties as the order says.
///
/// The entries of equal values are a group. A group that has to be sorted (the order goes on with other fields, or its values were cut
/// off in the index) is collected and sorted by the records; any other is walked. Going down, equal values still come in
/// ascending order of their keys, so each group is found at its end and walked from its beginning.
final class IndexOrderSource: RowSource {
    @exclusivity(unchecked) private var walk: RangeWalk
    private let access: RowAccess
    private let index: Table.Index
    private let isAscending: Bool
    /// Whether keys go the same way as values.
    private let isKeyParallel: Bool
    /// Whether every group has to be sorted.
    private let sortsGroups: Bool
    private let sorted: Candidates

    private enum State {
        /// Before the next entry.
        case between
        /// On the entry that begins the next group in the direction of the walk.
        case atGroup
        /// Giving out a group that was collected.
        case inSortedGroup
        /// Walking a group up while the groups are walked down.
        case inReversedGroup
        /// Behind the last entry.
        case atEnd
    }
    @exclusivity(unchecked) private var state = State.between
    /// What the entries of the group that is walked begin with.
    @exclusivity(unchecked) private var group: [UInt8] = []

    /// Creates a source.
    ///
    /// - Parameters:
    ///   - access: What to read rows with.
    ///   - index: The index.
    ///   - ranges: Which of its entries.
    ///   - terms: The order; the field of the index is its first term.
    ///   - wanted: How many rows will be asked for at most.
    init(_ access: RowAccess, _ index: Table.Index, _ ranges: KeyRanges, order terms: [SortTerm], wanted: Int) throws {
        self.access = access
        self.index = index
        isAscending = terms.first?.isAscending ?? true
        isKeyParallel = terms.count == 2 && terms[1].isAscending == isAscending
        sortsGroups = terms.count > 2 || (isAscending && !isKeyParallel)
        sorted = Candidates(access, order: terms, wanted: wanted)
        walk = try RangeWalk(ranges, isAscending: isAscending, access.transaction)
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

    /// Moves a reader to the key of the next entry; in a sorted group to its row.
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
                if sortsGroups || value.isCut {
                    try collectGroup(value, reader)
                    continue
                }
                if isKeyParallel {
                    reader.show(key: walk.key.from(value.end))
                    state = .between
                } else {
                    try beginReversedGroup(value, reader)
                }
                return true
            case .inSortedGroup:
                if try sorted.next(reader) { return true }
                sorted.removeAll()
                try leaveGroup()
            case .inReversedGroup:
                if try walk.stepUp(), walk.key.begins(with: group) {
                    reader.show(key: walk.key.from(group.count))
                    return true
                }
                try leaveGroup()
            case .atEnd: return false
            }
        }
    }

    private func indexedValue() throws -> KeyParser.IndexedValue {
        guard let value = KeyParser.indexedValue(in: walk.key, form: index.form) else { throw access.table.corruptedIndex(index) }
        return value
    }

    /// Remembers the group that the walk stands in.
    private func enterGroup(_ value: KeyParser.IndexedValue) {
        group.removeAll(keepingCapacity: true)
        group.append(contentsOf: walk.key[..<value.end])
    }

    /// Collects and sorts the group that the walk stands in.
    private func collectGroup(_ value: KeyParser.IndexedValue, _ reader: RecordReader) throws {
        enterGroup(value)
        var isThere = try walk.seek(firstOfGroup)
        while isThere, walk.key.begins(with: group) {
            guard try access.show(walk.key.from(group.count), in: reader) else { throw access.table.corruptedIndex(index) }
            if try access.matches(reader) { try sorted.add(reader, hasRecord: true) }
            isThere = try walk.stepUp()
        }
        sorted.sort()
        state = .inSortedGroup
    }

    /// Goes from the last entry of a group to its first, which the reader is moved to.
    private func beginReversedGroup(_ value: KeyParser.IndexedValue, _ reader: RecordReader) throws {
        enterGroup(value)
        let last = walk.key
        let isThere = try walk.stepDown()
        if isThere, walk.key.begins(with: group) {
            _ = try walk.seek(firstOfGroup)
            reader.show(key: walk.key.from(group.count))
            state = .inReversedGroup
        } else {
            // A group of one, which is the usual one for dates: the walk is at the next group already.
            reader.show(key: last.from(group.count))
            state = isThere ? .atGroup : .between
        }
    }

    /// Moves to the group after the one that was walked, in the direction of the walk.
    private func leaveGroup() throws {
        let isThere = try isAscending ? walk.seek(group.successor) : walk.seekBefore(group)
        state = isThere ? .atGroup : .between
    }

    /// Where the group begins, or the run of keys if that begins inside of the group.
    private var firstOfGroup: [UInt8] {
        let lower = walk.range.lower
        return lower.lexicographicallyPrecedes(group) ? group : lower
    }
}
