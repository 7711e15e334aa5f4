/// A state of all keys and values: the root of a B+tree that shares nodes with other states.
///
/// A copy costs one reference count. A tree never changes after its transaction has committed, so any number
/// of threads can read it. ``TreeEditor`` makes a new state from it.
struct Tree {

    /// Keeps the tree alive.
    private(set) var root: Node
    /// The memory of the root.
    private(set) var top: NodePointer

    /// Creates an empty tree.
    init() {
        self.init(taking: NodePointer.make(level: 0, stamp: 0))
    }

    /// Creates the tree below a node and takes over the node's reference.
    init(taking node: NodePointer) {
        root = node.object.takeRetainedValue()
        top = node
    }
}

/// A committed state: all keys and values, and how many there are.
final class MemoryState: @unchecked Sendable {
    // Unchecked because of the tree, which never changes after its transaction has committed.

    let tree: Tree
    /// The number of keys by their first byte.
    let counts: [Int]

    init(tree: Tree, counts: [Int]) { (self.tree, self.counts) = (tree, counts) }

    /// The state without keys.
    static let empty = MemoryState(tree: Tree(), counts: [Int](repeating: 0, count: 256))
}

/// A node on the path from the root to an entry, and the slot of the next node.
struct TreeStep {
    var node: NodePointer
    var index: Int
}
