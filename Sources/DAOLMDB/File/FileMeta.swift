import DAOCore
import DAOSystemLMDB
import Foundation

/// A meta page: one of the two pages at the start of a file with the positions of all other data. It is read
/// without trusting its fields.
///
/// The layout is LMDB's data version 1 on 64-bit little-endian machines, where ``isLayoutKnown`` is true. On
/// other machines files are opened without these checks.
struct FileMeta: Equatable {

    /// The fields of a tree: in a meta page for the free pages and the main tree, and in the main tree for
    /// each tree of data.
    struct Tree: Equatable {
        var keySize: UInt32
        var flags: UInt16
        var depth: UInt16
        var branchPages: UInt64
        var leafPages: UInt64
        var overflowPages: UInt64
        var entries: UInt64
        var root: UInt64

        /// The root of a tree without pages.
        static let noRoot = UInt64.max
        /// LMDB's maximum height of a tree.
        static let maximumDepth = 32
        /// The number of bytes of the fields.
        static let byteCount = 48
    }

    var pageNumber: UInt64
    var pageFlags: UInt16
    var magic: UInt32
    var version: UInt32
    var address: UInt64
    var mapSize: UInt64
    var free: Tree
    var main: Tree
    var lastPage: UInt64
    var transaction: UInt64

    /// The page size, which LMDB stores in an otherwise unused field of the free tree.
    var pageSize: UInt32 { free.keySize }

    /// The number of bytes of the meta data in a page.
    static let byteCount = 152
    /// The first bytes of the file after the header of its first page.
    static let magic: UInt32 = 0xBEEF_C0DE

    /// Whether the first bytes of a file are those of an LMDB file.
    static func isDatabase(_ head: [UInt8]) -> Bool {
        head.count >= 20 && head.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: 16, as: UInt32.self) } == magic
    }
    /// The data version of all LMDB 0.9 releases.
    static let knownVersion: UInt32 = 1
    /// The flag in the header of a meta page.
    static let metaPageFlag: UInt16 = 0x08

    private static let integerKeys: UInt16 = 0x08
    private static let environmentFlags: UInt16 = 0x4000 | integerKeys

    /// Whether this machine uses the layout that is read here.
    static var isLayoutKnown: Bool {
        MemoryLayout<Int>.size == 8 && UInt16(littleEndian: 1) == 1
    }

    /// Reads the fields; nil when there are too few bytes.
    init?(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count >= Self.byteCount else { return nil }
        pageNumber = bytes.loadUnaligned(as: UInt64.self)
        pageFlags = bytes.loadUnaligned(fromByteOffset: 10, as: UInt16.self)
        magic = bytes.loadUnaligned(fromByteOffset: 16, as: UInt32.self)
        version = bytes.loadUnaligned(fromByteOffset: 20, as: UInt32.self)
        address = bytes.loadUnaligned(fromByteOffset: 24, as: UInt64.self)
        mapSize = bytes.loadUnaligned(fromByteOffset: 32, as: UInt64.self)
        free = Tree(bytes, at: 40)
        main = Tree(bytes, at: 88)
        lastPage = bytes.loadUnaligned(fromByteOffset: 136, as: UInt64.self)
        transaction = bytes.loadUnaligned(fromByteOffset: 144, as: UInt64.self)
    }

    /// A description of a defect in the header of the page, 0 or 1, which no commit writes; nil without a defect.
    func headerDefect(asPage number: Int) -> String? {
        pageNumber == number && pageFlags == Self.metaPageFlag ? nil : "the header of meta page \(number) is wrong"
    }

    /// A description of a defect in the fields that commits write; nil without a defect.
    ///
    /// - Parameter length: The length of the file.
    func defect(length: Int) -> String? {
        if pageSize < 512 || pageSize > 65536 || pageSize & (pageSize - 1) != 0 { return "a page size of \(pageSize) cannot be" }
        if free.flags & Self.integerKeys == 0 || free.flags & ~Self.environmentFlags != 0 || address != 0 {
            return "the flags of meta page \(pageNumber) are wrong"
        }
        if main.flags != 0 || main.keySize != 0 { return "the flags of the main tree are wrong" }
        // Pages that were freed before they were written can be missing in the file, but all pages were in
        // the map.
        if lastPage < 1 || lastPage >= max(mapSize, UInt64(length)) / UInt64(pageSize) {
            return "the last page cannot be \(lastPage)"
        }
        return free.defect(lastPage: lastPage) ?? main.defect(lastPage: lastPage)
    }
}

extension FileMeta.Tree {
    /// Reads the fields of a tree, which begin at an offset.
    init(_ bytes: UnsafeRawBufferPointer, at offset: Int) {
        keySize = bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self)
        flags = bytes.loadUnaligned(fromByteOffset: offset + 4, as: UInt16.self)
        depth = bytes.loadUnaligned(fromByteOffset: offset + 6, as: UInt16.self)
        branchPages = bytes.loadUnaligned(fromByteOffset: offset + 8, as: UInt64.self)
        leafPages = bytes.loadUnaligned(fromByteOffset: offset + 16, as: UInt64.self)
        overflowPages = bytes.loadUnaligned(fromByteOffset: offset + 24, as: UInt64.self)
        entries = bytes.loadUnaligned(fromByteOffset: offset + 32, as: UInt64.self)
        root = bytes.loadUnaligned(fromByteOffset: offset + 40, as: UInt64.self)
    }

    /// A description of a defect in the fields; nil without a defect.
    func defect(lastPage: UInt64) -> String? {
        if root == Self.noRoot {
            return depth == 0 && entries == 0 ? nil : "a tree without a root has entries"
        }
        if root < 2 || root > lastPage { return "the root page \(root) is not in the file" }
        if depth < 1 || depth > Self.maximumDepth { return "a tree cannot be \(depth) pages high" }
        return branchPages > lastPage || leafPages > lastPage || overflowPages > lastPage ? "a tree has too many pages" : nil
    }
}

extension FileMeta {
    private static let transactionOffset = 144
    private static let headerLength = 16

    /// Gives a compact copy, whose numbers of transactions begin again, the number of the transaction that was copied.
    ///
    /// Both meta pages then have the copied content. The number decides which of them the next commit overwrites.
    ///
    /// - Parameters:
    ///   - descriptor: The file that LMDB has written.
    ///   - number: The number of the copied transaction.
    static func renumber(_ descriptor: CInt, pageSize: Int, to number: UInt64, _ errors: LMDBErrors) throws {
        try withUnsafeTemporaryAllocation(byteCount: byteCount, alignment: 8) { bytes in
            // LMDB writes an empty meta page, and the second one with transaction 1.
            guard pread(descriptor, bytes.baseAddress, byteCount, off_t(pageSize)) == byteCount,
                let meta = FileMeta(UnsafeRawBufferPointer(bytes)), meta.transaction == 1, meta.headerDefect(asPage: 1) == nil
            else { throw errors.error(.io, "the compact copy could not be read back; check the disk") }
            for page in 0...1 {
                let transaction = number & 1 == page ? number : number - 1
                bytes.storeBytes(of: transaction, toByteOffset: transactionOffset, as: UInt64.self)
                let fields = UnsafeRawBufferPointer(bytes)[headerLength...]
                let offset = off_t(page * pageSize + headerLength)
                guard
                    pwrite(descriptor, UnsafeRawBufferPointer(rebasing: fields).baseAddress, fields.count, offset) == fields.count
                else { throw TemporaryFile.failure(errno, errors.path, as: "compact-copy") }
            }
        }
    }
}
