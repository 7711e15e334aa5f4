/// The 64-bit xxHash of bytes, by its published specification: of links, of the catalog, and of records and entries that builds
/// before format 3 have written. It detects every flipped bit.
enum XXH64 {
    private static let prime1: UInt64 = 0x9E37_79B1_85EB_CA87
    private static let prime2: UInt64 = 0xC2B2_AE3D_27D4_EB4F
    private static let prime3: UInt64 = 0x1656_67B1_9E37_79F9
    private static let prime4: UInt64 = 0x85EB_CA77_C2B2_AE63
    private static let prime5: UInt64 = 0x27D4_EB2F_1656_67C5

    /// The hash of bytes.
    ///
    /// - Parameters:
    ///   - bytes: The bytes to hash; they can be empty.
    ///   - seed: Selects a different hash function for the same bytes.
    static func hash(_ bytes: UnsafeRawBufferPointer, seed: UInt64 = 0) -> UInt64 {
        var hash: UInt64
        var rest = 0
        if bytes.count >= 32 {
            var lane1 = seed &+ prime1 &+ prime2
            var lane2 = seed &+ prime2
            var lane3 = seed
            var lane4 = seed &- prime1
            let lastStripe = bytes.count - 32
            while rest <= lastStripe {
                lane1 = round(lane1, word(bytes, rest))
                lane2 = round(lane2, word(bytes, rest &+ 8))
                lane3 = round(lane3, word(bytes, rest &+ 16))
                lane4 = round(lane4, word(bytes, rest &+ 24))
                rest &+= 32
            }
            hash = rotate(lane1, 1) &+ rotate(lane2, 7) &+ rotate(lane3, 12) &+ rotate(lane4, 18)
            hash = merge(hash, lane1)
            hash = merge(hash, lane2)
            hash = merge(hash, lane3)
            hash = merge(hash, lane4)
        } else {
            hash = seed &+ prime5
        }
        hash = hash &+ UInt64(bytes.count)
        while rest &+ 8 <= bytes.count {
            hash = rotate(hash ^ round(0, word(bytes, rest)), 27) &* prime1 &+ prime4
            rest &+= 8
        }
        if rest &+ 4 <= bytes.count {
            let half = UInt64(UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: rest, as: UInt32.self)))
            hash = rotate(hash ^ (half &* prime1), 23) &* prime2 &+ prime3
            rest &+= 4
        }
        while rest < bytes.count {
            hash = rotate(hash ^ (UInt64(bytes[rest]) &* prime5), 11) &* prime1
            rest &+= 1
        }
        hash = (hash ^ (hash >> 33)) &* prime2
        hash = (hash ^ (hash >> 29)) &* prime3
        return hash ^ (hash >> 32)
    }

    @inline(__always) private static func word(_ bytes: UnsafeRawBufferPointer, _ offset: Int) -> UInt64 {
        UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }

    @inline(__always) private static func rotate(_ value: UInt64, _ bits: UInt64) -> UInt64 {
        (value &<< bits) | (value &>> (64 &- bits))
    }

    @inline(__always) private static func round(_ lane: UInt64, _ input: UInt64) -> UInt64 {
        rotate(lane &+ input &* prime2, 31) &* prime1
    }

    @inline(__always) private static func merge(_ hash: UInt64, _ lane: UInt64) -> UInt64 {
        (hash ^ round(0, lane)) &* prime1 &+ prime4
    }
}
