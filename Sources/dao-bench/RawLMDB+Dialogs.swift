import DAOSystemLMDB
import Foundation

// Records with related records, written manually: a tree for each kind of row, a tree from parents and
// positions to children, and an inverse tree.
/// The trees of the extension.
struct DialogTrees {
    let dialogs: MDB_dbi
    let replies: MDB_dbi
    let links: MDB_dbi
    let back: MDB_dbi
}

extension RawLMDB {
    // MARK: Records: dialogs are the date and the title, replies the sender, the date, isRead and the text

    private func write(_ dialog: Dialog) -> MDB_val {
        let bytes = buffer.baseAddress!
        bytes.storeBytes(of: dialog.date.timeIntervalSinceReferenceDate, toByteOffset: 0, as: Double.self)
        return MDB_val(mv_size: 8 + bytes.write(dialog.title, 8), mv_data: bytes)
    }

    private func write(_ reply: Reply) -> MDB_val {
        let bytes = buffer.baseAddress!
        bytes.storeBytes(of: reply.senderId, toByteOffset: 0, as: Int.self)
        bytes.storeBytes(of: reply.date.timeIntervalSinceReferenceDate, toByteOffset: 8, as: Double.self)
        bytes.storeBytes(of: reply.isRead, toByteOffset: 16, as: Bool.self)
        return MDB_val(mv_size: 17 + bytes.write(reply.text, 17), mv_data: bytes)
    }

    @inline(__always) private func number(_ pointer: UnsafeRawPointer) -> Int {
        Int(Int64(bitPattern: UInt64(bigEndian: pointer.loadUnaligned(as: UInt64.self)) ^ (1 << 63)))
    }

    private func word(_ value: Int) -> UInt64 { (UInt64(bitPattern: Int64(value)) ^ (1 << 63)).bigEndian }

    func insert(_ dialogs: [Dialog]) throws {
        try writing { transaction in
            for dialog in dialogs {
                var value = write(dialog)
                try withKey(dialog.id) { try check(mdb_put(transaction, trees.dialogs, &$0, &value, UInt32(MDB_NOOVERWRITE))) }
                for (position, reply) in (dialog.replies ?? []).enumerated() {
                    value = write(reply)
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
        }
    }

    func fetchDialogs() throws -> [Dialog] {
        try reading { try walking(trees.dialogs) { rows in try walking(trees.links) { try dialogs(rows, $0) } } }
    }

    private func dialogs(_ rows: OpaquePointer, _ links: OpaquePointer) throws -> [Dialog] {
        var dialogs: [Dialog] = []
        var key = MDB_val()
        var value = MDB_val()
        while mdb_cursor_get(rows, &key, &value, MDB_NEXT) == MDB_SUCCESS {
            let bytes = UnsafeRawPointer(value.mv_data!)
            var dialog = Dialog(
                id: number(key.mv_data!), title: bytes.text(8, value.mv_size - 8),
                date: Date(timeIntervalSinceReferenceDate: bytes.double(0)), replies: [])
            var link = MDB_val(mv_size: 8, mv_data: key.mv_data)
            var child = MDB_val()
            var code = mdb_cursor_get(links, &link, &child, MDB_SET_RANGE)
            while code == MDB_SUCCESS, memcmp(link.mv_data, key.mv_data, 8) == 0 {
                try check(mdb_get(reader, trees.replies, &child, &value))
                let bytes = UnsafeRawPointer(value.mv_data!)
                dialog.replies?.append(
                    Reply(
                        id: number(child.mv_data!), senderId: bytes.integer(0),
                        date: Date(timeIntervalSinceReferenceDate: bytes.double(8)), text: bytes.text(17, value.mv_size - 17),
                        isRead: bytes.flag(16)))
                code = mdb_cursor_get(links, &link, &child, MDB_NEXT)
            }
            dialogs.append(dialog)
        }
        return dialogs
    }
}
