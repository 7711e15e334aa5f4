/// One state of all keys and values: the root of a B+tree whose nodes it shares with other states.
///
/// Copying it is one reference count. It never changes after its transaction has been committed, so it can be read by any
/// number of threads; ``TreeEditor`` makes a new state out of it.
struct Tree {

    /// Keeps the tree alive.
    private(set) var root: Node
    /// The memory of the root.
    private(set) var top: NodePointer

    /// The tree without any entry.
    init() {
        self.init(taking: NodePointer.make(level: 0, stamp: 0))
    }

    /// The tree below a node, whose reference it takes over.
    init(taking node: NodePointer) {
        root = node.object.takeRetainedValue()
        top = node
    }
}

/// A node on the way from the root to an entry, and the slot by which the way goes on.
struct TreeStep {
    var node: NodePointer
    var index: Int
}
