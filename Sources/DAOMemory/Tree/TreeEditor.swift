/// Changes a tree without disturbing those who read the state it started from.
///
/// A node that the editor made since the last savepoint belongs to it alone and is changed where it is. Any other may be part
/// of somebody else's tree and is copied first, with all nodes above it. Stamps tell the two apart: they count up, and a
/// node's stamp says when it was made.
struct TreeEditor: ~Copyable {

    /// The state with all changes so far.
    private(set) var tree: Tree
    /// The stamp of the nodes being made; larger than that of any savepoint.
    private var stamp: UInt64
    /// Nodes with this stamp or a later one belong to the editor alone.
    private var firstOwnStamp: UInt64
    /// The states to go back to, innermost last.
    private var savepoints: [(tree: Tree, firstOwnStamp: UInt64)] = []
    /// The way from the root to the leaf being changed; room for the highest tree.
    let path: UnsafeMutablePointer<TreeStep>

    /// Starts from a state.
    ///
    /// - Parameters:
    ///   - tree: The state to change.
    ///   - stamp: Larger than the last stamp of the editor that made the state.
    init(_ tree: Tree, stamp: UInt64) {
        self.tree = tree
        self.stamp = stamp
        firstOwnStamp = stamp
        path = .allocate(capacity: Node.maximumHeight)
    }

    deinit { path.deallocate() }

    /// The last stamp that was given to a node.
    var lastStamp: UInt64 { stamp }

    // MARK: Savepoints

    /// How many savepoints are open.
    var savepointCount: Int { savepoints.count }

    /// Remembers the present state.
    mutating func beginSavepoint() {
        savepoints.append((tree, firstOwnStamp))
        stamp += 1
        firstOwnStamp = stamp
    }

    /// Forgets the last remembered state; there must be one.
    mutating func releaseSavepoint() {
        firstOwnStamp = savepoints.removeLast().firstOwnStamp
    }

    /// Goes back to the last remembered state; there must be one.
    mutating func rollbackSavepoint() {
        (tree, firstOwnStamp) = savepoints.removeLast()
    }

    // MARK: Ownership

    /// Makes an empty node of the editor's own.
    func makeNode(level: Int) -> NodePointer { .make(level: level, stamp: stamp) }

    /// Whether nobody else has the node in a tree.
    func owns(_ node: NodePointer) -> Bool { node.stamp >= firstOwnStamp }

    /// Puts another node in the root's place and takes over its reference.
    mutating func replaceRoot(with node: NodePointer) {
        precondition(node.level < Node.maximumHeight, "the tree is higher than any amount of memory can make it")
        tree = Tree(taking: node)
    }

    /// Goes down to the leaf where a key is or would be, and fills the path.
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

    /// Makes sure that a leaf and all branches above it, which the path holds, belong to the editor.
    ///
    /// - Returns: The leaf, or its copy.
    mutating func own(_ leaf: NodePointer, depth: Int) -> NodePointer {
        // Who owns a node also owns all nodes above it: they were changed when the node was put there.
        if owns(leaf) { return leaf }
        if !owns(tree.top) { replaceRoot(with: tree.top.copy(stamp: stamp)) }
        guard depth > 0 else { return tree.top }
        path[0].node = tree.top
        for level in 1..<depth { path[level].node = ownChild(path[level - 1].index, of: path[level - 1].node) }
        return ownChild(path[depth - 1].index, of: path[depth - 1].node)
    }

    /// Makes sure that a child of a branch that the editor owns belongs to it too.
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
