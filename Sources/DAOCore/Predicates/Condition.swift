/// A condition on the rows of a model. It is a value that is made from typed expressions or from text.
///
/// ```swift
/// let typed = Condition<MessageModel> { !$0.isRead && $0.date > cutoff }
/// let text = Condition<MessageModel>("isRead == false AND date > %@", cutoff)
/// ```
///
/// Its creation never fails. A condition that is not valid, or nests more than 640 levels deep (a condition on
/// related rows counts for 24), throws `.invalidPredicate` when it is used. Other libraries call it a
/// predicate; Foundation has a type with that name.
///
/// A condition that is kept and used again is checked and resolved by its first query only.
public struct Condition<Record: Model>: Sendable, Hashable {
    let tree: ConditionTree
    /// What queries have resolved the condition to; nil for one that is not kept.
    let resolved: ResolvedCondition?

    /// The tree of the condition.
    public var node: PredicateNode { tree.node }

    // The closure comes first: the compiler reports a mistake in a closure as that of the first initializer.

    /// Creates a condition from a closure over the fields.
    ///
    /// - Parameter build: A closure that gets a proxy whose members are the fields of the model. It runs
    ///   before the initializer returns.
    public init(_ build: (FieldProxy<Record>) -> some ConditionConvertible<Record>) {
        tree = build(FieldProxy()).condition.tree
        resolved = ResolvedCondition()
    }

    /// Returns the condition of one call.
    package static func once(_ build: (FieldProxy<Record>) -> some ConditionConvertible<Record>) -> Condition {
        Condition(build(FieldProxy()).condition.tree)
    }

    /// Creates a condition from a tree.
    ///
    /// - Parameter node: The tree. Its fields are positions in the schema of `Record`.
    public init(_ node: PredicateNode) { self.init(ConditionTree(node)) }

    init(_ tree: ConditionTree) {
        self.tree = tree
        resolved = nil
    }

    /// Creates a condition from a value that can be nil: without a value, all rows meet it (contract P10).
    ///
    /// ```swift
    /// let found = try reminders.read {
    ///     !$0.isDone && Condition(unlessNil: search.text) { $0.title.contains($1, .caseInsensitive) }
    ///         && Condition(unlessNil: search.list) { $0.list == $1 }
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - value: The value, such as what was chosen in a form; nil where nothing was chosen.
    ///   - build: A closure that gets the fields of the model and the value. It does not run without a value.
    public init<Value: FieldValue>(
        unlessNil value: Value?, _ build: (FieldProxy<Record>, Value) -> some ConditionConvertible<Record>
    ) {
        // Where the closure compares with an optional, the compiler can take the value for an optional in an optional.
        guard let value, !Value.fieldType.isOptional || !value.fieldValue.isNull else {
            self = .all
            return
        }
        self = build(FieldProxy(), value).condition
    }

    /// Creates a condition from a value of any type that can be nil, such as a range: without a value, all rows meet it.
    ///
    /// - Parameters:
    ///   - value: The value; nil where nothing was chosen.
    ///   - build: A closure that gets the fields of the model and the value. It does not run without a value.
    public init<Value>(
        unlessNil value: Value?, _ build: (FieldProxy<Record>, Value) -> some ConditionConvertible<Record>
    ) {
        self = value.map { build(FieldProxy(), $0).condition } ?? .all
    }

    /// The condition that all rows meet.
    public static var all: Condition { Condition(.constant(true)) }

    /// Whether it says nothing.
    package var isAll: Bool { if case .constant(true) = node { true } else { false } }

    /// The condition that no row meets.
    public static var none: Condition { Condition(.constant(false)) }
}

/// The filters that a condition was resolved to, by the first query that needed them.
final class ResolvedCondition: Sendable {
    private let filters = Lock<(own: Filter?, related: Filter?)>((nil, nil))

