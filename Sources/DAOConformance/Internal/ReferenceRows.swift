import DAOCore

/// Stored rows and the same rows in an array, to compare the answers of a database with those of the
/// reference evaluator.
struct ReferenceRows<Record: Numbered> {
    let dao: DAO<Record>
    let rows: [Record]

    /// Creates the reference of rows that are stored.
    init(_ dao: DAO<Record>, rows: [Record]) { (self.dao, self.rows) = (dao, rows) }

    /// Stores the rows in a newly opened database, in an order that is neither ascending nor descending.
    init(_ context: ConformanceContext, _ rows: [Record]) throws { try self.init(context.open(), rows) }

    /// Stores the rows in a database, in an order that is neither ascending nor descending.
    init(_ database: any Database, _ rows: [Record]) throws {
        dao = try database.dao(Record.self)
        self.rows = rows
        try dao.create(rows.indices.filter { $0 % 2 == 1 }.reversed().map { rows[$0] })
        try dao.create(rows.indices.filter { $0 % 2 == 0 }.map { rows[$0] })
    }

    /// Returns the ids of the rows of a query.
    func ids(_ query: Query<Record>) throws -> [Int] { try dao.read(query).map(\.id) }

    /// Returns the ids of the rows that match a condition.
    func ids(_ condition: Condition<Record>) throws -> [Int] { try ids(Query(where: condition)) }

    /// Returns the ids of all rows in an order.
    func ids(orderedBy order: Sort<Record>...) throws -> [Int] { try ids(Query(orderedBy: order)) }

    /// Fails unless exactly these rows match a condition, and exactly the remaining rows its negation.
    func check(
        _ condition: Condition<Record>, _ expected: [Int], _ what: @autoclosure () -> String = "the condition",
        file: StaticString = #fileID, line: UInt = #line
    ) throws {
        try expectEqual(try ids(condition), expected, what(), file: file, line: line)
        let members = Set(expected)
        let others = rows.map(\.id).filter { !members.contains($0) }.sorted()
        try expectEqual(try ids(!condition), others, "the negation of \(what())", file: file, line: line)
        try expectEqual(try dao.count(Query(where: condition)), expected.count, "the count of \(what())", file: file, line: line)
    }

    /// The same as ``check(_:_:_:file:line:)``, for a condition that is written as a closure.
    func check(
        _ expected: [Int], _ what: @autoclosure () -> String = "the condition", file: StaticString = #fileID, line: UInt = #line,
        where condition: (FieldProxy<Record>) -> some ConditionConvertible<Record>
    ) throws {
        try check(Condition(condition), expected, what(), file: file, line: line)
    }

    /// Fails unless a condition and its negation match the rows that the reference evaluator finds.
    func checkReference(
        _ condition: Condition<Record>, _ what: @autoclosure () -> String = "the condition", file: StaticString = #fileID,
        line: UInt = #line
    ) throws {
        let expected = try Query(where: condition).resolved().evaluate(over: rows).map(\.id)
        try check(condition, expected, what(), file: file, line: line)
    }

    /// Fails unless a query gives the rows of the reference evaluator, in the same order, and counts them.
    func checkReference(
        _ query: Query<Record>, _ what: @autoclosure () -> String = "the query", file: StaticString = #fileID, line: UInt = #line
    ) throws {
        let expected = try query.resolved().evaluate(over: rows)
        try expectSame(try dao.read(query), expected, "the rows of \(what())", file: file, line: line)
        try expectEqual(try dao.count(query), expected.count, "the count of \(what())", file: file, line: line)
        try expectSame(
            try dao.storage.keys(query), expected.map { Record.schema.key(of: $0) }, "the keys of \(what())", file: file,
            line: line)
    }
}

extension Condition {
    /// Compares a field, given by its name, with a value.
    static func field(_ name: String, _ comparison: Comparison, _ value: (any FieldValue)?) -> Condition {
        named(name) { .compare(field: $0, comparison, value?.fieldValue ?? .null) }
    }

    /// Compares a field, given by its name, with a list of values.
    static func field(_ name: String, in values: [(any FieldValue)?]) -> Condition {
        named(name) { .isIn(field: $0, values.map { $0?.fieldValue ?? .null }) }
    }

    /// Compares a field, given by its name, with a list of texts under options.
    static func field(_ name: String, in texts: [String], _ options: TextOptions) -> Condition {
        Condition(.or(texts.map { field(name, .equals, $0, options).node }))
    }

    /// Compares a field, given by its name, with a text.
    static func field(_ name: String, _ match: TextMatch, _ text: String, _ options: TextOptions = []) -> Condition {
        named(name) { .text(field: $0, match, text, options) }
    }

    private static func named(_ name: String, _ make: (Int) -> PredicateNode) -> Condition {
        let entity = Record.schema.description
        return Condition(entity.index(of: name).map(make) ?? .invalid(.unknownField(name, in: entity)))
    }
}

extension Comparison {
    /// The comparisons that need an order.
    static let orderings: [Comparison] = [.less, .lessOrEqual, .greater, .greaterOrEqual]
}
