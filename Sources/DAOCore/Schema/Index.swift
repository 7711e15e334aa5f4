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
///         Index(orderedBy: .ascending(\.dialog), .descending(\.date)),
///         Index(\.dialog, \.number, isUnique: true),
///     ]
/// )
/// ```
///
/// An index has at most ``IndexDescription/maximumFieldCount`` fields. A field can be a to-one relationship,
/// which is indexed by the key of the related row. An index on one ascending field is the option
/// ``FieldOption/indexed`` of the field.
///
/// Inside of a model `Index` is the model's own, without a type in angle brackets.
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
        /// The type of the elements, for an index on them.
        var elements: FieldType?

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

    /// The rows that an index has.
    private enum Rows: Sendable {
        /// All rows.
        case all
        /// The rows that meet a condition, which needs the schema.
        case meeting(@Sendable () -> Condition<Record>)
        /// The rows that meet a condition of a schema that is made at run time.
        case meetingCanonical(IndexCondition)
    }

    private let terms: [Term]
    private let isUnique: Bool
    private let rows: Rows

    // MARK: All rows

    /// Creates an index on ascending fields.
    ///
    /// - Parameters:
    ///   - first: The key path of the first field.
    ///   - second: The key path of the second field.
    ///   - others: The key paths of further fields, in order.
    ///   - isUnique: Whether two rows cannot have the same values in all fields (contract W6). A row with nil in
    ///     one of them is exempt.
    public init<First: FieldValue, Second: FieldValue, each Other: FieldValue>(
        _ first: any KeyPath<Record, First> & Sendable, _ second: any KeyPath<Record, Second> & Sendable,
        _ others: repeat any KeyPath<Record, each Other> & Sendable, isUnique: Bool = false
    ) {
        var terms: [Term] = [.ascending(first), .ascending(second)]
        repeat terms.append(.ascending(each others))
        self.terms = terms
        self.isUnique = isUnique
        rows = .all
    }

    /// Not available: an index on one field is an option of the field.
    @available(*, unavailable, message: "an index on one field is an option of the field: .indexed, or .unique")
    public init<Value: FieldValue>(_ field: any KeyPath<Record, Value> & Sendable, isUnique: Bool = false) {
        self.init(orderedBy: .ascending(field), isUnique: isUnique)
    }

    /// Creates an index on fields with directions.
    ///
    /// - Parameters:
    ///   - terms: The fields, in order.
    ///   - isUnique: Whether two rows cannot have the same values in all fields (contract W6). A row with nil in
    ///     one of them is exempt.
    public init(orderedBy terms: Term..., isUnique: Bool = false) {
        self.terms = terms
        self.isUnique = isUnique
        rows = .all
    }

    // MARK: Elements

    /// Creates an index on the elements of an array: it has each row once for each different element.
    ///
    /// It serves `contains` with one value, so that its cost follows the number of rows with that element:
    ///
    /// ```swift
    /// static let schema = Schema(
    ///     "article", Self.init,
    ///     Field("id", \.id, .primaryKey),
    ///     Field("tags", \.tags),
    ///     indexes: [Index(elements: \.tags)]
    /// )
    /// let travel = try articles.read { $0.tags.contains("travel") }
    /// ```
    ///
    /// - Parameter keyPath: The key path of an array of scalars, which can be nil.
    public init<List: ListValue>(elements keyPath: any KeyPath<Record, List> & Sendable) where List.ListedValue: FieldValue {
        let elements = List.ListedValue.fieldType
        terms = [Term(place: .keyPath(keyPath), isAscending: true, elements: elements)]
        isUnique = false
        rows = .all
    }

    // MARK: Partial indexes

    /// Creates a partial index on ascending fields: it has only the rows that meet a condition.
    ///
    /// It serves queries whose conditions imply its own. It is smaller than an index of all rows, and a write of a row
    /// that is not in it costs nothing.
    ///
    /// ```swift
    /// Index(\.email, isUnique: true, where: { !$0.isDeleted })
    /// ```
    ///
    /// - Parameters:
    ///   - fields: The key paths of the fields, in order; one is enough.
    ///   - isUnique: Whether two rows that meet the condition cannot have the same values in all fields (contract W6). A
    ///     row with nil in one of them is exempt.
    ///   - condition: The condition: comparisons of fields with values, nil, `in`, and, or and not. Any other is
    ///     `.invalidSchema` when the storage is asked for. The closure runs then, once.
    public init<each Value: FieldValue>(
        _ fields: repeat any KeyPath<Record, each Value> & Sendable, isUnique: Bool = false,
        where condition: @escaping @Sendable (FieldProxy<Record>) -> some ConditionConvertible<Record> & SendableMetatype
    ) {
        var terms: [Term] = []
        repeat terms.append(.ascending(each fields))
        self.terms = terms
        self.isUnique = isUnique
        rows = .meeting { Condition(condition) }
    }

    /// Creates a partial index on fields with directions: it has only the rows that meet a condition.
    ///
    /// ```swift
    /// Index(orderedBy: .ascending(\.sender), .descending(\.date), where: { !$0.isRead })
    /// ```
    ///
    /// - Parameters:
    ///   - terms: The fields, in order; one is enough.
    ///   - isUnique: Whether two rows that meet the condition cannot have the same values in all fields (contract W6). A
    ///     row with nil in one of them is exempt.
    ///   - condition: The condition: comparisons of fields with values, nil, `in`, and, or and not. Any other is
    ///     `.invalidSchema` when the storage is asked for. The closure runs then, once.
    public init(
        orderedBy terms: Term..., isUnique: Bool = false,
        where condition: @escaping @Sendable (FieldProxy<Record>) -> some ConditionConvertible<Record> & SendableMetatype
    ) {
        self.terms = terms
        self.isUnique = isUnique
        rows = .meeting { Condition(condition) }
    }

    /// Creates the index of a schema that is made at run time.
    package init(_ description: IndexDescription) {
        terms = description.fields.map { Term(place: .name($0.name), isAscending: $0.isAscending, elements: $0.elements) }
        isUnique = description.isUnique
        rows = description.condition.map { .meetingCanonical($0) } ?? .all
    }

    /// Whether the index has a condition that needs the schema.
    var isPartial: Bool { if case .meeting = rows { true } else { false } }

    /// The fields of the index; nil when a key path does not lead to a stored field.
    func fields(_ fields: [FieldFacts]) -> [IndexedField]? {
        indexedFields { keyPath in fields.first { $0.keyPath == keyPath }?.description.name }
    }

    /// The description of the index; nil when a key path does not lead to a stored field, or when a condition needs the
    /// schema.
    func description(_ fields: [FieldFacts]) -> IndexDescription? {
        guard !isPartial, let indexed = self.fields(fields) else { return nil }
        var condition: IndexCondition?
        if case .meetingCanonical(let canonical) = rows { condition = canonical }
        return IndexDescription(indexed, isUnique: isUnique, condition: condition)
    }

    /// Returns the descriptions of partial indexes, or the first contradiction in them. The schema must exist.
    static func descriptions(
        of indexes: [Index], in entity: EntityDescription
    ) -> Result<[IndexDescription], StorageError> {
        var (entity, descriptions) = (entity, [IndexDescription]())
        for index in indexes {
            guard case .meeting(let makeCondition) = index.rows,
                let fields = index.indexedFields({ keyPath in
                    Record.schema.index(of: keyPath).map { entity.fields[$0].name }
                })
            else { continue }
            var description = IndexDescription(fields, isUnique: index.isUnique)
            func problem(_ message: String, field: String? = nil) -> StorageError {
                StorageError(
                    .invalidSchema, "the index on '\(description)' of '\(entity.name)' \(message)", entity: entity.name,
                    field: field ?? description.fieldNames)
            }
            do {
                let filter = try makeCondition().node.filter(for: entity)
                if filter == .all { return .failure(problem("has a condition that every row meets; remove it")) }
                if filter == .none { return .failure(problem("has a condition that no row meets; remove the index")) }
                // The condition that is stored is walked recursively, and has no more levels than comparisons.
                if filter.leafCount > IndexCondition.maximumSize {
                    return .failure(problem(IndexCondition.tooLarge(filter.leafCount)))
                }
                description.condition = IndexCondition(filter, of: entity)
                if let fault = description.condition?.tooDeep { return .failure(problem(fault)) }
            } catch let error as StorageError {
                return .failure(problem("has a condition that is not valid: \(error.message)", field: error.field))
            } catch {
                return .failure(problem("has a condition that is not valid: \(error)"))
            }
            if description.condition == nil {
                let fields = (try? makeCondition().node.filter(for: entity).fields) ?? []
                if let field = fields.sorted().first(where: { entity.fields[$0].type.kind.isRelationship }) {
                    let name = entity.fields[field].name
                    return .failure(
                        problem("has a condition on the relationship '\(name)'; use fields with values in it", field: name))
                }
                return .failure(
                    problem(
                        "has a condition that an index cannot have; use comparisons of fields with values, nil, in, and, or, not"
                    ))
            }
            descriptions.append(description)
        }
        entity.indexes += descriptions
        if let fault = SchemaCheck.indexFault(in: entity) { return .failure(fault) }
        return .success(descriptions)
    }

    private func indexedFields(_ name: (any AnyKeyPath & Sendable) -> String?) -> [IndexedField]? {
        var indexed: [IndexedField] = []
        for term in terms {
            let found: String? =
                switch term.place {
                case .name(let name): name
                case .keyPath(let keyPath): name(keyPath)
                }
            guard let found else { return nil }
            indexed.append(IndexedField(found, isAscending: term.isAscending, elements: term.elements))
        }
        return indexed
    }
}
