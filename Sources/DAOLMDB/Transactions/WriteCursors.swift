import DAOSystemLMDB

/// The cursors that a write transaction writes through, one for each table that it has lately written to.
///
/// A cursor that stands near a key need not go down the tree for it, which halves the time of writes in key order (55 ns
/// instead of 135 in one table, 92 instead of 188 in three by turns). The first four bytes of a key tell its table.
///
/// The cursors belong to one transaction of LMDB's: they are closed before a savepoint begins inside it, and forgotten when it
/// has ended, which frees them.
struct WriteCursors {

    private static let capacity = 16

    private var tables: [UInt32] = []
    private var cursors: [OpaquePointer] = []
    // Where the last one was found, and where the next one is replaced.
    private var last = 0
    private var oldest = 0

    /// The cursor that stands nearest to a key, if it is the one used last.
    @inline(__always)
    func lastCursor(for table: UInt32) -> OpaquePointer? {
        last < tables.count && tables[last] == table ? cursors[last] : nil
    }

    /// The cursor for a table.
    ///
    /// - Parameters:
    ///   - table: The first bytes of the key.
    ///   - open: Makes a cursor.
    mutating func cursor(for table: UInt32, open: () throws -> OpaquePointer) rethrows -> OpaquePointer {
        if let found = tables.firstIndex(of: table) {
            last = found
        } else if tables.count < Self.capacity {
            cursors.append(try open())
            tables.append(table)
            last = tables.count - 1
        } else {
            // It stands in another table now, and finds its way from there.
            last = oldest
            tables[last] = table
            oldest = (oldest + 1) % Self.capacity
        }
        return cursors[last]
    }

    /// Closes all; their transaction must not have ended.
    mutating func close() {
        for cursor in cursors { mdb_cursor_close(cursor) }
        forget()
    }

    /// Forgets all; their transaction has ended and freed them.
    mutating func forget() {
        tables.removeAll(keepingCapacity: true)
        cursors.removeAll(keepingCapacity: true)
        oldest = 0
    }

    /// The first bytes of a key, by which its cursor is found.
    @inline(__always)
    static func table(of key: UnsafeRawBufferPointer) -> UInt32 {
        if key.count >= 4, let start = key.baseAddress { return start.loadUnaligned(as: UInt32.self) }
        return key.reduce(0) { $0 << 8 | UInt32($1) }
    }
}
