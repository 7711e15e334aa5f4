// What a storage gets for nothing from its first five requirements.

extension Storage {
    /// Makes and stores the rows in a transaction.
    public func insert(making records: () throws -> [Record]) throws { try database.transaction { try insert(records()) } }

    /// Makes and stores the rows in a transaction.
    public func upsert(making records: () throws -> [Record]) throws { try database.transaction { try upsert(records()) } }

    /// Reads the row.
    public func contains(key: Key) throws -> Bool { try read(key: key) != nil }

    /// Reads by a list of one key.
    public func read(key: Key) throws -> Record? { try read(keys: [key], includesSubentities: true).first }

    /// Reads the rows and takes their keys.
    public func keys(_ query: Query<Record>) throws -> [Key] { try read(query).map { Record.schema.key(of: $0) } }

    /// Reads the rows and counts them.
    public func count(_ query: Query<Record>) throws -> Int { try read(query).count }

    /// Reads the rows and takes one field of each.
    public func values(of field: Int, _ query: Query<Record>, _ body: (Value) throws -> Void) throws {
        for record in try read(query) { try body(Record.schema.value(at: field, of: record)) }
    }

    /// Reads the rows, changes them one by one and stores them.
    public func merge(keys: [Key], _ body: (Int, inout Record?) throws -> Void) throws -> Int {
        try database.transaction {
            var stored = 0
            for (index, key) in keys.enumerated() {
                let found = try read(key: key)
                var record = found
                try body(index, &record)
                guard let record else { continue }
                try Record.schema.checkKey(of: record, is: key)
                try upsert([record])
                stored += 1
            }
            return stored
        }
    }

    /// Merges the rows by their keys.
    public func update(_ query: Query<Record>, _ body: (inout Record) throws -> Void) throws -> Int {
        try database.transaction {
            let keys = try keys(query)
            return try merge(keys: keys) { _, record in
                guard var changed = record else { return }
                try body(&changed)
                record = changed
            }
        }
    }

    /// Erases the rows by their keys.
    public func erase(_ query: Query<Record>) throws -> Int {
        try database.transaction { try erase(keys: try keys(query)) }
    }

    /// Reads all rows and gives them out batch by batch: memory is not constant.
    public func cursor(_ query: Query<Record>) throws -> RowCursor<Record> {
        // Reading no keys costs little, and finds out whether the database was closed meanwhile.
        ArrayCursor(try read(query)) { _ = try read(keys: [], includesSubentities: false) }
    }

    /// Says that every row is looked at.
    public func explain(_ query: Query<Record>) throws -> QueryPlan {
        let resolved = try query.resolved()
        return QueryPlan(access: .scan, filtersRows: resolved.filter != .all, sortsRows: !resolved.isInKeyOrder)
    }
}
