import Foundation
import Testing

@testable import DAOLMDB

@Suite("Meta pages of LMDB files")
struct FileMetaTests {
    /// The meta data of a file of ten pages, with a number changed at an offset.
    private func meta(_ offset: Int = 0, _ value: UInt64 = 0, bytes: Int = 8) throws -> FileMeta {
        var page = Data(count: FileMeta.byteCount)
        func set(_ value: UInt64, _ offset: Int, _ bytes: Int) {
            for place in 0..<bytes { page[offset + place] = UInt8(truncatingIfNeeded: value >> (8 * UInt64(place))) }
        }
        set(UInt64(FileMeta.metaPageFlag), 10, 2)
        set(UInt64(FileMeta.magic), 16, 4)
        set(40960, 32, 8)
        // The free tree: its page size and flags, and a tree of one page. Then the main tree.
        for tree in [40, 88] {
            set(1, tree + 6, 2)
            set(1, tree + 16, 8)
            set(3, tree + 32, 8)
            set(UInt64(tree == 40 ? 2 : 3), tree + 40, 8)
        }
        set(4096, 40, 4)
        set(8, 44, 2)
        set(9, 136, 8)
        set(value, offset, value == 0 && offset == 0 ? 0 : bytes)
        return try #require(page.withUnsafeBytes { FileMeta($0) })
    }

    @Test("what a commit writes has no defect")
    func sound() throws {
        #expect(try meta().defect(length: 40960) == nil)
        #expect(try meta().headerDefect(asPage: 0) == nil)
        #expect(try meta().headerDefect(asPage: 1) != nil)
        // All pages but one in each of three sets, and a tree without pages.
        for offset in [8, 16, 24] { #expect(try meta(88 + offset, 9).defect(length: 40960) == nil) }
        for size: UInt64 in [512, 65536] { #expect(try meta(40, size, bytes: 4).pageSize == size) }
    }

    @Test(
        "numbers that no commit writes are defects",
        arguments: [
            (40, 256, 4), (40, 131_072, 4), (40, 4097, 4), (40, 0, 4), (44, 0, 2), (44, 0x18, 2), (24, 1, 8), (92, 4, 2),
            (88, 1, 4),
            (136, 0, 8), (136, 10, 8), (46, 0, 2), (94, 33, 2), (80, 1, 8), (80, 10, 8), (128, 10, 8), (128, .max, 8),
            (48, 10, 8), (56, 10, 8), (64, 10, 8), (96, 10, 8), (104, 10, 8), (112, 10, 8),
        ] as [(Int, UInt64, Int)])
    func impossible(offset: Int, value: UInt64, bytes: Int) throws {
        #expect(try meta(offset, value, bytes: bytes).defect(length: 40960) != nil)
    }
}
