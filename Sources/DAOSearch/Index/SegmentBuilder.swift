import DAOCore

/// Words that no text has, for lists of rows: they have neither a letter nor a number.
enum ListTerm {
    /// All rows of a segment.
    static let rows: [UInt8] = []
    /// The rows of other segments that it takes away.
    static let erased: [UInt8] = [UInt8(ascii: "!")]
    /// The rows that a merge, which goes on, has left out: the last word of all, since its blocks are written beside those of others.
    static let omitted = Array("\u{10FFFF}".utf8)

    /// Whether postings have no places.
    static func isList(_ term: [UInt8]) -> Bool { term.isEmpty || term == erased || term == omitted }

    /// The number that the first row of a piece counts from.
    static func base(of term: [UInt8], in first: Int64) -> Int64 { term.isEmpty || !isList(term) ? first : 0 }
}

/// Collects the words of rows.
struct SegmentBuilder {
    /// The postings of a word.
    private struct List {
        var bytes = PostingWriter()
        var ends: [(number: Int64, end: Int)] = []
    }

    let occurrences: Occurrences
    /// How many rows it has, and how many words they have.
    private(set) var rows = 0
    private(set) var words = 0

    private var ids: [String: Int] = [:]
    private var lists: [List] = []
    private var allRows = List()
    private var erasedRows = List()
    private(set) var erased = 0
    private(set) var erasedWords = 0

    // The words of one row: for each occurrence its place, its field, and the next occurrence of the same word.
    private var places: [(place: Int32, field: Int32, next: Int32)] = []
    private var ends: [(first: Int32, last: Int32)] = []
    private var touched: [Int] = []

    init(fields: Int) { occurrences = Occurrences(fields: fields) }

    /// Adds a row.
    ///
    /// - Parameters:
    ///   - number: Its number, greater than those before it.
    ///   - texts: The texts of each field.
    /// - Returns: The number of its words.
    mutating func add(_ number: Int64, _ texts: [[String]]) -> Int {
        places.removeAll(keepingCapacity: true)
        touched.removeAll(keepingCapacity: true)
        for (field, texts) in texts.enumerated() {
            var place: Int32 = 0
            for text in texts {
                for term in Term.terms(of: text) {
                    add(term.text, place, Int32(field))
                    place += 1
                }
                // Two billion places are in no row whose texts fit into memory, unless most of them are empty.
                if place < 1 << 30 { place += Int32(QueryMatcher.textGap) }
            }
        }
        let length = places.count
        for id in touched { finish(id, number, length) }
        allRows.bytes.append(length)
        allRows.ends.append((number, allRows.bytes.bytes.count))
        (rows, words) = (rows + 1, words + length)
        return length
    }

    /// Takes a row of another segment away.
    mutating func erase(_ row: NumberRow) {
        erasedRows.bytes.append(row.length)
        erasedRows.ends.append((row.number, erasedRows.bytes.bytes.count))
        (erased, erasedWords) = (erased + 1, erasedWords + row.length)
    }

    private mutating func add(_ term: String, _ place: Int32, _ field: Int32) {
        let occurrence = Int32(places.count)
        places.append((place, field, -1))
        if let id = ids[term] {
            if ends[id].last >= 0 {
                places[Int(ends[id].last)].next = occurrence
                ends[id].last = occurrence
                return
            }
            ends[id] = (occurrence, occurrence)
            touched.append(id)
        } else {
            let id = lists.count
            ids[term] = id
            lists.append(List())
            ends.append((occurrence, occurrence))
            touched.append(id)
        }
    }

    private mutating func finish(_ id: Int, _ number: Int64, _ length: Int) {
        lists[id].bytes.append(length)
        var index = ends[id].first
        while index >= 0 {
            let field = places[Int(index)].field
            var found: [Int32] = []
            while index >= 0, places[Int(index)].field == field {
                found.append(places[Int(index)].place)
                index = places[Int(index)].next
            }
            occurrences.append(found, field: Int(field), isLast: index < 0, to: &lists[id].bytes)
        }
        lists[id].ends.append((number, lists[id].bytes.bytes.count))
        ends[id] = (-1, -1)
    }

    /// Calls a closure with the postings, in any order.
    func forEachPosting(_ body: ([UInt8], UnsafeBufferPointer<UInt8>) -> Void) {
        func each(_ list: List, _ term: [UInt8]) {
            list.bytes.bytes.withUnsafeBufferPointer { bytes in
                var start = 0
                for (_, end) in list.ends {
                    body(term, UnsafeBufferPointer(rebasing: bytes[start..<end]))
                    start = end
                }
            }
        }
        each(allRows, ListTerm.rows)
        for (term, id) in ids { each(lists[id], Array(term.utf8)) }
    }

    /// Writes all of it, in the order of the words.
    mutating func write(to writer: inout BlockWriter) throws {
        // Rows that are erased in one call come in any order, and with rows of several calls before.
        var erased: [(number: Int64, bytes: ArraySlice<UInt8>)] = []
        var start = 0
        for (number, end) in erasedRows.ends {
            erased.append((number, erasedRows.bytes.bytes[start..<end]))
            start = end
        }
        erased.sort { $0.number < $1.number }
        try write(allRows, ListTerm.rows, to: &writer)
        writer.begin(ListTerm.erased)
        for (number, bytes) in erased { try bytes.withUnsafeBufferPointer { try writer.add(number, $0) } }
        let sorted = ids.map { (Array($0.key.utf8), $0.value) }.sorted { $0.0.precedes($1.0) }
        for (term, id) in sorted { try write(lists[id], term, to: &writer) }
    }

    private func write(_ list: List, _ term: [UInt8], to writer: inout BlockWriter) throws {
        writer.begin(term)
        try list.bytes.bytes.withUnsafeBufferPointer { bytes in
            var start = 0
            for (number, end) in list.ends {
                try writer.add(number, UnsafeBufferPointer(rebasing: bytes[start..<end]))
                start = end
            }
        }
    }
}
