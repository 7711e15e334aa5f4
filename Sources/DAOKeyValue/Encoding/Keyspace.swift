/// The part of the store that a key belongs to: the catalog, a table, an index, or links. Its number is the
/// beginning of every key.
///
/// | number | bytes |
/// |---|---|
/// | 0 to 239 | 1: the number |
/// | up to 4,294,967,295 | `F0`, `F1`, `F2` or `F3`, then the number in one, two, three or four bytes, big-endian, as few as hold it |
///
/// The order of the bytes is the order of the numbers, and no keyspace is a prefix of another.
struct Keyspace: Sendable, Hashable {
    /// The keyspace of the catalog.
    static let catalog = Keyspace(0)
    /// The maximum number of bytes of a keyspace.
    static let maximumLength = 5

    private static let firstLong: UInt32 = 0xF0

    /// The number.
    let number: UInt32
    /// The number of bytes in a key.
    let length: Int
    /// The bytes in their order in memory, followed by zeros.
    let word: UInt64

    /// Encodes a number.
    init(_ number: UInt32) {
        self.number = number
        if number < Self.firstLong {
            length = 1
            word = UInt64(number).littleEndian
        } else {
            let byteCount = 4 - number.leadingZeroBitCount / 8
            length = 1 + byteCount
            let first = UInt64(Self.firstLong) + UInt64(byteCount - 1)
            word = (first << 56 | UInt64(number) << UInt64(56 - 8 * byteCount)).bigEndian
        }
    }

    /// The bytes, the common prefix of all keys.
    var prefix: [UInt8] { withUnsafeBytes(of: word) { Array($0.prefix(length)) } }

    /// Whether a key is in the keyspace.
    func isPrefix(of key: UnsafeRawBufferPointer) -> Bool {
        withUnsafeBytes(of: word) { key.count >= length && key[..<length].elementsEqual($0[..<length]) }
    }
}
