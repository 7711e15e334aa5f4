import DAOCore

/// The entries of indexes that are written after the rows of a call, in their order. A store writes neighbours, one after the
/// other, in half the time that it takes for each where it belongs, and fills its pages.
final class LaterEntries {
    /// From how many rows on entries are written later.
    static let manyRows = 256
    /// How many bytes of entries are enough.
    private static let manyBytes = 16 << 20

    private struct Place {
        /// The first bytes of the entry, which decide most comparisons.
        let (first, second): (UInt64, UInt64)
        let offset: Int
        let length: Int
    }

    private let bytes = ByteArena()
    /// The entries of each index, by its position.
    @exclusivity(unchecked) private var places: [[Place]]

    /// - Parameters:
    ///   - indexCount: The number of indexes.
    ///   - rowCount: The number of rows.
    init(indexCount: Int, rowCount: Int) {
        places = Array(repeating: [], count: indexCount)
        for index in places.indices { places[index].reserveCapacity(rowCount) }
    }

    /// Whether the entries are to be written now, so that they do not take too much memory.
    var isFull: Bool { bytes.count >= Self.manyBytes }

    /// Keeps an entry of an index.
    ///
    /// - Parameters:
    ///   - index: The position of the index.
    ///   - build: Builds the entry.
    @inline(__always) func add(to index: Int, _ build: (inout KeyBuilder) throws -> Void) rethrows {
        let offset = bytes.count
        try bytes.extend(KeyBuilder.capacity, build)
        let entry = UnsafeRawBufferPointer(rebasing: bytes.bytes[offset...])
        places[index].append(
            Place(first: Self.word(entry, 0), second: Self.word(entry, 8), offset: offset, length: entry.count))
    }

    /// Eight bytes of an entry as a number; those after its end are zero.
    @inline(__always) private static func word(_ entry: UnsafeRawBufferPointer, _ offset: Int) -> UInt64 {
        if entry.count >= offset + 8 {
            return UInt64(bigEndian: entry.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
        }
        var word: UInt64 = 0
        for position in offset..<offset + 8 { word = word << 8 | (position < entry.count ? UInt64(entry[position]) : 0) }
        return word
    }

    /// Passes all entries to a closure, those of one index after those of another, in their order, and removes them.
    func removeAll(_ body: (UnsafeRawBufferPointer) throws -> Void) rethrows {
        for index in places.indices {
            places[index].sort(by: isBefore)
            for place in places[index] { try body(entry(place)) }
            places[index].removeAll(keepingCapacity: true)
        }
        bytes.truncate(to: 0)
    }

    @inline(__always) private func isBefore(_ left: Place, _ right: Place) -> Bool {
        if left.first != right.first { return left.first < right.first }
        return left.second == right.second ? entry(left).order(against: entry(right)) < 0 : left.second < right.second
    }

    private func entry(_ place: Place) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: bytes.bytes[place.offset..<place.offset + place.length])
    }
}
