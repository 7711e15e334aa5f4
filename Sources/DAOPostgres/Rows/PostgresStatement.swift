import DAOCore
import DAOSQL
import DAOSystemPostgres

/// A statement of one connection.
final class PostgresStatement: SQLStatement {
    private let text: String
    private let connection: PostgresConnection
    /// The entity of the statement, for errors.
    private let entity: String
    private var prepared: PreparedStatement?
    private var parameters = Parameters()
    /// The types for which the parameters were bound; nil when none are.
    private var boundTypes: [UInt32]?
    /// The cursor whose rows are fetched one batch after another; nil when all rows are read at once.
    private var cursor: String?
    private var isStreaming = false
    /// The rows that were read last; nil before the statement has run.
    private(set) var result: PostgresResult?
    /// Keeps the rows, too, while it reads them.
    private weak var lastReader: PostgresRowReader?
    /// The current row, and the end of the rows.
    private(set) var row: Int32 = -1
    private var end: Int32 = 0
    /// The statement for many keys; nil until it is prepared.
    private var preparedForKeys: PreparedStatement?
    /// The rows of announced keys, and what was written when they were read. A key without a row has the end of the rows.
    private var announced: [Key: (result: PostgresResult, row: Int32)] = [:]
    private var (writesBefore, unknownWritesBefore) = (0, 0)
    /// The column of the key, and its kind.
    private var key: (column: Int, kind: ValueKind)?

    /// The number of rows that are fetched at a time.
    private static let batch = 500
    /// The number of keys that are asked for in one message.
    private static let maximumKeys = 5000

    init(_ text: String, _ connection: PostgresConnection, entity: String) {
        self.text = text
        self.connection = connection
        self.entity = entity
    }

    private func ready() throws -> PreparedStatement {
        try connection.willUsePrepared()
        if let prepared, !prepared.isOutdated { return prepared }
        prepared = nil
        try connection.sendHeld()
        let new = try PreparedStatement(text, connection, entity: entity)
        prepared = new
        if let boundTypes, boundTypes != new.parameterTypes {
            throw SQLMissingTable(.outdated(entity, path: connection.path), isStatement: true)
        }
        return new
    }

    override func bind(_ bindings: [SQLBinding]) throws {
        reset()
        boundTypes = nil
        let types = try ready().parameterTypes
        boundTypes = types
        parameters.removeAll()
        for (type, binding) in zip(types, bindings) { try parameters.append(binding, as: type) }
    }

    override func bind(_ key: Key) throws {
        reset()
        if let found = announced.removeValue(forKey: key), connection.unknownWrites == unknownWritesBefore,
            !connection.hasWritten(key, of: entity, after: writesBefore)
        {
            result = found.result
            row = found.row - 1
            end = min(found.row + 1, found.result.count)
            return
        }
        boundTypes = nil
        let types = try ready().parameterTypes
        boundTypes = types
        parameters.removeAll()
        try parameters.append(key, as: types.first ?? 0)
    }

    override func prefetch(_ keys: [Key]) throws {
        announced = [:]
        try connection.sendHeld()
        connection.willPrefetch(entity)
        (writesBefore, unknownWritesBefore) = (connection.writes, connection.unknownWrites)
        try forEachResult(of: keys) { keys, result in
            for key in keys { announced[key] = (result, result.count) }
            let reader = PostgresRowReader(
                self, path: connection.path, EntityDescription(name: entity, fields: []), firstField: 0, keyColumn: -1)
            (self.result, row, end) = (result, -1, result.count)
            while try reader.step() {
                if let key, let found = reader.key(inColumn: key.column, of: key.kind) { announced[found] = (result, row) }
            }
        }
    }

