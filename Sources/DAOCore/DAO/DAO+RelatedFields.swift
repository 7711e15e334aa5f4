// Reads of some fields of the rows and of their related rows.

extension DAO {
    /// Returns some fields of the values that meet a condition, and of the rows that they lead to, in an order.
    ///
    /// ```swift
    /// for (title, list, color) in try reminders.read(fields: { ($0.title, $0.list.title, $0.list.color) }, limit: 20) {
    ///     print(title, list ?? "", color ?? "")
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - fields: A closure that names fields of the model, or of the row of a to-one relationship, which are nil where there is
    ///     no such row.
    ///   - order: The sort terms, of any fields. Without terms, the order is that of the primary key.
    ///   - limit: The maximum number of rows; nil for all.
    ///   - offset: The number of rows to skip.
    ///   - condition: A closure that makes the condition from the fields of the model.
    /// - Returns: A tuple of the fields for each row.
    /// - Throws: `.invalidQuery` for what is no field of the model or of the one row that it leads to, and for a relationship other
    ///   than a Reference of the model.
    /// - Complexity: The fields of the rows are read once, and then the related rows, once for each relationship.
    public func read<each Value: FieldValue>(
        fields: (FieldProxy<Record>) -> (repeat FieldExpression<Record, each Value>), orderedBy order: Sort<Record>...,
        limit: Int? = nil, offset: Int = 0, where condition: (FieldProxy<Record>) -> some ConditionConvertible<Record>
    ) throws -> [(repeat each Value)] {
        try readFields(
            Query(where: .once(condition), orderedBy: order, limit: limit, offset: offset), repeat each fields(FieldProxy()))
    }

    /// Returns some fields of the values that meet a prepared condition, and of the rows that they lead to, in an order.
    ///
    /// - Parameters:
    ///   - fields: A closure that names fields of the model, or of the row of a to-one relationship, which are nil where there is
    ///     no such row.
    ///   - order: The sort terms, of any fields. Without terms, the order is that of the primary key.
    ///   - limit: The maximum number of rows; nil for all.
    ///   - offset: The number of rows to skip.
    ///   - condition: The condition.
    /// - Returns: A tuple of the fields for each row.
    /// - Throws: As with a closure.
    public func read<each Value: FieldValue>(
        fields: (FieldProxy<Record>) -> (repeat FieldExpression<Record, each Value>), orderedBy order: Sort<Record>...,
        limit: Int? = nil, offset: Int = 0, where condition: Condition<Record>
    ) throws -> [(repeat each Value)] {
        try readFields(
            Query(where: condition, orderedBy: order, limit: limit, offset: offset), repeat each fields(FieldProxy()))
    }

    // Without a condition, a closure that is no list of fields must not be taken for one of none, nor a condition for one field.

    /// Returns two fields of all values, and of the rows that they lead to, in an order.
    ///
    /// - Parameters:
    ///   - fields: As with a condition, with which there can be any number of fields.
    ///   - order: The sort terms, of any fields. Without terms, the order is that of the primary key.
    ///   - limit: The maximum number of rows; nil for all.
    ///   - offset: The number of rows to skip.
    /// - Throws: As with a condition.
    public func read<First: FieldValue, Second: FieldValue>(
        fields: (FieldProxy<Record>) -> (
            FieldExpression<Record, First>, FieldExpression<Record, Second>
        ), orderedBy order: Sort<Record>..., limit: Int? = nil, offset: Int = 0
    ) throws -> [(First, Second)] {
        let (first, second) = fields(FieldProxy())
        return try readFields(Query(orderedBy: order, limit: limit, offset: offset), first, second)
    }

    /// Returns three fields of all values, and of the rows that they lead to, in an order.
    public func read<First: FieldValue, Second: FieldValue, Third: FieldValue>(
        fields: (FieldProxy<Record>) -> (
            FieldExpression<Record, First>, FieldExpression<Record, Second>, FieldExpression<Record, Third>
        ), orderedBy order: Sort<Record>..., limit: Int? = nil, offset: Int = 0
    ) throws -> [(First, Second, Third)] {
        let (first, second, third) = fields(FieldProxy())
        return try readFields(Query(orderedBy: order, limit: limit, offset: offset), first, second, third)
    }

    /// Returns four fields of all values, and of the rows that they lead to, in an order.
    public func read<First: FieldValue, Second: FieldValue, Third: FieldValue, Fourth: FieldValue>(
        fields: (FieldProxy<Record>) -> (
            FieldExpression<Record, First>, FieldExpression<Record, Second>, FieldExpression<Record, Third>,
            FieldExpression<Record, Fourth>
        ), orderedBy order: Sort<Record>..., limit: Int? = nil, offset: Int = 0
    ) throws -> [(First, Second, Third, Fourth)] {
        let (first, second, third, fourth) = fields(FieldProxy())
        return try readFields(Query(orderedBy: order, limit: limit, offset: offset), first, second, third, fourth)
    }

