import DAOSystemLMDB

extension LMDBEnvironment {
    /// The size of the pages that commits after a snapshot have freed: they are used again when no snapshot needs them.
    ///
    /// Called inside a transaction, so that the map stays as it is.
    ///
    /// - Parameter number: The number of the last commit that the snapshot has.
    /// - Returns: A number of bytes; nil when it cannot be read now.
    func pinnedBytes(since number: UInt64) -> Int? {
        var transaction: OpaquePointer?
        guard mdb_txn_begin(handle, nil, UInt32(MDB_RDONLY), &transaction) == 0, let transaction else { return nil }
        defer { mdb_txn_abort(transaction) }
        // LMDB keeps the list of free pages as tree 0: by the number of the commit that freed them, their count and their numbers.
        var cursor: OpaquePointer?
        guard mdb_cursor_open(transaction, 0, &cursor) == 0, let cursor else { return nil }
        defer { mdb_cursor_close(cursor) }
        var first = UInt(number + 1)
        return withUnsafeMutableBytes(of: &first) { bytes in
            var key = MDB_val(mv_size: bytes.count, mv_data: bytes.baseAddress)
            var value = MDB_val()
            var pages = 0
            var code = mdb_cursor_get(cursor, &key, &value, MDB_SET_RANGE)
            while code == 0 {
                pages += value.mv_data.loadUnaligned(as: Int.self)
                code = mdb_cursor_get(cursor, &key, &value, MDB_NEXT)
            }
            return code == MDB_NOTFOUND ? pages * pageSize : nil
        }
    }

    /// The number of the last commit that the oldest snapshot of any process has; nil when there is none.
    var oldestSnapshot: UInt64? {
        var oldest: UInt64?
        // A line for each reader: its process, its thread and, unless it is idle, the number.
        _ = withUnsafeMutablePointer(to: &oldest) { oldest in
            mdb_reader_list(
                handle,
                { line, context in
                    guard let line, let oldest = context?.assumingMemoryBound(to: UInt64?.self),
                        let number = String(cString: line).split(whereSeparator: \.isWhitespace).last.flatMap({ UInt64($0) })
                    else { return 0 }
                    oldest.pointee = min(oldest.pointee ?? number, number)
                    return 0
                }, oldest)
        }
        return oldest
    }
}
