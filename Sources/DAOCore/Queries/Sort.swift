/// A term of a sort: a field and a direction.
///
/// In ascending order, nil comes first, and NaN comes after all other numbers. The descending order is the
/// exact reverse. Rows that are equal in all terms are in ascending order of their keys (contract Q1, Q2).
///
/// ```swift
/// try messages.read(orderedBy: .descending(\.date), .ascending(\.sender))
/// ```
public struct Sort<Record: Model>: Sendable, Hashable {
    /// The position of the field; nil when it was not found.
    let index: Int?
    /// The position of the to-one relationship whose row has the field; nil for a field of the row itself.
    let relation: Int?
    let isAscending: Bool
    let problem: PredicateProblem?

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
        index = Record.schema.index(of: keyPath)
        relation = nil
        self.isAscending = isAscending
        problem =
            index == nil ? PredicateProblem("\(keyPath) is not a stored field of '\(Record.schema.description.name)'") : nil
    }

    private init<ToOne: ToOneValue, Value: FieldValue>(
        _ relation: KeyPath<Record, ToOne>, _ keyPath: KeyPath<ToOne.RelatedRow, Value>, isAscending: Bool
    ) {
        self.relation = Record.schema.index(of: relation)
        let related = ToOne.RelatedRow.schema
        index = related.index(of: keyPath)
        self.isAscending = isAscending
        if self.relation == nil {
            problem = PredicateProblem("\(relation) is not a stored field of '\(Record.schema.description.name)'")
        } else if index == nil {
            problem = PredicateProblem("\(keyPath) is not a stored field of '\(related.description.name)'")
        } else {
            problem = nil
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
        self.isAscending = isAscending
        self.relation = relation?.field
        let index = entity.index(of: rest)
        self.index = index
        if let index {
            let type = entity.fields[index].type
            problem = type.kind.isOrdered ? nil : PredicateProblem("'\(name)' is \(type), which has no order", field: name)
        } else {
            problem = .unknownField(rest, in: entity)
        }
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
