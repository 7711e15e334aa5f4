import DAOCore
import DAOKeyValue

/// A position in the tree of a transaction.
final class MemoryCursor: KeyValueCursor {

    // Keeps the tree alive, and tells whether the position is still valid in it.
    private let transaction: MemoryTransaction
    @exclusivity(unchecked) private var version = 0
    // The leaf, valid while `version` equals the transaction's version; nil when the cursor has no position.
    @exclusivity(unchecked) private var leaf: NodePointer?
    @exclusivity(unchecked) private var index = 0
    @exclusivity(unchecked) private var count = 0
    // The branches above the leaf, each with the slot of the next node; `depth` elements are valid.
    private let path: UnsafeMutablePointer<TreeStep>
    @exclusivity(unchecked) private var depth = 0

    /// Creates a cursor without a position.
    init(_ transaction: MemoryTransaction) {
        self.transaction = transaction
        path = .allocate(capacity: Node.maximumHeight)
        super.init()
    }

    deinit { path.deallocate() }

    // MARK: Seeking

    override func seek(_ key: UnsafeRawBufferPointer) throws -> Bool {
        try descend(to: SearchKey(key))
        return index < count ? standStill() : try nextLeaf()
    }

    override func seekBefore(_ key: UnsafeRawBufferPointer) throws -> Bool {
        try descend(to: SearchKey(key))
        index -= 1
        return index >= 0 ? standStill() : try previousLeaf()
    }

    /// Moves to the first slot that is not less than a key. It can be the slot after the last of a leaf.
    private func descend(to key: SearchKey) throws {
        guard var node = transaction.top else { throw MemoryTransaction.ended }
        version = transaction.version
        depth = 0
        while node.level > 0 {
            let index = node.childIndex(for: key)
            path[depth] = TreeStep(node: node, index: index)
            depth += 1
            node = node.children[index]
        }
        leaf = node
        count = node.count
        index = node.lowerBound(of: key, from: 0).index
    }

    // MARK: Walking

    override func next() throws -> Bool {
        guard leaf != nil, transaction.version == version else { return try refuse() }
        index += 1
        return index < count ? standStill() : try nextLeaf()
    }

    override func previous() throws -> Bool {
        guard leaf != nil, transaction.version == version else { return try refuse() }
        index -= 1
        return index >= 0 ? standStill() : try previousLeaf()
    }

    /// Throws, or returns false, when the cursor cannot move.
    private func refuse() throws -> Bool {
        if transaction.top == nil { throw MemoryTransaction.ended }
        guard leaf != nil else { return false }
        throw StorageError(.invalidTransaction, "The cursor was left behind by a write; seek again before moving on.")
    }

    /// Sets the current entry to the entry of the slot.
    @inline(__always)
    private func standStill() -> Bool {
        // Only called when a leaf was found and the index is a slot of it.
        let leaf = leaf.unsafelyUnwrapped
        let entry = leaf.entries[index]
        let lengths = leaf.lengths[index]
        key = entry.key(lengths)
        value = entry.value(lengths)
        return true
    }

    private func nextLeaf() throws -> Bool {
        while depth > 0 {
            let step = path[depth - 1]
            if step.index + 1 < step.node.count {
                path[depth - 1].index += 1
                enterLeaf { _ in 0 }
                index = 0
                return standStill()
            }
            depth -= 1
        }
        leaf = nil
        return false
    }

    private func previousLeaf() throws -> Bool {
        while depth > 0 {
            if path[depth - 1].index > 0 {
                path[depth - 1].index -= 1
                enterLeaf { $0.count - 1 }
                index = count - 1
                return standStill()
            }
            depth -= 1
        }
        leaf = nil
        return false
    }

    /// Descends from the last step of the path to a leaf, on the same side of every branch. No leaf of a path
    /// is empty.
    @inline(__always)
    private func enterLeaf(_ side: (NodePointer) -> Int) {
        var node = path[depth - 1].node.children[path[depth - 1].index]
        while node.level > 0 {
            let index = side(node)
            path[depth] = TreeStep(node: node, index: index)
            depth += 1
            node = node.children[index]
        }
        leaf = node
        count = node.count
    }
}
