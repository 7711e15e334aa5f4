extension TreeEditor {

    /// Removes a key and its value.
    ///
    /// - Returns: False when the key did not exist.
    mutating func delete(_ bytes: UnsafeRawBufferPointer) -> Bool {
        let key = SearchKey(bytes)
        let (found, depth) = descend(to: key)
        let (index, isEqual) = found.lowerBound(of: key, from: 0)
        guard isEqual else { return false }

        let leaf = own(found, depth: depth)
        leaf.entries[index].release()
        leaf.closeSlot(at: index)
        counts[Int(bytes[0])] -= 1
        if leaf.count < Node.sparseCount { mergeUpwards(from: leaf, depth: depth) }
        return true
    }

    /// Removes or merges the nodes of the path that have become empty or sparse, and removes roots with a
    /// single child.
    private mutating func mergeUpwards(from leaf: NodePointer, depth: Int) {
        var node = leaf
        var depth = depth
        while depth > 0, node.count < Node.sparseCount {
            depth -= 1
            let parent = path[depth].node
            let index = path[depth].index
            if node.count == 0 {
                parent.removeChild(at: index)
            } else if index > 0, fitTogether(parent, index - 1) {
                merge(parent, index - 1)
            } else if index + 1 < parent.count, fitTogether(parent, index) {
                merge(parent, index)
            } else {
                return
            }
            node = parent
        }
        while tree.top.level > 0, tree.top.count <= 1 {
            guard tree.top.count == 1 else { return replaceRoot(with: makeNode(level: 0)) }
            let child = tree.top.children[0]
            child.retain()
            replaceRoot(with: child)
        }
    }

    /// Whether the children of two neighbouring slots fit together into one node with room to spare.
    private func fitTogether(_ parent: NodePointer, _ index: Int) -> Bool {
        parent.children[index].count + parent.children[index + 1].count <= Node.mergedCount
    }

    /// Moves all slots of a child's right neighbour into the child, and removes the neighbour.
    private func merge(_ parent: NodePointer, _ index: Int) {
        let left = ownChild(index, of: parent)
        let right = parent.children[index + 1]
        right.copySlots(0..<right.count, to: left, at: left.count)
        right.retainSlots(0..<right.count)
        if left.level > 0 {
            // The first child of the neighbour is no longer the first child of its branch, so it gets the
            // separator of that branch.
            let separator = parent.separator(at: index + 1)
            separator.entry?.retain()
            left.setSeparator(separator, at: left.count)
        }
        left.count += right.count
        parent.removeChild(at: index + 1)
    }
}
