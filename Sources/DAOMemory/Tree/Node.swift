/// The object that keeps a node of a tree alive, and with it all nodes below.
///
/// Trees share nodes. Only the write transaction that made a node may change it, before the commit.
/// Afterwards any number of threads read it and none changes it. A search never accesses the object itself:
/// see ``NodePointer``.
final class Node: ManagedBuffer<Void, UInt64> {

    /// The number of slots of a node.
    static let capacity = 64
    /// Below this many used slots a node is merged with a neighbour, if the two fit together.
    static let sparseCount = capacity / 4
    /// Two neighbours are merged when they have at most this number of slots together, so that the next
    /// insertion does not split them again.
    static let mergedCount = capacity * 3 / 4
    /// An upper limit of the height: with half-full nodes, a tree of this height would have more entries than
    /// any memory can hold.
    static let maximumHeight = 64

    /// The node's memory; valid while the object lives.
    var pointer: NodePointer {
        withUnsafeMutablePointerToElements { NodePointer(base: UnsafeMutableRawPointer($0)) }
    }

    // The recursion is as deep as the tree is high.
    deinit { pointer.releaseSlots() }
}

/// The memory of a ``Node``: a count, and columns of as many slots as a node has.
///
/// In a leaf (level 0) a slot is an entry with the prefix of its key and both lengths, so a search finds the
/// entry and points to its value without reading the entry. In a branch a slot is a child with its separator:
/// no key below the child is less than the separator, and all keys below the child to the left are less. A
/// separator is as short as possible. Only a separator that is longer than a prefix needs an entry for its
/// bytes. The first child of a branch has the empty separator.
///
/// A pointer holds no reference: it is valid while a tree that contains the node is alive.
struct NodePointer: Equatable {
    let base: UnsafeMutableRawPointer

    private static let prefixOffset = 32
    private static let referenceOffset = prefixOffset + 16 * Node.capacity
    private static let lengthOffset = referenceOffset + 8 * Node.capacity
    private static let separatorOffset = lengthOffset + 8 * Node.capacity
    private static let leafSize = separatorOffset
    private static let branchSize = separatorOffset + 8 * Node.capacity

    /// Creates an empty node with one reference, which belongs to the caller.
    ///
    /// - Parameters:
    ///   - level: 0 for a leaf, the height above the leaves for a branch.
    ///   - stamp: The time of creation as a stamp of ``TreeEditor``.
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

    /// The stamp of the node's creation.
    @inline(__always)
    var stamp: UInt64 { base.load(fromByteOffset: 8, as: UInt64.self) }

    /// 0 for a leaf, the height above the leaves for a branch.
    @inline(__always)
    var level: Int { base.load(fromByteOffset: 16, as: Int.self) }

    /// The number of used slots.
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

    /// Of a branch: the entries of separators that are longer than a prefix.
    @inline(__always)
    var separators: UnsafeMutablePointer<EntryPointer?> {
        (base + Self.separatorOffset).assumingMemoryBound(to: EntryPointer?.self)
    }

    /// Adds a reference.
    func retain() { _ = object.retain() }

    /// Releases a reference; releasing the last reference frees the node.
    func release() { object.release() }
}

// MARK: - Slots

extension NodePointer {

    /// Copies used slots to another node of the same level, at an index that must be free. Adds no
    /// references.
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

    /// Adds a reference to every object in a range of slots.
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

    /// Releases the references of all slots, at the end of a node.
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

    /// Creates a node with the same slots and one reference, which belongs to the caller.
    func copy(stamp: UInt64) -> NodePointer {
        let copy = NodePointer.make(level: level, stamp: stamp)
        copySlots(0..<count, to: copy, at: 0)
        copy.count = count
        retainSlots(0..<count)
        return copy
    }

    /// Opens a gap for a slot. The caller fills it.
    func openSlot(at index: Int) {
        copySlots(index..<count, to: self, at: index + 1)
        count += 1
    }

    /// Closes the gap of a slot. The caller has released its references or taken them over.
    func closeSlot(at index: Int) {
        copySlots(index + 1..<count, to: self, at: index)
        count -= 1
    }
}
