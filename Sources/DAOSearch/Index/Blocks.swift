import DAOCore
import Foundation

/// Writes the postings of a segment, in the order of words (by bytes) and rows, as blocks.
///
/// A block has pieces: a word (what it shares with the one before it in the block, and the rest), the length of its postings, and these. A posting is
/// the distance to the row before (of the first one in a piece, to the segment's first row) and what the row has: its length, and the places
/// of the word.
struct BlockWriter {
    let segment: Int64
    /// The number of the segment's first row.
    private let first: Int64
    /// The blocks that are complete.
    private var blocks: [BlockRow] = []
    /// The bytes of all blocks.
    private(set) var size = 0

    private var block = PostingWriter()
    private var blockKey: String?
    private var blockTerm: [UInt8] = []
    private var piece = PostingWriter()
    private var term: [UInt8] = []
    private var number: Int64 = 0

    private var base: Int64 = 0

    init(_ segment: Int64, first: Int64) { (self.segment, self.first) = (segment, first) }

    /// Begins with the postings of a word.
    mutating func begin(_ term: [UInt8]) {
        endPiece()
        (self.term, base) = (term, ListTerm.base(of: term, in: first))
    }

    /// Adds a posting of the word.
    ///
    /// - Parameter number: The row, behind the one before it.
    /// - Throws: ``DamagedPostings`` when it is not behind that row: a damaged segment is merged.
    mutating func add(_ number: Int64, _ posting: UnsafeBufferPointer<UInt8>) throws {
        if block.bytes.count + piece.bytes.count + posting.count + term.count > BlockKey.size, blockKey != nil { flush() }
        if piece.bytes.isEmpty {
            if blockKey == nil { blockKey = BlockKey.text(segment, term, number &- base) }
            self.number = base
        }
        guard number >= self.number else { throw DamagedPostings() }
        piece.append(UInt64(number &- self.number))
        piece.bytes += posting
        self.number = number
    }

    /// Ends the block, and returns all.
    mutating func finish() -> [BlockRow] {
        flush()
        defer { blocks = [] }
        return blocks
    }

    private mutating func endPiece() {
        if piece.bytes.isEmpty { return }
        let shared = zip(term, blockTerm).prefix { $0 == $1 }.count
        block.append(shared)
        block.append(term.count - shared)
        block.bytes += term[shared...]
        block.append(piece.bytes.count)
        block.bytes += piece.bytes
        piece.bytes.removeAll(keepingCapacity: true)
        blockTerm = term
    }

    private mutating func flush() {
        endPiece()
        guard let key = blockKey else { return }
        size += block.bytes.count + key.utf8.count
        blocks.append(BlockRow(id: key, content: Data(block.bytes)))
        block.bytes.removeAll(keepingCapacity: true)
        (blockKey, blockTerm) = (nil, [])
    }
}

/// Reads the pieces of a block.
struct PieceReader {
    private var reader: PostingReader
    /// The word of the piece.
    private(set) var term: [UInt8] = []
    /// Where its postings are.
    private(set) var postings = 0..<0

    init(_ bytes: UnsafeBufferPointer<UInt8>) { reader = PostingReader(bytes) }

    /// Goes to the next piece.
    ///
    /// - Returns: False when there is none.
    mutating func next() throws -> Bool {
        if reader.isAtEnd { return false }
        postings = try reader.piece(&term)
        return true
    }
}

extension [UInt8] {
    /// Whether bytes come before others.
    func precedes(_ other: [UInt8]) -> Bool {
        let order = withUnsafeBytes { left in
            other.withUnsafeBytes { right in
                guard let left = left.baseAddress, let right = right.baseAddress else { return Int32(0) }
                return memcmp(left, right, Swift.min(count, other.count))
            }
        }
        return order != 0 ? order < 0 : count < other.count
    }
}
