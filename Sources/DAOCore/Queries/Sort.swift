/// A term of a sort: a field and a direction.
///
/// In ascending order, nil comes first, and NaN comes after all other numbers. The descending order is the
/// exact reverse. Rows that are equal in all terms are in ascending order of their keys (contract Q1, Q2).
///
/// ```swift
/// try messages.read(orderedBy: .descending(\.date), .ascending(\.sender))
/// ```
public struct Sort<Record: Model>: Sendable, Hashable {
    /// The term, without the type of its rows.
    private(set) var term: UncheckedSortTerm

    /// The position of the field; nil when it was not found.
    var index: Int? { term.index }
    /// The position of the to-one relationship whose row has the field; nil for a field of the row itself.
    var relation: Int? { term.relation }
    var isAscending: Bool { term.isAscending }

    /// Sorts from the smallest value to the greatest, with nil first.
    ///
    /// - Parameter keyPath: A key path to a stored field.
    public static func ascending<Value: OrderedFieldValue>(_ keyPath: KeyPath<Record, Value>) -> Sort {
        Sort(keyPath, isAscending: true)
    }

    /// Sorts from the greatest value to the smallest, with nil last.
    ///
    /// - Parameter keyPath: A key path to a stored field.
    public static func descending<Value: OrderedFieldValue>(_ keyPath: KeyPath<Record, Value>) -> Sort {
        Sort(keyPath, isAscending: false)
    }

    /// Sorts by a field of the related row, from the smallest value to the greatest. Rows without a related
    /// row come first, together with rows whose field is nil.
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
    public static func ascending<ToOne: ToOneValue, Value: OrderedFieldValue>(
        _ relation: KeyPath<Record, ToOne>, _ keyPath: KeyPath<ToOne.RelatedRow, Value>
    ) -> Sort { Sort(relation, keyPath, isAscending: true) }

    /// Sorts by a field of the related row, from the greatest value to the smallest. The order is the exact
    /// reverse of the ascending order.
    ///
    /// - Parameters:
    ///   - relation: A key path to a to-one relationship.
    ///   - keyPath: A key path to a stored field of the related model.
    public static func descending<ToOne: ToOneValue, Value: OrderedFieldValue>(
        _ relation: KeyPath<Record, ToOne>, _ keyPath: KeyPath<ToOne.RelatedRow, Value>
    ) -> Sort { Sort(relation, keyPath, isAscending: false) }

    /// Sorts by the name of a field, for sorts that are chosen at run time. The query throws
    /// `.invalidPredicate` when the name is unknown.
    ///
    /// - Parameters:
    ///   - field: The stored name of the field; for a field of the related row, a path such as `author.name`.
    ///   - ascending: Whether the order is ascending.
    public static func by(_ field: String, ascending: Bool = true) -> Sort { Sort(named: field, isAscending: ascending) }

    private init<Value: FieldValue>(_ keyPath: KeyPath<Record, Value>, isAscending: Bool) {
        let index = Record.schema.index(of: keyPath)
        term = UncheckedSortTerm(
            index: index, isAscending: isAscending,
            problem: index == nil
                ? PredicateProblem("\(keyPath) is not a stored field of '\(Record.schema.description.name)'") : nil)
    }

    private init<ToOne: ToOneValue, Value: FieldValue>(
        _ relation: KeyPath<Record, ToOne>, _ keyPath: KeyPath<ToOne.RelatedRow, Value>, isAscending: Bool
    ) {
        let related = ToOne.RelatedRow.schema
        term = UncheckedSortTerm(
            index: related.index(of: keyPath), relation: Record.schema.index(of: relation), isAscending: isAscending)
        if term.relation == nil {
            term.problem = PredicateProblem("\(relation) is not a stored field of '\(Record.schema.description.name)'")
        } else if term.index == nil {
            term.problem = PredicateProblem("\(keyPath) is not a stored field of '\(related.description.name)'")
        }
    }

    private init(named name: String, isAscending: Bool) {
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
        term = UncheckedSortTerm(index: entity.index(of: rest), relation: relation?.field, isAscending: isAscending)
        if let index = term.index {
            let type = entity.fields[index].type
            let isReference = relation == nil && Record.schema.relations.contains { $0.field == index && $0.isReference }
            if !type.kind.isOrdered, !isReference {
                term.problem = PredicateProblem("'\(name)' is \(type), which has no order", field: name)
            }
        } else {
            term.problem = .unknownField(rest, in: entity)
        }
    }
}

/// A ``Sort`` without the type of its rows.
struct UncheckedSortTerm: Sendable, Hashable {
    /// The position of the field; nil when it was not found.
    var index: Int?
    /// The position of the to-one relationship whose row has the field; nil for a field of the row itself.
    var relation: Int?
    var isAscending: Bool
    /// Why the term cannot be used; nil when it can.
    var problem: PredicateProblem?
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
