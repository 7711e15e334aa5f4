/// An index over several fields of a model, in ascending or descending order.
///
/// It serves a condition that gives values to its first fields, together with a range or a sort on the next
/// field. It is declared after the fields of the schema:
///
/// ```swift
/// static let schema = Schema(
///     "message", Self.init,
///     Field("id", \.id, .primaryKey),
///     Field("dialog", \.dialog),
///     Field("number", \.number),
///     Field("date", \.date),
///     indexes: [
///         Index(.ascending(\.dialog), .descending(\.date)),
///         Index(\.dialog, \.number, isUnique: true),
///     ]
/// )
/// ```
///
/// An index has at most ``IndexDescription/maximumFieldCount`` fields. A field can be a to-one relationship,
/// which is indexed by the key of the related row. An index on one ascending field is the option
/// ``FieldOption/indexed`` of the field.
public struct Index<Record: Model>: Sendable {
    /// A field of an index, with its direction.
    public struct Term: Sendable {
        /// The key path of the field, or its name when the schema is made at run time.
        enum Place: Sendable {
            case keyPath(any AnyKeyPath & Sendable)
            case name(String)
        }

        let place: Place
        let isAscending: Bool

        /// Orders a field from the smallest value to the greatest, with nil first.
        ///
        /// - Parameter keyPath: A key path to a stored field.
        public static func ascending<Value: FieldValue>(_ keyPath: any KeyPath<Record, Value> & Sendable) -> Term {
            Term(place: .keyPath(keyPath), isAscending: true)
        }

        /// Orders a field from the greatest value to the smallest, with nil last.
        ///
        /// - Parameter keyPath: A key path to a stored field.
        public static func descending<Value: FieldValue>(_ keyPath: any KeyPath<Record, Value> & Sendable) -> Term {
            Term(place: .keyPath(keyPath), isAscending: false)
        }
    }

    let terms: [Term]
    let isUnique: Bool

    /// Creates an index on ascending fields.
    ///
    /// - Parameters:
    ///   - fields: The key paths of the fields, in order.
    ///   - isUnique: Whether two rows cannot have the same values in all fields (contract W6). A row with nil in
    ///     one of them is exempt.
    public init<each Value: FieldValue>(_ fields: repeat any KeyPath<Record, each Value> & Sendable, isUnique: Bool = false) {
        var terms: [Term] = []
        repeat terms.append(.ascending(each fields))
        self.terms = terms
        self.isUnique = isUnique
    }

    /// Creates an index on fields with directions.
    ///
    /// - Parameters:
    ///   - terms: The fields, in order.
    ///   - isUnique: Whether two rows cannot have the same values in all fields (contract W6). A row with nil in
    ///     one of them is exempt.
    public init(_ terms: Term..., isUnique: Bool = false) {
        self.terms = terms
        self.isUnique = isUnique
    }

    /// Creates the index of a schema that is made at run time.
    package init(_ description: IndexDescription) {
        terms = description.fields.map { Term(place: .name($0.name), isAscending: $0.isAscending) }
        isUnique = description.isUnique
    }

    /// The description of the index; nil when a key path does not lead to a stored field.
    func description(_ fields: [ErasedField<Record>]) -> IndexDescription? {
        var indexed: [IndexedField] = []
        for term in terms {
            let name: String? =
                switch term.place {
                case .name(let name): name
                case .keyPath(let keyPath): fields.first { $0.keyPath == keyPath }?.description.name
                }
            guard let name else { return nil }
            indexed.append(IndexedField(name, isAscending: term.isAscending))
        }
        return IndexDescription(indexed, isUnique: isUnique)
    }
}
