extension TreeEditor {

    /// Stores a value under a key.
    ///
    /// - Parameters:
    ///   - bytes: The key; copied.
    ///   - value: The value; copied.
    ///   - replaces: Whether the value of an existing key is replaced.
    /// - Returns: False, with nothing changed, when the key exists and `replaces` is false.
    mutating func put(_ bytes: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, replaces: Bool) -> Bool {
        let key = SearchKey(bytes)
        let (found, depth) = descend(to: key)
        let (index, isEqual) = found.lowerBound(of: key, from: 0)
        if isEqual, !replaces { return false }

        let leaf = own(found, depth: depth)
        let entry = EntryPointer.make(key: bytes, value: value)
        let lengths = EntryLengths(key: bytes.count, value: value.count)
        if isEqual {
            let old = leaf.entries[index]
            leaf.entries[index] = entry
            leaf.lengths[index] = lengths
            old.release()
            return true
        }
        counts[Int(bytes[0])] += 1
        if leaf.count < Node.capacity {
            leaf.insert(entry, lengths, key.prefix, at: index)
        } else {
            let right = split(leaf, insertingAt: index, entry, lengths, key.prefix)
            let last = leaf.count - 1
            let separator = Separator(
                between: leaf.entries[last].key(leaf.lengths[last]), and: right.entries[0].key(right.lengths[0]))
            insert(right, separator, above: depth)
        }
        return true
    }

    /// Moves a part of a full leaf into a new leaf on its right, and inserts an entry into one of them.
    ///
    /// An entry after the last slot is the only entry of the new leaf, so insertions in ascending order leave
    /// full leaves.
    private func split(
        _ leaf: NodePointer, insertingAt index: Int, _ entry: EntryPointer, _ lengths: EntryLengths, _ prefix: KeyPrefix
    ) -> NodePointer {
        let right = makeNode(level: 0)
        let middle = index == leaf.count ? leaf.count : leaf.count / 2
        leaf.copySlots(middle..<leaf.count, to: right, at: 0)
        right.count = leaf.count - middle
        leaf.count = middle
        if index < middle {
            leaf.insert(entry, lengths, prefix, at: index)
        } else {
            right.insert(entry, lengths, prefix, at: index - middle)
        }
        return right
    }

    /// Inserts a new node into the tree, on the right of the node at the end of the path, and splits full
    /// branches.
    ///
    /// - Parameters:
    ///   - node: The new node; its reference is taken over.
    ///   - separator: The separator to its left.
    ///   - depth: The number of branches of the path above it.
    private mutating func insert(_ node: NodePointer, _ separator: Separator, above depth: Int) {
        var (node, separator, depth) = (node, separator, depth)
        while depth > 0 {
            depth -= 1
            let parent = path[depth].node
            let index = path[depth].index + 1
            if parent.count < Node.capacity {
                parent.insert(node, separator, at: index)
                return
            }
            (node, separator) = splitBranch(parent, insertingAt: index, node, separator)
        }
        let root = makeNode(level: tree.top.level + 1)
        tree.top.retain()
        root.insert(tree.top, .none, at: 0)
        root.insert(node, separator, at: 1)
        replaceRoot(with: root)
    }

    /// Moves a part of a full branch into a new branch on its right, and inserts a child into one of them.
    ///
    /// - Returns: The new branch and the separator to its left.
    private func splitBranch(
        _ branch: NodePointer, insertingAt index: Int, _ child: NodePointer, _ separator: Separator
    ) -> (NodePointer, Separator) {
        let right = makeNode(level: branch.level)
        if index == branch.count {
            right.insert(child, .none, at: 0)
            return (right, separator)
        }
        let middle = branch.count / 2
        branch.copySlots(middle..<branch.count, to: right, at: 0)
        right.count = branch.count - middle
        branch.count = middle
        let promoted = right.separator(at: 0)
        right.setSeparator(.none, at: 0)
        if index <= middle {
            branch.insert(child, separator, at: index)
        } else {
            right.insert(child, separator, at: index - middle)
        }
        return (right, promoted)
    }
}

extension NodePointer {
    /// Of a leaf with room: inserts an entry and takes over its reference.
    @inline(__always)
    fileprivate func insert(_ entry: EntryPointer, _ lengths: EntryLengths, _ prefix: KeyPrefix, at index: Int) {
        openSlot(at: index)
        prefixes[index] = prefix
        self.lengths[index] = lengths
        entries[index] = entry
    }
}
