/// The separator of two neighbouring nodes: greater than all keys on the left, not greater than any key on
/// the right.
struct Separator {
    var prefix: KeyPrefix
    var count: Int
    /// Holds the bytes when they are longer than a prefix. The separator owns one reference.
    var entry: EntryPointer?

    /// The separator of the first child of a branch.
    static var none: Separator { Separator(prefix: KeyPrefix(high: 0, low: 0), count: 0, entry: nil) }
}

extension Separator {
    /// Creates the shortest separator between the last key on the left and the first, greater key on the
    /// right.
    init(between left: UnsafeRawBufferPointer, and right: UnsafeRawBufferPointer) {
        var common = 0
        let limit = min(left.count, right.count)
        while common < limit, left[common] == right[common] { common += 1 }
        let bytes = UnsafeRawBufferPointer(rebasing: right[..<min(common + 1, right.count)])
        prefix = KeyPrefix(bytes)
        count = bytes.count
        let none = UnsafeRawBufferPointer(start: nil, count: 0)
        entry = bytes.count > KeyPrefix.byteCount ? EntryPointer.make(key: bytes, value: none) : nil
    }
}

extension NodePointer {

    /// Of a branch: the separator of a slot. Adds no reference.
    func separator(at index: Int) -> Separator {
        Separator(prefix: prefixes[index], count: lengths[index].key, entry: separators[index])
    }

    /// Of a branch: writes the separator of a slot and takes over its reference. The caller has released or
    /// taken over the reference of the old separator.
    func setSeparator(_ separator: Separator, at index: Int) {
        prefixes[index] = separator.prefix
        lengths[index] = EntryLengths(key: separator.count, value: 0)
        separators[index] = separator.entry
    }

    /// Of a branch with room: inserts a child, and takes over the references to the child and its separator.
    func insert(_ child: NodePointer, _ separator: Separator, at index: Int) {
        openSlot(at: index)
        children[index] = child
        setSeparator(separator, at: index)
    }

    /// Of a branch: removes a child and releases the references to the child and its separator.
    func removeChild(at index: Int) {
        children[index].release()
        separators[index]?.release()
        closeSlot(at: index)
        if index == 0, count > 0 {
            separators[0]?.release()
            setSeparator(.none, at: 0)
        }
    }
}
