/// A term of a sort: a field and a direction, or a condition whose rows come first or last.
///
/// In ascending order, nil comes first, and NaN comes after all other numbers. The descending order is the
/// exact reverse. A term can say where nil comes, and that text is compared without case or diacritics. Rows that are equal in all
/// terms are in the order of the exact texts that were compared so, then in ascending order of their keys (contract Q1, Q2, Q13).
///
/// ```swift
/// try messages.read(orderedBy: .descending(\.date), .ascending(\.sender))
/// try reminders.read(orderedBy: .last { $0.isCompleted }, .ascending(\.dueDate, nils: .last), .ascending(\.title, .caseInsensitive))
/// ```
public struct Sort<Record: Model>: Sendable, Hashable {
    /// The term, without the type of its rows.
    private(set) var term: UncheckedSortTerm

    // MARK: Fields

    /// Sorts from the smallest value to the greatest.
    ///
    /// - Parameters:
    ///   - keyPath: A key path to a stored field.
    ///   - nils: Where the rows come in which the field is nil.
    public static func ascending<Value: OrderedFieldValue>(
        _ keyPath: KeyPath<Record, Value>, nils: NilPlacement = .first
    ) -> Sort { Sort(keyPath, isAscending: true, nils) }

    /// Sorts from the greatest value to the smallest.
    ///
    /// - Parameters:
    ///   - keyPath: A key path to a stored field.
    ///   - nils: Where the rows come in which the field is nil.
    public static func descending<Value: OrderedFieldValue>(
        _ keyPath: KeyPath<Record, Value>, nils: NilPlacement = .last
    ) -> Sort { Sort(keyPath, isAscending: false, nils) }

    /// Sorts by text without its case or diacritics, in ascending order of the folded text's bytes. The options have the
    /// meaning that they have in a condition, so "a" and "A" are equal in this term, and the next one decides.
    ///
    /// - Parameters:
    ///   - keyPath: A key path to a stored field.
    ///   - options: The differences that the order ignores.
    ///   - nils: Where the rows come in which the field is nil.
    /// - Complexity: No index has this order. Engines that cannot call the library sort in memory.
    public static func ascending<Value: TextFieldValue>(
        _ keyPath: KeyPath<Record, Value>, _ options: TextOptions, nils: NilPlacement = .first
    ) -> Sort { Sort(keyPath, options, isAscending: true, nils) }

    /// Sorts by text without its case or diacritics, in descending order of the folded text's bytes.
    ///
    /// - Parameters:
    ///   - keyPath: A key path to a stored field.
    ///   - options: The differences that the order ignores.
    ///   - nils: Where the rows come in which the field is nil.
    public static func descending<Value: TextFieldValue>(
        _ keyPath: KeyPath<Record, Value>, _ options: TextOptions, nils: NilPlacement = .last
    ) -> Sort { Sort(keyPath, options, isAscending: false, nils) }

    // MARK: Fields of related rows

    /// Sorts by a field of the related row, from the smallest value to the greatest. Rows without a related
    /// row come together with rows whose field is nil.
    ///
    /// ```swift
    /// try messages.read(orderedBy: .ascending(\.author, \.name))
    /// ```
    ///
    /// With a limit and an index on the field, related rows are read in the order of the index, and their rows until there
    /// are as many as the query asks for. Otherwise the rows are sorted in memory: O(n log n) in the number of rows that
    /// meet the condition.
    ///
    /// - Parameters:
    ///   - relation: A key path to a to-one relationship.
    ///   - keyPath: A key path to a stored field of the related model.
    ///   - nils: Where the rows come in which the field is nil, or that have no related row.
    public static func ascending<ToOne: ToOneValue, Value: OrderedFieldValue>(
        _ relation: KeyPath<Record, ToOne>, _ keyPath: KeyPath<ToOne.RelatedRow, Value>, nils: NilPlacement = .first
    ) -> Sort { Sort(relation, keyPath, isAscending: true, nils) }

    /// Sorts by a field of the related row, from the greatest value to the smallest. Without a choice for nil, the order is the exact
    /// reverse of the ascending order.
    ///
    /// - Parameters:
    ///   - relation: A key path to a to-one relationship.
    ///   - keyPath: A key path to a stored field of the related model.
    ///   - nils: Where the rows come in which the field is nil, or that have no related row.
    public static func descending<ToOne: ToOneValue, Value: OrderedFieldValue>(
        _ relation: KeyPath<Record, ToOne>, _ keyPath: KeyPath<ToOne.RelatedRow, Value>, nils: NilPlacement = .last
    ) -> Sort { Sort(relation, keyPath, isAscending: false, nils) }

