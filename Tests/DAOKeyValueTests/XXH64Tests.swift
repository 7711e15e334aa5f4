import Foundation
import Testing

@testable import DAOKeyValue

@Suite struct XXH64Tests {
    @Test(
        arguments: [
            ("", 0, 0xEF46_DB37_51D8_E999), ("a", 0, 0xD24E_C4F1_A98C_6E5B), ("abc", 0, 0x44BC_2CF5_AD77_0999),
            ("xxhash", 20_141_025, 0xB559_B98D_844E_0635),
            ("Nobody inspects the spammish repetition", 0, 0xFBCE_A83C_8A37_8BF1),
        ] as [(String, UInt64, UInt64)])
    func hashesKnownStrings(text: String, seed: UInt64, hash: UInt64) {
        #expect(Array(text.utf8).withUnsafeBytes { XXH64.hash($0, seed: seed) } == hash)
    }

    @Test(
        arguments: [
            (1, 0, 0x4FCE_394C_C889_52D8), (1, 1, 0x7398_40CB_819F_A723), (14, 0, 0xCFFA_8DB8_81BC_3A3D),
            (14, 1, 0x5B96_1158_5EFC_C9CB), (101, 0, 0x0EAB_5433_84F8_78AD), (101, 1, 0xCAA6_5939_306F_1E21),
        ] as [(Int, UInt64, UInt64)])
    func hashesTheTestVectorsOfTheSpecification(count: Int, seeds: UInt64, hash: UInt64) {
        let prime: UInt32 = 2_654_435_761
        var generator = prime
        let bytes = (0..<count).map { _ in
            defer { generator = generator &* generator }
            return UInt8(generator >> 24)
        }
        #expect(bytes.withUnsafeBytes { XXH64.hash($0, seed: seeds * UInt64(prime)) } == hash)
    }
}
