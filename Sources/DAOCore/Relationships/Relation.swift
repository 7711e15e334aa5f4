/// A relationship field of a model, without the type of the related model.
///
/// All access to related rows uses this protocol, because it knows the types of both models.
protocol Relation<Parent>: Sendable {
    /// The model with the field.
    associatedtype Parent: Model
    /// The related model.
    associatedtype Child: Model

    /// The position of the field.
    var field: Int { get }
    /// Whether there is at most one child.
    var isToOne: Bool { get }
    /// Whether the field is a ``Reference``: children are neither read nor written with their parents.
    var isReference: Bool { get }
    /// Whether a child is erased with the last row that refers to it.
    var cascades: Bool { get }
    /// What erasing a child means for the rows that refer to it.
    var targetErasure: TargetErasure { get }
    /// The relationship that this one is the inverse of; nil for a field.
    var inverted: RelationDescription? { get }

    /// Returns the graph that has the children.
    func childGraph(_ graph: StorageGraph) throws -> StorageGraph
    /// Returns the links of the relationship.
    func links(in graph: StorageGraph) throws -> any LinkStorage

    // Reading. By default, children are neither read nor written with their parents.

    /// Reads the children of records and assigns them.
    func attach(to records: inout [Parent], _ form: GraphForm, in graph: StorageGraph) throws
    /// Reads the rows of References and assigns them.
    func attachRows(to records: inout [Parent], in graph: StorageGraph) throws
    /// Whether the field is a list that is in every read, since its type has no nil for one that was not read.
    var isRequired: Bool { get }
    /// Assigns nil to the lists of records, which says that they were not read.
    func markUnread(_ records: inout [Parent]) throws
    /// Whether a record holds what it was read with.
    func isUnchanged(in record: Parent, since original: Parent) throws -> Bool
    /// Whether the list of a record was not read; also where there is no list.
    func isUnread(in record: Parent) -> Bool
    /// Assigns the children with the given keys.
    func assemble(_ keys: some Sequence<Key>, from nodes: NodeGraph, _ form: GraphForm, into record: inout Parent) throws

    // Writing

    /// Adds the children of records, and the links to them, to a write.
    ///
    /// - Parameter originals: The records as they were read, by their keys. Unchanged children are not written.
    func enqueue(_ records: [Parent], originals: [Key: Parent], in write: GraphWrite) throws
}

extension Relation {
    /// The related model.
    var target: any Model.Type { Child.self }
    /// The description of the related entity.
    var targetDescription: EntityDescription { Child.schema.description }

    /// The description of the relationship, without types; for an inverse, that of the field which refers.
    var description: RelationDescription {
        if let inverted { return inverted }
        let entity = Parent.schema.description
        let target = targetDescription
        return RelationDescription(
            entity: entity.name, field: entity.fields[field].name, keyField: entity.fields[entity.keyIndex].name,
            keyKind: entity.keyKind, target: target.name, targetKeyKind: target.keyKind, isToOne: isToOne, cascades: cascades,
            targetErasure: targetErasure)
    }

    var inverted: RelationDescription? { nil }
    func childGraph(_ graph: StorageGraph) throws -> StorageGraph { graph }
    func links(in graph: StorageGraph) throws -> any LinkStorage { try graph.links(of: Parent.self, field: field) }

    /// The name of the field; for an inverse, those of the other entity and its field.
    var name: String {
        inverted.map { "\($0.entity).\($0.field)" } ?? Parent.schema.description.fields[field].name
    }

    /// Returns the table of the children.
    func table(in nodes: NodeGraph) -> any NodeTable { nodes.table(of: Child.self) }

