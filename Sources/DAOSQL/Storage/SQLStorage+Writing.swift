import DAOCore

extension SQLStorage {
    /// The number of rows in one call from which on the indexes of a table without rows are filled after them. For fewer
    /// rows, it costs more to drop and create the indexes than it gains.
    private static var manyRows: Int { 5000 }

    func insert(_ records: [Record]) throws { try store(records, mayReplace: false) { try $0.insert() } }

    func upsert(_ records: [Record]) throws { try store(records, mayReplace: true) { try $0.upsert() } }

    func insert(making records: () throws -> [Record]) throws {
        try store(making: records, mayReplace: false) { try $0.insert() }
    }

    func upsert(making records: () throws -> [Record]) throws {
        try store(making: records, mayReplace: true) { try $0.upsert() }
    }

    func set(_ changes: [StoredChange], counting counter: Int?, where condition: Condition<Record>) throws -> Int? {
        // Other numbers than those that every engine has as integers are added as Swift adds them.
        guard changes.allSatisfy({ !$0.isIncrease || entity.fields[$0.field].type.kind.isEngineInteger }) else { return nil }
        let query = try schema.resolved(Query(where: condition), withRelated: true)
        if query.isEmpty { return try writing(.statement, usesTable: false) { _, _ in 0 } }
        do {
            return try writing(.statement) { session, known in
                try evaluatingRelated(query) {
                    // An update names the row whose sum is beyond the range of its field.
                    if let beyond = query.beyondRange(of: changes, entity), try count(beyond, session, known) > 0 { return nil }
                    let (shaped, table) = try counted(evaluated(query, session, known), session, known)
                    let sql = try table.set(changes, counting: counter, where: shaped.query.filter, shaped.related)
                    return try session.run(sql, entity: entity.name)
                }
            }
        } catch let error as StorageError where error.kind == .schemaMismatch && error.engineCode != nil {
            // The engine refused a row and does not say which. The statement has changed nothing. An update goes row
            // by row, and names the row and its field.
            return nil
        }
    }

    func erase(keys: [Key]) throws -> Int {
        if keys.isEmpty { return try writing(.statement, usesTable: false) { _, _ in 0 } }
        return try writing(keys.count == 1 ? .statement : .rows) { session, known in
            let statement = try session.rows(known.number, known.table).takeDelete()
            defer { statement.finish() }
            return try statement.run(forEach: keys)
        }
    }

    func erase(_ query: Query<Record>) throws -> Int {
        let resolved = try schema.resolved(query)
        if resolved.isEmpty { return try writing(.statement, usesTable: false) { _, _ in 0 } }
        return try writing(.statement) { session, known in
            let (shaped, table) = try counted(evaluated(resolved, session, known), session, known)
            return try session.run(table.delete(shaped.query), entity: entity.name)
        }
    }

    /// Stores rows with one batch.
    private func store(_ records: [Record], mayReplace: Bool, _ take: (RowStatements) throws -> SQLRowBatch) throws {
        if records.isEmpty { return try writing(.statement, usesTable: false) { _, _ in } }
        try checkOrder(records)
        try writing(records.count == 1 ? .statement : .rows) { session, known in
            try store(records, session, known, mayReplace: mayReplace, take)
        }
    }

    /// Stores the rows that a closure of the application makes. Its calls join the transaction.
    private func store(
        making records: () throws -> [Record], mayReplace: Bool, _ take: (RowStatements) throws -> SQLRowBatch
    ) throws {
        let isAlone = !coordinator.isInside
        try writing(.any) { session, known in
            let records = try records()
            if records.isEmpty { return }
            try checkOrder(records)
            try store(records, session, known, mayReplace: mayReplace, isAlone: isAlone, take)
        }
    }

