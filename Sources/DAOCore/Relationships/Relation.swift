/// One relationship field of a model, with the type it leads to hidden.
///
/// Everything about related rows goes through it: it is where the types of both sides are known.
protocol Relation<Parent>: Sendable {
    /// The model whose field it is.
    associatedtype Parent: Model

    /// The position of the field.
    var field: Int { get }
    /// Whether there is one child at most.
    var isToOne: Bool { get }
    /// Whether a child goes with the last row that refers to it.
    var cascades: Bool { get }
    /// The model it leads to.
    var target: any Model.Type { get }
    /// What the related entity looks like.
    var targetDescription: EntityDescription { get }

    // Reading

    /// Reads the children of records and puts them in.
    func attach(to records: inout [Parent], _ form: GraphForm, in graph: StorageGraph) throws
    /// Puts in that nothing was read.
    func markUnread(_ records: inout [Parent]) throws
    /// The table of the children.
    func table(in nodes: NodeGraph) -> any NodeTable
    /// Puts the children with these keys in.
    func assemble(_ keys: some Sequence<Key>, from nodes: NodeGraph, _ form: GraphForm, into record: inout Parent) throws

    // Writing

    /// Lets a write store the children of records and the links to them.
    ///
    /// - Parameter originals: The records as they were read: children that are still the same are not written. Nil for new ones.
    func enqueue(_ records: [Parent], originals: [Parent]?, in write: GraphWrite) throws
    /// The rows of the children, for erasing.
    func orphans(_ keys: [Key]) -> any ErasableRows

    // Asking

    /// The keys of the children that meet a condition on them.
    func children(matching node: PredicateNode, in graph: StorageGraph) throws -> [Key]
    /// One field of the child of each record, for a relationship to one. Null where there is none.
    func values(of field: Int, keys: [Key], in graph: StorageGraph) throws -> [Value]
}

extension Relation {
    /// The relationship without types.
    var description: RelationDescription {
        let entity = Parent.schema.description
        let target = targetDescription
        return RelationDescription(
            entity: entity.name, field: entity.fields[field].name, keyKind: entity.keyKind, target: target.name,
            targetKeyKind: target.keyKind, isToOne: isToOne, cascades: cascades)
    }

    /// The links of the relationship.
    func links(in graph: StorageGraph) throws -> any LinkStorage { try graph.links(of: Parent.self, field: field) }
}

/// How much of what is related is read.
enum GraphForm {
    /// Everything.
    case whole
    /// Only relationships to one, and those of the rows found that way: a list can say that it was not read, an optional cannot.
    case withoutLists
}

/// A relationship with the types of both sides.
final class TypedRelation<Parent: Model, Child: Model>: Relation {
    /// The field.
    enum Place: Sendable {
        case toMany(Field<Parent, [Child]>)
        case toOne(Field<Parent, Child?>)
    }

    let field: Int
    let cascades: Bool
    private let place: Place

    init(_ place: Place, at field: Int, cascades: Bool) {
        self.place = place
        self.field = field
        self.cascades = cascades
    }

    var isToOne: Bool {
        if case .toOne = place { true } else { false }
    }
    var target: any Model.Type { Child.self }
    var targetDescription: EntityDescription { Child.schema.description }
}

// MARK: The field

extension TypedRelation {
    /// The children that a record holds, and whether they were read at all.
    private func children(of record: UnsafePointer<Parent>) -> (children: [Child], isRead: Bool) {
        switch place {
        case .toMany(let field):
            let children = field.value(of: record)
            return (children, !children.isEmpty || !children.isIdentical(to: Child.schema.unread))
        case .toOne(let field): return (field.value(of: record).map { [$0] } ?? [], true)
        }
    }

    /// Puts children into a record.
    private func put(_ children: [Child], into record: inout Parent) throws {
        switch place {
        case .toMany(let field): if put(children, at: field.offset, into: &record) { return }
        case .toOne(let field): if put(children.first, at: field.offset, into: &record) { return }
        }
        // A computed property, or one in a class: the record is made anew, by its own initializer.
        let schema = Parent.schema
        let writer = ValueRowWriter(count: schema.description.fields.count)
        try schema.encode(record, to: writer)
        writer.related[field] = children
        record = try schema.decode(
            ValueRowReader(entity: schema.description, values: writer.values, related: writer.related))
    }

