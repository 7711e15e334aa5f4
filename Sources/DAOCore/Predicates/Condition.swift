/// Which rows of a model: a plain value, made from typed expressions or from text.
///
/// ```swift
/// let typed = Condition<MessageModel> { !$0.isRead && $0.date > cutoff }
/// let text = Condition<MessageModel>("isRead == false AND date > %@", cutoff)
/// ```
///
/// Making one never fails; one that cannot be understood throws `.invalidPredicate` when it is used. (It is what others call a
/// predicate; Foundation has taken that name for a type.)
public struct Condition<Record: Model>: Sendable, Hashable {
    /// The tree.
    public let node: PredicateNode

    /// Wraps a tree.
    ///
    /// - Parameter node: The tree; its fields are positions in the schema of `Record`.
    public init(_ node: PredicateNode) { self.node = node }

    /// Makes a predicate from a closure over the fields.
    ///
    /// - Parameter build: Gets a proxy whose members are the model's fields. Runs at once.
    public init(_ build: (FieldProxy<Record>) -> some ConditionConvertible<Record>) {
        node = build(FieldProxy()).condition.node
    }

    /// Every row.
    public static var all: Condition { Condition(.constant(true)) }

    /// No row.
    public static var none: Condition { Condition(.constant(false)) }
}

/// What can stand where a condition is wanted: a ``Condition``, or a field that is a `Bool`.
public protocol ConditionConvertible<Record> {
    /// The model it is about.
    associatedtype Record: Model
    /// The condition.
    var condition: Condition<Record> { get }
}

extension Condition: ConditionConvertible {
    /// Itself.
    public var condition: Condition { self }
}

/// Stands for one row in a predicate's closure; its members are the model's fields.
@dynamicMemberLookup
public struct FieldProxy<Record: Model>: Sendable {
    /// Creates the proxy.
    public init() {}

    /// A field, to compare.
    public subscript<Value: FieldValue>(dynamicMember keyPath: KeyPath<Record, Value>) -> FieldExpression<Record, Value> {
        FieldExpression(keyPath)
    }
}

/// A field in a predicate or an aggregate.
@dynamicMemberLookup
public struct FieldExpression<Record: Model, Value: FieldValue>: Sendable {
    /// The position in the schema; nil when the key path leads to something that is not stored.
    public let index: Int?
    /// The relationships to one that lead to the model whose field it is, as positions in each one's schema.
    let path: [Int]
    /// What is wrong with the key path, if anything.
    let problem: PredicateProblem?

    /// Finds the field that a key path leads to.
    ///
    /// - Parameter keyPath: A key path to a stored field.
    public init(_ keyPath: KeyPath<Record, Value>) {
        index = Record.schema.index(of: keyPath)
        path = []
        problem = index == nil ? PredicateProblem.notStored(keyPath, in: Record.self) : nil
    }

    /// A field of the one row that another field refers to.
    init<Related: Model, Inner>(_ relation: FieldExpression<Record, Related?>, _ keyPath: KeyPath<Related, Inner>) {
        let inner = Related.schema.index(of: keyPath)
        index = relation.index == nil ? nil : inner
        path = relation.path + (relation.index.map { [$0] } ?? [])
        problem = relation.problem ?? (inner == nil ? PredicateProblem.notStored(keyPath, in: Related.self) : nil)
    }

    /// A node about the field, or the problem that it is not stored.
    func node(_ make: (Int) -> PredicateNode) -> Condition<Record> {
        guard let index else { return Condition(problem.map { .invalid($0) } ?? .constant(false)) }
        return Condition(path.reversed().reduce(make(index)) { .through(field: $1, $0) })
    }
}

extension FieldExpression: ConditionConvertible where Value == Bool {
    /// Whether the field is true.
    public var condition: Condition<Record> { node { .compare(field: $0, .equal, .bool(true)) } }
}

extension PredicateProblem {
    /// The problem that a key path leads to something that is not stored.
    fileprivate static func notStored<Record: Model>(_ keyPath: AnyKeyPath, in model: Record.Type) -> PredicateProblem {
        PredicateProblem("\(keyPath) is not a stored field of '\(Record.schema.description.name)'")
    }
}