    /// Sorts by text of the related row without its case or diacritics, in ascending order. The rows are sorted in memory.
    ///
    /// - Parameters:
    ///   - relation: A key path to a to-one relationship.
    ///   - keyPath: A key path to a stored field of the related model.
    ///   - options: The differences that the order ignores.
    ///   - nils: Where the rows come in which the field is nil, or that have no related row.
    public static func ascending<ToOne: ToOneValue, Value: TextFieldValue>(
        _ relation: KeyPath<Record, ToOne>, _ keyPath: KeyPath<ToOne.RelatedRow, Value>, _ options: TextOptions,
        nils: NilPlacement = .first
    ) -> Sort { Sort(relation, keyPath, options, isAscending: true, nils) }

    /// Sorts by text of the related row without its case or diacritics, in descending order. The rows are sorted in memory.
    ///
    /// - Parameters:
    ///   - relation: A key path to a to-one relationship.
    ///   - keyPath: A key path to a stored field of the related model.
    ///   - options: The differences that the order ignores.
    ///   - nils: Where the rows come in which the field is nil, or that have no related row.
    public static func descending<ToOne: ToOneValue, Value: TextFieldValue>(
        _ relation: KeyPath<Record, ToOne>, _ keyPath: KeyPath<ToOne.RelatedRow, Value>, _ options: TextOptions,
        nils: NilPlacement = .last
    ) -> Sort { Sort(relation, keyPath, options, isAscending: false, nils) }

    // MARK: Conditions

    /// Sorts the rows that meet a condition before all others.
    ///
    /// ```swift
    /// try notes.read(orderedBy: .first { $0.isPinned }, .descending(\.date), limit: 50)
    /// ```
    ///
    /// With a limit, the rows that meet the condition are read first, and the others only when there are too few of them.
    ///
    /// - Parameter condition: A closure that makes the condition from the fields of the model.
    public static func first(_ condition: (FieldProxy<Record>) -> some ConditionConvertible<Record>) -> Sort {
        first(.once(condition))
    }

    /// Sorts the rows that meet a condition after all others.
    ///
    /// - Parameter condition: A closure that makes the condition from the fields of the model.
    public static func last(_ condition: (FieldProxy<Record>) -> some ConditionConvertible<Record>) -> Sort {
        last(.once(condition))
    }

    /// Sorts the rows that meet a prepared condition before all others.
    public static func first(_ condition: Condition<Record>) -> Sort {
        Sort(UncheckedSortTerm(condition: condition.tree, isAscending: false))
    }

    /// Sorts the rows that meet a prepared condition after all others.
    public static func last(_ condition: Condition<Record>) -> Sort {
        Sort(UncheckedSortTerm(condition: condition.tree, isAscending: true))
    }

    // MARK: Names

    /// Sorts by the name of a field, for sorts that are chosen at run time. The query throws
    /// `.invalidPredicate` when the name is unknown.
    ///
    /// - Parameters:
    ///   - field: The stored name of the field; for a field of the related row, a path such as `author.name`.
    ///   - ascending: Whether the order is ascending.
    ///   - options: The differences that the order of a text ignores.
    ///   - nils: Where the rows come in which the field is nil; nil for first in ascending and last in descending order.
    public static func by(
        _ field: String, ascending: Bool = true, _ options: TextOptions = [], nils: NilPlacement? = nil
    ) -> Sort { Sort(named: field, options, isAscending: ascending, nils) }

    private init(_ term: UncheckedSortTerm) { self.term = term }

    /// Creates the same sort by another field.
    init(_ sort: Sort, by field: String) {
        self.init(
            named: field, sort.term.options, isAscending: sort.term.isAscending, sort.term.nilsFirst ? .first : .last)
    }

    private init<Value: FieldValue>(
        _ keyPath: KeyPath<Record, Value>, _ options: TextOptions = [], isAscending: Bool, _ nils: NilPlacement
    ) {
        let index = Record.schema.index(of: keyPath)
        term = UncheckedSortTerm(index: index, options: options, isAscending: isAscending, nilsFirst: nils == .first)
        if index == nil {
            term.problem = PredicateProblem("\(keyPath) is not a stored field of '\(Record.schema.description.name)'")
        }
    }

