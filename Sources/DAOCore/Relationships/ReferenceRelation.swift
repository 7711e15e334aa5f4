/// A ``Reference`` field with the types of both models. Its row is neither read nor written with the row that has it.
final class ReferenceRelation<Parent: Model, Child: Model>: Relation {
    /// The place of the property.
    enum Place: Sendable {
        case required(Field<Parent, Reference<Child>>)
        case optional(Field<Parent, Reference<Child>?>)
        /// The key as a value, in a record without a type of the application.
        case value(any WritableKeyPath<Parent, Value> & Sendable)
    }

    let field: Int
    let targetErasure: TargetErasure
    private let place: Place

    let cascades: Bool

    init(_ place: Place, at field: Int, targetErasure: TargetErasure, cascades: Bool = false) {
        self.place = place
        self.field = field
        self.targetErasure = targetErasure
        self.cascades = cascades
    }

    var isToOne: Bool { true }
    var isReference: Bool { true }

    private func reference(of record: UnsafePointer<Parent>) -> Reference<Child>? {
        switch place {
        case .required(let field): field.value(of: record)
        case .optional(let field): field.value(of: record)
        case .value(let path): Key(record.pointee[keyPath: path], of: Child.schema.keyKind).map { Reference(key: $0) }
        }
    }
}

// MARK: Reading

extension ReferenceRelation {
    /// Assigns the keys, where links are beside the rows. A required Reference never loses its key, so its row has it
    /// even there.
    func attach(to records: inout [Parent], _ form: GraphForm, in graph: StorageGraph) throws {
        let links = try links(in: graph)
        if case .required = place { return }
        if links.isInRows { return }
        let linked = try links.children(of: Parent.schema.keys(of: records))
        for (index, list) in linked.lists.enumerated() {
            switch place {
            case .required: return
            case .optional(let field): try put(list.first.map { Reference<Child>(key: $0) }, in: field, of: &records[index])
            case .value(let path): records[index][keyPath: path] = list.first?.value ?? .null
            }
        }
    }

    func attachRows(to records: inout [Parent], in graph: StorageGraph) throws {
        let keys = records.map { record in withUnsafePointer(to: record) { reference(of: $0)?.key } }
        var rows = try graph.rows(of: Child.self).read(keys: keys.compactMap { $0 }, includesSubentities: false)
        try graph.attach(to: &rows, .withoutLists)
        let references = Dictionary(rows.map { (Child.schema.key(of: $0), Reference($0)) }, uniquingKeysWith: { $1 })
        for (index, key) in keys.enumerated() {
            guard let reference = key.flatMap({ references[$0] }) else { continue }
            switch place {
            case .required(let field): try put(reference, in: field, of: &records[index])
            case .optional(let field): try put(reference, in: field, of: &records[index])
            // A value is a key only.
            case .value: return
            }
        }
    }

    private func put<Value>(_ value: Value, in field: Field<Parent, Value>, of record: inout Parent) throws {
        if !field.assign(value, to: &record) { try Parent.schema.set(value, at: self.field, in: &record) }
    }

}

// MARK: Writing

extension ReferenceRelation {
    func isUnchanged(in record: Parent, since original: Parent) -> Bool {
        withUnsafePointer(to: record) { reference(of: $0)?.key } == withUnsafePointer(to: original) { reference(of: $0)?.key }
    }

    func enqueue(_ records: [Parent], originals: [Key: Parent], in write: GraphWrite) throws {
        var parents: [Key] = []
        var children = LinkedKeys()
        for record in records {
            let key = Parent.schema.key(of: record)
            let child = withUnsafePointer(to: record) { reference(of: $0)?.key }
            if !write.rewritesLinks, let original = originals[key], isUnchanged(in: record, since: original) { continue }
            parents.append(key)
            children.append(child.map { [$0] } ?? [])
        }
        if parents.isEmpty { return }
        let links = GraphWrite.Links(relation: self, links: try links(in: write.graph), parents: parents, children: children)
        write.enqueue(links)
        write.references.note(links, in: write.graph)
    }
}

/// The References that one call writes. The rows that they lead to must be stored when it ends (contract R9): a row
/// can refer to one that the call writes later.
final class CallReferences {
    /// The References of each field.
    private var written: [(links: GraphWrite.Links, graph: StorageGraph)] = []
    private var places: [LinkName: Int] = [:]

    /// Remembers References that were written.
    func note(_ links: GraphWrite.Links, in graph: StorageGraph) {
        let relation = links.relation.description
        let name = LinkName(entity: relation.entity, field: relation.field)
        if let place = places[name] {
            written[place].links.parents += links.parents
            for list in links.children.lists { written[place].links.children.append(list) }
        } else {
            places[name] = written.count
            written.append((links, graph))
        }
    }

    /// Checks that every row is stored that a written Reference leads to.
    ///
    /// - Throws: `.referenceViolation` for the first one that is not.
    func check() throws {
        for (links, graph) in written where !links.children.keys.isEmpty {
            let missing = try links.relation.missing(among: links.children.keys, in: graph)
            if missing.isEmpty { continue }
            // The row can have been written again, or erased, or have lost the Reference, since.
            let stored = try links.links.children(of: links.parents)
            for (parent, children) in zip(links.parents, stored.lists) {
                guard let target = children.first, missing.contains(target) else { continue }
                throw StorageError.missingTarget(links.relation.description, key: parent, target: target)
            }
        }
    }
}
