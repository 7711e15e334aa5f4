import DAOCore
import DAOSystemLMDB
import Foundation

/// The work written manually with LMDB's C interface: a tree for the rows and a tree for each index, records
/// with a fixed header and texts, and a reader transaction that is reset and renewed.
final class RawLMDB<Record: MeasuredRecord> {
    let environment: OpaquePointer
    private let rows: MDB_dbi
    private let bySender: MDB_dbi
    private let byDate: MDB_dbi
    let reader: OpaquePointer
    /// The trees of records with related records.
    let trees: DialogTrees
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 4096, alignment: 16)

    init(path: String) throws {
        var created: OpaquePointer?
        try check(mdb_env_create(&created))
        guard let created else { throw BenchError("LMDB has no memory") }
        environment = created
        try check(mdb_env_set_maxdbs(created, 8))
        try check(mdb_env_set_mapsize(created, 1 << 32))
        try check(mdb_env_open(created, path, UInt32(MDB_NOSUBDIR | MDB_NOTLS), 0o644))
        let transaction = try Self.begin(created)
        func tree(_ name: String) throws -> MDB_dbi {
            var tree: MDB_dbi = 0
            try check(mdb_dbi_open(transaction, name, UInt32(MDB_CREATE), &tree))
            return tree
        }
        (rows, bySender, byDate) = (try tree("rows"), try tree("bySender"), try tree("byDate"))
        trees = DialogTrees(
            dialogs: try tree("dialogs"), replies: try tree("replies"), links: try tree("links"), back: try tree("back"))
        try check(mdb_txn_commit(transaction))
        reader = try Self.begin(created, MDB_RDONLY)
        mdb_txn_reset(reader)
    }

    deinit {
        mdb_txn_abort(reader)
        mdb_env_close(environment)
        buffer.deallocate()
    }

    private static func begin(_ environment: OpaquePointer, _ flags: Int32 = 0) throws -> OpaquePointer {
        var transaction: OpaquePointer?
        try check(mdb_txn_begin(environment, nil, UInt32(flags), &transaction))
        guard let transaction else { throw BenchError("LMDB has no memory") }
        return transaction
    }

    /// Runs a closure in a write transaction.
    @inline(__always) func writing(_ body: (OpaquePointer) throws -> Void) throws {
        let transaction = try Self.begin(environment)
        try body(transaction)
        try check(mdb_txn_commit(transaction))
    }

    /// Runs a closure that reads.
    @inline(__always) func reading<Result>(_ body: () throws -> Result) throws -> Result {
        try check(mdb_txn_renew(reader))
        defer { mdb_txn_reset(reader) }
        return try body()
    }

    /// Runs a closure with a cursor of a tree.
    @inline(__always) func walking<Result>(_ tree: MDB_dbi, _ body: (OpaquePointer) throws -> Result) throws -> Result {
        var cursor: OpaquePointer?
        try check(mdb_cursor_open(reader, tree, &cursor))
        guard let cursor else { throw BenchError("LMDB has no memory") }
        defer { mdb_cursor_close(cursor) }
        return try body(cursor)
    }

    @inline(__always) func withKey<Result>(_ value: Int, _ body: (inout MDB_val) throws -> Result) rethrows -> Result {
        var bytes = (UInt64(bitPattern: Int64(value)) ^ (1 << 63)).bigEndian
        return try withUnsafeMutableBytes(of: &bytes) { bytes in
            var key = MDB_val(mv_size: 8, mv_data: bytes.baseAddress)
            return try body(&key)
        }
    }

    /// The bits of a date order like its number, which is positive here.
    @inline(__always) private func word(_ date: Date) -> UInt64 { date.timeIntervalSinceReferenceDate.bitPattern | (1 << 63) }

    @inline(__always) private func record(_ value: MDB_val) -> Record {
        Record(record: UnsafeRawPointer(value.mv_data!), count: value.mv_size)
    }

    /// Index keys are the value and the row's key, 16 bytes.
    @inline(__always) private func withIndexKey(_ value: UInt64, _ id: Int, _ body: (inout MDB_val) throws -> Void) throws {
        var bytes = (value.bigEndian, (UInt64(bitPattern: Int64(id)) ^ (1 << 63)).bigEndian)
        try withUnsafeMutableBytes(of: &bytes) { bytes in
            var key = MDB_val(mv_size: 16, mv_data: bytes.baseAddress)
            try body(&key)
        }
    }

    private func putIndex(_ transaction: OpaquePointer, _ tree: MDB_dbi, _ value: UInt64, _ id: Int) throws {
        try withIndexKey(value, id) {
            var empty = MDB_val(mv_size: 0, mv_data: nil)
            try check(mdb_put(transaction, tree, &$0, &empty, 0))
        }
    }

    private func removeIndex(_ transaction: OpaquePointer, _ tree: MDB_dbi, _ value: UInt64, _ id: Int) throws {
        try withIndexKey(value, id) { try check(mdb_del(transaction, tree, &$0, nil)) }
    }

    @inline(__always) private func word(_ sender: Int) -> UInt64 { UInt64(bitPattern: Int64(sender)) ^ (1 << 63) }

    func insert(_ records: [Record]) throws {
        try writing { transaction in
            for record in records {
                var value = MDB_val(mv_size: record.write(to: buffer.baseAddress!), mv_data: buffer.baseAddress)
                try withKey(record.id) { try check(mdb_put(transaction, rows, &$0, &value, UInt32(MDB_NOOVERWRITE))) }
                try putIndex(transaction, bySender, word(record.senderId), record.id)
                try putIndex(transaction, byDate, word(record.date), record.id)
            }
        }
    }

    func fetchAll() throws -> [Record] {
        try reading {
            try walking(rows) { cursor in
                var records: [Record] = []
                var key = MDB_val()
                var value = MDB_val()
                while mdb_cursor_get(cursor, &key, &value, MDB_NEXT) == MDB_SUCCESS { records.append(record(value)) }
                return records
            }
        }
    }

    @inline(__always) private func find(_ id: Int, _ reader: OpaquePointer) -> Record? {
        var value = MDB_val()
        return withKey(id) { mdb_get(reader, rows, &$0, &value) == MDB_SUCCESS ? record(value) : nil }
    }

    func read(_ id: Int) throws -> Record? { try reading { find(id, reader) } }

    func readInside(_ ids: [Int], _ body: (Record) -> Void) throws {
        try reading { for id in ids { if let record = find(id, reader) { body(record) } } }
    }

    /// Reads with a reader transaction of its own.
    func makeReader() throws -> (Int) throws -> Record? {
        let reader = try Self.begin(environment, MDB_RDONLY)
        mdb_txn_reset(reader)
        return { [self] id in
            try check(mdb_txn_renew(reader))
            defer { mdb_txn_reset(reader) }
            return find(id, reader)
        }
    }

    func newest(of sender: Int, limit: Int) throws -> [Record] {
        try reading {
            var found: [(date: Double, id: Int, record: MDB_val)] = []
            try walking(bySender) { cursor in
                try withKey(sender) { prefix in
                    var key = prefix
                    var value = MDB_val()
                    var code = mdb_cursor_get(cursor, &key, &value, MDB_SET_RANGE)
                    while code == MDB_SUCCESS, memcmp(key.mv_data, prefix.mv_data, 8) == 0 {
                        var id = MDB_val(mv_size: 8, mv_data: key.mv_data + 8)
                        try check(mdb_get(reader, rows, &id, &value))
                        let bytes = UnsafeRawPointer(value.mv_data!)
                        found.append((bytes.double(RecordPlace.date), bytes.integer(RecordPlace.id), value))
                        code = mdb_cursor_get(cursor, &key, &value, MDB_NEXT)
                    }
                }
            }
            found.sort { $0.date > $1.date || ($0.date == $1.date && $0.id < $1.id) }
            return found.prefix(limit).map { record($0.record) }
        }
    }

    func within(_ span: Range<Date>) throws -> [Record] {
        try reading {
            try walking(byDate) { cursor in
                var records: [Record] = []
                var (lower, upper) = (word(span.lowerBound).bigEndian, word(span.upperBound).bigEndian)
                try withUnsafeMutableBytes(of: &lower) { lower in
                    try withUnsafeMutableBytes(of: &upper) { upper in
                        var key = MDB_val(mv_size: 8, mv_data: lower.baseAddress)
                        var value = MDB_val()
                        var code = mdb_cursor_get(cursor, &key, &value, MDB_SET_RANGE)
                        while code == MDB_SUCCESS, memcmp(key.mv_data, upper.baseAddress!, 8) < 0 {
                            var id = MDB_val(mv_size: 8, mv_data: key.mv_data + 8)
                            try check(mdb_get(reader, rows, &id, &value))
                            records.append(record(value))
                            code = mdb_cursor_get(cursor, &key, &value, MDB_NEXT)
                        }
                    }
                }
                return records
            }
        }
    }

    func count(above rating: Double) throws -> Int {
        try reading {
            try walking(rows) { cursor in
                var count = 0
                var key = MDB_val()
                var value = MDB_val()
                while mdb_cursor_get(cursor, &key, &value, MDB_NEXT) == MDB_SUCCESS {
                    if UnsafeRawPointer(value.mv_data!).double(RecordPlace.rating) > rating { count += 1 }
                }
                return count
            }
        }
    }

    func count(of sender: Int) throws -> Int {
        try reading {
            try walking(bySender) { cursor in
                withKey(sender) { prefix in
                    var count = 0
                    var key = prefix
                    var value = MDB_val()
                    var code = mdb_cursor_get(cursor, &key, &value, MDB_SET_RANGE)
                    while code == MDB_SUCCESS, memcmp(key.mv_data, prefix.mv_data, 8) == 0 {
                        count += 1
                        code = mdb_cursor_get(cursor, &key, &value, MDB_NEXT)
                    }
                    return count
                }
            }
        }
    }

    func upsert(_ records: [Record]) throws {
        try writing { transaction in
            for record in records {
                try withKey(record.id) { key in
                    var value = MDB_val()
                    try check(mdb_get(transaction, rows, &key, &value))
                    let bytes = UnsafeRawPointer(value.mv_data!)
                    let sender = bytes.integer(RecordPlace.sender)
                    let date = Date(timeIntervalSinceReferenceDate: bytes.double(RecordPlace.date))
                    if sender != record.senderId {
                        try removeIndex(transaction, bySender, word(sender), record.id)
                        try putIndex(transaction, bySender, word(record.senderId), record.id)
                    }
                    if date != record.date {
                        try removeIndex(transaction, byDate, word(date), record.id)
                        try putIndex(transaction, byDate, word(record.date), record.id)
                    }
                    value = MDB_val(mv_size: record.write(to: buffer.baseAddress!), mv_data: buffer.baseAddress)
                    try check(mdb_put(transaction, rows, &key, &value, 0))
                }
            }
        }
    }

    func erase(_ ids: [Int]) throws {
        try writing { transaction in
            for id in ids {
                try withKey(id) { key in
                    var value = MDB_val()
                    try check(mdb_get(transaction, rows, &key, &value))
                    let bytes = UnsafeRawPointer(value.mv_data!)
                    let date = Date(timeIntervalSinceReferenceDate: bytes.double(RecordPlace.date))
                    let sender = bytes.integer(RecordPlace.sender)
                    try check(mdb_del(transaction, rows, &key, nil))
                    try removeIndex(transaction, bySender, word(sender), id)
                    try removeIndex(transaction, byDate, word(date), id)
                }
            }
        }
    }

    func merge(_ receipts: [Receipt]) throws {
        try writing { transaction in
            for receipt in receipts {
                try withKey(receipt.id) { key in
                    var value = MDB_val()
                    try check(mdb_get(transaction, rows, &key, &value))
                    var stored = record(value)
                    stored.isRead = receipt.isRead
                    stored.rating = receipt.rating
                    value = MDB_val(mv_size: stored.write(to: buffer.baseAddress!), mv_data: buffer.baseAddress)
                    try check(mdb_put(transaction, rows, &key, &value, 0))
                }
            }
        }
    }
}

