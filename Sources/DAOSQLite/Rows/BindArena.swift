import DAOSystemSQLite

/// Bytes of bound values, copied to where they stay until the statement has run, without an allocation for
/// each.
///
/// SQLite is told that they are static. That is true for as long as it looks at them: ``reset()`` is called
/// only when the statement they were bound to is about to be bound anew, and no statement runs without having
/// been bound anew.
final class BindArena {
    /// Longer values are copied by SQLite itself, so that the arena stays small.
    static let longest = 1 << 16

    private var base: UnsafeMutableRawPointer
    private var used = 0
    private var capacity: Int
    /// Earlier blocks, which may still be bound.
    private var full: [UnsafeMutableRawPointer] = []

    /// - Parameter capacity: How many bytes to begin with.
    init(capacity: Int) {
        self.capacity = capacity
        base = .allocate(byteCount: capacity, alignment: 16)
    }

    deinit {
        base.deallocate()
        for block in full { block.deallocate() }
    }

    /// Forgets all bytes.
    @inline(__always) func reset() {
        used = 0
        if !full.isEmpty { releaseFull() }
    }

    /// Copies bytes and says where they are now.
    @inline(__always) func store(_ bytes: UnsafeRawPointer, _ count: Int) -> UnsafeRawPointer {
        if capacity - used < count { grow(count) }
        let place = base + used
        place.copyMemory(from: bytes, byteCount: count)
        used += count
        return UnsafeRawPointer(place)
    }

    private func grow(_ count: Int) {
        full.append(base)
        capacity = max(capacity * 2, count)
        base = .allocate(byteCount: capacity, alignment: 16)
        used = 0
    }

    private func releaseFull() {
        for block in full { block.deallocate() }
        full.removeAll()
    }
}
