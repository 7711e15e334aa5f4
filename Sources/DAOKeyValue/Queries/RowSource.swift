import DAOCore

/// Moves a reader through the rows of a query. The base class has no rows.
///
/// A source reads on one transaction. It is valid while the transaction runs and until the next write in it.
class RowSource {
    /// Moves a reader to the next row.
    ///
    /// - Returns: False when there are no more.
    func next(_ reader: RecordReader) throws -> Bool { false }

    /// Moves a reader to the key of the next row, possibly without its record.
    func nextKey(_ reader: RecordReader) throws -> Bool { try next(reader) }
}

/// The access of a source to rows.
struct RowAccess {
    /// The transaction.
    let transaction: any KeyValueTransaction
    /// The table of the rows.
    let table: Table
    /// The remaining filter, which rows have to match in addition to their keys.
    let filter: RowFilter?
    /// Whether checksums are verified.
    let verifies: Bool
    // The same filter: a row needs no reference to it.
    private let matching: Unmanaged<RowFilter>?

    init(transaction: any KeyValueTransaction, table: Table, filter: RowFilter?, verifies: Bool) {
        self.transaction = transaction
        self.table = table
        self.filter = filter
        self.verifies = verifies
        matching = filter.map(Unmanaged.passUnretained)
    }

    /// Moves a reader to the row of a key.
    ///
    /// - Parameters:
    ///   - primaryKey: The primary key, the last component of the key of a row.
    ///   - reader: The reader.
    /// - Returns: False when the row does not exist.
    func show(_ primaryKey: UnsafeRawBufferPointer, in reader: RecordReader) throws -> Bool {
        try KeyBuilder.with { key in
            guard primaryKey.count + table.keyspace.length <= KeyBuilder.capacity else { return false }
            key.append(table.keyspace)
            key.append(raw: primaryKey)
            guard let record = try transaction.get(key.bytes) else { return false }
            try reader.show(record, key: primaryKey)
            return true
        }
    }

    /// The check of an index's entries; nil when checksums are not verified.
    func check(_ index: Table.Index) -> EntryCheck? { EntryCheck(index, of: table, verifies: verifies) }

    /// Whether the reader's current row matches.
    @inline(__always) func matches(_ reader: RecordReader) throws -> Bool {
        guard let matching else { return true }
        return try matching._withUnsafeGuaranteedRef { try $0.matches(reader) }
    }
}

/// Iterates over ranges of keys in either direction.
///
/// Its keys point into the store's memory, like all results of a transaction.
struct RangeWalk {
    private let cursor: KeyValueCursor
    private let ranges: [KeyRange]
    private let isAscending: Bool
    /// Verifies the entries of an index; nil for rows, and without checksums.
    private let check: EntryCheck?
    private let isChecked: Bool
    private var position = -1
    private var isInside = false
    /// The number of moves, for the question whether the call was cancelled.
    private var steps: UInt32 = 0
    /// The end of the current range in the direction of the walk.
    private var bound: [UInt8] = []
    /// The first bytes of the end, as a number, which decide most comparisons.
    private var boundWord: UInt64 = 0

    /// Creates a walk before the first key.
    ///
    /// - Parameters:
    ///   - ranges: The ranges of keys.
    ///   - isAscending: The direction.
    ///   - transaction: The transaction to read with.
    ///   - check: Verifies every entry and the neighbours of the ranges; nil for no verification.
    init(_ ranges: KeyRanges, isAscending: Bool, _ transaction: any KeyValueTransaction, _ check: EntryCheck? = nil) throws {
        self.ranges = isAscending ? ranges.ranges : ranges.ranges.reversed()
        self.isAscending = isAscending
        self.check = check
        isChecked = check != nil
        cursor = try transaction.cursor()
    }

    /// Creates an ascending walk before the first key of a path. The entries of an index are verified.
    init(_ path: AccessPath, of table: Table, _ transaction: any KeyValueTransaction, verifies: Bool) throws {
        var check: EntryCheck?
        if case .index(let index) = path.target { check = EntryCheck(index, of: table, verifies: verifies) }
        try self.init(path.ranges, isAscending: true, transaction, check)
    }

    /// The current key.
    @inline(__always) var key: UnsafeRawBufferPointer { cursor.key }
    /// The value of the current key.
    @inline(__always) var value: UnsafeRawBufferPointer { cursor.value }
    /// The current range.
    var range: KeyRange { ranges[position] }

    /// Moves to the next key in its direction.
    ///
    /// - Returns: False when there are no more.
    @inline(__always) mutating func next() throws -> Bool {
        steps &+= 1
        if steps & 255 == 0 { try CallCancellation.check() }
        if isInside, try isAscending ? cursor.next() : cursor.previous() {
            if try verified(isWithin()) { return true }
        }
        return try nextRange()
    }

    /// Moves to the first entry of the current range that is not less than the given bytes, and continues
    /// from there.
    mutating func seek(_ bytes: [UInt8]) throws -> Bool {
        isInside = try bytes.withUnsafeBytes(cursor.seek) && verified(cursor.key.order(against: range.upper) < 0)
        return isInside
    }

    /// Moves to the last entry of the current range that is less than the given bytes, and continues from
    /// there.
    mutating func seekBefore(_ bytes: [UInt8]) throws -> Bool {
        isInside = try bytes.withUnsafeBytes(cursor.seekBefore) && verified(cursor.key.order(against: range.lower) >= 0)
        return isInside
    }

    /// Moves to the next greater entry of the current range, regardless of the direction.
    mutating func stepUp() throws -> Bool {
        isInside = try cursor.next() && verified(cursor.key.order(against: range.upper) < 0)
        return isInside
    }