    /// Runs the statement for many keys at once, and calls a closure with some of them and their rows.
    private func forEachResult(of keys: [Key], _ body: (ArraySlice<Key>, PostgresResult) throws -> Void) throws {
        try connection.willUsePrepared()
        if preparedForKeys?.isOutdated != false {
            preparedForKeys = nil
            // It ends with the condition that the key is equal to the only parameter.
            preparedForKeys = try PreparedStatement(text.dropLast(2) + "ANY($1)", connection, entity: entity)
        }
        guard let preparedForKeys else { return }
        for start in stride(from: 0, to: keys.count, by: Self.maximumKeys) {
            let some = keys[start..<min(start + Self.maximumKeys, keys.count)]
            var parameters = Parameters()
            try parameters.append(.list(some.map(\.value)), as: preparedForKeys.parameterTypes.first ?? 0)
            let command = preparedForKeys.command(parameters)
            for result in try connection.run([command], text, entity: entity) {
                try preparedForKeys.check(result, entity: entity)
                try body(some, result)
            }
        }
    }

    override func makeReader(of entity: EntityDescription, firstField: Int, keyColumn: Int) -> SQLRowReader {
        if keyColumn >= 0 { key = (keyColumn, entity.keyKind) }
        let reader = PostgresRowReader(self, path: connection.path, entity, firstField: firstField, keyColumn: keyColumn)
        lastReader = reader
        return reader
    }

    override func stream() throws { isStreaming = true }

    /// Moves to the next row. The first call runs the statement.
    ///
    /// - Returns: False when there are no more rows.
    @inline(__always) func step() throws -> Bool {
        row += 1
        if result != nil, row < end { return true }
        return try fetch()
    }

    /// Moves to a row of the result that is being read; false when another one is.
    @inline(__always) func moves(to next: Int32, of result: PostgresResult) -> Bool {
        guard self.result === result, row + 1 == next, next < end else { return false }
        row = next
        return true
    }

    private func fetch() throws -> Bool {
        try CallCancellation.check()
        if let cursor, let result, result.count == Self.batch {
            self.result = nil
            self.result = try connection.run([.text("FETCH \(Self.batch) FROM \(cursor)")], text, entity: entity).first
        } else if result == nil {
            try connection.sendHeld()
            let prepared = try ready()
            if isStreaming {
                let name = connection.newName()
                let declare = "DECLARE \(name) NO SCROLL CURSOR FOR \(text)"
                result = try connection.run(
                    [.typed(declare, prepared.parameterTypes, parameters), .text("FETCH \(Self.batch) FROM \(name)")], text,
                    entity: entity
                ).last
                // It was not prepared, here or behind a pooler: its columns are those of the table now.
                cursor = name
            } else {
                result = try connection.run([prepared.command(parameters)], text, entity: entity).first
                try prepared.check(result, entity: entity)
            }
        } else {
            row = end
            return false
        }
        row = 0
        end = result?.count ?? 0
        return end > 0
    }

    override func run() throws -> Int {
        try connection.sendHeld()
        let prepared = try ready()
        connection.didWrite(nil, of: entity)
        return try connection.run([prepared.command(parameters)], text, entity: entity).first?.affected ?? 0
    }

    override func run(forEach keys: [Key]) throws -> Int {
        try connection.sendHeld()
        connection.didWrite(nil, of: entity)
        var count = 0
        try forEachResult(of: keys) { count += $1.affected }
        return count
    }

    /// Returns the plan of the bound statement, as it would be for a large table.
    func explain() throws -> PostgresResult {
        let isAlone = !connection.isInTransaction
        if isAlone { try connection.beginReading() }
        defer { if isAlone { connection.rollback() } }
        let results = try connection.run(
            [
                .text("SET LOCAL enable_seqscan = off"),
                .typed("EXPLAIN (COSTS OFF) \(text)", try ready().parameterTypes, parameters),
                .text("SET LOCAL enable_seqscan = on"),
            ], text, entity: entity)
        return results[1]
    }

    override func reset() {
        result = nil
        row = -1
        lastReader?.leave()
        guard let cursor else { return }
        self.cursor = nil
        if connection.isInTransaction, connection.fault == nil {
            _ = try? connection.run([.text("CLOSE \(cursor)")], "CLOSE", entity: entity)
        }
    }

    override func finish() {
        reset()
        isStreaming = false
        announced = [:]
        boundTypes = nil
        parameters.removeAll()
    }
}
