import DAOCore
import Foundation

/// Reads all pages of a snapshot with plain reads and checks that LMDB can follow them without leaving the
/// file.
///
/// LMDB trusts page numbers and offsets; a flipped bit in them causes a crash. The check covers the header,
/// the offsets, the sizes and the key order of every page of all trees, the names of the trees and the first
/// bytes of their keys, the lists of free pages, and that every page number is in the file and used once. It
/// does not cover the contents of values.
///
/// The caller keeps the snapshot alive during the check, so that no writer reuses its pages.
struct PageCheck {

    private let file: DatabaseFile
    private let meta: FileMeta
    private let pageSize: Int
    private let pagesInFile: UInt64
    // A bit for each referenced page.
    private var used: [UInt64]
    // The number of listed free pages that are not in the file.
    private var freeBeyondFile: UInt64 = 0
    // The trees of data, found in the main tree.
    private var trees: [FileMeta.Tree] = []
    // The number of the tree of data that is checked.
    private var tree = 0
    // A page for each height of a tree: the pages below a page are checked while that page is in its buffer.
    private let buffers: UnsafeMutableRawBufferPointer

    /// Checks the pages of a snapshot.
    ///
    /// - Throws: `corrupted` with the page and its defect.
    static func run(_ file: DatabaseFile, _ meta: FileMeta) throws {
        let buffers = UnsafeMutableRawBufferPointer.allocate(
            byteCount: FileMeta.Tree.maximumDepth * Int(meta.pageSize), alignment: 8)
        defer { buffers.deallocate() }
        var check = PageCheck(file, meta, length: try file.length(), buffers)
        try check.checkTree(meta.main, .trees)
        for (number, tree) in check.trees.enumerated() {
            check.tree = number
            try check.checkTree(tree, .data)
        }
        try check.checkTree(meta.free, .free)
        try check.checkMissingPages()
    }

    private init(_ file: DatabaseFile, _ meta: FileMeta, length: Int, _ buffers: UnsafeMutableRawBufferPointer) {
        self.file = file
        self.buffers = buffers
        self.meta = meta
        pageSize = Int(meta.pageSize)
        // Pages at the end that were freed before they were written are not in the file, and no page may
        // refer to them.
        pagesInFile = min(UInt64(length / pageSize), meta.lastPage + 1)
        used = [UInt64](repeating: 0, count: Int(clamping: pagesInFile / 64 + 1))
    }

    /// Checks that pages missing at the end of the file are free. Half of them is enough: LMDB can have lost
    /// some.
    private func checkMissingPages() throws {
        let missing = meta.lastPage + 1 - pagesInFile
        guard freeBeyondFile >= missing / 2 else { throw file.damaged("\(missing) of its pages are not in the file") }
    }

    private func defect(_ page: UInt64, _ what: String) -> StorageError {
        file.damaged("page \(page) \(what)")
    }

    /// Marks a page as referenced.
    private mutating func use(_ page: UInt64, from parent: UInt64) throws {
        guard page >= 2, page < pagesInFile else { throw defect(parent, "refers to page \(page), which is not in the file") }
        let bit = UInt64(1) << (page % 64)
        guard used[Int(page / 64)] & bit == 0 else { throw defect(parent, "refers to page \(page), which is used elsewhere") }
        used[Int(page / 64)] |= bit
    }

    /// Reads a page into the buffer of its height, where it stays until the next page of that height is read.
    private func readPage(_ page: UInt64, height: Int) throws -> UnsafeRawBufferPointer {
        let buffer = UnsafeMutableRawBufferPointer(rebasing: buffers[(height - 1) * pageSize..<height * pageSize])
        let count = try file.read(into: buffer, at: Int(page) * pageSize)
        guard count == pageSize else { throw defect(page, "is not in the file") }
        return UnsafeRawBufferPointer(buffer)
    }

    // MARK: Trees

    private mutating func checkTree(_ tree: FileMeta.Tree, _ contents: PageLayout.Contents) throws {
        guard tree.root != FileMeta.Tree.noRoot else { return }
        try use(tree.root, from: 0)
        let entries = try checkPage(
            tree.root, height: Int(tree.depth), bounds: (nil, nil), contents)
        guard entries == tree.entries else { throw defect(tree.root, "and those below it do not have as many entries as noted") }
    }

    /// The bounds of the keys of a page; they are in the pages above it.
    private typealias Bounds = (lower: UnsafeRawBufferPointer?, upper: UnsafeRawBufferPointer?)

    /// Checks a page and all pages below it.
    ///
    /// - Returns: The number of their entries.
    private mutating func checkPage(_ number: UInt64, height: Int, bounds: Bounds, _ contents: PageLayout.Contents) throws
        -> UInt64
    {
        let page = PageLayout(try readPage(number, height: height))
        if let defect = page.defect(number: number, isLeaf: height == 1, in: contents) { throw self.defect(number, defect) }
        try checkOrder(page, number, bounds, contents)
        guard height > 1 else {
            for index in 0..<page.count {
                if contents == .trees {
                    try addTree(page.key(index), page.node(index).bytes, on: number)
                } else {
                    try checkValue(page.node(index), on: number, isFree: contents == .free)
                }
            }
            return UInt64(page.count)
        }
        var entries: UInt64 = 0
        for index in 0..<page.count {
            let child = page.node(index).childPage
            try use(child, from: number)
            let lower = index == 0 ? bounds.lower : page.key(index)
            let upper = index + 1 < page.count ? page.key(index + 1) : bounds.upper
            entries += try checkPage(child, height: height - 1, bounds: (lower, upper), contents)
        }
        return entries
    }