    func readFields<each Value: FieldValue>(
        _ query: Query<Record>, _ fields: repeat FieldExpression<Record, each Value>
    ) throws -> [(repeat each Value)] {
        var places: [RelatedField] = []
        for field in repeat each fields { places.append(try RelatedField(field)) }
        var rows: [(repeat each Value)] = []
        guard places.contains(where: { $0.relation != nil }) else {
            try storage.readFields(places.map(\.field), query) { row in
                var next = FieldCounter()
                rows.append((repeat try (each Value).read(from: row, at: places[next.next()].field)))
            }
            return rows
        }
        guard let storage = storage as? any IncludingStorage<Record> else {
            throw StorageError.readsNoRelatedRows(Record.schema.description.name)
        }
        try storage.readFields(places, query) { readers in
            var (reader, place) = (FieldCounter(), FieldCounter())
            rows.append((repeat try (each Value).read(from: readers[reader.next()], at: places[place.next()].field)))
        }
        return rows
    }
}

/// A field of a row, or of the row of a to-one relationship.
struct RelatedField {
    /// The position of the relationship; nil for a field of the row itself.
    let relation: Int?
    /// The position of the field.
    let field: Int

    /// - Throws: `.invalidQuery` when it is something else.
    fileprivate init<Record: Model, Value: FieldValue>(_ expression: FieldExpression<Record, Value>) throws {
        let schema = Record.schema
        func fault(_ reason: String, _ field: String? = nil) -> StorageError {
            StorageError(.invalidQuery, reason, entity: schema.description.name, field: field)
        }
        if let problem = expression.problem { throw problem.error(entity: schema.description.name) }
        guard let index = expression.index, expression.path.count <= 1, expression.counted == nil, expression.parts.isEmpty else {
            throw fault(
                "only fields of the row and of the one row that it leads to are read so; read whole values, or count them")
        }
        let relation = try expression.path.first.map { try schema.checkedRelation(at: $0) }
        let entity = relation?.targetDescription ?? schema.description
        guard index < entity.fields.count else {
            throw fault("the rows that refer to a row are no field of it; read them with read(_:of:)")
        }
        let isReference = relation == nil && schema.relation(at: index)?.isReference == true
        if entity.fields[index].type.kind.isRelationship, !isReference {
            let name = entity.fields[index].name
            throw fault("'\(name)' of '\(entity.name)' is a relationship; read whole values", name)
        }
        (self.relation, field) = (expression.path.first, index)
    }
}

extension GraphStorage {
    func readFields(_ fields: [RelatedField], _ query: Query<Record>, _ body: ([RowReader]) throws -> Void) throws {
        let entity = Record.schema.description
        // A row that is read without related rows has the key of a Reference, and not that of an optional model.
        var isInRows: [Int: Bool] = [:]
        for place in Set(fields.compactMap(\.relation)) {
            let relation = try relation(at: place)
            isInRows[place] = try relation.isReference && relation.links(in: graph).isInRows
        }
        let columns = Set(
            [entity.keyIndex]
                + fields.compactMap { field in
                    guard let relation = field.relation else { return field.field }
                    return isInRows[relation] == true ? relation : nil
                }
        )
        .sorted()
        try database.reads {
            var values: [Int: [Value]] = [:]
            for column in columns { values[column] = [] }
            try readFields(columns, query) { row in
                for column in columns { values[column]?.append(try row.readValue(at: column)) }
            }
            let keys = values[entity.keyIndex, default: []].compactMap { Key($0, of: entity.keyKind) }
            var related: [Int: [Int: [Value]]] = [:]
            for place in isInRows.keys {
                let wanted = Set(fields.filter { $0.relation == place }.map(\.field)).sorted()
                let found = try relation(at: place).values(of: wanted, keys: keys, children: values[place], in: graph)
                related[place] = Dictionary(uniqueKeysWithValues: zip(wanted, found))
            }
            let sources = try fields.map { field in
                let target = try field.relation.map { try relation(at: $0).targetDescription } ?? entity
                let column = field.relation.map { related[$0]?[field.field] ?? [] } ?? values[field.field] ?? []
                return (entity: target, blank: Array(repeating: Value.null, count: target.fields.count), column: column)
            }
            for number in keys.indices {
                try body(
                    zip(fields, sources).map { field, source in
                        var values = source.blank
                        values[field.field] = source.column[number]
                        return ValueRowReader(entity: source.entity, values: values)
                    })
            }
        }
    }
}