    private func put<Value>(_ value: Value, at offset: Int, into record: inout Parent) -> Bool {
        guard offset >= 0 else { return false }
        // `offset(of:)` answers only for stored properties, whose bytes at that offset are a `Value`.
        withUnsafeMutableBytes(of: &record) { bytes in
            guard let base = bytes.baseAddress else { return }
            base.advanced(by: offset).assumingMemoryBound(to: Value.self).pointee = value
        }
        return true
    }

    func markUnread(_ records: inout [Parent]) throws {
        if isToOne { return }
        for index in records.indices { try put(Child.schema.unread, into: &records[index]) }
    }
}

// MARK: Reading

extension TypedRelation {
    func attach(to records: inout [Parent], _ form: GraphForm, in graph: StorageGraph) throws {
        let keys = records.map { Parent.schema.key(of: $0) }
        let links = try links(in: graph)
        let storage = try graph.rows(of: Child.self)
        var next = 0
        func fill(_ index: Int, _ children: [Child], _ records: inout [Parent]) throws {
            while next < index {
                try put([], into: &records[next])
                next += 1
            }
            if index == records.count { return }
            try put(children, into: &records[index])
            next += 1
        }
        // Children of a relationship to one are shared more often than not, and those with children of their own cost more than a row: they are
        // read once each.
        if !isToOne, Child.schema.relations.isEmpty {
            try links.forEachList(of: keys, in: storage) { try fill($0, $1, &records) }
        } else {
            let linked = try links.children(of: keys)
            var rows = try linked.keys.isEmpty ? [] : storage.read(keys: linked.keys, includesSubentities: false)
            try graph.attach(to: &rows, form)
            try linked.forEachList(of: rows) { try fill($0, $1, &records) }
        }
        try fill(records.count, [], &records)
    }

    func table(in nodes: NodeGraph) -> any NodeTable { nodes.table(of: Child.self) }

    func assemble(_ keys: some Sequence<Key>, from nodes: NodeGraph, _ form: GraphForm, into record: inout Parent) throws {
        let table = nodes.table(of: Child.self)
        try put(try keys.compactMap { try table.row($0, form, in: nodes) }, into: &record)
    }
}

// MARK: Writing

extension TypedRelation {
    func enqueue(_ records: [Parent], originals: [Parent]?, in write: GraphWrite) throws {
        var parents: [Key] = []
        var linked = LinkedKeys()
        var children: [Child] = []
        for index in records.indices {
            let (held, isRead) = withUnsafePointer(to: records[index]) { self.children(of: $0) }
            guard isRead else { continue }
            if let originals, try isUnchanged(held, since: originals[index]) { continue }
            parents.append(Parent.schema.key(of: records[index]))
            linked.append(held.map { Child.schema.key(of: $0) })
            children += held
        }
        if parents.isEmpty { return }
        write.enqueue(children)
        write.enqueue(GraphWrite.Links(relation: self, links: try links(in: write.graph), parents: parents, children: linked))
    }

    /// Whether a record holds the very children it was read with.
    private func isUnchanged(_ children: [Child], since original: Parent) throws -> Bool {
        let (before, isRead) = withUnsafePointer(to: original) { self.children(of: $0) }
        guard isRead, before.count == children.count else { return false }
        if isToOne { return try before.map { try Fingerprint(of: $0) } == children.map { try Fingerprint(of: $0) } }
        // A list that was changed in any way is another one: both are held here, so writing to one copied it.
        return before.isIdentical(to: children)
    }

    func orphans(_ keys: [Key]) -> any ErasableRows { GraphErase.Rows<Child>(keys: keys) }
}

// MARK: Asking

extension TypedRelation {
    func children(matching node: PredicateNode, in graph: StorageGraph) throws -> [Key] {
        try GraphStorage<Child>(graph: graph).keys(Query(where: Condition(node)))
    }

    func values(of field: Int, keys: [Key], in graph: StorageGraph) throws -> [Value] {
        let linked = try links(in: graph).children(of: keys)
        let rows = try graph.rows(of: Child.self).read(keys: linked.keys, includesSubentities: false)
        let schema = Child.schema
        let values = Dictionary(
            rows.map { (schema.key(of: $0), schema.value(at: field, of: $0)) }, uniquingKeysWith: { $1 })
        return linked.lists.map { $0.first.flatMap { values[$0] } ?? .null }
    }
}

extension Array {
    /// Whether two arrays are the same elements in memory. True for copies, as long as neither was changed.
    fileprivate func isIdentical(to other: [Element]) -> Bool {
        withUnsafeBufferPointer { left in
            other.withUnsafeBufferPointer { left.baseAddress == $0.baseAddress && left.count == $0.count }
        }
    }
}
