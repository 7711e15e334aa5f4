import DAOCore

/// An index on the elements of an array: a table with a row for each different element of each row, which triggers of the
/// engine keep, so that it also follows what other programs write.
///
/// It can have an element too many, so the rows that it leads to are still checked.
///
/// ```sql
/// SELECT ".key" FROM "article.tags.elements" WHERE ".element" = 'travel'
/// ```
public struct ElementTable: Sendable {
    /// The column of the elements, quoted. The names of fields have no dot.
    public static let element = "\".element\""
    /// The column of the keys of rows, quoted.
    public static let key = "\".key\""

    /// The name of the table, unquoted. The triggers have this name, a dot, and ``triggers``.
    public let name: String
    /// What follows the name of the table in those of its triggers.
    public static let triggers = ["insert", "update", "delete"]
    /// The quoted name of the table with the rows.
    public let rows: String
    /// The quoted name of the array's column.
    public let array: String
    /// The quoted name of the key's column.
    public let keyColumn: String
    /// The declared type of the key's column. With another one, an engine would not compare keys by an index.
    public let keyType: String
    /// The name of the index on the elements, unquoted.
    public var indexName: String { "\(name).index" }
    /// The kind of the elements.
    public let kind: ValueKind

    /// The position of the array's field.
    let field: Int
    /// The index.
    let index: IndexDescription
    /// The statements that make the table and its triggers, and fill it.
    private(set) var create: [String] = []

    /// - Returns: Nil where the index is on other things, or the engine does not keep elements of this kind.
    init?(_ index: IndexDescription, of table: SQLTable) {
        guard let kind = index.elements?.kind, let field = table.entity.index(of: index.fieldNames) else { return nil }
        self.index = index
        self.kind = kind
        self.field = field
        name = "\(table.entity.name).\(index.fieldNames).elements"
        rows = table.name
        array = table.columns[field]
        keyColumn = table.columns[table.entity.keyIndex]
        keyType = table.dialect.columnType(of: table.entity.fields[table.entity.keyIndex])
        guard let create = table.dialect.create(self) else { return nil }
        self.create = create
    }

    /// The element that a condition asks for, in the form of the table; nil for other conditions, and for an element of which
    /// the table may have another form.
    func element(in condition: Filter) -> Value? {
        guard case .embedded(let filter, isNegated: false) = condition, filter.field == field,
            case .anyElement(let type) = filter.part, type.kind == kind,
            case .compare(field: 0, .equal, let value) = filter.condition
        else { return nil }
        switch value {
        case .integer: return value
        case .bool(let flag): return .integer(flag ? 1 : 0)
        // Functions of engines end texts there.
        case .string(let text): return text.utf8.contains(0) ? nil : value
        case .uuid(let uuid): return .string(uuid.uuidString)
        default: return nil
        }
    }
}

/// The look-up of rows by an element of an array.
struct ElementLookUp: Sendable {
    /// The table with the elements.
    let table: ElementTable
    /// The element.
    let value: Value
    /// The number of the condition in the conjunction.
    let number: Int

    /// The look-ups for the conjuncts of a filter.
    static func all(in conjuncts: [Filter], _ table: SQLTable) -> [ElementLookUp] {
        table.elementTables.flatMap { elements in
            conjuncts.enumerated().compactMap { number, conjunct in
                elements.element(in: conjunct).map { ElementLookUp(table: elements, value: $0, number: number) }
            }
        }
    }
}

extension QueryPath {
    /// Creates the path through a table of elements, which is in the order of the keys.
    init(_ elements: ElementLookUp, _ query: ResolvedQuery, keyIndex: Int) {
        self.elements = elements
        hint = ""
        restricting = FieldSet([elements.number])
        let isInKeyOrder = query.order.first?.field == keyIndex
        ordered = isInKeyOrder ? [keyIndex] : []
        isOrdered = isInKeyOrder || query.order.isEmpty
        sortsGroups = !isInKeyOrder && !query.order.isEmpty
        (isSingle, isOpen, condition) = (false, false, .all)
    }
}

extension StoredSchema {
    /// Makes a table of elements.
    func create(_ elements: ElementTable) throws {
        for statement in elements.create { try session.connection.execute(statement) }
    }

    /// Drops a table of elements. Its triggers are dropped with the table of the rows, or before it changes.
    func drop(_ elements: ElementTable) throws {
        for trigger in ElementTable.triggers {
            try session.connection.execute("DROP TRIGGER IF EXISTS \(dialect.quoted("\(elements.name).\(trigger)"))")
        }
        try session.connection.execute("DROP TABLE IF EXISTS \(dialect.quoted(elements.name))")
    }

    /// Drops a table of elements that is left from rows that another program has dropped, or is to be adopted with them.
    ///
    /// - Throws: `.schemaMismatch` when the table of this name is another one.
    func removeRemains(of elements: ElementTable) throws {
        guard let found = try session.connection.storedTable(elements.name) else { return }
        guard found.columns.map({ dialect.quoted($0.name) }) == [ElementTable.key, ElementTable.element] else {
            throw StorageError(
                .schemaMismatch,
                "the table '\(elements.name)' of another program has the name of the index on '\(elements.index)'; rename it",
                entity: elements.name, field: elements.index.fieldNames, path: path)
        }
        try drop(elements)
    }

    /// Checks that the tables of elements are there, and the triggers that keep them.
    ///
    /// - Throws: `.schemaMismatch` otherwise.
    func checkElements(of table: SQLTable) throws {
        if table.elementTables.isEmpty { return }
        let taken = try session.connection.takenNames()
        for elements in table.elementTables {
            let names = [elements.name] + ElementTable.triggers.map { "\(elements.name).\($0)" }
            guard let missing = names.first(where: { !taken.contains($0.asciiLowercased) }) else { continue }
            throw StorageError(
                .schemaMismatch,
                "'\(missing)' of the index on '\(elements.index)' of '\(table.entity.name)' is gone; another program has dropped it. "
                    + "Remove what is left of the index, and make it anew: DROP TABLE IF EXISTS \(dialect.quoted(elements.name)); "
                    + elements.create.joined(separator: "; "),
                entity: table.entity.name, field: elements.index.fieldNames, path: path)
        }
    }
}
