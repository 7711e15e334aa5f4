import DAOSystemLMDB
import Foundation

// Records with related records, written manually: a tree for each kind of row, a tree from parents and
// positions to children, and an inverse tree.
extension RawLMDB {
    /// The trees, opened on first use.
    struct DialogTrees {
        var dialogs: MDB_dbi = 0
        var replies: MDB_dbi = 0
        var links: MDB_dbi = 0
        var back: MDB_dbi = 0
    }

    func createDialogTrees() throws {
        var transaction: OpaquePointer?
        try check(mdb_txn_begin(environment, nil, 0, &transaction))
        try check(mdb_dbi_open(transaction, "dialogs", UInt32(MDB_CREATE), &trees.dialogs))
        try check(mdb_dbi_open(transaction, "replies", UInt32(MDB_CREATE), &trees.replies))
        try check(mdb_dbi_open(transaction, "links", UInt32(MDB_CREATE), &trees.links))
        try check(mdb_dbi_open(transaction, "back", UInt32(MDB_CREATE), &trees.back))
        try check(mdb_txn_commit(transaction))
    }

    // MARK: Records: dialogs are the date and the title, replies the sender, the date, isRead and the text

    private func encode(_ dialog: Dialog) -> Int {
        buffer.storeBytes(of: dialog.date.timeIntervalSinceReferenceDate, toByteOffset: 0, as: Double.self)
        return put(dialog.title, at: 8)
    }

    private func encode(_ reply: Reply) -> Int {
        buffer.storeBytes(of: reply.senderId, toByteOffset: 0, as: Int.self)
        buffer.storeBytes(of: reply.date.timeIntervalSinceReferenceDate, toByteOffset: 8, as: Double.self)
        buffer.storeBytes(of: reply.isRead ? 1 : 0, toByteOffset: 16, as: UInt8.self)
        return put(reply.text, at: 17)
    }

    private func put(_ text: String, at offset: Int) -> Int {
        var text = text
        return text.withUTF8 { utf8 in
            UnsafeMutableRawBufferPointer(rebasing: buffer[offset...]).copyMemory(from: UnsafeRawBufferPointer(utf8))
            return offset + utf8.count
        }
    }

    @inline(__always) private func text(_ value: MDB_val, from offset: Int) -> String {
        String(
            decoding: UnsafeRawBufferPointer(start: value.mv_data! + offset, count: value.mv_size - offset), as: UTF8.self)
    }

    @inline(__always) private func number(_ pointer: UnsafeRawPointer) -> Int {
        Int(Int64(bitPattern: UInt64(bigEndian: pointer.loadUnaligned(as: UInt64.self)) ^ (1 << 63)))
    }

    private func word(_ value: Int) -> UInt64 { (UInt64(bitPattern: Int64(value)) ^ (1 << 63)).bigEndian }

    func insert(_ dialogs: [Dialog]) throws {
        var transaction: OpaquePointer?
        try check(mdb_txn_begin(environment, nil, 0, &transaction))
        for dialog in dialogs {
            var value = MDB_val(mv_size: encode(dialog), mv_data: buffer.baseAddress)
            try withKey(dialog.id) { try check(mdb_put(transaction, trees.dialogs, &$0, &value, UInt32(MDB_NOOVERWRITE))) }
            for (position, reply) in dialog.replies.enumerated() {
                value = MDB_val(mv_size: encode(reply), mv_data: buffer.baseAddress)
                try withKey(reply.id) { try check(mdb_put(transaction, trees.replies, &$0, &value, 0)) }
                var link = (word(dialog.id), UInt64(position).bigEndian)
                var child = word(reply.id)
                var back = (word(reply.id), word(dialog.id), UInt64(position).bigEndian)
                try withUnsafeMutableBytes(of: &link) { link in
                    try withUnsafeMutableBytes(of: &child) { child in
                        var key = MDB_val(mv_size: 16, mv_data: link.baseAddress)
                        var value = MDB_val(mv_size: 8, mv_data: child.baseAddress)
                        try check(mdb_put(transaction, trees.links, &key, &value, 0))
                    }
                }
                try withUnsafeMutableBytes(of: &back) { back in
                    var key = MDB_val(mv_size: 24, mv_data: back.baseAddress)
                    var empty = MDB_val(mv_size: 0, mv_data: nil)
                    try check(mdb_put(transaction, trees.back, &key, &empty, 0))
                }
            }
        }
        try check(mdb_txn_commit(transaction))
    }

    func fetchDialogs() throws -> [Dialog] {
        try check(mdb_txn_renew(reader))
        defer { mdb_txn_reset(reader) }
        var rows: OpaquePointer?
        try check(mdb_cursor_open(reader, trees.dialogs, &rows))
        defer { mdb_cursor_close(rows) }
        var links: OpaquePointer?
        try check(mdb_cursor_open(reader, trees.links, &links))
        defer { mdb_cursor_close(links) }
        var dialogs: [Dialog] = []
        var key = MDB_val()
        var value = MDB_val()
        while mdb_cursor_get(rows, &key, &value, MDB_NEXT) == MDB_SUCCESS {
            var dialog = Dialog(
                id: number(key.mv_data!), title: text(value, from: 8),
                date: Date(timeIntervalSinceReferenceDate: value.mv_data!.loadUnaligned(as: Double.self)), replies: [])
            var link = MDB_val(mv_size: 8, mv_data: key.mv_data)
            var child = MDB_val()
            var code = mdb_cursor_get(links, &link, &child, MDB_SET_RANGE)
            while code == MDB_SUCCESS, memcmp(link.mv_data, key.mv_data, 8) == 0 {
                var row = MDB_val()
                try check(mdb_get(reader, trees.replies, &child, &row))
                let bytes = UnsafeRawPointer(row.mv_data!)
                dialog.replies.append(
                    Reply(
                        id: number(child.mv_data!), senderId: bytes.loadUnaligned(as: Int.self),
                        date: Date(timeIntervalSinceReferenceDate: bytes.loadUnaligned(fromByteOffset: 8, as: Double.self)),
                        text: text(row, from: 17), isRead: bytes.loadUnaligned(fromByteOffset: 16, as: UInt8.self) != 0))
                code = mdb_cursor_get(links, &link, &child, MDB_NEXT)
            }
            dialogs.append(dialog)
        }
        return dialogs
    }
}
