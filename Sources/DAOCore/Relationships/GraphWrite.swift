/// One write of records and their related rows: first rows, level by level, then links, then the erasure of
/// rows that lost their last parent.
///
/// It runs inside a transaction. A row can appear in several places. The value nearest to the given records
/// is then stored; at the same distance, the value of the first field; in the lists of one field, the last
/// value. A row that was read without its lists because it leads back to itself therefore does not overwrite
/// the complete row.
final class GraphWrite {
    let graph: StorageGraph

    /// The new links of some parents.
    struct Links {
        let relation: any Relation
        let links: any LinkStorage
        let parents: [Key]
        let children: LinkedKeys
    }

    private var steps: [() throws -> Void] = []
    private var links: [Links] = []
    private var written: [ObjectIdentifier: Set<Key>] = [:]

    init(_ graph: StorageGraph) { self.graph = graph }

    /// Writes records and their related rows.
    ///
    /// - Parameters:
    ///   - records: The records.
    ///   - originals: The records as they were read; nil when they were not read. Unchanged parts are not
    ///     written.
    ///   - write: A closure that writes the rows of the given records.
    func run<Record: Model>(_ records: [Record], originals: [Record]? = nil, _ write: ([Record]) throws -> Void) throws {
        try write(records)
        remember(records)
        try enqueueRelated(of: records, originals: originals)
        // A loop instead of recursion: a chain of rows can be longer than the stack.
        var next = 0
        while next < steps.count {
            try steps[next]()
            next += 1
        }
        var dropped: [GraphErase.Rows] = []
        for entry in links {
            if entry.relation.cascades {
                let before = Set(try entry.links.children(of: entry.parents).keys)
                try entry.links.set(entry.children, of: entry.parents)
                let keys = before.subtracting(entry.children.keys)
                if !keys.isEmpty {
                    dropped.append(GraphErase.Rows(entity: entry.relation.targetDescription.name, keys: keys.sorted()))
                }
            } else {
                try entry.links.set(entry.children, of: entry.parents)
            }
        }
        try GraphErase(graph).eraseOrphans(dropped)
    }

    /// Adds children to the rows that are written next.
    func enqueue<Child: Model>(_ children: [Child]) {
        if children.isEmpty { return }
        steps.append { [unowned self] in
            let rows = unwritten(children)
            if rows.isEmpty { return }
            try graph.rows(of: Child.self).upsert(rows)
            try enqueueRelated(of: rows, originals: nil)
        }
    }

    /// Adds links, which are written after all rows.
    func enqueue(_ entry: Links) { links.append(entry) }

    private func enqueueRelated<Record: Model>(of records: [Record], originals: [Record]?) throws {
        for relation in Record.schema.relations { try relation.enqueue(records, originals: originals, in: self) }
    }

    private func remember<Record: Model>(_ records: [Record]) {
        guard graph.isRecurring(Record.self) else { return }
        written[ObjectIdentifier(Record.self), default: []].formUnion(records.map { Record.schema.key(of: $0) })
    }

    /// Returns the rows that no earlier level has written.
    private func unwritten<Record: Model>(_ records: [Record]) -> [Record] {
        guard graph.isRecurring(Record.self) else { return records }
        let before = written[ObjectIdentifier(Record.self)] ?? []
        let rows = before.isEmpty ? records : records.filter { !before.contains(Record.schema.key(of: $0)) }
        remember(rows)
        return rows
    }
}
