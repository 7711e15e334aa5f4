/// One write of records and their related rows: first rows, level by level, then links, then the erasure of
/// rows that lost their last parent.
///
/// It runs inside a transaction. A row can appear in several places. The value nearest to the given records
/// is then stored; at the same distance, the value of the first field; in the lists of one field, the last
/// value. A row that was read without its lists because it leads back to itself therefore does not overwrite
/// the complete row. A value that was left as it was read does not count, and a value of a `.linked`
/// relationship counts only when no other value is given and the row is not stored.
final class GraphWrite {
    let graph: StorageGraph

    /// The new links of some parents.
    struct Links {
        let relation: any Relation
        let links: any LinkStorage
        var parents: [Key]
        var children: LinkedKeys
    }

    private var steps: [() throws -> Void] = []
    /// The steps that insert missing rows of `.linked` relationships. They run when all other rows are written.
    private var additions: [() throws -> Void] = []
    private var links: [Links] = []
    /// The children of cascades whose links are in rows, as they were before the rows were written.
    private var former: [GraphErase.Rows] = []
    private var written: [ObjectIdentifier: Set<Key>] = [:]

    /// The revisions of the rows that the call writes, which can consist of several such writes.
    private let revisions: CallRevisions

    /// The References that the call writes.
    let references: CallReferences

    /// Whether links are written that the records hold as they were read, because their rows were erased since.
    var rewritesLinks = false

    /// Whether related rows can have been written since they were read.
    var readsAgain = false

    init(_ graph: StorageGraph, _ revisions: CallRevisions, _ references: CallReferences) {
        self.graph = graph
        self.revisions = revisions
        self.references = references
    }

    /// Writes records and their related rows.
    ///
    /// - Parameters:
    ///   - records: The records.
    ///   - originals: The records as they were read, by their keys. Unchanged related rows are not written.
    ///   - write: A closure that writes the rows of the given records.
    func run<Record: Model>(_ records: [Record], originals: [Key: Record] = [:], _ write: ([Record]) throws -> Void) throws {
        try noteChildren(of: records)
        try write(records)
        remember(records)
        try enqueueRelated(of: records, originals: originals)
        rewritesLinks = false
        // A loop instead of recursion: a chain of rows can be longer than the stack.
        var (next, nextAddition) = (0, 0)
        while true {
            if next < steps.count {
                try steps[next]()
                next += 1
            } else if nextAddition < additions.count {
                try additions[nextAddition]()
                nextAddition += 1
            } else {
                break
            }
        }
        var dropped = former
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
        // A row that waits is still stored as it was, and holds what it will no longer hold.
        if let waiting = graph.database.waitingRows, !waiting.isEmpty {
            waiting.follow { [graph, dropped] in try GraphErase(graph).eraseOrphans(dropped) }
        } else {
            try GraphErase(graph).eraseOrphans(dropped)
        }
    }

    /// Adds the children of an `.owned` relationship to the rows that are written next.
    ///
    /// - Parameter originals: The children as they were read, by their keys. A row that was left as it was read is
    ///   not written.
    func enqueue<Child: Model>(owned children: [Child], originals: [Key: Child]) {
        if children.isEmpty { return }
        steps.append { [unowned self] in
            guard !originals.isEmpty else { return try store(unwritten(children)) }
            var kept: [Child] = []
            var changed: [Child] = []
            for child in children {
                let original = originals[Child.schema.key(of: child)]
                if let original, try Fingerprint(ofRow: child) == Fingerprint(ofRow: original) {
                    kept.append(child)
                } else {
                    changed.append(child)
                }
            }
            var originals = originals
            if readsAgain { try follow(in: &changed, readAs: &originals) }
            try store(unwritten(changed), originals: originals)
            let keys = Set(Child.schema.keys(of: changed))
            kept.removeAll { keys.contains(Child.schema.key(of: $0)) || isWritten($0) }
            // The translator can have erased the row since it was read.
            let missing = try missing(among: kept)
            try store(missing)
            let absent = Set(Child.schema.keys(of: missing))
            try enqueueRelated(of: kept.filter { !absent.contains(Child.schema.key(of: $0)) }, originals: originals)
        }
    }