    /// Stores rows.
    ///
    /// - Parameter isAlone: Whether a transaction that does not say so ends with them.
    private func store(
        _ records: [Record], _ session: SQLSession, _ known: KnownTable, mayReplace: Bool, isAlone: Bool = false,
        _ take: (RowStatements) throws -> SQLRowBatch
    ) throws {
        if records.count >= Self.manyRows, try fill(records, session, known, take) { return }
        let batch = try take(try session.rows(known.number, known.table))
        defer { batch.finish() }
        let place = RowPlace()
        let refusals = RefusedRows(self, session, known, rows: records.count, mayReplace: mayReplace)
        refusals?.begin(records)
        let report = refusals.map { refusals in
            { (refused: SQLRefusedRow) in try refusals.wait(records, refused.number ?? place.index, refused) }
        }
        do {
            try batch.reporting(to: report) {
                do {
                    try add(records, to: batch, of: known.table, place)
                } catch let error where !(error is SQLRefusedRow) && refusals?.failure == nil {
                    // A row that was held back comes before the row that has failed.
                    do { try batch.send() } catch let refused as SQLRefusedRow { throw refused } catch {}
                    throw error
                }
                if isAlone, refusals?.isEmpty != false { session.connection.lastWriteFollows() }
                try batch.send()
            }
        } catch {
            if let failure = refusals?.failure { throw failure }
            // After all rows were added, only a refused row can be identified.
            let last = min(place.index, records.count - 1)
            let number = (error as? SQLRefusedRow).map { $0.number ?? last } ?? place.index
            guard records.indices.contains(number) else { throw error }
            if let earlier = refusals?.error(before: number) { throw earlier }
            throw failure(error, records[number], session, known, mayReplace: mayReplace)
        }
        try refusals?.end()
    }

    /// Stores many rows in a table without rows, and fills its indexes afterwards.
    ///
    /// - Returns: False when nothing was stored: the engine fills no index later, or a row was refused. The rows are then
    ///   stored with their indexes, so that the first refused row is known.
    private func fill(
        _ records: [Record], _ session: SQLSession, _ known: KnownTable, _ take: (RowStatements) throws -> SQLRowBatch
    ) throws -> Bool {
        let connection = session.connection
        let indexes = try connection.indexesToFillLater(of: known.table.entity.name)
        if indexes.isEmpty { return false }
        try connection.beginSavepoint()
        do {
            for index in indexes { try connection.execute(index.drop) }
            let batch = try take(try session.rows(known.number, known.table))
            defer { batch.finish() }
            try batch.reporting(to: nil) {
                try add(records, to: batch, of: known.table, RowPlace())
                try batch.send()
            }
            for index in indexes { try connection.execute(index.create) }
            try connection.releaseSavepoint()
            return true
        } catch {
            try connection.rollbackSavepoint()
            return false
        }
    }

    /// Adds rows to a batch.
    ///
    /// - Parameter place: Is moved to the row that is being added.
    @inline(__always) private func add(
        _ records: [Record], to batch: SQLRowBatch, of table: SQLTable, _ place: RowPlace
    ) throws {
        try records.withUnsafeBufferPointer { buffer in
            while place.index < buffer.count {
                try check(buffer[place.index])
                batch.begin()
                // The array keeps the row in place while the closure runs, and the place is a valid index of the array.
                try schema.encode(at: buffer.baseAddress! + place.index, to: batch)
                try table.writeRetiredDefaults(to: batch)
                try batch.add()
                place.index += 1
            }
        }
    }

    /// Returns the error for a row that could not be stored.
    ///
    /// - Parameter mayReplace: Whether a row with the same key would have been replaced.
    func failure(
        _ error: any Error, _ record: Record, _ session: SQLSession, _ known: KnownTable, mayReplace: Bool = true
    ) -> any Error {
        let entity = known.table.entity
        let key = schema.key(of: record)
        guard let refused = error as? SQLRefusedRow else {
            guard var error = error as? StorageError, error.engineCode != nil else { return error }
            error.key = UniqueID(key)
            return error
        }
        let error = refused.underlying
        guard case .values(let named) = refused.reason else { return duplicateKey(key, error) }
        // When both a key and a unique value are taken, an engine may report the value, even when the same
        // row has both.
        if !mayReplace, (try? isStored(key, session, known)) == true { return duplicateKey(key, error) }
        // When the engine does not report the fields, all unique indexes are checked.
        func value(_ field: Int) throws -> Value {
            if field < schema.description.fields.count { return schema.value(at: field, of: record) }
            // A row keeps its values of retired fields, and a new row has their defaults.
            return try stored(field, key, session, known) ?? entity.fields[field].defaultValue ?? .null
        }
        let unique = entity.uniqueIndexes
        let candidates = named.map { fields in unique.filter { entity.positions(of: $0) == fields } } ?? unique
        let others = named.map { [IndexDescription($0.map { IndexedField(entity.fields[$0].name) })] } ?? []
        for index in candidates.isEmpty ? others : candidates {
            if let condition = index.filter(of: entity), (try? condition.matches(value)) != true { continue }
            let values = try? entity.positions(of: index).map(value)
            guard let values, let other = try? holder(of: values, in: index, except: key, session, known) else { continue }
            return StorageError.uniqueViolation(
                entity.name, field: index.fieldNames, key: UniqueID(key), conflictingKey: UniqueID(other),
                engineCode: error.engineCode, engineMessage: error.engineMessage)
        }
        return StorageError.uniqueViolation(
            entity.name, field: nil, key: UniqueID(key), conflictingKey: nil, engineCode: error.engineCode,
            engineMessage: error.engineMessage)
    }

