/// Changes a tree without affecting the readers of the state that it started from.
///
/// A node that the editor made since the last savepoint belongs only to the editor and is changed in place.
/// Every other node can be part of another tree; it is copied first, with all nodes above it. Stamps
/// distinguish them: they increase, and a node's stamp is the time of its creation.
struct TreeEditor: ~Copyable {

    /// The state with all changes so far.
    private(set) var tree: Tree
    /// The number of keys in it, by their first byte.
    var counts: [Int]
    /// The stamp of new nodes; larger than the stamp of any savepoint.
    private var stamp: UInt64
    /// Nodes with this stamp or a later stamp belong only to the editor.
    private var firstOwnStamp: UInt64
    /// The saved states, innermost last.
    private var savepoints: [(tree: Tree, counts: [Int], firstOwnStamp: UInt64)] = []
    /// The path from the root to the changed leaf, with room for the highest tree.
    let path: UnsafeMutablePointer<TreeStep>

    /// Starts from a state.
    ///
    /// - Parameters:
    ///   - state: The state to change.
    ///   - stamp: A stamp larger than the last stamp of the editor that made the state.
    init(_ state: MemoryState, stamp: UInt64) {
        tree = state.tree
        counts = state.counts
        self.stamp = stamp
        firstOwnStamp = stamp
        path = .allocate(capacity: Node.maximumHeight)
    }

    deinit { path.deallocate() }

    /// The last stamp of a node.
    var lastStamp: UInt64 { stamp }

    // MARK: Savepoints

    /// The number of open savepoints.
    var savepointCount: Int { savepoints.count }

    /// Saves the current state.
    mutating func beginSavepoint() {
        savepoints.append((tree, counts, firstOwnStamp))
        stamp += 1
        firstOwnStamp = stamp
    }

    /// Removes the last saved state; there must be one.
    mutating func releaseSavepoint() {
        firstOwnStamp = savepoints.removeLast().firstOwnStamp
    }

    /// Restores the last saved state; there must be one.
    mutating func rollbackSavepoint() {
        (tree, counts, firstOwnStamp) = savepoints.removeLast()
    }

    // MARK: Ownership

    /// Creates an empty node that belongs to the editor.
    func makeNode(level: Int) -> NodePointer { .make(level: level, stamp: stamp) }

    /// Whether no other tree contains the node.
    func owns(_ node: NodePointer) -> Bool { node.stamp >= firstOwnStamp }

    /// Replaces the root by another node and takes over its reference.
    mutating func replaceRoot(with node: NodePointer) {
        precondition(node.level < Node.maximumHeight, "the tree is higher than any amount of memory can make it")
        tree = Tree(taking: node)
    }

    /// Descends to the leaf that contains or would contain a key, and fills the path.
    ///
    /// - Returns: The leaf, and the number of branches above it.
    @inline(__always)
    func descend(to key: SearchKey) -> (leaf: NodePointer, depth: Int) {
        var node = tree.top
        var depth = 0
        while node.level > 0 {
            let index = node.childIndex(for: key)
            path[depth] = TreeStep(node: node, index: index)
            depth += 1
            node = node.children[index]
        }
        return (node, depth)
    }

    /// Ensures that a leaf and all branches above it, which are in the path, belong to the editor.
    ///
    /// - Returns: The leaf, or its copy.
    mutating func own(_ leaf: NodePointer, depth: Int) -> NodePointer {
        // The owner of a node also owns all nodes above it: they changed when the node was inserted.
        if owns(leaf) { return leaf }
        if !owns(tree.top) { replaceRoot(with: tree.top.copy(stamp: stamp)) }
        guard depth > 0 else { return tree.top }
        path[0].node = tree.top
        for level in 1..<depth { path[level].node = ownChild(path[level - 1].index, of: path[level - 1].node) }
        return ownChild(path[depth - 1].index, of: path[depth - 1].node)
    }

    /// Ensures that a child of a branch of the editor belongs to the editor too.
    ///
    /// - Returns: The child, or its copy.
    func ownChild(_ index: Int, of parent: NodePointer) -> NodePointer {
        let child = parent.children[index]
        if owns(child) { return child }
        let copy = child.copy(stamp: stamp)
        parent.children[index] = copy
        child.release()
        return copy
    }
}
