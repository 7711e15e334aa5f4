import DAOCore
import Foundation

/// Reads the postings of a word in a segment.
struct TermReader {
    let rows: IndexRows
    /// The number of searchable fields.
    let fields: Int

    /// The blocks that can have a word, or words that begin so, in their order.
    func blocks(of term: [UInt8], isPrefix: Bool = false, in segment: SegmentRow) throws -> [BlockRow] {
        let start = BlockKey.start(segment.id)
        var end = BlockKey.end(segment.id, term, isPrefix: isPrefix)
        var blocks: [BlockRow] = []
        // Backwards, up to a block that begins with another word: the one before it ends before.
        var limit = 1
        while true {
            let bound = end
            let found = try rows.blocks.read(
                Query(where: Condition { $0.id > start && $0.id < bound }, orderedBy: [.descending(\.id)], limit: limit))
            for block in found {
                blocks.append(block)
                if BlockKey.term(block.id).precedes(term) { return blocks.reversed() }
                end = block.id
            }
            if found.count < limit { return blocks.reversed() }
            limit = min(limit * 8, 4096)
        }
    }

    /// Calls a closure with the postings of a word, or of all words that begin so: a reader that is at the first row's distance, the end of the
    /// piece, the number that the distance counts from, and the word.
    func forEachPiece(
        of term: [UInt8], isPrefix: Bool = false, in segment: SegmentRow,
        _ body: (inout PostingReader, _ end: Int, _ base: Int64, _ term: [UInt8]) throws -> Void
    ) throws {
        let base = ListTerm.base(of: term, in: segment.first)
        for block in try blocks(of: term, isPrefix: isPrefix, in: segment) {
            try Array(block.content).withUnsafeBufferPointer { bytes in
                var pieces = PieceReader(bytes)
                while try pieces.next() {
                    if isPrefix ? pieces.term.starts(with: term) : pieces.term == term {
                        var reader = PostingReader(bytes, at: pieces.postings.lowerBound)
                        try body(&reader, pieces.postings.upperBound, base, pieces.term)
                    } else if term.precedes(pieces.term) {
                        return
                    }
                }
            }
        }
    }

    /// Calls a closure with the rows of a list and their lengths.
    func forEachRow(of list: [UInt8], in segment: SegmentRow, _ body: (_ number: Int64, _ length: Int) throws -> Void) throws {
        try forEachPiece(of: list, in: segment) { reader, end, base, _ in
            var number = base
            while reader.position < end {
                number &+= Int64(truncatingIfNeeded: try reader.number())
                try body(number, try reader.count())
            }
        }
    }
}