    private init<ToOne: ToOneValue, Value: FieldValue>(
        _ relation: KeyPath<Record, ToOne>, _ keyPath: KeyPath<ToOne.RelatedRow, Value>, _ options: TextOptions = [],
        isAscending: Bool, _ nils: NilPlacement
    ) {
        let related = ToOne.RelatedRow.schema
        term = UncheckedSortTerm(
            index: related.index(of: keyPath), relation: Record.schema.index(of: relation), options: options,
            isAscending: isAscending, nilsFirst: nils == .first)
        if term.relation == nil {
            term.problem = PredicateProblem("\(relation) is not a stored field of '\(Record.schema.description.name)'")
        } else if term.index == nil {
            term.problem = PredicateProblem("\(keyPath) is not a stored field of '\(related.description.name)'")
        }
    }

    private init(named name: String, _ options: TextOptions, isAscending: Bool, _ nils: NilPlacement?) {
        var entity = Record.schema.description
        var rest = name
        var relation: (any Relation<Record>)?
        if let dot = name.firstIndex(of: "."), let field = entity.index(of: String(name[..<dot])) {
            relation = Record.schema.relations.first { $0.field == field && $0.isToOne }
            if let relation {
                entity = relation.targetDescription
                rest = String(name[name.index(after: dot)...])
            }
        }
        term = UncheckedSortTerm(
            index: entity.index(of: rest), relation: relation?.field, options: options, isAscending: isAscending,
            nilsFirst: nils.map { $0 == .first })
        if let index = term.index {
            let type = entity.fields[index].type
            let isReference = relation == nil && Record.schema.relations.contains { $0.field == index && $0.isReference }
            if !type.kind.isOrdered, !isReference {
                term.problem = PredicateProblem("'\(name)' is \(type), which has no order", field: name)
            } else if !options.isEmpty, !type.kind.isText {
                term.problem = PredicateProblem(
                    "'\(name)' is \(type), and only text is sorted without case or diacritics", field: name)
            }
        } else {
            term.problem = .unknownField(rest, in: entity)
        }
    }
}

/// Where the rows come in which a sorted field is nil.
public enum NilPlacement: String, Sendable, Hashable, CaseIterable {
    /// Before all other rows.
    case first
    /// After all other rows.
    case last
}

/// A ``Sort`` without the type of its rows.
struct UncheckedSortTerm: Sendable, Hashable {
    /// The position of the field; nil when it was not found, and for a condition.
    var index: Int?
    /// The position of the to-one relationship whose row has the field; nil for a field of the row itself.
    var relation: Int?
    /// What the order of a text ignores.
    var options: TextOptions
    /// The condition whose rows come last in ascending order; nil for a field.
    var condition: ConditionTree?
    var isAscending: Bool
    /// Whether the rows without a value come first.
    var nilsFirst: Bool
    /// Why the term cannot be used; nil when it can.
    var problem: PredicateProblem?

    init(
        index: Int? = nil, relation: Int? = nil, options: TextOptions = [], condition: ConditionTree? = nil, isAscending: Bool,
        nilsFirst: Bool? = nil
    ) {
        (self.index, self.relation, self.options, self.condition) = (index, relation, options, condition)
        (self.isAscending, self.nilsFirst) = (isAscending, nilsFirst ?? isAscending)
    }
}

extension Query {
    /// The terms of the order. Code that is not compiled for a model looks up the type of each ``Sort``, which costs more than
    /// many a query.
    @inline(__always) var uncheckedOrder: [UncheckedSortTerm] {
        // A sort has the layout of its only property, and an array of structures has no other representation.
        unsafeBitCast(order, to: [UncheckedSortTerm].self)
    }
}

extension PredicateProblem {
    /// Returns the problem of an unknown field name. Its message lists the names of the fields.
    ///
    /// - Parameters:
    ///   - name: The name.
    ///   - entity: The entity without such a field.
    ///   - position: The offset in the text, in characters.
    public static func unknownField(_ name: String, in entity: EntityDescription, at position: Int? = nil) -> PredicateProblem {
        PredicateProblem(
            "'\(entity.name)' has no field '\(name)'; it has: \(entity.fields.map(\.name).joined(separator: ", "))", field: name,
            position: position)
    }
}
