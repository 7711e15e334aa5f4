import Foundation

/// The first sixteen bytes of a key as two numbers that order like the bytes. A shorter key is padded with
/// zeros.
///
/// Two different keys can have equal prefixes. If either key has at most sixteen bytes, the shorter key is
/// the lesser, because the padding is zeros. Otherwise the bytes from the seventeenth on decide.
struct KeyPrefix: Equatable {
    var high: UInt64
    var low: UInt64

    /// The number of bytes of a key in a prefix.
    static let byteCount = 16

    /// Whether this prefix orders before another, without a branch.
    @inline(__always)
    func isLess(than other: KeyPrefix) -> Bool {
        let lowBorrow = low < other.low ? 1 as UInt64 : 0
        let (difference, borrow) = high.subtractingReportingOverflow(other.high)
        return borrow || difference < lowBorrow
    }
}

/// A searched key: its bytes and their prefix. It does not own the bytes and is valid during the call that
/// passed them.
struct SearchKey {
    let prefix: KeyPrefix
    let bytes: UnsafeRawBufferPointer

    @inline(__always)
    init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
        prefix = KeyPrefix(bytes)
    }

    /// The order of a stored key with an equal prefix relative to this key.
    ///
    /// - Parameters:
    ///   - count: The length of the stored key.
    ///   - stored: The start of the stored key's bytes; only read when both keys are longer than a prefix.
    /// - Returns: Less than zero when the stored key is less, zero when both are equal, greater than zero
    ///   otherwise.
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
            // The last eight bytes, shifted to remove the bytes that `high` already has; for a count of 8 all
            // are removed.
            low = UInt64(bigEndian: start.loadUnaligned(fromByteOffset: count - 8, as: UInt64.self)) << UInt64(128 - 8 * count)
        }
    }
}
