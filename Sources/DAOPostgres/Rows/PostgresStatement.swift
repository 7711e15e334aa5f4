import DAOCore
import DAOSQL
import DAOSystemPostgres

/// A statement that the server has prepared.
final class PreparedStatement {
    let name: String
    /// The types of its parameters.
    let parameterTypes: [UInt32]
    private let epoch: Int
    private let connection: PostgresConnection

    /// Prepares a statement, in one round trip.
    init(_ text: String, _ connection: PostgresConnection, entity: String) throws {
        self.connection = connection
        name = connection.newName()
        let description = try connection.run([.prepare(name, text), .describe(name)], text, entity: entity)[1]
        // What has failed before may have changed it.
        epoch = connection.epoch
        parameterTypes = (0..<PQnparams(description.pointer)).map { PQparamtype(description.pointer, $0) }
    }

    deinit { connection.discard(name, epoch) }

    /// Whether it has to be prepared again.
    var isOutdated: Bool { epoch != connection.epoch }
}

/// A statement of one connection.
final class PostgresStatement: SQLStatement {
    private let text: String
    private let connection: PostgresConnection
    /// The entity of the statement, for errors.
    private let entity: String
    private var prepared: PreparedStatement?
    private var parameters = Parameters()
    /// The cursor whose rows are fetched one batch after another; nil when all rows are read at once.
    private var cursor: String?
    private var isStreaming = false
    /// The rows that were read last; nil before the statement has run.
    private(set) var result: PostgresResult?
    /// The current row.
    private(set) var row: Int32 = -1
    /// The rows of announced keys, and what was written when they were read.
    private var announced: [Key: PostgresResult] = [:]
    private var writesBefore = 0

    /// The number of rows that are fetched at a time.
    private static let batch = 500
    /// The number of keys that are asked for in one message. What is sent fits into the buffers of the connection while
    /// nobody reads the answers.
    private static let maximumCommands = 100

    init(_ text: String, _ connection: PostgresConnection, entity: String) {
        self.text = text
        self.connection = connection
        self.entity = entity
    }

    private func ready() throws -> PreparedStatement {
        if let prepared, !prepared.isOutdated { return prepared }
        prepared = nil
        try connection.sendHeld()
        let new = try PreparedStatement(text, connection, entity: entity)
        prepared = new
        return new
    }

    override func bind(_ bindings: [SQLBinding]) throws {
        reset()
        let types = try ready().parameterTypes
        parameters.removeAll()
        for (type, binding) in zip(types, bindings) { try parameters.append(binding, as: type) }
    }

    override func bind(_ key: Key) throws {
        reset()
        if let found = announced.removeValue(forKey: key), connection.unknownWrites == writesBefore,
            connection.writtenKeys[entity]?.contains(key) != true
        {
            result = found
            row = -1
            return
        }
        let types = try ready().parameterTypes
        parameters.removeAll()
        try parameters.append(key, as: types.first ?? 0)
    }

    override func prefetch(_ keys: [Key]) throws {
        announced = [:]
        try connection.sendHeld()
        let prepared = try ready()
        connection.willPrefetch(entity)
        writesBefore = connection.unknownWrites
        for start in stride(from: 0, to: keys.count, by: Self.maximumCommands) {
            let some = keys[start..<min(start + Self.maximumCommands, keys.count)]
            let results = try connection.run(try some.map { try run(prepared, $0) }, text, entity: entity)
            for (key, result) in zip(some, results) { announced[key] = result }
        }
    }

    private func run(_ prepared: PreparedStatement, _ key: Key) throws -> PostgresConnection.Command {
        var parameters = Parameters()
        try parameters.append(key, as: prepared.parameterTypes.first ?? 0)
        return .run(prepared.name, parameters)
    }

    override func makeReader(of entity: EntityDescription, firstField: Int, keyColumn: Int) -> SQLRowReader {
        PostgresRowReader(self, path: connection.path, entity, firstField: firstField, keyColumn: keyColumn)
    }

    override func stream() throws { isStreaming = true }

    /// Moves to the next row. The first call runs the statement.
    ///
    /// - Returns: False when there are no more rows.
    @inline(__always) func step() throws -> Bool {
        row += 1
        if let result, row < result.count { return true }
        return try fetch()
    }

    private func fetch() throws -> Bool {
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
                cursor = name
            } else {
                result = try connection.run([.run(prepared.name, parameters)], text, entity: entity).first
            }
        } else {
            row = result?.count ?? 0
            return false
        }
        row = 0
        return result.map { $0.count > 0 } ?? false
    }

    override func run() throws -> Int {
        try connection.sendHeld()
        let prepared = try ready()
        connection.didWrite(nil, of: entity)
        return try connection.run([.run(prepared.name, parameters)], text, entity: entity).first?.affected ?? 0
    }

    override func run(forEach keys: [Key]) throws -> Int {
        try connection.sendHeld()
        let prepared = try ready()
        connection.didWrite(nil, of: entity)
        var count = 0
        for start in stride(from: 0, to: keys.count, by: Self.maximumCommands) {
            let some = keys[start..<min(start + Self.maximumCommands, keys.count)]
            count += try connection.run(try some.map { try run(prepared, $0) }, text, entity: entity).reduce(0) {
                $0 + $1.affected
            }
        }
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
        parameters.removeAll()
    }
}
