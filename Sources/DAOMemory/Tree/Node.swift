/// The object that keeps one node of a tree, and through it all that hangs below it, alive.
///
/// Trees share nodes. A node may be changed only by the write transaction that made it, before that is committed; from
/// then on it is read only, by any number of threads. The object itself is never looked at on the way down: see
/// ``NodePointer``.
final class Node: ManagedBuffer<Void, UInt64> {

    /// How many slots a node has.
    static let capacity = 64
    /// Below this many used slots a node is merged with a neighbour, if the two fit together.
    static let sparseCount = capacity / 4
    /// Two neighbours are merged when they have no more than this together, so that the next insertion does not split them again.
    static let mergedCount = capacity * 3 / 4
    /// No tree is as high: with half-full nodes it would hold more entries than there are atoms.
    static let maximumHeight = 64

    /// The node's memory; valid while the object lives.
    var pointer: NodePointer {
        withUnsafeMutablePointerToElements { NodePointer(base: UnsafeMutableRawPointer($0)) }
    }

    // As deep as the tree is high, never as deep as it is large.
    deinit { pointer.releaseSlots() }
}

/// The memory of a ``Node``: a count, and columns of as many slots as a node has.
///
/// In a leaf (level 0) a slot is an entry with the prefix of its key and both lengths, so that finding it and pointing to its
/// value reads nothing of the entry. In a branch a slot is a child with its
/// separator: no key below the child is less than it, all keys below the child to the left are. A separator is as short
/// as tells the two apart; only one that is longer than a prefix needs an entry of its own to hold its bytes. The first
/// child of a branch has the empty separator.
///
/// A pointer counts no reference: it is good while a tree that contains the node is.
struct NodePointer: Equatable {
    let base: UnsafeMutableRawPointer

    private static let prefixOffset = 32
    private static let referenceOffset = prefixOffset + 16 * Node.capacity
    private static let lengthOffset = referenceOffset + 8 * Node.capacity
    private static let separatorOffset = lengthOffset + 8 * Node.capacity
    private static let leafSize = separatorOffset
    private static let branchSize = separatorOffset + 8 * Node.capacity

    /// Makes an empty node with one reference, which belongs to the caller.
    ///
    /// - Parameters:
    ///   - level: 0 for a leaf, the height above the leaves for a branch.
    ///   - stamp: When it was made, by the counting of ``TreeEditor``.
    static func make(level: Int, stamp: UInt64) -> NodePointer {
        let words = (level == 0 ? leafSize : branchSize) / 8
        let object = unsafeDowncast(Node.create(minimumCapacity: words) { _ in }, to: Node.self)
        let node = object.pointer
        node.base.storeBytes(of: Unmanaged.passRetained(object).toOpaque(), as: UnsafeMutableRawPointer.self)
        node.base.storeBytes(of: stamp, toByteOffset: 8, as: UInt64.self)
        node.base.storeBytes(of: level, toByteOffset: 16, as: Int.self)
        node.base.storeBytes(of: 0, toByteOffset: 24, as: Int.self)
        return node
    }

    /// The object that owns the memory.
    var object: Unmanaged<Node> { .fromOpaque(base.load(as: UnsafeMutableRawPointer.self)) }

    /// When the node was made.
    @inline(__always)
    var stamp: UInt64 { base.load(fromByteOffset: 8, as: UInt64.self) }

    /// 0 for a leaf, the height above the leaves for a branch.
    @inline(__always)
    var level: Int { base.load(fromByteOffset: 16, as: Int.self) }

    /// How many slots are in use.
    @inline(__always)
    var count: Int {
        get { base.load(fromByteOffset: 24, as: Int.self) }
        nonmutating set { base.storeBytes(of: newValue, toByteOffset: 24, as: Int.self) }
    }

    /// The prefixes of the keys or separators.
    @inline(__always)
    var prefixes: UnsafeMutablePointer<KeyPrefix> { (base + Self.prefixOffset).assumingMemoryBound(to: KeyPrefix.self) }

    /// The lengths of the keys or separators, and of the values.
    @inline(__always)
    var lengths: UnsafeMutablePointer<EntryLengths> { (base + Self.lengthOffset).assumingMemoryBound(to: EntryLengths.self) }

    /// Of a leaf: the entries.
    @inline(__always)
    var entries: UnsafeMutablePointer<EntryPointer> { (base + Self.referenceOffset).assumingMemoryBound(to: EntryPointer.self) }

    /// Of a branch: the children.
    @inline(__always)
    var children: UnsafeMutablePointer<NodePointer> { (base + Self.referenceOffset).assumingMemoryBound(to: NodePointer.self) }

    /// Of a branch: the entries that hold separators longer than a prefix.
    @inline(__always)
    var separators: UnsafeMutablePointer<EntryPointer?> {
        (base + Self.separatorOffset).assumingMemoryBound(to: EntryPointer?.self)
    }

    /// Counts one more reference.
    func retain() { _ = object.retain() }

    /// Gives one reference back; the last one frees the node.
    func release() { object.release() }
}

// MARK: - Slots

extension NodePointer {

    /// Copies used slots to another node of the same level, at its given index, which must be free. Counts no references.
    func copySlots(_ range: Range<Int>, to other: NodePointer, at index: Int) {
        (other.prefixes + index).update(from: prefixes + range.lowerBound, count: range.count)
        (other.lengths + index).update(from: lengths + range.lowerBound, count: range.count)
        if level == 0 {
            (other.entries + index).update(from: entries + range.lowerBound, count: range.count)
        } else {
            (other.children + index).update(from: children + range.lowerBound, count: range.count)
            (other.separators + index).update(from: separators + range.lowerBound, count: range.count)
        }
    }

    /// Counts one more reference to all that a range of slots holds.
    func retainSlots(_ range: Range<Int>) {
        if level == 0 {
            for index in range { entries[index].retain() }
        } else {
            for index in range {
                children[index].retain()
                separators[index]?.retain()
            }
        }
    }

    /// Gives back the references of all slots. For the end of a node.
    func releaseSlots() {
        if level == 0 {
            for index in 0..<count { entries[index].release() }
        } else {
            for index in 0..<count {
                children[index].release()
                separators[index]?.release()
            }
        }
    }

    /// Makes a node with the same slots, with one reference, which belongs to the caller.
    func copy(stamp: UInt64) -> NodePointer {
        let copy = NodePointer.make(level: level, stamp: stamp)
        copySlots(0..<count, to: copy, at: 0)
        copy.count = count
        retainSlots(0..<count)
        return copy
    }

    /// Makes room for one slot. The caller fills it.
    func openSlot(at index: Int) {
        copySlots(index..<count, to: self, at: index + 1)
        count += 1
    }

    /// Closes the gap of one slot, whose references the caller has given back or taken over.
    func closeSlot(at index: Int) {
        copySlots(index + 1..<count, to: self, at: index)
        count -= 1
    }
}
