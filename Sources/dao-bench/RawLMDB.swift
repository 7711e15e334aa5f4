import DAOSystemLMDB
import Foundation

/// The work written manually with LMDB's C interface: a tree for the rows and a tree for each index, records
/// with a fixed header and three texts, and a reader transaction that is reset and renewed.
final class RawLMDB {
    private(set) var environment: OpaquePointer?
    private var rows: MDB_dbi = 0
    private var bySender: MDB_dbi = 0
    private var byDate: MDB_dbi = 0
    private(set) var reader: OpaquePointer?
    /// The trees of records with related records.
    var trees = DialogTrees()
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 4096, alignment: 16)

    init(path: String) throws {
        try check(mdb_env_create(&environment))
        try check(mdb_env_set_maxdbs(environment, 8))
        try check(mdb_env_set_mapsize(environment, 1 << 32))
        try check(mdb_env_open(environment, path, UInt32(MDB_NOSUBDIR | MDB_NOTLS), 0o644))
        var transaction: OpaquePointer?
        try check(mdb_txn_begin(environment, nil, 0, &transaction))
        try check(mdb_dbi_open(transaction, "rows", UInt32(MDB_CREATE), &rows))
        try check(mdb_dbi_open(transaction, "bySender", UInt32(MDB_CREATE), &bySender))
        try check(mdb_dbi_open(transaction, "byDate", UInt32(MDB_CREATE), &byDate))
        try check(mdb_txn_commit(transaction))
        try check(mdb_txn_begin(environment, nil, UInt32(MDB_RDONLY), &reader))
        mdb_txn_reset(reader)
    }

    deinit {
        mdb_txn_abort(reader)
        mdb_env_close(environment)
        buffer.deallocate()
    }

    func check(_ code: Int32) throws {
        guard code == MDB_SUCCESS else { throw BenchError(String(cString: mdb_strerror(code))) }
    }

    // MARK: Records: id, sender, date, rating (8 bytes each), isRead, three lengths (2 bytes, 0xFFFF is nil), texts

    private func encode(_ message: Message) -> Int {
        buffer.storeBytes(of: message.id, toByteOffset: 0, as: Int.self)
        buffer.storeBytes(of: message.senderId, toByteOffset: 8, as: Int.self)
        buffer.storeBytes(of: message.date.timeIntervalSinceReferenceDate, toByteOffset: 16, as: Double.self)
        buffer.storeBytes(of: message.rating, toByteOffset: 24, as: Double.self)
        buffer.storeBytes(of: message.isRead ? 1 : 0, toByteOffset: 32, as: UInt8.self)
        var end = 40
        func put(_ text: String?, _ offset: Int) {
            guard var text else { return buffer.storeBytes(of: 0xFFFF, toByteOffset: offset, as: UInt16.self) }
            text.withUTF8 { utf8 in
                buffer.storeBytes(of: UInt16(utf8.count), toByteOffset: offset, as: UInt16.self)
                UnsafeMutableRawBufferPointer(rebasing: buffer[end...]).copyMemory(from: UnsafeRawBufferPointer(utf8))
                end += utf8.count
            }
        }
        put(message.title, 34)
        put(message.text, 36)
        put(message.note, 38)
        return end
    }

    @inline(__always) private func decode(_ value: MDB_val) -> Message {
        let bytes = UnsafeRawPointer(value.mv_data!)
        var start = 40
        @inline(__always) func text(_ offset: Int) -> String? {
            let length = bytes.loadUnaligned(fromByteOffset: offset, as: UInt16.self)
            if length == 0xFFFF { return nil }
            defer { start += Int(length) }
            return String(decoding: UnsafeRawBufferPointer(start: bytes + start, count: Int(length)), as: UTF8.self)
        }
        let title = text(34) ?? ""
        let body = text(36) ?? ""
        let note = text(38)
        return Message(
            id: bytes.loadUnaligned(fromByteOffset: 0, as: Int.self),
            senderId: bytes.loadUnaligned(fromByteOffset: 8, as: Int.self),
            date: Date(timeIntervalSinceReferenceDate: bytes.loadUnaligned(fromByteOffset: 16, as: Double.self)), title: title,
            text: body,
            note: note, isRead: bytes.loadUnaligned(fromByteOffset: 32, as: UInt8.self) != 0,
            rating: bytes.loadUnaligned(fromByteOffset: 24, as: Double.self))
    }

    @inline(__always) func withKey<Result>(_ value: Int, _ body: (inout MDB_val) throws -> Result) rethrows -> Result {
        var bytes = (UInt64(bitPattern: Int64(value)) ^ (1 << 63)).bigEndian
        return try withUnsafeMutableBytes(of: &bytes) { bytes in
            var key = MDB_val(mv_size: 8, mv_data: bytes.baseAddress)
            return try body(&key)
        }
    }

    /// Index keys are the value and the row's key, 16 bytes. The bits of a date order like its number, which
    /// is positive here.
    private func putIndex(_ transaction: OpaquePointer?, _ tree: MDB_dbi, _ value: UInt64, _ id: Int) throws {
        var bytes = (value.bigEndian, (UInt64(bitPattern: Int64(id)) ^ (1 << 63)).bigEndian)
        try withUnsafeMutableBytes(of: &bytes) { bytes in
            var key = MDB_val(mv_size: 16, mv_data: bytes.baseAddress)
            var empty = MDB_val(mv_size: 0, mv_data: nil)
            try check(mdb_put(transaction, tree, &key, &empty, 0))
        }
    }

    func insert(_ messages: [Message]) throws {
        var transaction: OpaquePointer?
        try check(mdb_txn_begin(environment, nil, 0, &transaction))
        for message in messages {
            let count = encode(message)
            var value = MDB_val(mv_size: count, mv_data: buffer.baseAddress)
            try withKey(message.id) { try check(mdb_put(transaction, rows, &$0, &value, UInt32(MDB_NOOVERWRITE))) }
            try putIndex(transaction, bySender, UInt64(bitPattern: Int64(message.senderId)) ^ (1 << 63), message.id)
            try putIndex(transaction, byDate, message.date.timeIntervalSinceReferenceDate.bitPattern | (1 << 63), message.id)
        }
        try check(mdb_txn_commit(transaction))
    }

    func fetchAll() throws -> [Message] {
        try check(mdb_txn_renew(reader))
        defer { mdb_txn_reset(reader) }
        var cursor: OpaquePointer?
        try check(mdb_cursor_open(reader, rows, &cursor))
        defer { mdb_cursor_close(cursor) }
        var messages: [Message] = []
        var key = MDB_val()
        var value = MDB_val()
        while mdb_cursor_get(cursor, &key, &value, MDB_NEXT) == MDB_SUCCESS { messages.append(decode(value)) }
        return messages
    }

    func read(_ id: Int) throws -> Message? {
        try check(mdb_txn_renew(reader))
        defer { mdb_txn_reset(reader) }
        var value = MDB_val()
        return withKey(id) { mdb_get(reader, rows, &$0, &value) == MDB_SUCCESS ? decode(value) : nil }
    }

    func newest(of sender: Int, limit: Int) throws -> [Message] {
        try check(mdb_txn_renew(reader))
        defer { mdb_txn_reset(reader) }
        var cursor: OpaquePointer?
        try check(mdb_cursor_open(reader, bySender, &cursor))
        defer { mdb_cursor_close(cursor) }
        var found: [(date: Double, id: UInt64, record: MDB_val)] = []
        try withKey(sender) { prefix in
            var key = prefix
            var empty = MDB_val()
            var code = mdb_cursor_get(cursor, &key, &empty, MDB_SET_RANGE)
            while code == MDB_SUCCESS, memcmp(key.mv_data, prefix.mv_data, 8) == 0 {
                var id = MDB_val(mv_size: 8, mv_data: key.mv_data + 8)
                var value = MDB_val()
                try check(mdb_get(reader, rows, &id, &value))
                let bytes = UnsafeRawPointer(value.mv_data!)
                found.append(
                    (
                        bytes.loadUnaligned(fromByteOffset: 16, as: Double.self),
                        UInt64(bitPattern: bytes.loadUnaligned(fromByteOffset: 0, as: Int64.self)), value
                    ))
                code = mdb_cursor_get(cursor, &key, &empty, MDB_NEXT)
            }
        }
        found.sort { $0.date > $1.date || ($0.date == $1.date && $0.id < $1.id) }
        return found.prefix(limit).map { decode($0.record) }
    }

    func merge(_ receipts: [Receipt]) throws {
        var transaction: OpaquePointer?
        try check(mdb_txn_begin(environment, nil, 0, &transaction))
        for receipt in receipts {
            try withKey(receipt.id) { key in
                var value = MDB_val()
                try check(mdb_get(transaction, rows, &key, &value))
                var stored = decode(value)
                stored.isRead = receipt.isRead
                stored.rating = receipt.rating
                let count = encode(stored)
                value = MDB_val(mv_size: count, mv_data: buffer.baseAddress)
                try check(mdb_put(transaction, rows, &key, &value, 0))
            }
        }
        try check(mdb_txn_commit(transaction))
    }
}
