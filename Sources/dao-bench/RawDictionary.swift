/// The lower bound for memory: a dictionary of structs, with a manual index by sender. It has no order, no
/// snapshots and no transactions.
final class RawDictionary {
    private var rows: [Int: Message] = [:]
    private var bySender: [Int: [Int]] = [:]

    func insert(_ messages: [Message]) {
        for message in messages {
            rows[message.id] = message
            bySender[message.senderId, default: []].append(message.id)
        }
    }

    func fetchAll() -> [Message] { Array(rows.values) }

    @inline(never) func read(_ id: Int) -> Message? { rows[id] }

    func newest(of sender: Int, limit: Int) -> [Message] {
        var found = (bySender[sender] ?? []).compactMap { rows[$0] }
        found.sort { $0.date > $1.date || ($0.date == $1.date && $0.id < $1.id) }
        return Array(found.prefix(limit))
    }

    func merge(_ receipts: [Receipt]) {
        for receipt in receipts {
            rows[receipt.id]?.isRead = receipt.isRead
            rows[receipt.id]?.rating = receipt.rating
        }
    }
}
