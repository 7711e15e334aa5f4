import DAOCore

extension ConformanceContext {
    /// Stores nothing but these rows and expects to read them bit for bit: all at once, by key, and after
    /// reopening where data persists.
    ///
    /// - Parameters:
    ///   - rows: The rows, in key order.
    ///   - expected: What is to be read; the rows themselves by default.
    ///   - database: Where; in a freshly opened one by default.
    /// - Returns: The open database with the rows in it.
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
        // Writing what was read changes nothing, nor does replacing it.
        try database.dao(Record.self).persist(database.dao(Record.self).read())
        try check(" after persisting them again")
        if database.capabilities.isPersistent {
            database = try reopen(database)
            try check(" after reopening")
        }
        return database
    }

    /// Stores each value in a field of a row of its own, required and optional, beside one row with nil, and
    /// expects them bit for bit.
    ///
    /// - Returns: The open database with the rows in it.
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