    func attach(to records: inout [Parent], _ form: GraphForm, in graph: StorageGraph) throws {}
    func attachRows(to records: inout [Parent], in graph: StorageGraph) throws {}
    var isRequired: Bool { false }
    func markUnread(_ records: inout [Parent]) throws {}
    func isUnchanged(in record: Parent, since original: Parent) throws -> Bool { true }
    func isUnread(in record: Parent) -> Bool { true }
    func assemble(_ keys: some Sequence<Key>, from nodes: NodeGraph, _ form: GraphForm, into record: inout Parent) throws {}
    func enqueue(_ records: [Parent], originals: [Key: Parent], in write: GraphWrite) throws {}

    /// Returns those of the given keys that no child has.
    func missing(among keys: [Key], in graph: StorageGraph) throws -> Set<Key> {
        try Set(keys).subtracting(graph.stored(among: keys, of: Child.self))
    }
}

/// The relationships of a model, in order, one linked to the next. Code that is not compiled for the model looks up the type of an
/// array of them, which costs more than to walk along all of these.
struct Relations<Parent: Model>: Sequence, IteratorProtocol, Sendable {
    private final class Node: Sendable {
        let relation: any Relation<Parent>
        let next: Node?

        init(_ relation: any Relation<Parent>, _ next: Node?) { (self.relation, self.next) = (relation, next) }
    }

    private var first: Node?

    init(_ relations: [any Relation<Parent>]) { first = relations.reversed().reduce(nil) { Node($1, $0) } }

    var isEmpty: Bool { first == nil }

    mutating func next() -> (any Relation<Parent>)? {
        defer { first = first?.next }
        return first?.relation
    }
}

/// The related rows that a read includes. The row of an optional model is always read, because an optional cannot
/// represent that it was not.
enum GraphForm: Equatable {
    /// All lists, and those of the rows in them.
    case whole
    /// The rows of the lists and References at these positions, without their own lists.
    case only(Set<Int>)

    /// No lists.
    static var withoutLists: GraphForm { .only([]) }

    var isWithoutLists: Bool { if case .only(let fields) = self { fields.isEmpty } else { false } }
}

/// A relationship with the types of both models.
final class TypedRelation<Parent: Model, Child: Model>: Relation {
    /// The place of the property.
    enum Place: Sendable {
        case toMany(Field<Parent, [Child]>)
        /// A list that is nil where it was not read.
        case optionalToMany(Field<Parent, [Child]?>)
        case toOne(Field<Parent, Child?>)
    }

    let field: Int
    /// Whether children are written with their parents.
    private let isOwned: Bool
    let cascades: Bool
    private let place: Place

    init(_ place: Place, at field: Int, isOwned: Bool, cascades: Bool) {
        self.place = place
        self.field = field
        self.isOwned = isOwned
        self.cascades = cascades
    }

    var isToOne: Bool {
        if case .toOne = place { true } else { false }
    }
    var isReference: Bool { false }
    var targetErasure: TargetErasure { .unlink }
}

// MARK: The field

extension TypedRelation {
    /// Returns the children of a record; nil when they were not read.
    private func children(of record: UnsafePointer<Parent>) -> [Child]? {
        switch place {
        case .toMany(let field): field.value(of: record)
        case .optionalToMany(let field): field.value(of: record)
        case .toOne(let field): field.value(of: record).map { [$0] } ?? []
        }
    }

    /// Assigns children to a record, or that they were not read.
    private func put(_ children: [Child]?, into record: inout Parent) throws {
        switch place {
        case .toMany(let field): if let children, field.assign(children, to: &record) { return }
        case .optionalToMany(let field): if field.assign(children, to: &record) { return }
        case .toOne(let field): if field.assign(children?.first, to: &record) { return }
        }
        try Parent.schema.set(children, at: field, in: &record)
    }

    var isRequired: Bool { if case .toMany = place { true } else { false } }

    func isUnread(in record: Parent) -> Bool { isToOne || withUnsafePointer(to: record) { children(of: $0) == nil } }