    /// Moves to the next smaller entry of the current range, regardless of the direction.
    mutating func stepDown() throws -> Bool {
        isInside = try cursor.previous() && verified(cursor.key.order(against: range.lower) >= 0)
        return isInside
    }

    private mutating func nextRange() throws -> Bool {
        while position + 1 < ranges.count {
            position += 1
            let range = ranges[position]
            bound = isAscending ? range.upper : range.lower
            boundWord = bound.prefix(8).reduce(0) { $0 << 8 | UInt64($1) } << UInt64(64 - 8 * min(bound.count, 8))
            isInside = try begin(at: isAscending ? range.lower : range.upper)
            if isInside, try verified(isWithin()) { return true }
        }
        isInside = false
        return false
    }

    /// Moves to the first entry after the beginning of a range, in the direction of the walk.
    private func begin(at bytes: [UInt8]) throws -> Bool {
        try bytes.withUnsafeBytes { bytes in
            guard let check else { return try isAscending ? cursor.seek(bytes) : cursor.seekBefore(bytes) }
            return try isAscending ? check.seek(cursor, bytes) : check.seekBefore(cursor, bytes)
        }
    }

    /// Verifies the current entry, and returns whether it is in the current range, as given.
    @inline(__always) private func verified(_ isWithin: Bool) throws -> Bool {
        if isChecked, !isWithin || !EntryFormat.isValue(value, of: key) { try verify(isWithin) }
        return isWithin
    }

    // Apart: the check is too large to be copied for each entry.
    @inline(never) private func verify(_ isWithin: Bool) throws {
        if let check { try isWithin ? check.verify(key, value) : check.verifyNeighbour(cursor) }
    }

    @inline(__always) private func isWithin() -> Bool {
        let key = cursor.key
        if key.count >= 8 {
            let word = UInt64(bigEndian: key.loadUnaligned(as: UInt64.self))
            if word != boundWord { return (word < boundWord) == isAscending }
        }
        return (key.order(against: bound) < 0) == isAscending
    }
}

extension UnsafeRawBufferPointer {
    /// Compares unsigned bytes; a prefix is less than longer bytes.
    @inline(__always) func order(against other: [UInt8]) -> Int { other.withUnsafeBytes { order(against: $0) } }

    /// Whether the bytes have a prefix.
    @inline(__always) func begins(with prefix: [UInt8]) -> Bool {
        count >= prefix.count && UnsafeRawBufferPointer(rebasing: self[..<prefix.count]).order(against: prefix) == 0
    }

    /// The bytes without the first bytes.
    @inline(__always) func from(_ offset: Int) -> UnsafeRawBufferPointer {
        offset >= count ? UnsafeRawBufferPointer(start: nil, count: 0) : UnsafeRawBufferPointer(rebasing: self[offset...])
    }
}

/// The rows of a table in ascending or descending order of their keys.
final class TableSource: RowSource {
    @exclusivity(unchecked) private var walk: RangeWalk
    private let access: RowAccess

    init(_ access: RowAccess, _ ranges: KeyRanges, isAscending: Bool) throws {
        self.access = access
        walk = try RangeWalk(ranges, isAscending: isAscending, access.transaction)
    }

    override func next(_ reader: RecordReader) throws -> Bool {
        while try walk.next() {
            try reader.show(walk.value, key: walk.key.from(access.table.keyspace.length))
            if try access.matches(reader) { return true }
        }
        return false
    }

    override func nextKey(_ reader: RecordReader) throws -> Bool {
        guard access.filter == nil else { return try next(reader) }
        guard try walk.next() else { return false }
        reader.show(key: walk.key.from(access.table.keyspace.length))
        return true
    }
}

/// The rows of the entries of an index, in ascending order of the entries.
final class IndexSource: RowSource {
    /// Nil when the entries are known.
    @exclusivity(unchecked) private var walk: RangeWalk?
    @exclusivity(unchecked) private var known: ArraySlice<UnsafeRawBufferPointer>
    @exclusivity(unchecked) private var entry = UnsafeRawBufferPointer(start: nil, count: 0)
    private let access: RowAccess
    private let index: Table.Index

    /// Creates a source.
    ///
    /// - Parameters:
    ///   - access: The access to rows.
    ///   - index: The index.
    ///   - path: The path with the index.
    ///   - entries: All entries of the path, verified; nil when they have to be looked for.
    init(_ access: RowAccess, _ index: Table.Index, _ path: AccessPath, _ entries: [UnsafeRawBufferPointer]?) throws {
        self.access = access
        self.index = index
        known = entries?[...] ?? []
        if entries == nil { walk = try RangeWalk(path, of: access.table, access.transaction, verifies: access.verifies) }
    }

    override func next(_ reader: RecordReader) throws -> Bool {
        while let key = try nextEntry() {
            guard try access.show(key, in: reader) else { throw access.table.corruptedIndex(index) }
            if try access.matches(reader) { return true }
        }
        return false
    }

    override func nextKey(_ reader: RecordReader) throws -> Bool {
        guard access.filter == nil else { return try next(reader) }
        guard let key = try nextEntry() else { return false }
        reader.show(entry: entry, key: key)
        return true
    }

    /// The primary key of the next entry.
    private func nextEntry() throws -> UnsafeRawBufferPointer? {
        if let isThere = try walk?.next() {
            guard isThere, let key = walk?.key else { return nil }
            entry = key
        } else {
            guard let next = known.popFirst() else { return nil }
            entry = next
        }
        guard let offset = index.keyOffset(in: entry) else { throw access.table.corruptedIndex(index) }
        return entry.from(offset)
    }
}
