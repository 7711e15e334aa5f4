import DAOCore
import Foundation

/// Parses keys of the store; see ``KeyForm`` for the format. The result for damaged keys is nil, never a
/// trap.
enum KeyParser {
    /// The end of the value in an index entry, relative to the beginning of the entry.
    struct IndexedValue {
        /// The number of bytes of keyspace, nil flag and value together: the common prefix of equal values.
        var end: Int
        /// Whether the value was truncated, so that different values can have equal entries.
        var isCut: Bool
    }

    /// Finds the end of a value in an index entry.
    ///
    /// - Parameters:
    ///   - entry: The whole entry.
    ///   - offset: The position of the nil flag.
    ///   - form: The encoding of the value.
    ///   - isAscending: Whether the values ascend; otherwise their bytes are flipped.
    static func indexedValue(
        in entry: UnsafeRawBufferPointer, from offset: Int, form: KeyForm, isAscending: Bool
    ) -> IndexedValue? {
        guard entry.count > offset else { return nil }
        let start = offset + 1
        if entry[offset] == (isAscending ? 0 : 2) { return IndexedValue(end: start, isCut: false) }
        switch form {
        case .signed, .unsigned, .floating: return entry.count < start + 8 ? nil : IndexedValue(end: start + 8, isCut: false)
        case .uuid: return entry.count < start + 16 ? nil : IndexedValue(end: start + 16, isCut: false)
        case .bytes: return endOfEscapes(in: entry, from: start, mask: isAscending ? 0 : 0xFF)
        case .decimal:
            return endOfDecimal(in: entry, from: start, mask: isAscending ? 0 : 0xFF).map { IndexedValue(end: $0, isCut: false) }
        }
    }

    private static func endOfEscapes(in entry: UnsafeRawBufferPointer, from start: Int, mask: UInt8) -> IndexedValue? {
        guard let base = entry.baseAddress else { return nil }
        var position = start
        while position < entry.count, let zero = memchr(base + position, Int32(mask), entry.count - position) {
            let mark = UnsafeRawPointer(zero) - base + 1
            guard mark < entry.count else { return nil }
            switch entry[mark] ^ mask {
            case 0xFF: position = mark + 1
            case 1: return IndexedValue(end: mark + 1, isCut: false)
            case 2: return IndexedValue(end: mark + 1, isCut: true)
            default: return nil
            }
        }
        return nil
    }

    private static func endOfDecimal(in entry: UnsafeRawBufferPointer, from start: Int, mask: UInt8) -> Int? {
        guard start < entry.count else { return nil }
        let sign = entry[start] ^ mask
        if sign == 2 || sign == 4 { return start + 1 }
        guard sign == 1 || sign == 3 else { return nil }
        let end: UInt8 = sign == 1 ? 0x0F : 0
        var position = start + 3
        while position < entry.count {
            if (entry[position] ^ mask) & 0x0F == end { return position + 1 }
            position += 1
        }
        return nil
    }

    /// The primary key in the last component of a key.
    static func key(_ bytes: UnsafeRawBufferPointer, form: KeyForm) -> Key? {
        switch form {
        case .signed:
            guard bytes.count == 8 else { return nil }
            return .integer(Int64(bitPattern: word(bytes) ^ (1 << 63)))
        case .unsigned:
            guard bytes.count == 8 else { return nil }
            let value = word(bytes)
            return Int64(exactly: value).map(Key.integer) ?? .unsigned(value)
        case .uuid:
            guard bytes.count == 16 else { return nil }
            return .uuid(UUID(uuid: bytes.loadUnaligned(as: uuid_t.self)))
        case .bytes: return String(checking: bytes).map(Key.string)
        case .floating, .decimal: return nil
        }
    }

    private static func word(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
        UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self))
    }
}
