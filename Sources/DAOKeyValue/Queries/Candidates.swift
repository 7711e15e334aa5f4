import DAOCore
import Foundation

/// Collects rows that are found in no useful order, sorts them by keys made from the records, and keeps only
/// the requested number.
///
/// Records are kept as pointers into the store's memory; they are decoded only when they are returned.
final class Candidates: RowSource {
    private struct Candidate {
        /// The position of the primary key and the sort key in the arena, one after the other.
        var offset: Int
        var keyLength: Int
        var sortLength: Int
        /// The record, if it was read.
        var record: UnsafeRawBufferPointer?
    }

    /// The element that the sort moves.
    private struct Rank {
        /// The first bytes of the sort key, or of the primary key, which decide most comparisons.
        var prefix: UInt64
        /// The index of the candidate.
        var index: Int
    }

    /// Up to how many ranks are sorted by ``sortFew()``.
    private static let fewRanks = 256

    private let access: RowAccess
    /// The order before the primary key.
    private let parts: [SortKeyPart]
    private let isKeyAscending: Bool
    private let wanted: Int
    private let arena = ByteArena()
    @exclusivity(unchecked) private var candidates: [Candidate] = []
    @exclusivity(unchecked) private var ranks: [Rank] = []
    /// The last of the requested rows found so far; nil while fewer were found.
    @exclusivity(unchecked) private var threshold: Rank?
    @exclusivity(unchecked) private var position = 0

    /// Creates an empty collection.
    ///
    /// - Parameters:
    ///   - access: The access to rows.
    ///   - terms: The order; its last term is the primary key.
    ///   - wanted: The number of requested rows; at least one.
    ///   - expected: How many rows may be collected.
    init(_ access: RowAccess, order terms: [SortTerm], wanted: Int, expected: Int = 0) {
        self.access = access
        candidates.reserveCapacity(expected)
        ranks.reserveCapacity(expected)
        parts = terms.compactMap { SortKeyPart($0, of: access.table) }
        isKeyAscending = terms.last?.isAscending ?? true
        self.wanted = wanted
    }

    /// Collects the rows of a source and sorts them.
    func collect(_ source: RowSource, _ reader: RecordReader) throws {
        // The primary key is already in the keys.
        if !parts.isEmpty || access.filter != nil {
            while try source.next(reader) { try add(reader, hasRecord: true) }
        } else {
            while try source.nextKey(reader) { try add(reader, hasRecord: false) }
        }
        sort()
    }

    /// Adds the reader's current row.
    func add(_ reader: RecordReader, hasRecord: Bool) throws {
        let offset = arena.count
        arena.append(reader.key)
        let keyLength = arena.count - offset
        for part in parts { try part.append(of: reader, to: arena) }
        let start = offset + keyLength
        candidates.append(
            Candidate(
                offset: offset, keyLength: keyLength, sortLength: arena.count - start, record: hasRecord ? reader.record : nil))
        var first = prefix(parts.isEmpty ? offset..<start : start..<arena.count)
        if parts.isEmpty, !isKeyAscending { first = ~first }
        let rank = Rank(prefix: first, index: candidates.count - 1)
        if let threshold, !isBefore(rank, threshold) {
            candidates.removeLast()
            arena.truncate(to: offset)
            return
        }
        ranks.append(rank)
        if ranks.count >= 1024, ranks.count / 2 >= wanted { trim() }
    }

    /// Sorts the collected rows. They are returned from the first row on.
    func sort() {
        if ranks.count <= Self.fewRanks { sortFew() } else { ranks.sort { isBefore($0, $1) } }
        if ranks.count > wanted { ranks.removeLast(ranks.count - wanted) }
        position = 0
    }

    /// Sorts by inserting each rank at its place, which is looked for by halves. For 100 ranks this takes half the time of
    /// the standard library's sort, which moves them one by one.
    private func sortFew() {
        ranks.withUnsafeMutableBufferPointer { ranks in
            guard let first = ranks.baseAddress else { return }
            for end in 1..<max(ranks.count, 1) {
                let rank = first[end]
                var (low, high) = (0, end)
                while low < high {
                    let middle = (low + high) / 2
                    if isBefore(rank, first[middle]) { high = middle } else { low = middle + 1 }
                }
                if low == end { continue }
                (first + low + 1).update(from: first + low, count: end - low)
                first[low] = rank
            }
        }
    }

    /// Removes all rows.
    func removeAll() {
        candidates.removeAll(keepingCapacity: true)
        ranks.removeAll(keepingCapacity: true)
        arena.truncate(to: 0)
        threshold = nil
        position = 0
    }

    override func next(_ reader: RecordReader) throws -> Bool {
        guard position < ranks.count else { return false }
        let candidate = candidates[ranks[position].index]
        position += 1
        let key = key(of: candidate)
        if let record = candidate.record {
            try reader.show(verified: record, key: key)
        } else if try !access.show(key, in: reader) {
            throw access.table.corruptedRecord(key)
        }
        return true
    }

    override func nextKey(_ reader: RecordReader) throws -> Bool {
        guard position < ranks.count else { return false }
        reader.show(key: key(of: candidates[ranks[position].index]))
        position += 1
        return true
    }

    private func key(of candidate: Candidate) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: arena.bytes[candidate.offset..<candidate.offset + candidate.keyLength])
    }

    private func sortKey(of rank: Rank) -> UnsafeRawBufferPointer {
        let candidate = candidates[rank.index]
        let start = candidate.offset + candidate.keyLength
        return UnsafeRawBufferPointer(rebasing: arena.bytes[start..<start + candidate.sortLength])
    }

    @inline(__always) private func isBefore(_ left: Rank, _ right: Rank) -> Bool {
        left.prefix == right.prefix ? isBeforeInRest(left, right) : left.prefix < right.prefix
    }

    @inline(never) private func isBeforeInRest(_ left: Rank, _ right: Rank) -> Bool {
        let order = sortKey(of: left).order(against: sortKey(of: right))
        if order != 0 { return order < 0 }
        let keys = key(of: candidates[left.index]).order(against: key(of: candidates[right.index]))
        return isKeyAscending ? keys < 0 : keys > 0
    }

    private func prefix(_ range: Range<Int>) -> UInt64 {
        if range.count >= 8 {
            return UInt64(bigEndian: arena.bytes.loadUnaligned(fromByteOffset: range.lowerBound, as: UInt64.self))
        }
        var prefix: UInt64 = 0
        for offset in 0..<8 { prefix = prefix << 8 | (offset < range.count ? UInt64(arena.bytes[range.lowerBound + offset]) : 0) }
        return prefix
    }

    /// Keeps only the first rows and compacts their bytes.
    private func trim() {
        ranks.sort { isBefore($0, $1) }
        ranks.removeLast(ranks.count - wanted)
        // Candidates are in the order of their bytes, so a move never overwrites the bytes of a kept
        // candidate.
        var end = 0
        var count = 0
        for rank in ranks.indices.sorted(by: { ranks[$0].index < ranks[$1].index }) {
            var candidate = candidates[ranks[rank].index]
            let length = candidate.keyLength + candidate.sortLength
            arena.move(candidate.offset..<candidate.offset + length, to: end)
            candidate.offset = end
            candidates[count] = candidate
            ranks[rank].index = count
            end += length
            count += 1
        }
        candidates.removeLast(candidates.count - count)
        arena.truncate(to: end)
        threshold = ranks.last
    }
}