    /// Gives the fields of rows that are as they were read what is stored in them since (contract W9).
    private func follow<Record: Model>(in records: inout [Record], readAs originals: inout [Key: Record]) throws {
        let schema = Record.schema
        let keys = schema.keys(of: records).filter { originals[$0] != nil }
        var rows = try graph.rows(of: Record.self).read(keys: keys, includesSubentities: false)
        try graph.attach(to: &rows, .whole)
        let stored = Dictionary(zip(schema.keys(of: rows), rows), uniquingKeysWith: { $1 })
        let read = originals
        for (index, key) in schema.keys(of: records).enumerated() {
            guard let now = stored[key], var original = read[key] else { continue }
            try schema.follow(now, in: &records[index], readAs: &original)
            originals[key] = original
        }
    }

    /// Adds the children of a `.linked` relationship. Those that are not stored are inserted.
    func enqueue<Child: Model>(linked children: [Child]) {
        if children.isEmpty { return }
        additions.append { [unowned self] in
            let rows = try missing(among: children)
            remember(rows)
            try store(rows)
        }
    }

    /// Adds links, which are written after all rows, unless they are in the rows.
    func enqueue(_ entry: Links) {
        if !entry.links.isInRows { return links.append(entry) }
        let (waiting, entity) = (graph.database.waitingRows, entry.relation.description.entity)
        guard let waiting, !entry.relation.isReference, entry.parents.contains(where: { waiting[entity, $0] != nil }) else {
            return
        }
        // Code inside the call can erase the row of a to-one before the link to it is stored.
        waiting.follow { [graph] in
            let stored = try entry.links.children(of: entry.parents)
            let missing = try entry.relation.missing(among: stored.keys, in: graph)
            if !missing.isEmpty { try entry.links.remove(children: missing.sorted()) }
        }
    }

    /// Writes rows, and enqueues their related rows.
    private func store<Record: Model>(_ rows: [Record], originals: [Key: Record] = [:]) throws {
        if rows.isEmpty { return }
        try noteChildren(of: rows)
        try revisions.upsert(rows, in: graph.writes(of: Record.self))
        try enqueueRelated(of: rows, originals: originals)
    }

    /// Notes the children that rows can lose when they are written, since their links are written with them.
    private func noteChildren<Record: Model>(of records: [Record]) throws {
        for relation in Record.schema.relations where relation.cascades {
            let links = try relation.links(in: graph)
            guard links.isInRows else { continue }
            let keys = Set(try links.children(of: Record.schema.keys(of: records)).keys)
            if !keys.isEmpty { former.append(GraphErase.Rows(entity: relation.targetDescription.name, keys: keys.sorted())) }
        }
    }

    /// Returns the records whose rows are not stored.
    private func missing<Record: Model>(among records: [Record]) throws -> [Record] {
        if records.isEmpty { return [] }
        let schema = Record.schema
        let stored = try graph.stored(among: records.lazy.map { schema.key(of: $0) }, of: Record.self)
        let waiting = graph.database.waitingRows
        return records.filter {
            let key = schema.key(of: $0)
            return !stored.contains(key) && waiting?[schema.description.name, key] == nil
        }
    }

    private func enqueueRelated<Record: Model>(of records: [Record], originals: [Key: Record]) throws {
        for relation in Record.schema.relations { try relation.enqueue(records, originals: originals, in: self) }
    }

    private func remember<Record: Model>(_ records: [Record]) {
        guard graph.isRecurring(Record.self) else { return }
        written[ObjectIdentifier(Record.self), default: []].formUnion(Record.schema.keys(of: records))
    }

    private func isWritten<Record: Model>(_ record: Record) -> Bool {
        written[ObjectIdentifier(Record.self)]?.contains(Record.schema.key(of: record)) ?? false
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