    /// Returns the filter, without or with conditions on related rows, made by a closure the first time.
    func filter(withRelated: Bool, _ make: () throws -> Filter) rethrows -> Filter {
        if let filter = filters.withLock({ withRelated ? $0.related : $0.own }) { return filter }
        let filter = try make()
        filters.withLock { if withRelated { $0.related = filter } else { $0.own = filter } }
        return filter
    }
}

extension Condition {
    /// Whether both conditions have the same tree.
    public static func == (left: Condition, right: Condition) -> Bool { left.tree == right.tree }

    /// Hashes the tree.
    public func hash(into hasher: inout Hasher) { hasher.combine(tree) }
}

/// A value that can be used as a condition: a ``Condition``, or a field of type `Bool`.
public protocol ConditionConvertible<Record> {
    /// The model of the rows.
    associatedtype Record: Model
    /// The condition.
    var condition: Condition<Record> { get }
}

extension Condition: ConditionConvertible {
    /// The condition itself.
    public var condition: Condition { self }
}

/// A proxy of a row in the closure of a condition. Its members are the fields of the model.
@dynamicMemberLookup
public struct FieldProxy<Record: Model>: Sendable {
    /// Creates the proxy.
    public init() {}

    /// An expression of a field.
    public subscript<Value: FieldValue>(dynamicMember keyPath: KeyPath<Record, Value>) -> FieldExpression<Record, Value> {
        FieldExpression(keyPath)
    }
}

/// A field in a condition or an aggregate.
@dynamicMemberLookup
public struct FieldExpression<Record: Model, Value: FieldValue>: Sendable {
    /// The position of the field in the schema; nil when the key path does not lead to a stored field.
    public let index: Int?
    /// The to-one relationships that lead to the model of the field. Each is a position in the schema of the
    /// model before it.
    let path: [Int]
    /// The condition on related rows whose number the value is; nil for another value.
    let counted: PredicateNode?
    /// The parts of the field's embedded value that lead to the value, each in the one before it.
    let parts: [EmbeddedPart]
    /// The members of the value that its field declares.
    let members: [EmbeddedMember]
    /// The fault of the key path; nil when it is valid.
    let problem: PredicateProblem?

    /// Creates an expression of the field with a key path.
    ///
    /// - Parameter keyPath: A key path to a stored field.
    public init(_ keyPath: KeyPath<Record, Value>) {
        index = Record.schema.index(of: keyPath)
        path = []
        counted = nil
        parts = []
        members = index.map { Record.schema.members[$0] } ?? []
        problem = index == nil ? PredicateProblem.notStored(keyPath, in: Record.self) : nil
    }

    /// Creates an expression of a field of the related row of a to-one relationship.
    init<ToOne: ToOneValue, Inner>(_ relation: FieldExpression<Record, ToOne>, _ keyPath: KeyPath<ToOne.RelatedRow, Inner>) {
        let inner = ToOne.RelatedRow.schema.index(of: keyPath)
        index = relation.index == nil ? nil : inner
        path = relation.path + (relation.index.map { [$0] } ?? [])
        counted = nil
        parts = []
        members = inner.map { ToOne.RelatedRow.schema.members[$0] } ?? []
        problem = relation.problem ?? (inner == nil ? PredicateProblem.notStored(keyPath, in: ToOne.RelatedRow.self) : nil)
    }

    /// Creates an expression of the rows that refer to the row, or to the row of a to-one relationship.
    init<Target, Source>(_ inverse: Inverse<Target, Source>, path: [Int] = [], problem: PredicateProblem? = nil)
    where Value == [Source] {
        index = inverse.relation?.field
        self.problem = problem ?? (index == nil ? inverse.problem : nil)
        self.path = path
        counted = nil
        parts = []
        members = []
    }

    /// Creates an expression of the number of related rows, or of elements, of a list.
    init<List: ListValue>(countOf list: FieldExpression<Record, List>) where Value == List.ListCount {
        index = list.index
        path = list.path
        counted = List.fieldType.kind == .toMany ? .constant(true) : nil
        parts = list.parts + (counted == nil ? [.count] : [])
        members = []
        problem = list.problem
    }