    func markUnread(_ records: inout [Parent]) throws {
        switch place {
        case .toOne: return
        case .toMany:
            if records.isEmpty { return }
            throw requiredListError(.invalidSchema, "rows more than \(NodeGraph.maximumDepth) levels deep are read without it")
        case .optionalToMany(let field):
            if field.assign(nil, toAll: &records) { return }
            for index in records.indices { try put(nil, into: &records[index]) }
        }
    }
}

// MARK: Lists that are in every read

extension Relation {
    /// An error that says to declare the list as optional.
    func requiredListError(_ kind: StorageError.Kind, _ reason: String) -> StorageError {
        let entity = Parent.schema.description.name
        return StorageError(
            kind,
            "the list '\(name)' of '\(entity)' is not optional, and \(reason); declare it as [\(Child.self)]?, which is nil "
                + "where it was not read", entity: entity, field: name)
    }

    /// Throws `.invalidQuery` when the children cannot be read without their lists.
    fileprivate func checkChildrenCanBeWithoutLists(_ checked: inout Set<ObjectIdentifier>) throws {
        guard checked.insert(ObjectIdentifier(Child.self)).inserted else { return }
        try Child.schema.checkCanBeWithoutLists(&checked)
    }
}

extension Schema {
    /// Throws `.invalidQuery` when rows cannot be read without their lists, and with the rows of some relationships without theirs.
    ///
    /// - Parameter included: The positions of the lists and References whose rows are read.
    func checkCanBeWithoutLists(including included: Set<Int> = []) throws {
        var checked: Set<ObjectIdentifier> = []
        try checkCanBeWithoutLists(including: included, &checked)
    }

    fileprivate func checkCanBeWithoutLists(including included: Set<Int> = [], _ checked: inout Set<ObjectIdentifier>) throws {
        for relation in relations {
            if included.contains(relation.field) || (relation.isToOne && !relation.isReference) {
                try relation.checkChildrenCanBeWithoutLists(&checked)
            } else if relation.isRequired {
                throw relation.requiredListError(.invalidQuery, "this read leaves it out")
            }
        }
    }
}

// MARK: Reading

extension TypedRelation {
    func attach(to records: inout [Parent], _ form: GraphForm, in graph: StorageGraph) throws {
        let keys = Parent.schema.keys(of: records)
        let links = try links(in: graph)
        let storage = try graph.rows(of: Child.self)
        func forEachList(_ body: (Int, [Child]) throws -> Void) throws {
            // Children of a to-one relationship are usually shared. Reading children with related rows costs more
            // than reading a row. In both cases every child is read once.
            if !isToOne, Child.schema.relations.isEmpty {
                return try links.forEachList(of: keys, in: storage, body)
            }
            let linked = try links.children(of: keys)
            var rows = try linked.keys.isEmpty ? [] : storage.read(keys: linked.keys, includesSubentities: false)
            try graph.attach(to: &rows, form)
            try linked.forEachList(of: rows, body)
        }
        switch place {
        case .toMany(let field):
            if field.assign([], toAll: &records) {
                return try field.assigning(to: &records) { assign in try forEachList { assign($0, $1) } }
            }
        case .optionalToMany(let field):
            if field.assign([], toAll: &records) {
                return try field.assigning(to: &records) { assign in try forEachList { assign($0, $1) } }
            }
        case .toOne: break
        }
        for index in records.indices { try put([], into: &records[index]) }
        try forEachList { try put($1, into: &records[$0]) }
    }

    func assemble(_ keys: some Sequence<Key>, from nodes: NodeGraph, _ form: GraphForm, into record: inout Parent) throws {
        let table = nodes.table(of: Child.self)
        try put(try keys.compactMap { try table.row($0, form, in: nodes) }, into: &record)
    }
}

// MARK: Writing

