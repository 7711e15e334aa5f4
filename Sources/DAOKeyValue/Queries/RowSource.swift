import DAOCore
import Foundation

/// Gives the rows of a query one after another to a reader. The base class has none.
///
/// A source reads on one transaction and is used while that runs and nothing is written in it.
class RowSource {
    /// Moves a reader to the next row.
    ///
    /// - Returns: False when there are no more.
    func next(_ reader: RecordReader) throws -> Bool { false }

    /// Moves a reader to the key of the next row; its record need not be there.
    func nextKey(_ reader: RecordReader) throws -> Bool { try next(reader) }
}

/// What a source reads with.
struct RowAccess {
    /// The transaction.
    let transaction: any KeyValueTransaction
    /// The table of the rows.
    let table: Table
    /// What rows have to match beyond having the right keys.
    let filter: RowFilter?

    /// Moves a reader to the row of a key.
    ///
    /// - Parameters:
    ///   - primaryKey: The primary key, the last component of the key of a row.
    ///   - reader: The reader.
    /// - Returns: False when there is no such row.
    func show(_ primaryKey: UnsafeRawBufferPointer, in reader: RecordReader) throws -> Bool {
        try KeyBuilder.with { key in
            guard primaryKey.count + KeyParser.keyspaceLength <= KeyBuilder.capacity else { return false }
            key.append(keyspace: table.keyspace)
            key.append(raw: primaryKey)
            guard let record = try transaction.get(key.bytes) else { return false }
            try reader.show(record, key: primaryKey)
            return true
        }
    }

    /// Whether the row that a reader stands on matches.
    @inline(__always) func matches(_ reader: RecordReader) throws -> Bool {
        guard let filter else { return true }
        return try filter.matches(reader)
    }
}

/// Walks runs of keys in either direction.
///
/// Its keys point into memory of the store, like everything that a transaction returns.
struct RangeWalk {
    private let cursor: KeyValueCursor
    private let ranges: [KeyRange]
    private let isAscending: Bool
    private var position = -1
    private var isInside = false
    /// Where the run ends in the direction of the walk.
    private var bound: [UInt8] = []

    init(_ ranges: KeyRanges, isAscending: Bool, _ transaction: any KeyValueTransaction) throws {
        self.ranges = isAscending ? ranges.ranges : ranges.ranges.reversed()
        self.isAscending = isAscending
        cursor = try transaction.cursor()
    }

    /// The key it stands on.
    @inline(__always) var key: UnsafeRawBufferPointer { cursor.key }
    /// The value of the key it stands on.
    @inline(__always) var value: UnsafeRawBufferPointer { cursor.value }
    /// The run it is in.
    var range: KeyRange { ranges[position] }

    /// Moves to the next key in its direction.
    ///
    /// - Returns: False when there are no more.
    @inline(__always) mutating func next() throws -> Bool {
        if isInside, try isAscending ? cursor.next() : cursor.previous() {
            if isWithin() { return true }
        }
        return try nextRange()
    }

    /// Moves to the first entry of the same run that is not before some bytes, and goes on from there.
    mutating func seek(_ bytes: [UInt8]) throws -> Bool {
        isInside = try bytes.withUnsafeBytes(cursor.seek) && cursor.key.order(against: range.upper) < 0
        return isInside
    }

    /// Moves to the last entry of the same run that is before some bytes, and goes on from there.
    mutating func seekBefore(_ bytes: [UInt8]) throws -> Bool {
        isInside = try bytes.withUnsafeBytes(cursor.seekBefore) && cursor.key.order(against: range.lower) >= 0
        return isInside
    }

    /// Moves to the next greater entry of the same run, whatever the direction.
    mutating func stepUp() throws -> Bool {
        isInside = try cursor.next() && cursor.key.order(against: range.upper) < 0
        return isInside
    }

    /// Moves to the next smaller entry of the same run, whatever the direction.
    mutating func stepDown() throws -> Bool {
        isInside = try cursor.previous() && cursor.key.order(against: range.lower) >= 0
        return isInside
    }

    private mutating func nextRange() throws -> Bool {
        while position + 1 < ranges.count {
            position += 1
            let range = ranges[position]
            bound = isAscending ? range.upper : range.lower
            isInside = try isAscending ? range.lower.withUnsafeBytes(cursor.seek) : range.upper.withUnsafeBytes(cursor.seekBefore)
            if isInside, isWithin() { return true }
        }
        isInside = false
        return false
    }

    @inline(__always) private func isWithin() -> Bool {
        let order = cursor.key.order(against: bound)
        return isAscending ? order < 0 : order >= 0
    }
}

extension UnsafeRawBufferPointer {
    /// Bytes as unsigned numbers, a prefix before what it begins.
    @inline(__always) func order(against other: [UInt8]) -> Int { other.withUnsafeBytes { order(against: $0) } }

    /// Whether the bytes begin with others.
    @inline(__always) func begins(with prefix: [UInt8]) -> Bool {
        count >= prefix.count && UnsafeRawBufferPointer(rebasing: self[..<prefix.count]).order(against: prefix) == 0
    }

    /// The bytes without the first ones.
    @inline(__always) func from(_ offset: Int) -> UnsafeRawBufferPointer {
        offset >= count ? UnsafeRawBufferPointer(start: nil, count: 0) : UnsafeRawBufferPointer(rebasing: self[offset...])
    }
}

/// The rows of a table in the order of their keys, or against it.
final class TableSource: RowSource {
    @exclusivity(unchecked) private var walk: RangeWalk
    private let access: RowAccess

    init(_ access: RowAccess, _ ranges: KeyRanges, isAscending: Bool) throws {
        self.access = access
        walk = try RangeWalk(ranges, isAscending: isAscending, access.transaction)
    }

    override func next(_ reader: RecordReader) throws -> Bool {
        while try walk.next() {
            try reader.show(walk.value, key: walk.key.from(KeyParser.keyspaceLength))
            if try access.matches(reader) { return true }
        }
        return false
    }

    override func nextKey(_ reader: RecordReader) throws -> Bool {
        guard access.filter == nil else { return try next(reader) }
        guard try walk.next() else { return false }
        reader.show(key: walk.key.from(KeyParser.keyspaceLength))
        return true
    }
}

/// The rows that the entries of an index lead to, in the order of the entries, or against it.
final class IndexSource: RowSource {
    @exclusivity(unchecked) private var walk: RangeWalk
    private let access: RowAccess
    private let index: Table.Index

    init(_ access: RowAccess, _ index: Table.Index, _ ranges: KeyRanges, isAscending: Bool) throws {
        self.access = access
        self.index = index
        walk = try RangeWalk(ranges, isAscending: isAscending, access.transaction)
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
        reader.show(key: key)
        return true
    }

    /// The primary key in the next entry.
    private func nextEntry() throws -> UnsafeRawBufferPointer? {
        guard try walk.next() else { return nil }
        guard let value = KeyParser.indexedValue(in: walk.key, form: index.form) else { throw access.table.corruptedIndex(index) }
        return walk.key.from(value.end)
    }
}