    /// Creates an expression of the number of related rows in a list that meet a condition.
    init<List: ToManyValue>(countOf list: FieldExpression<Record, List>, where condition: PredicateNode) where Value == Int {
        index = list.index
        path = list.path
        counted = condition
        parts = []
        members = []
        problem = list.problem
    }

    /// The field as one that can be nil, to compare it with one that can, such as a field of a related row:
    ///
    /// ```swift
    /// try articles.read { $0.writer.name == $0.title.optional }
    /// ```
    public var optional: FieldExpression<Record, Value?> { FieldExpression<Record, Value?>(of: self) }

    private init<Present>(of field: FieldExpression<Record, Present>) where Value == Present? {
        (index, path, counted, parts) = (field.index, field.path, field.counted, field.parts)
        (members, problem) = ([], field.problem)
    }

    /// Creates an expression of a part of an embedded value.
    init<Whole>(_ whole: FieldExpression<Record, Whole>, _ part: EmbeddedPart) {
        index = whole.index
        path = whole.path
        counted = nil
        parts = whole.parts + [part]
        members = []
        problem = whole.problem
    }

    /// Creates an expression of an element of an array, in a condition on the elements.
    init<List: ListValue>(elementOf list: List.Type) where Record == ListElement<List.ListedValue>, Value == List.ListedValue {
        index = 0
        path = []
        counted = nil
        parts = []
        members = []
        problem = nil
    }

    /// Creates an expression of a declared member of a `Codable` value.
    init<Whole: CompositeFieldValue, Inner>(
        _ whole: FieldExpression<Record, Whole>, member keyPath: KeyPath<Whole.Composite, Inner>
    ) {
        let member = whole.members.first { $0.keyPath as AnyKeyPath == keyPath }
        index = whole.index
        path = whole.path
        counted = nil
        parts = whole.parts + (member.map { [.member($0)] } ?? [])
        members = []
        problem = whole.problem ?? (member == nil ? PredicateProblem.notDeclared(keyPath) : nil)
    }

    /// Returns a comparison of the field with a value.
    func compared(_ comparison: Comparison, to value: Value) -> Condition<Record> {
        node { .comparison(of: $0, counted, comparison, value.fieldValue) }
    }

    /// Returns a condition on the field, or the problem that the field is not stored.
    func node(_ make: (Int) -> PredicateNode) -> Condition<Record> {
        guard let index, problem == nil else { return Condition(problem.map { .invalid($0) } ?? .constant(false)) }
        var node = make(parts.isEmpty ? index : 0)
        for (level, part) in parts.enumerated().reversed() { node = .embedded(field: level == 0 ? index : 0, part, node) }
        return Condition(path.reversed().reduce(node) { .through(field: $1, $0) })
    }
}

extension FieldExpression: ConditionConvertible where Value == Bool {
    /// The condition that the field is true.
    public var condition: Condition<Record> { node { .compare(field: $0, .equal, .bool(true)) } }
}

extension PredicateNode {
    /// Returns a comparison of a field, or of its number of related rows that meet a condition.
    static func comparison(
        of field: Int, _ counted: PredicateNode?, _ comparison: Comparison, _ value: Value
    ) -> PredicateNode {
        guard let counted, case .integer(let number) = value else { return .compare(field: field, comparison, value) }
        return .relatedCount(field: field, where: counted, comparison, Int(number))
    }
}

extension PredicateProblem {
    /// The problem that a key path leads to a member that its field does not declare.
    fileprivate static func notDeclared(_ keyPath: AnyKeyPath) -> PredicateProblem {
        PredicateProblem("\(keyPath) is not a declared member; add .member(…) with its coding key to the field")
    }

    /// The problem that a key path does not lead to a stored field.
    static func notStored<Record: Model>(_ keyPath: AnyKeyPath, in model: Record.Type) -> PredicateProblem {
        PredicateProblem("\(keyPath) is not a stored field of '\(Record.schema.description.name)'")
    }
}
