/// One term of a sort: a field and a direction.
///
/// Ascending puts nil first and NaN last of the numbers; descending is the exact reverse. Rows that are equal under every term
/// come in ascending order of their keys (contract Q1, Q2).
///
/// ```swift
/// try messages.read(orderedBy: .descending(\.date), .ascending(\.sender))
/// ```
public struct Sort<Record: Model>: Sendable, Hashable {
    /// The position of the field; nil when it could not be found.
    let index: Int?
    let isAscending: Bool
    let problem: PredicateProblem?

    /// From the least value to the greatest, nil first.
    ///
    /// - Parameter keyPath: A key path to a stored field.
    public static func ascending<Value: OrderedFieldValue>(_ keyPath: KeyPath<Record, Value>) -> Sort {
        Sort(keyPath, isAscending: true)
    }

    /// From the greatest value to the least, nil last.
    ///
    /// - Parameter keyPath: A key path to a stored field.
    public static func descending<Value: OrderedFieldValue>(_ keyPath: KeyPath<Record, Value>) -> Sort {
        Sort(keyPath, isAscending: false)
    }

    /// By the name of a field, for sorts chosen at run time. An unknown name throws `.invalidPredicate` when the sort is used.
    ///
    /// - Parameters:
    ///   - field: The stored name.
    ///   - ascending: The direction.
    public static func by(_ field: String, ascending: Bool = true) -> Sort { Sort(named: field, isAscending: ascending) }

    private init<Value: FieldValue>(_ keyPath: KeyPath<Record, Value>, isAscending: Bool) {
        index = Record.schema.index(of: keyPath)
        self.isAscending = isAscending
        problem =
            index == nil ? PredicateProblem("\(keyPath) is not a stored field of '\(Record.schema.description.name)'") : nil
    }

    private init(named name: String, isAscending: Bool) {
        let entity = Record.schema.description
        self.isAscending = isAscending
        let index = entity.index(of: name)
        self.index = index
        if let index {
            let type = entity.fields[index].type
            problem = type.kind.isOrdered ? nil : PredicateProblem("'\(name)' is \(type), which has no order", field: name)
        } else {
            problem = .unknownField(name, in: entity)
        }
    }
}

extension PredicateProblem {
    /// The problem that a name is not that of a field, with the names there are.
    ///
    /// - Parameters:
    ///   - name: The name.
    ///   - entity: The entity that does not have it.
    ///   - position: Where in the text, in characters.
    public static func unknownField(_ name: String, in entity: EntityDescription, at position: Int? = nil) -> PredicateProblem {
        PredicateProblem(
            "'\(entity.name)' has no field '\(name)'; it has: \(entity.fields.map(\.name).joined(separator: ", "))", field: name,
            position: position)
    }
}
