import DAOCore

/// Appends numbers of variable length: seven bits a byte, the low ones first.
struct PostingWriter {
    var bytes: [UInt8] = []

    mutating func append(_ number: UInt64) {
        var rest = number
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }

    mutating func append(_ number: Int) { append(UInt64(number)) }
}

/// Reads what ``PostingWriter`` wrote. What a damaged block has is never read past its end.
struct PostingReader {
    let bytes: UnsafeBufferPointer<UInt8>
    var position: Int

    init(_ bytes: UnsafeBufferPointer<UInt8>, at position: Int = 0) { (self.bytes, self.position) = (bytes, position) }

    var isAtEnd: Bool { position >= bytes.count }

    @inline(__always) mutating func number() throws -> UInt64 {
        guard position < bytes.count else { throw DamagedPostings() }
        let first = bytes[position]
        position += 1
        if first < 0x80 { return UInt64(first) }
        return try rest(of: UInt64(first & 0x7F))
    }

    private mutating func rest(of first: UInt64) throws -> UInt64 {
        var (result, shift) = (first, UInt64(7))
        while position < bytes.count, shift < 64 {
            let byte = bytes[position]
            position += 1
            result |= UInt64(byte & 0x7F) << shift
            if byte < 0x80 { return result }
            shift += 7
        }
        throw DamagedPostings()
    }

    @inline(__always) mutating func count() throws -> Int {
        let number = try number()
        guard number <= UInt64(Int32.max) else { throw DamagedPostings() }
        return Int(number)
    }

    @inline(__always) mutating func skip(_ count: Int) throws {
        guard count <= bytes.count - position else { throw DamagedPostings() }
        position += count
    }

    /// Reads the head of a piece of a block, and passes over its postings.
    ///
    /// - Parameter term: The word of the piece before, which becomes that of this one.
    /// - Returns: Where the postings are.
    mutating func piece(_ term: inout [UInt8]) throws -> Range<Int> {
        let (shared, count) = (try self.count(), try self.count())
        guard shared <= term.count else { throw DamagedPostings() }
        let start = position
        try skip(count)
        term.removeSubrange(shared...)
        term += bytes[start..<(start + count)]
        let length = try self.count()
        let postings = position
        try skip(length)
        return postings..<position
    }
}

/// A block of the index has bytes that no writer wrote.
struct DamagedPostings: Error {}

/// The places of a word in one row: in which fields, and where in each.
///
/// For each field that has the word: a number from the field, the number of places, and whether another field follows; then the
/// places, each as the distance from the one before it.
struct Occurrences {
    /// The number of searchable fields.
    let fields: Int

    /// Appends the places of a word in one field.
    ///
    /// - Parameter places: The places, ascending, at least one.
    func append(_ places: some RandomAccessCollection<Int32>, field: Int, isLast: Bool, to writer: inout PostingWriter) {
        writer.append(((places.count - 1) * fields + field) * 2 + (isLast ? 0 : 1))
        var last: Int32 = 0
        for place in places {
            writer.append(Int(place - last))
            last = place
        }
    }

    /// Passes over the places of a word in one row.
    @inline(__always) func skip(_ reader: inout PostingReader) throws {
        var isLast = false
        while !isLast {
            let head = try reader.count()
            isLast = head & 1 == 0
            for _ in 0..<head / 2 / fields + 1 { _ = try reader.number() }
        }
    }

    /// Counts the places of a word in one row, each as often as the weight of its field.
    @inline(__always) func weigh(_ reader: inout PostingReader, _ weights: UnsafeBufferPointer<Int>) throws -> Int {
        var (isLast, sum) = (false, 0)
        while !isLast {
            let head = try reader.count()
            isLast = head & 1 == 0
            let count = head / 2 / fields + 1
            sum += count * weights[head / 2 % fields]
            for _ in 0..<count { _ = try reader.number() }
        }
        return sum
    }

    /// Reads the places of a word in one row.
    func read(_ reader: inout PostingReader, _ body: (_ field: Int, _ place: Int) -> Void) throws {
        var isLast = false
        while !isLast {
            let head = try reader.count()
            isLast = head & 1 == 0
            let (count, field) = (head / 2 / fields + 1, head / 2 % fields)
            var place = 0
            for _ in 0..<count {
                place += try reader.count()
                if place > Int(Int32.max) { throw DamagedPostings() }
                body(field, place)
            }
        }
    }
}
