/// The lower bound for memory: a dictionary of structs, with a manual index by sender. It has no order, no
/// snapshots and no transactions.
final class RawDictionary<Record: MeasuredRecord> {
    private var rows: [Int: Record] = [:]
    private var bySender: [Int: [Int]] = [:]

    func insert(_ records: [Record]) {
        for record in records {
            rows[record.id] = record
            bySender[record.senderId, default: []].append(record.id)
        }
    }

    func fetchAll() -> [Record] { Array(rows.values) }

    @inline(never) func read(_ id: Int) -> Record? { rows[id] }

    func readInside(_ ids: [Int], _ body: (Record) -> Void) { for id in ids { if let record = read(id) { body(record) } } }

    func newest(of sender: Int, limit: Int) -> [Record] {
        var found = (bySender[sender] ?? []).compactMap { rows[$0] }
        found.sort { $0.date > $1.date || ($0.date == $1.date && $0.id < $1.id) }
        return Array(found.prefix(limit))
    }

    func count(above rating: Double) -> Int { rows.values.count { $0.rating > rating } }

    func upsert(_ records: [Record]) {
        for record in records {
            guard let old = rows.updateValue(record, forKey: record.id), old.senderId != record.senderId else { continue }
            leave(old)
            bySender[record.senderId, default: []].append(record.id)
        }
    }

    func erase(_ ids: [Int]) { for id in ids { if let old = rows.removeValue(forKey: id) { leave(old) } } }

    private func leave(_ record: Record) {
        guard let place = bySender[record.senderId]?.firstIndex(of: record.id) else { return }
        bySender[record.senderId]?.remove(at: place)
    }

    func merge(_ receipts: [Receipt]) {
        for receipt in receipts {
            rows[receipt.id]?.isRead = receipt.isRead
            rows[receipt.id]?.rating = receipt.rating
        }
    }
}
