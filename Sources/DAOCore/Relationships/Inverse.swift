/// The rows that refer to a row: a relationship as its other side sees it. It is declared beside the schema, and nothing is
/// stored for it (contract R12).
///
/// ```swift
/// struct Writer: Plain, Model {
///     var id: Int
///     var name: String
///
///     static let schema = Schema("writer", Self.init, Field("id", \.id, .primaryKey), Field("name", \.name))
///     static let articles = Inverse(\Article.writer)
/// }
/// ```
///
/// Conditions use it like a list: `$0[Writer.articles].contains { $0.title.hasPrefix("A") }`,
/// `$0[Writer.articles].count > 3`.
/// `articles.read(Writer.articles, of: [7])` reads the rows. A row that has the other one several times in a list refers to it
/// once.
public struct Inverse<Target: Model, Source: Model>: Sendable {
    private let keyPath: any AnyKeyPath & Sendable

    /// Declares the rows that refer to a row by a to-one field: `SomeModel?` or a ``Reference``.
    ///
    /// - Parameter field: The field that refers.
    public init<Value: ToOneValue>(_ field: KeyPath<Source, Value> & Sendable) where Value.RelatedRow == Target {
        self.init(keyPath: field)
    }

    /// Declares the rows that have a row in a list.
    ///
    /// - Parameter field: The list.
    public init(_ field: KeyPath<Source, [Target]> & Sendable) { self.init(keyPath: field) }

    /// Declares the rows that have a row in a list that a read can leave out.
    ///
    /// - Parameter field: The list.
    public init(_ field: KeyPath<Source, [Target]?> & Sendable) { self.init(keyPath: field) }

    // The schema of the other model can need this one's, so it is not asked for before the inverse is used.
    private init(keyPath: any AnyKeyPath & Sendable) { self.keyPath = keyPath }

    /// The relationship, at its position after the fields of the target; nil when the key path leads to no stored field.
    var relation: InverseRelation<Target, Source>? {
        Source.schema.index(of: keyPath).map { Target.schema.inverses.relation(InverseRelation.self, to: $0) }
    }

    /// The problem that the key path leads to no stored field.
    var problem: PredicateProblem { .notStored(keyPath, in: Source.self) }
}

// A key path to a static member would make `$0.articles` of it; one that is declared in an extension of another module ends the
// process (Swift 6.3).
extension FieldProxy {
    /// The rows that refer to the row.
    public subscript<Source: Model>(inverse: Inverse<Record, Source>) -> FieldExpression<Record, [Source]> {
        FieldExpression(inverse)
    }
}

extension FieldExpression where Value: ToOneValue {
    /// The rows that refer to the related row. There are none when there is no related row.
    public subscript<Source: Model>(inverse: Inverse<Value.RelatedRow, Source>) -> FieldExpression<Record, [Source]> {
        FieldExpression<Record, [Source]>(inverse, path: path + (index.map { [$0] } ?? []), problem: problem)
    }
}

/// A relationship from the side of the rows that it leads to. Its children are the rows that refer to a parent, in the order of
/// their keys.
final class InverseRelation<Parent: Model, Child: Model>: Relation {
    let field: Int
    /// The position of the field that refers, in the children.
    let forward: Int
    var isToOne: Bool { false }
    /// The children are neither read nor written with their parents.
    var isReference: Bool { true }
    var cascades: Bool { false }
    var targetErasure: TargetErasure { .unlink }

    init(at field: Int, of forward: Int) {
        self.field = field
        self.forward = forward
    }

    var inverted: RelationDescription? { Child.schema.relation(at: forward)?.description }

    func childGraph(_ graph: StorageGraph) throws -> StorageGraph { try graph.reaching(Child.self) }

    func links(in graph: StorageGraph) throws -> any LinkStorage {
        InverseLinks(forward: try childGraph(graph).links(of: Child.self, field: forward))
    }
}

/// The links of a relationship, seen from its children.
private struct InverseLinks: LinkStorage {
    let forward: any LinkStorage

    func children(of parents: [Key]) throws -> LinkedKeys { try forward.parents(ofEach: parents, limit: nil) }

    func children(of parents: [Key], limit: Int) throws -> LinkedKeys { try forward.parents(ofEach: parents, limit: limit) }

    func parents(of children: [Key]) throws -> [Key] { try Set(forward.children(of: children).keys).sorted() }

    func counts() throws -> [(parent: Key, count: Int)] { try forward.parentCounts().map { (parent: $0.child, count: $0.count) } }

    // Nothing is stored for an inverse, so nothing writes one.
    func set(_ children: LinkedKeys, of parents: [Key]) throws {}
    func remove(children: [Key]) throws {}
    func remove(parents: [Key]) throws {}
}

/// The inverse relationships of a model that have been used. Their positions come after those of its fields.
final class UsedInverses<Record: Model>: Sendable {
    private let first: Int
    private let relations = Lock<[any Relation<Record>]>([])
    /// The number of relationships. It never decreases.
    private let count = Atomic(0)

    /// - Parameter first: The number of the model's fields.
    init(after first: Int) { self.first = first }

    /// Whether there are none, which costs nothing to ask.
    var isEmpty: Bool { count.load(ordering: .relaxed) == 0 }

    /// All of them.
    var all: [any Relation<Record>] { isEmpty ? [] : relations.withLock { $0 } }

    /// The relationship at a position; nil when there is none.
    subscript(position: Int) -> (any Relation<Record>)? {
        relations.withLock { $0.indices.contains(position - first) ? $0[position - first] : nil }
    }

    /// Returns the inverse of a field, at its position.
    func relation<Child: Model>(
        _ type: InverseRelation<Record, Child>.Type, to forward: Int
    ) -> InverseRelation<Record, Child> {
        relations.withLock { relations in
            for case let known as InverseRelation<Record, Child> in relations where known.forward == forward { return known }
            let made = InverseRelation<Record, Child>(at: first + relations.count, of: forward)
            relations.append(made)
            count.store(relations.count, ordering: .relaxed)
            return made
        }
    }
}