extension TypedRelation {
    func enqueue(_ records: [Parent], originals: [Key: Parent], in write: GraphWrite) throws {
        var parents: [Key] = []
        var linked = LinkedKeys()
        var children: [Child] = []
        var originalChildren: [Key: Child] = [:]
        // Those that are as they were read. Their rows are only written where they are gone.
        var unchanged: [Child] = []
        for index in records.indices {
            guard let held = withUnsafePointer(to: records[index], { self.children(of: $0) }) else { continue }
            let key = Parent.schema.key(of: records[index])
            if !originals.isEmpty, let original = originals[key] {
                if try isUnchanged(held, since: original) {
                    if write.rewritesLinks {
                        parents.append(key)
                        linked.append(Child.schema.keys(of: held))
                        unchanged += held
                    }
                    continue
                }
                if isOwned {
                    for child in withUnsafePointer(to: original, { self.children(of: $0) }) ?? [] {
                        originalChildren[Child.schema.key(of: child)] = child
                    }
                }
            }
            parents.append(key)
            linked.append(Child.schema.keys(of: held))
            children += held
        }
        if parents.isEmpty { return }
        if isOwned { write.enqueue(owned: children, originals: originalChildren) } else { write.enqueue(linked: children) }
        if !unchanged.isEmpty { write.enqueue(linked: unchanged) }
        write.enqueue(GraphWrite.Links(relation: self, links: try links(in: write.graph), parents: parents, children: linked))
    }

    func isUnchanged(in record: Parent, since original: Parent) throws -> Bool {
        guard let held = withUnsafePointer(to: record, { children(of: $0) }) else { return true }
        return try isUnchanged(held, since: original)
    }

    /// Returns whether a record holds the children that it was read with.
    private func isUnchanged(_ children: [Child], since original: Parent) throws -> Bool {
        let before = withUnsafePointer(to: original) { self.children(of: $0) }
        guard let before, before.count == children.count else { return false }
        if isToOne { return try before.map { try Fingerprint(of: $0) } == children.map { try Fingerprint(of: $0) } }
        // Both arrays are retained here, so any change of a list copied it. A changed list is not identical.
        return before.isIdentical(to: children)
    }
}

// MARK: Queries

extension Relation {
    /// Returns the keys of the children that meet a condition.
    ///
    /// - Parameter keys: The children that are looked at; nil for all.
    func children(matching node: PredicateNode, among keys: [Key]?, in graph: StorageGraph) throws -> [Key] {
        let storage = try GraphStorage<Child>(graph: childGraph(graph))
        return try keys.map { try storage.keys(among: $0, meeting: node) } ?? storage.keys(Query(where: Condition(node)))
    }

    /// Returns the keys of the children that meet a condition, when at most the given number do and an index leads to them, or
    /// when there are no more children; nil otherwise.
    func few(_ limit: Int, matching node: PredicateNode, in graph: StorageGraph) throws -> [Key]? {
        let entity = Child.schema.description
        if node == .constant(true) || node.reachesRelated(entity) { return nil }
        let graph = try childGraph(graph)
        let storage = try graph.rows(of: Child.self)
        if try graph.isSmall(Child.self, limit: limit) { return try storage.keys(Query(where: Condition(node))) }
        // Without an index on any of its fields, no plan has to be asked for.
        let fields = try node.filter(for: entity).fields.map { entity.fields[$0] }
        guard
            fields.contains(where: { field in
                field.isPrimaryKey || field.isIndexed || field.isUnique
                    || entity.indexes.contains { $0.fields.first?.name == field.name }
            })
        else { return nil }
        let condition = Condition<Child>(node)
        if case .compare(_, .equal, _) = node {
            // The index on the only field leads to them.
        } else {
            let plan = try storage.explain(Query(where: condition))
            if plan.access == .nothing { return [] }
            if plan.access == .scan || plan.filtersRows { return nil }
        }
        let keys = try storage.keys(Query(where: condition, limit: limit + 1))
        return keys.count <= limit ? keys : nil
    }