    func duplicateKey(_ key: Key, _ error: StorageError) -> StorageError {
        .duplicateKey(entity, UniqueID(key), engineCode: error.engineCode, engineMessage: error.engineMessage)
    }

    func isStored(_ key: Key, _ session: SQLSession, _ known: KnownTable) throws -> Bool {
        let (statement, reader) = try session.rows(known.number, known.table).takeSelect()
        defer { statement.giveBack() }
        try statement.bind(key)
        return try reader.advance()
    }

    /// Returns the value of a field in the row with a key; nil when there is no such row.
    private func stored(_ field: Int, _ key: Key, _ session: SQLSession, _ known: KnownTable) throws -> Value? {
        let (table, entity) = (known.table, known.table.entity)
        let text = "SELECT \(table.columns[field]) FROM \(table.name) WHERE \(table.columns[entity.keyIndex]) = "
        let sql = SQLText(text + table.dialect.placeholder(1), [.value(key.value)])
        let statement = try session.statement(sql, entity: entity.name)
        defer { statement.giveBack() }
        let reader = statement.makeReader(of: entity, firstField: field, keyColumn: -1)
        return try reader.advance() ? reader.readValue(at: field) : nil
    }

    /// Returns the key of another row of an index that has the given values in its fields; nil when a value is null.
    private func holder(
        of values: [Value], in index: IndexDescription, except key: Key, _ session: SQLSession, _ known: KnownTable
    ) throws -> Key? {
        if values.contains(where: \.isNull) { return nil }
        let (table, entity) = (known.table, known.table.entity)
        let sql = SQLText(table.conflict(in: index), (values + [key.value]).map(SQLBinding.value))
        let statement = try session.statement(sql, entity: entity.name)
        defer { statement.giveBack() }
        let reader = statement.makeReader(of: entity, firstField: entity.keyIndex, keyColumn: 0)
        return try reader.advance() ? reader.currentKey : nil
    }
}

extension ResolvedQuery {
    /// One row of the query whose sum with an increase is beyond the range of its field; nil where there is no increase.
    fileprivate func beyondRange(of changes: [StoredChange], _ entity: EntityDescription) -> ResolvedQuery? {
        let beyond: [Filter] = changes.filter(\.isIncrease).compactMap { change in
            guard case .integer(let amount) = change.value, let range = entity.fields[change.field].type.kind.integerRange else {
                return nil
            }
            return amount > 0
                ? .compare(field: change.field, .greater, .integer(range.upperBound - amount))
                : .compare(field: change.field, .less, .integer(range.lowerBound - amount))
        }
        if beyond.isEmpty { return nil }
        var query = ResolvedQuery(filter: .every([filter, .any(beyond)]), order: [])
        query.limit = 1
        return query
    }
}

extension ValueKind {
    /// Whether every engine stores the kind as an integer of 64 bits.
    fileprivate var isEngineInteger: Bool { integerRange != nil && self != .uint64 }
}

/// The place of a call among its rows.
private final class RowPlace {
    // Read while a row is added, never during another access.
    @exclusivity(unchecked) var index = 0
}
