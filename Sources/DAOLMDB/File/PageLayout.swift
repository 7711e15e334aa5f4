/// A branch or leaf page of LMDB's data version 1, on a machine of 64 bits and little-endian byte order.
///
/// A header is followed by the offsets of the nodes in key order; the nodes fill the page from its end. Call
/// ``defect(number:isLeaf:in:)`` first; the other members may only be used when it returns nil. The
/// layout does not own the bytes, which must outlive it.
struct PageLayout {

    /// The number of bytes before the offsets.
    static let headerSize = 16
    /// The flag in the header of the first page of a large value.
    static let overflowFlag: UInt16 = 0x04

    /// The contents of the tree of a page.
    enum Contents {
        /// Lists of free pages.
        case free
        /// The fields of the other trees, by name.
        case trees
        /// The keys and values of a store.
        case data
    }

    private static let branchFlag: UInt16 = 0x01
    private static let leafFlag: UInt16 = 0x02
    private static let nodeHeaderSize = 8
    private static let largeFlag: UInt16 = 0x01
    private static let treeFlag: UInt16 = 0x02
    private static let maximumKeySize = 511

    private let bytes: UnsafeRawBufferPointer

    /// The number of nodes.
    let count: Int
    /// Whether the page has entries instead of children.
    let isLeaf: Bool

    /// - Parameter bytes: A whole page.
    init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
        isLeaf = bytes.loadUnaligned(fromByteOffset: 10, as: UInt16.self) & Self.leafFlag != 0
        count = max(0, (Int(bytes.loadUnaligned(fromByteOffset: 12, as: UInt16.self)) - Self.headerSize) / 2)
    }

    @inline(__always) private func number(_ offset: Int) -> Int {
        Int(bytes.loadUnaligned(fromByteOffset: offset, as: UInt16.self))
    }

    /// A node of a page.
    struct Node {
        /// The bytes after the key: the value, or the number of the first page of a large value.
        let bytes: UnsafeRawBufferPointer
        /// Whether the value has separate pages.
        let isLarge: Bool
        /// The length of the value.
        let valueSize: Int
        /// Of a branch: the page of the child.
        let childPage: UInt64

        /// Of a large value: its first page.
        var overflowPage: UInt64 { bytes.loadUnaligned(as: UInt64.self) }
    }

    /// The node of an index.
    func node(_ index: Int) -> Node {
        let offset = number(Self.headerSize + 2 * index)
        let flags = UInt16(number(offset + 4))
        let low = UInt64(number(offset)) | UInt64(number(offset + 2)) << 16
        let valueStart = offset + Self.nodeHeaderSize + number(offset + 6)
        let isLarge = isLeaf && flags & Self.largeFlag != 0
        let inPage = isLeaf ? (isLarge ? 8 : Int(low)) : 0
        return Node(
            bytes: UnsafeRawBufferPointer(rebasing: bytes[valueStart..<valueStart + inPage]), isLarge: isLarge,
            valueSize: Int(low), childPage: low | UInt64(flags) << 32)
    }

    /// The key of the node of an index.
    @inline(__always) func key(_ index: Int) -> UnsafeRawBufferPointer {
        let offset = number(Self.headerSize + 2 * index)
        let start = offset + Self.nodeHeaderSize
        return UnsafeRawBufferPointer(rebasing: bytes[start..<start + number(offset + 6)])
    }

    /// A description of a defect in the page itself; nil without a defect.
    ///
    /// - Parameters:
    ///   - number: The page's number.
    ///   - isLeaf: Whether it should be a leaf.
    ///   - contents: The contents of its tree.
    func defect(number page: UInt64, isLeaf: Bool, in contents: Contents) -> String? {
        let ownNumber = bytes.loadUnaligned(as: UInt64.self)
        guard ownNumber == page else { return "says that it is page \(ownNumber)" }
        guard number(10) == Int(isLeaf ? Self.leafFlag : Self.branchFlag) else { return "is of the wrong kind" }
        let (lower, upper) = (number(12), number(14))
        guard lower >= Self.headerSize, lower & 1 == 0, lower <= upper, upper <= bytes.count else {
            return "has impossible bounds"
        }
        // LMDB aborts the process on a branch with a single child in the data.
        guard count >= (isLeaf || contents == .free ? 1 : 2) else { return "has too few entries" }
        var total = 0
        for index in 0..<count {
            guard let size = nodeSize(index, from: upper, isLeaf: isLeaf, in: contents) else {
                return "has an impossible entry"
            }
            total += (size + 1) & ~1
        }
        return total == bytes.count - upper ? nil : "has entries that do not fill it"
    }

    /// The size of a node; nil if it is not within the page or its fields are inconsistent.
    private func nodeSize(_ index: Int, from upper: Int, isLeaf: Bool, in contents: Contents) -> Int? {
        let offset = number(Self.headerSize + 2 * index)
        guard offset >= upper, offset & 1 == 0, offset + Self.nodeHeaderSize <= bytes.count else { return nil }
        let keySize = number(offset + 6)
        let isFirstOfBranch = !isLeaf && index == 0
        guard keySize <= Self.maximumKeySize, keySize > 0 || isFirstOfBranch else { return nil }
        guard contents != .free || keySize == 8 || isFirstOfBranch else { return nil }
        var size = Self.nodeHeaderSize + keySize
        if isLeaf {
            let flags = UInt16(number(offset + 4))
            let valueSize = number(offset) | number(offset + 2) << 16
            if contents == .trees {
                guard flags == Self.treeFlag, valueSize == FileMeta.Tree.byteCount else { return nil }
            } else {
                guard flags == 0 || flags == Self.largeFlag else { return nil }
            }
            size += flags == Self.largeFlag ? 8 : valueSize
        }
        return offset + size <= bytes.count ? size : nil
    }
}