    /// Calls a closure with the keys of the children, grouped by the value of a field and in its order. Children whose
    /// value is nil are not among them.
    ///
    /// - Parameters:
    ///   - start: The value of the first group, or a value before it; nil for all groups.
    ///   - limit: The maximum number of keys in a group.
    ///   - body: A closure that gets the keys and the value of a group, and returns whether it wants more.
    /// - Returns: False when a group has more keys; the closure has not got it.
    func forEachGroup(
        by field: Int, isAscending: Bool, from start: Value?, limit: Int, in graph: StorageGraph,
        _ body: ([Key], Value) throws -> Bool
    ) throws -> Bool {
        let schema = Child.schema
        let storage = try graph.rows(of: Child.self)
        var query = Query<Child>(
            where: Condition(
                start.map { .compare(field: field, isAscending ? .greaterOrEqual : .lessOrEqual, $0) }
                    ?? .compare(field: field, .notEqual, .null)),
            orderedBy: [.by(schema.description.fields[field].name, ascending: isAscending)], limit: 64, includesSubentities: false
        )
        let order = try query.orderTerms()
        var group: [Key] = []
        var groupValue = Value.null
        while true {
            let records = try storage.read(query)
            for record in records {
                let value = schema.value(at: field, of: record)
                if !group.isEmpty, Value.order(value, groupValue) != 0 {
                    guard try body(group, groupValue) else { return true }
                    group = []
                }
                groupValue = value
                group.append(schema.key(of: record))
                if group.count > limit { return false }
            }
            guard records.count == query.limit, let last = records.last else { break }
            query.after = PageCursor(after: last, in: order)
        }
        if !group.isEmpty { _ = try body(group, groupValue) }
        return true
    }

    /// Returns the values of a field of the child of each record, for a to-one relationship. A value is null
    /// when there is no child.
    ///
    /// - Parameters:
    ///   - keys: The keys of the records.
    ///   - children: The key of the child of each record, null for none, where they are known.
    func values(of field: Int, keys: [Key], children: [Value]? = nil, in graph: StorageGraph) throws -> [Value] {
        try values(of: [field], keys: keys, children: children, in: graph)[0]
    }

    /// Returns the values of some fields of the child of each record, for a to-one relationship: the values of each field in
    /// turn. A value is null when there is no child.
    ///
    /// - Parameters:
    ///   - keys: The keys of the records.
    ///   - children: The key of the child of each record, null for none, where they are known.
    func values(of fields: [Int], keys: [Key], children: [Value]?, in graph: StorageGraph) throws -> [[Value]] {
        let children =
            try children?.map { Key($0, of: targetDescription.keyKind) }
            ?? links(in: graph).children(of: keys).lists.map(\.first)
        let schema = Child.schema
        let rows = try graph.rows(of: Child.self).read(
            keys: Set(children.lazy.compactMap { $0 }).sorted(), includesSubentities: false)
        let byKey = Dictionary(rows.map { (schema.key(of: $0), $0) }, uniquingKeysWith: { $1 })
        return fields.map { field in
            children.map { child in child.flatMap { byKey[$0] }.map { schema.value(at: field, of: $0) } ?? .null }
        }
    }
}

extension Schema {
    /// Assigns the value of a relationship whose property is computed, or is in a class: the record is created again by
    /// its initializer.
    func set(_ related: any Sendable, at field: Int, in record: inout Record) throws {
        let writer = ValueRowWriter(count: description.fields.count)
        try encode(record, to: writer)
        (writer.values[field], writer.related[field]) = (.null, related)
        record = try decodeWithoutCheck(ValueRowReader(entity: description, values: writer.values, related: writer.related))
    }
}

extension Array {
    /// Returns whether two arrays have the same buffer. Copies have the same buffer until one of them is
    /// changed.
    fileprivate func isIdentical(to other: [Element]) -> Bool {
        withUnsafeBufferPointer { left in
            other.withUnsafeBufferPointer { left.baseAddress == $0.baseAddress && left.count == $0.count }
        }
    }
}
