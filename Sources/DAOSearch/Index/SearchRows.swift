import DAOCore
import Foundation

/// An index that was made.
struct IndexRow: OwnModel {
    /// The ``TextIndex/id`` in the catalog.
    var id: UUID
    /// What its segments and rows have.
    var number: Int64

    static let schema = Schema(
        EntityDescription.searchEntities[0], Self.init, Field("id", \.id, .primaryKey), Field("number", \.number, .unique))
}

/// A part of the index of an entity: postings that one write has added, or that were merged from such parts.
struct SegmentRow: OwnModel {
    /// Greater than that of every segment before it.
    var id: Int64
    /// The number of the index.
    var index: Int64
    /// The number of its first row, and the one after its last.
    var first: Int64
    var end: Int64
    /// How many rows it has, and how many words they have.
    var rows: Int
    var words: Int
    /// How many rows of other segments it takes away, and how many words these have.
    var erased: Int
    var erasedWords: Int
    /// The bytes of its blocks.
    var size: Int
    /// The segments that are being merged into it; nil when it is complete.
    var inputs: String?
    /// The word up to which they are merged, and the row up to which that word is.
    var term: String?
    var number: Int64?

    static let schema = Schema(
        EntityDescription.searchEntities[1], Self.init,
        Field("id", \.id, .primaryKey), Field("index", \.index, .indexed), Field("first", \.first), Field("end", \.end),
        Field("rows", \.rows), Field("words", \.words), Field("erased", \.erased), Field("erasedWords", \.erasedWords),
        Field("size", \.size), Field("inputs", \.inputs), Field("term", \.term), Field("number", \.number))
}

extension SegmentRow {
    /// The segments that are being merged into it; none when it is complete.
    var inputIDs: [Int64] { inputs.map { $0.split(separator: " ").compactMap { Int64($0) } } ?? [] }

    /// How far its inputs are merged into it; nil when it is complete.
    var merged: Merged? { inputs == nil ? nil : term.map { Merged(term: Array($0.utf8), number: number ?? .max) } }

    /// A place in the order of words and rows.
    struct Merged {
        let term: [UInt8]
        let number: Int64
    }

    /// Whether a writer can have stored it.
    fileprivate var isSound: Bool {
        let most = Int64.max - 1 << 30
        return 1...most ~= id && 1...1 << 20 ~= index && 0...most ~= first && first <= end && end <= most
            && [rows, words, erased, erasedWords, size].allSatisfy { 0...1 << 40 ~= $0 }
    }
}

extension Sequence<SegmentRow> {
    /// How far segments are merged into another one, by their ids: what is before that is in the other one.
    var merged: [Int64: SegmentRow.Merged] {
        var merged: [Int64: SegmentRow.Merged] = [:]
        for output in self { for input in output.inputIDs { merged[input] = output.merged } }
        return merged
    }
}

/// A block of a segment's postings.
struct BlockRow: OwnModel {
    /// The segment, the first word, and the first row of that word: see ``BlockKey``.
    var id: String
    var content: Data

    static let schema = Schema(
        EntityDescription.searchEntities[2], Self.init, Field("id", \.id, .primaryKey), Field("content", \.content))
}

/// A row that the index has.
struct NumberRow: OwnModel {
    /// Its number: that of the index, then how many rows the index had before it, those that are gone included. Where transactions run side
    /// by side, that of the transaction, then how many numbers it has taken before.
    var number: Int64
    /// The index and the key: see ``NumberRow/owner(_:_:)``.
    var owner: String
    /// The number of its words.
    var length: Int

    static let schema = Schema(
        EntityDescription.searchEntities[3], Self.init, Field("number", \.number, .primaryKey), Field("owner", \.owner, .indexed),
        Field("length", \.length))

    /// The bits of a number that count rows.
    static let bits: Int64 = 40

    static func owner(_ index: Int64, _ key: Key) -> String { "\(index):\(UniqueID(key).rawValue)" }

    /// The text of the key.
    var id: UniqueID {
        UniqueID(rawValue: String(decoding: owner.utf8.drop { $0 != UInt8(ascii: ":") }.dropFirst(), as: UTF8.self))
    }
}

/// The rows in which an index is stored.
struct IndexRows {
    let indexes: any Storage<IndexRow>
    let segments: any Storage<SegmentRow>
    let blocks: any Storage<BlockRow>
    let numbers: any Storage<NumberRow>

