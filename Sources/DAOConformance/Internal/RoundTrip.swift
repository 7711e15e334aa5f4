import DAOCore

extension ConformanceContext {
    /// Stores exactly these rows and expects to read them bit for bit: all at once, by key, and after
    /// reopening when data persists.
    ///
    /// - Parameters:
    ///   - rows: The rows, in key order.
    ///   - expected: The expected rows; by default the stored rows.
    ///   - database: The database; by default a newly opened database.
    /// - Returns: The open database that holds the rows.
    @discardableResult
    func expectKept<Record: Plain & Model>(
        _ rows: [Record], as expected: [Record]? = nil, in database: (any Database)? = nil, file: StaticString = #fileID,
        line: UInt = #line
    ) throws -> any Database {
        let expected = expected ?? rows
        var database = try database ?? open()
        try database.dao(Record.self).erase()
        try database.dao(Record.self).create(rows)
        func check(_ when: String) throws {
            let dao = try database.dao(Record.self)
            try expectSame(try dao.read(), expected, "rows\(when)", file: file, line: line)
            for row in expected {
                try expectSame(
                    try dao.read(byPrimaryKey: row.uniqueId), row, "row \(row.uniqueId) by key\(when)", file: file, line: line)
            }
        }
        try check("")
        // Writing the rows that were read changes nothing, and neither does replacing them.
        try database.dao(Record.self).persist(database.dao(Record.self).read())
        try check(" after persisting them again")
        if database.capabilities.isPersistent {
            database = try reopen(database)
            try check(" after reopening")
        }
        return database
    }

    /// Stores each value in a separate row, in a required and an optional field, beside one row with nil, and
    /// expects to read the values bit for bit.
    ///
    /// - Returns: The open database that holds the rows.
    @discardableResult
    func expectKept<Value>(
        _ values: [Value], as expected: [Value]? = nil, in field: WritableKeyPath<Scalars, Value>,
        _ optional: WritableKeyPath<OptionalScalars, Value?>, file: StaticString = #fileID, line: UInt = #line
    ) throws -> any Database {
        func rows(_ values: [Value]) -> [Scalars] {
            values.enumerated().map { index, value in
                var row = Scalars(id: index)
                row[keyPath: field] = value
                return row
            }
        }
        func optionalRows(_ values: [Value]) -> [OptionalScalars] {
            [OptionalScalars(id: -1)]
                + values.enumerated().map { index, value in
                    var row = OptionalScalars(id: index)
                    row[keyPath: optional] = value
                    return row
                }
        }
        let database = try expectKept(rows(values), as: rows(expected ?? values), file: file, line: line)
        return try expectKept(
            optionalRows(values), as: optionalRows(expected ?? values), in: database, file: file, line: line)
    }
}
