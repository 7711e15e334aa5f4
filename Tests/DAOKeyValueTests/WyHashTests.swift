import Testing

@testable import DAOKeyValue

@Suite struct WyHashTests {
    /// The test vectors of the reference implementation.
    @Test(
        arguments: [
            (0, "", 0x0409_638E_E2BD_E459), (1, "a", 0xA841_2D09_1B5F_E0A9), (2, "abc", 0x32DD_92E4_B291_5153),
            (3, "message digest", 0x8619_1240_89A3_A16B), (4, "abcdefghijklmnopqrstuvwxyz", 0x7A43_AFB6_1D7F_5F40),
            (5, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789", 0xFF42_329B_90E5_0D58),
            (6, String(repeating: "1234567890", count: 8), 0xC39C_AB13_B115_AAD3),
        ] as [(UInt64, String, UInt64)])
    func hashesTheTestVectors(seed: UInt64, text: String, hash: UInt64) {
        #expect(Array(text.utf8).withUnsafeBytes { WyHash.hash($0, seed: seed) } == hash)
    }

    /// Every length takes another path through the bytes, up to twice 48 and 16 more.
    @Test(arguments: 1...130) func everyFlippedBitAndTheSeedChangeTheHash(count: Int) {
        var bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ 11) }
        func hash(seed: UInt64 = 7) -> UInt64 { bytes.withUnsafeBytes { WyHash.hash($0, seed: seed) } }
        var seen: Set = [hash(), hash(seed: 8), hash(seed: 7 << 56)]
        for bit in 0..<(count * 8) {
            bytes[bit / 8] ^= 1 << (bit % 8)
            #expect(seen.insert(hash()).inserted)
            bytes[bit / 8] ^= 1 << (bit % 8)
        }
        #expect(seen.count == 3 + count * 8)
    }
}