/// Throws an error of LMDB.
@inline(__always) func check(_ code: Int32) throws {
    guard code == MDB_SUCCESS else { throw BenchError(String(cString: mdb_strerror(code))) }
}

// MARK: Fields

extension UnsafeRawPointer {
    @inline(__always) func integer(_ offset: Int) -> Int { loadUnaligned(fromByteOffset: offset, as: Int.self) }
    @inline(__always) func double(_ offset: Int) -> Double { loadUnaligned(fromByteOffset: offset, as: Double.self) }
    @inline(__always) func flag(_ offset: Int) -> Bool { loadUnaligned(fromByteOffset: offset, as: UInt8.self) != 0 }
    @inline(__always) func text(_ offset: Int, _ count: Int) -> String {
        String(decoding: UnsafeRawBufferPointer(start: self + offset, count: count), as: UTF8.self)
    }
}

extension UnsafeMutableRawPointer {
    /// Writes the fields that all shapes have.
    @inline(__always) func writeShared(_ record: some MeasuredRecord) {
        storeBytes(of: record.id, toByteOffset: RecordPlace.id, as: Int.self)
        storeBytes(of: record.senderId, toByteOffset: RecordPlace.sender, as: Int.self)
        storeBytes(of: record.date.timeIntervalSinceReferenceDate, toByteOffset: RecordPlace.date, as: Double.self)
        storeBytes(of: record.rating, toByteOffset: RecordPlace.rating, as: Double.self)
        storeBytes(of: record.isRead, toByteOffset: RecordPlace.isRead, as: Bool.self)
    }

    /// Writes a text, and returns its length.
    @inline(__always) func write(_ text: String, _ offset: Int) -> Int {
        text.withBytes { bytes in
            if let address = bytes.baseAddress { (self + offset).copyMemory(from: address, byteCount: bytes.count) }
            return bytes.count
        }
    }
}
