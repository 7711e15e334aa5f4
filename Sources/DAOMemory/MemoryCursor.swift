import DAOCore
import DAOKeyValue

/// A position in the tree of a transaction.
final class MemoryCursor: KeyValueCursor {

    // Keeps the tree alive, and tells whether it still is the one that the position is in.
    private let transaction: MemoryTransaction
    @exclusivity(unchecked) private var version = 0
    // The leaf, good while `version` is the transaction's; nil when the cursor stands nowhere.
    @exclusivity(unchecked) private var leaf: NodePointer?
    @exclusivity(unchecked) private var index = 0
    @exclusivity(unchecked) private var count = 0
    // The branches above the leaf, each with the slot by which the way goes on; `depth` of them.
    private let path: UnsafeMutablePointer<TreeStep>
    @exclusivity(unchecked) private var depth = 0

    /// A cursor that stands nowhere.
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

    /// Goes to the first slot that is not less than a key, which may be the one behind a leaf's last.
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

    /// What became of a cursor that cannot go on.
    private func refuse() throws -> Bool {
        if transaction.top == nil { throw MemoryTransaction.ended }
        guard leaf != nil else { return false }
        throw StorageError(.invalidTransaction, "the cursor lost its place because of a write; seek again before moving on")
    }

    /// Shows the entry of the slot.
    @inline(__always)
    private func standStill() -> Bool {
        // Only called when a leaf was found and the index is one of its slots.
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

    /// Goes down from the last step of the path to a leaf, taking the same side in every branch. No leaf of a path is empty.
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