    private func checkOrder(
        _ page: PageLayout, _ number: UInt64, _ bounds: Bounds, _ contents: PageLayout.Contents
    ) throws {
        let isFree = contents == .free
        // The first key of a branch is unbounded on the left and is not compared.
        let first = page.isLeaf ? 0 : 1
        guard first < page.count else { return }
        for index in first + 1..<max(page.count, first + 1) {
            guard isLess(page.key(index - 1), page.key(index), isFree) else { throw defect(number, "has keys out of order") }
        }
        if let lower = bounds.lower, isLess(page.key(first), lower, isFree) {
            throw defect(number, "has a key that belongs to its left")
        }
        // Between these two keys are only keys of the same tree.
        if page.isLeaf, contents == .data,
            [page.key(0), page.key(page.count - 1)].contains(where: { Trees.number(of: $0) != tree })
        {
            throw defect(number, "has a key of another tree")
        }
        if let upper = bounds.upper, !isLess(page.key(page.count - 1), upper, isFree) {
            throw defect(number, "has a key that belongs to its right")
        }
    }

    @inline(__always)
    private func isLess(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer, _ isFree: Bool) -> Bool {
        // Keys of the tree of free pages have eight bytes. A page with other keys is refused before its keys
        // are compared.
        if isFree { return left.loadUnaligned(as: UInt64.self) < right.loadUnaligned(as: UInt64.self) }
        guard let leftStart = left.baseAddress, let rightStart = right.baseAddress else { return left.count < right.count }
        let order = memcmp(leftStart, rightStart, min(left.count, right.count))
        return order == 0 ? left.count < right.count : order < 0
    }

    // MARK: Values

    /// Checks the fields of a tree of data, and adds it to the trees that are checked afterwards.
    private mutating func addTree(_ name: UnsafeRawBufferPointer, _ fields: UnsafeRawBufferPointer, on page: UInt64) throws {
        guard trees.count < Trees.count, name.elementsEqual(Trees.name(trees.count).utf8) else {
            throw defect(page, "has an unknown tree")
        }
        let tree = FileMeta.Tree(fields, at: 0)
        guard tree.flags == 0, tree.keySize == 0 else { throw defect(page, "has a tree with wrong flags") }
        if let defect = tree.defect(lastPage: meta.lastPage) { throw self.defect(page, "has a damaged tree: \(defect)") }
        trees.append(tree)
    }

    private mutating func checkValue(_ node: PageLayout.Node, on page: UInt64, isFree: Bool) throws {
        guard node.isLarge else {
            if isFree { try checkFreePages(node.bytes, on: page) }
            return
        }
        let first = node.overflowPage
        guard first >= 2, first < pagesInFile else { throw defect(page, "refers to page \(first), which is not in the file") }
        var words = (UInt64(0), UInt64(0))
        _ = try withUnsafeMutableBytes(of: &words) { try file.read(into: $0, at: Int(first) * pageSize) }
        let (own, rest) = words
        let needed = UInt64((PageLayout.headerSize - 1 + node.valueSize) / pageSize + 1)
        let present = rest >> 32
        let isOverflow = own == first && UInt16(truncatingIfNeeded: rest >> 16) == PageLayout.overflowFlag
        guard isOverflow, present >= needed, present <= pagesInFile else {
            throw defect(first, "does not begin a value of \(node.valueSize) bytes")
        }
        for offset in 0..<present { try use(first + offset, from: page) }
        guard isFree else { return }
        try withUnsafeTemporaryAllocation(byteCount: node.valueSize, alignment: 8) { value in
            _ = try file.read(into: value, at: Int(first) * pageSize + PageLayout.headerSize)
            try checkFreePages(UnsafeRawBufferPointer(value), on: first)
        }
    }

    /// Checks a list of free pages: a count, then page numbers in descending order.
    private mutating func checkFreePages(_ bytes: UnsafeRawBufferPointer, on page: UInt64) throws {
        let numbers = (0..<bytes.count / 8).lazy.map { bytes.loadUnaligned(fromByteOffset: $0 * 8, as: UInt64.self) }
        guard let count = numbers.first, count < numbers.count else { throw defect(page, "has a list of free pages without end") }
        var previous = meta.lastPage + 1
        for free in numbers.dropFirst().prefix(Int(count)) {
            guard free >= 2, free < previous else { throw defect(page, "lists page \(free) as free, which cannot be") }
            previous = free
            if free < pagesInFile { try use(free, from: page) } else { freeBeyondFile += 1 }
        }
    }
}
