import DAOCore
import Foundation

/// Reads the postings of a segment in their order, for merging it.
final class SegmentCursor {
    private let rows: IndexRows
    private let segment: SegmentRow
    private let occurrences: Occurrences
    /// Blocks that were read, the next one last.
    private var ahead: [BlockRow] = []
    private var lastKey: String
    /// The keys of the blocks all of whose postings were passed.
    private(set) var passed: [Key] = []

    private var block: [UInt8] = []
    private var blockKey: String?
    private var position = 0
    private var end = 0
    private var pieceEnd = 0
    private var piece: [UInt8] = []
    private var last: Int64 = 0
    private var hasPlaces = false

    /// The word, the row and the bytes of the posting; nil behind the last one.
    private(set) var term: [UInt8]?
    private(set) var number: Int64 = 0
    private var posting = 0..<0

    init(_ rows: IndexRows, _ segment: SegmentRow, _ occurrences: Occurrences) throws {
        (self.rows, self.segment, self.occurrences) = (rows, segment, occurrences)
        lastKey = BlockKey.start(segment.id)
        try advance()
    }

    /// Calls a closure with the bytes of the posting behind its distance.
    func withPosting<Result>(_ body: (UnsafeBufferPointer<UInt8>) throws -> Result) rethrows -> Result {
        try block.withUnsafeBufferPointer { try body(UnsafeBufferPointer(rebasing: $0[posting])) }
    }

    /// The length of the row.
    var length: Int {
        get throws {
            try withPosting { bytes in
                var reader = PostingReader(bytes)
                return try reader.count()
            }
        }
    }

    /// The number of bytes of the posting.
    var size: Int { posting.count }

    /// Goes to the next posting.
    ///
    /// - Returns: Whether it is one of the same word.
    @discardableResult func advance() throws -> Bool {
        var isSameTerm = true
        while position >= pieceEnd {
            if position >= end {
                guard try nextBlock() else {
                    term = nil
                    return false
                }
            }
            let before = term
            try nextPiece()
            isSameTerm = isSameTerm && before == term
        }
        try block.withUnsafeBufferPointer { bytes in
            var reader = PostingReader(bytes, at: position)
            last &+= Int64(truncatingIfNeeded: try reader.number())
            let start = reader.position
            _ = try reader.number()
            if hasPlaces { try occurrences.skip(&reader) }
            guard reader.position <= pieceEnd else { throw DamagedPostings() }
            (posting, position, number) = (start..<reader.position, reader.position, last)
        }
        return isSameTerm
    }

    /// Passes over what is before a posting, and over it.
    ///
    /// - Parameter number: The row; nil for all of the word.
    func skip(to last: [UInt8], _ number: Int64?) throws {
        while let term, term.precedes(last) || term == last && number.map({ self.number <= $0 }) ?? true { try advance() }
    }

    private func nextPiece() throws {
        try block.withUnsafeBufferPointer { bytes in
            var reader = PostingReader(bytes, at: position)
            let postings = try reader.piece(&piece)
            (position, pieceEnd) = (postings.lowerBound, postings.upperBound)
        }
        (term, last) = (piece, ListTerm.base(of: piece, in: segment.first))
        hasPlaces = !ListTerm.isList(piece)
    }

    private func nextBlock() throws -> Bool {
        if let blockKey { passed.append(.string(blockKey)) }
        if ahead.isEmpty {
            let (after, end) = (lastKey, BlockKey.end(segment.id))
            ahead = try rows.blocks.read(
                Query(where: Condition { $0.id > after && $0.id < end }, orderedBy: [.ascending(\.id)], limit: 16)
            ).reversed()
            if let last = ahead.first { lastKey = last.id }
        }
        guard let next = ahead.popLast() else {
            blockKey = nil
            block = []
            (position, end, pieceEnd) = (0, 0, 0)
            return false
        }
        (block, blockKey) = (Array(next.content), next.id)
        (position, end, pieceEnd) = (0, block.count, 0)
        piece = []
        return true
    }
}
