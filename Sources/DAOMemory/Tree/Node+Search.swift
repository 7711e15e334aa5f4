extension NodePointer {

    /// The bytes of the key or separator of a slot, which must be longer than a prefix.
    @inline(__always)
    private func longKey(at index: Int) -> UnsafeRawPointer {
        if level == 0 { return entries[index].keyStart }
        // A separator longer than a prefix always has its entry.
        return separators[index].unsafelyUnwrapped.keyStart
    }

    /// The first slot, from a given slot on, whose key is not less than the searched key, and whether it is
    /// equal.
    @inline(__always)
    func lowerBound(of key: SearchKey, from first: Int) -> (index: Int, isEqual: Bool) {
        let prefixes = prefixes
        var index = first
        var remaining = count - first
        while remaining > 0 {
            let half = remaining &>> 1
            let isLess = prefixes[index &+ half].isLess(than: key.prefix)
            index = isLess ? index &+ half &+ 1 : index
            remaining = isLess ? remaining &- half &- 1 : half
        }
        guard index < count, prefixes[index] == key.prefix else { return (index, false) }
        let order = key.order(ofStored: lengths[index].key, bytes: longKey(at: index))
        return order < 0 ? lowerBoundAmongEqualPrefixes(of: key, after: index) : (index, order == 0)
    }

    /// Continues the search after the first slot with an equal prefix, whose key is less than the searched
    /// key.
    private func lowerBoundAmongEqualPrefixes(of key: SearchKey, after first: Int) -> (index: Int, isEqual: Bool) {
        var low = first + 1
        var high = count
        while low < high {
            let middle = (low + high) / 2
            let isLess =
                prefixes[middle] == key.prefix && key.order(ofStored: lengths[middle].key, bytes: longKey(at: middle)) < 0
            if isLess { low = middle + 1 } else { high = middle }
        }
        let isEqual =
            low < count && prefixes[low] == key.prefix
            && key.order(ofStored: lengths[low].key, bytes: longKey(at: low)) == 0
        return (low, isEqual)
    }

    /// Of a branch: the child that contains the key, if the key exists.
    @inline(__always)
    func childIndex(for key: SearchKey) -> Int {
        let (index, isEqual) = lowerBound(of: key, from: 1)
        return isEqual ? index : index - 1
    }

    /// The value of a key in the tree below this node; valid while the tree lives.
    @inline(__always)
    func value(of key: SearchKey) -> UnsafeRawBufferPointer? {
        var node = self
        while node.level > 0 { node = node.children[node.childIndex(for: key)] }
        let (index, isEqual) = node.lowerBound(of: key, from: 0)
        return isEqual ? node.entries[index].value(node.lengths[index]) : nil
    }
}