    init(_ database: any Database) throws {
        indexes = try database.makeStorage(for: IndexRow.self)
        segments = try database.makeStorage(for: SegmentRow.self)
        blocks = try database.makeStorage(for: BlockRow.self)
        numbers = try database.makeStorage(for: NumberRow.self)
    }

    /// The segments of an index, the oldest first.
    func segments(of index: Int64) throws -> [SegmentRow] {
        let found = try segments.read(Query(where: Condition { $0.index == index }, orderedBy: [.ascending(\.id)]))
        let ids = Set(found.map(\.id))
        guard found.allSatisfy({ $0.isSound && ids.isSuperset(of: $0.inputIDs) }) else { throw Self.damaged }
        return found
    }

    /// Whether there are numbers that no transaction of the database has reached: it was restored into a cluster whose numbers are less.
    func areForeign() throws -> Bool {
        // The numbers first: other transactions begin meanwhile.
        guard case .integer(let last)? = try segments.keys(Query(orderedBy: [.descending(\.id)], limit: 1)).first,
            let bound = try segments.database.numberBound()
        else { return false }
        return last >= bound
    }

    /// The rows of an index that have some keys.
    func numbered(_ keys: [Key], in index: Int64) throws -> [NumberRow] {
        var found: [NumberRow] = []
        for start in stride(from: 0, to: keys.count, by: 500) {
            let owners = keys[start..<min(start + 500, keys.count)].map { NumberRow.owner(index, $0) }
            found += try numbers.read(Query(where: Condition { $0.owner.in(owners) }))
        }
        return found
    }

    /// Erases all that is of an index.
    func erase(_ index: Int64) throws {
        for segment in try segments(of: index) {
            let (start, end) = (BlockKey.start(segment.id), BlockKey.end(segment.id))
            _ = try blocks.erase(Query(where: Condition { $0.id > start && $0.id < end }))
        }
        _ = try segments.erase(Query(where: Condition { $0.index == index }))
        _ = try numbers.erase(Query(where: Condition { $0.owner.hasPrefix("\(index):") }))
    }
}

/// The keys of blocks. They ascend by segment, word (by bytes) and row.
enum BlockKey {
    /// The bytes of a block at most, unless one posting is longer. Where SQLite keeps rows in the tree of their keys, it would put more
    /// on pages of their own: the index is 38 MB with this size, and 64 with twice as much.
    static let size = 900

    static func text(_ segment: Int64, _ term: [UInt8], _ offset: Int64) -> String {
        var bytes = prefix(segment)
        bytes += term
        bytes.append(1)
        let digits = String(UInt64(bitPattern: offset), radix: 16).utf8
        bytes.append(UInt8(ascii: "A") + UInt8(digits.count))
        bytes += digits
        return String(decoding: bytes, as: UTF8.self)
    }

    /// What all keys of a segment begin with.
    private static func prefix(_ segment: Int64) -> [UInt8] {
        let digits = Array(String(UInt64(bitPattern: segment), radix: 16).utf8)
        return [UInt8(ascii: "A") + UInt8(digits.count)] + digits + [1]
    }

    /// The lower bound of the keys of a segment.
    static func start(_ segment: Int64) -> String { String(decoding: prefix(segment), as: UTF8.self) }

    /// The upper bound of those of a segment.
    static func end(_ segment: Int64) -> String { String(decoding: prefix(segment).dropLast() + [2], as: UTF8.self) }

    /// The upper bound of those that have a word, or words that begin so.
    static func end(_ segment: Int64, _ term: [UInt8], isPrefix: Bool) -> String {
        let text = String(decoding: prefix(segment) + term, as: UTF8.self)
        return isPrefix ? text + "\u{10FFFF}" : text + "\u{2}"
    }

    /// The segment of a block; nil for a key that no writer wrote.
    static func segment(_ key: String) -> Int64? {
        let digits = key.utf8.dropFirst().prefix { $0 != 1 }
        return UInt64(Substring(digits), radix: 16).map { Int64(bitPattern: $0) }
    }

    /// The first word of a block.
    static func term(_ key: String) -> [UInt8] {
        let bytes = Array(key.utf8)
        guard let start = bytes.firstIndex(of: 1), let end = bytes.lastIndex(of: 1), start < end else { return [] }
        return Array(bytes[(start + 1)..<end])
    }
}
