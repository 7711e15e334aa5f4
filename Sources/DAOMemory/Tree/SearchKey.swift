import Foundation

/// The first sixteen bytes of a key as two numbers that order as the bytes do; a shorter key is filled up with zeros.
///
/// Two different keys may have equal prefixes. Then the shorter one is the lesser if either fits into sixteen bytes
/// whole (all that it lacks is zeros), and the bytes from the seventeenth on decide if neither does.
struct KeyPrefix: Equatable {
    var high: UInt64
    var low: UInt64

    /// How many bytes of a key a prefix holds.
    static let byteCount = 16

    /// Whether this prefix orders before another, without a branch.
    @inline(__always)
    func isLess(than other: KeyPrefix) -> Bool {
        let lowBorrow = low < other.low ? 1 as UInt64 : 0
        let (difference, borrow) = high.subtractingReportingOverflow(other.high)
        return borrow || difference < lowBorrow
    }
}

/// A key to look for: its bytes and their prefix. It does not own the bytes; it lives as long as the call they came with.
struct SearchKey {
    let prefix: KeyPrefix
    let bytes: UnsafeRawBufferPointer

    @inline(__always)
    init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
        prefix = KeyPrefix(bytes)
    }

    /// Whether a stored key of an equal prefix orders before this key, after it, or is it.
    ///
    /// - Parameters:
    ///   - count: The length of the stored key.
    ///   - stored: The start of its bytes; only read when both keys are longer than a prefix.
    /// - Returns: Less than zero when the stored key is the lesser, zero when they are equal.
    @inline(__always)
    func order(ofStored count: Int, bytes stored: @autoclosure () -> UnsafeRawPointer) -> Int {
        if count > KeyPrefix.byteCount, bytes.count > KeyPrefix.byteCount, let start = bytes.baseAddress {
            let common = min(count, bytes.count) - KeyPrefix.byteCount
            let result = memcmp(stored() + KeyPrefix.byteCount, start + KeyPrefix.byteCount, common)
            if result != 0 { return Int(result) }
        }
        return count - bytes.count
    }
}

extension KeyPrefix {
    /// The prefix of a key.
    @inline(__always)
    init(_ key: UnsafeRawBufferPointer) {
        let count = key.count
        guard let start = key.baseAddress, count >= 8 else {
            var bits: UInt64 = 0
            for byte in key { bits = bits << 8 | UInt64(byte) }
            high = count == 0 ? 0 : bits << UInt64(64 - 8 * count)
            low = 0
            return
        }
        high = UInt64(bigEndian: start.loadUnaligned(as: UInt64.self))
        if count >= 16 {
            low = UInt64(bigEndian: start.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
        } else {
            // The last eight bytes, shifted until those that `high` already holds have fallen out; at a count of 8 all have.
            low = UInt64(bigEndian: start.loadUnaligned(fromByteOffset: count - 8, as: UInt64.self)) << UInt64(128 - 8 * count)
        }
    }
}
