import DAOSystemSQLite

/// Copies of the bytes of bound values, which stay in place until the statement has run, without an
/// allocation for each value.
///
/// SQLite is told that the bytes are static. That is true for as long as SQLite reads them: ``reset()`` is
/// called only when the statement that uses the bytes is about to be bound again, and no statement runs
/// without being bound again.
final class BindArena {
    /// SQLite itself copies longer values, so that the arena stays small.
    static let longest = 1 << 16

    // No variable is accessed during another access, so that a value does not pay for the check of that.
    @exclusivity(unchecked) private var base: UnsafeMutableRawPointer
    @exclusivity(unchecked) private var used = 0
    @exclusivity(unchecked) private var capacity: Int
    /// Earlier blocks, which may still be bound.
    @exclusivity(unchecked) private var full: [UnsafeMutableRawPointer] = []

    /// - Parameter capacity: The initial number of bytes.
    init(capacity: Int) {
        self.capacity = capacity
        base = .allocate(byteCount: capacity, alignment: 16)
    }

    deinit {
        base.deallocate()
        for block in full { block.deallocate() }
    }

    /// Discards all bytes.
    @inline(__always) func reset() {
        used = 0
        if !full.isEmpty { releaseFull() }
    }

    /// Copies bytes and returns their new address.
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
