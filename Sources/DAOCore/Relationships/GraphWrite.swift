/// One write of records with everything they hold: rows level by level, then links, then what has lost its last parent.
///
/// It runs inside a transaction. Of a row that appears in several places, the value nearest to the records counts, of fields at one distance the
/// first one's, and in the lists of one field the last: a row that was cut short where it led back to itself does not overwrite the whole one.
final class GraphWrite {
    let graph: StorageGraph

    /// The links that some parents are to have.
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

    /// Writes records and what they hold.
    ///
    /// - Parameters:
    ///   - records: The records.
    ///   - originals: The records as they were read, if they were: what is still the same is not written.
    ///   - write: Writes the rows of the records themselves.
    func run<Record: Model>(_ records: [Record], originals: [Record]? = nil, _ write: ([Record]) throws -> Void) throws {
        try write(records)
        remember(records)
        try enqueueRelated(of: records, originals: originals)
        // A loop and not recursion, since a chain of rows may be longer than a stack.
        var next = 0
        while next < steps.count {
            try steps[next]()
            next += 1
        }
        var dropped: [any ErasableRows] = []
        for entry in links {
            if entry.relation.cascades {
                let before = Set(try entry.links.children(of: entry.parents).keys)
                try entry.links.set(entry.children, of: entry.parents)
                let keys = before.subtracting(entry.children.keys)
                if !keys.isEmpty { dropped.append(entry.relation.orphans(keys.sorted())) }
            } else {
                try entry.links.set(entry.children, of: entry.parents)
            }
        }
        try GraphErase(graph).eraseOrphans(dropped)
    }

    /// Lets children be written after what is being written.
    func enqueue<Child: Model>(_ children: [Child]) {
        if children.isEmpty { return }
        steps.append { [unowned self] in
            let rows = unwritten(children)
            if rows.isEmpty { return }
            try graph.rows(of: Child.self).upsert(rows)
            try enqueueRelated(of: rows, originals: nil)
        }
    }

    /// Lets links be written after all rows.
    func enqueue(_ entry: Links) { links.append(entry) }

    private func enqueueRelated<Record: Model>(of records: [Record], originals: [Record]?) throws {
        for relation in Record.schema.relations { try relation.enqueue(records, originals: originals, in: self) }
    }

    private func remember<Record: Model>(_ records: [Record]) {
        guard graph.isRecurring(Record.self) else { return }
        written[ObjectIdentifier(Record.self), default: []].formUnion(records.map { Record.schema.key(of: $0) })
    }

    /// Those of the rows that no level before has written.
    private func unwritten<Record: Model>(_ records: [Record]) -> [Record] {
        guard graph.isRecurring(Record.self) else { return records }
        let before = written[ObjectIdentifier(Record.self)] ?? []
        let rows = before.isEmpty ? records : records.filter { !before.contains(Record.schema.key(of: $0)) }
        remember(rows)
        return rows
    }
}
