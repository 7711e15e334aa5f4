import DAOCore
import DAOSQL
import DAOSystemSQLite
import Synchronization

/// The rows of one model in an SQLite table.
final class SQLiteStorage<Record: Model>: Storage {
    /// How many of the first written rows show whether fields were declared in each other's place.
    private static var checkedRows: Int { 16 }

    let owner: SQLiteDatabase
    let table: SQLTable
    let number: Int
    private let outdated: KnownTable.Outdated
    let schema: Schema<Record>
    private let written = Atomic<Int>(0)
    private let hasTextKey: Bool

    init(_ database: SQLiteDatabase, _ known: KnownTable) {
        owner = database
        table = known.table
        number = known.number
        outdated = known.outdated
        schema = Record.schema
        hasTextKey = known.table.entity.keyKind == .string
    }

    var database: any Database { owner }
    var entity: EntityDescription { table.entity }

    /// Runs a body that reads on one connection. It may run twice when the table was gone the first time.
    func reading<Result>(_ body: (SQLiteConnection) throws -> Result) throws -> Result {
        try owner.lifetime.call { try repeating { try owner.engine.coordinator.read(body) } }
    }

    /// Runs a body that writes, atomically. It may run twice when the table was gone the first time.
    ///
    /// - Parameters:
    ///   - kind: What the body does.
    ///   - body: The writes.
    func writing<Result>(_ kind: WriteKind, _ body: (SQLiteConnection) throws -> Result) throws -> Result {
        func run() throws -> Result {
            try owner.engine.coordinator.write(kind, touching: entity.name) { connection in
                // While somebody observes, commits are told apart from those of others, which needs a beginning.
                if kind == .statement, let settings = owner.settings, !owner.engineState.observations.isObserved {
                    try connection.apply(settings)
                } else {
                    try owner.begin(connection)
                }
                return try body(connection)
            }
        }
        return try owner.lifetime.call {
            if owner.settings == nil { try refuse() }
            return try repeating(run)
        }
    }

    /// Runs work, and once more when the table was gone: another process dropped it, or the transaction that made it was rolled back.
    @inline(__always) private func repeating<Result>(_ work: () throws -> Result) throws -> Result {
        try checkCurrent()
        do {
            return try work()
        } catch is MissingTable {
            try owner.engine.make(table, owner.settings)
        }
        do {
            return try work()
        } catch let error as MissingTable {
            throw error.underlying
        }
    }

    /// Makes sure that the entity is still what the model declares.
    ///
    /// - Throws: `.schemaMismatch` when another version of the model has changed it in this process.
    @inline(__always) func checkCurrent() throws {
        if outdated.isSet { throw SQLiteEngine.outdated(entity.name, path: owner.engine.file.path) }
    }

    private func refuse() throws {
        throw StorageError(.readOnly, "the database can only be read", entity: entity.name, path: owner.engine.file.path)
    }

    /// Checks a row that is about to be stored.
    func check(_ record: Record) throws {
        if hasTextKey { _ = try schema.validKey(of: record) }
    }

    /// Checks the first rows that are stored for fields declared in each other's place.
    func checkOrder(_ records: [Record]) throws {
        guard written.load(ordering: .relaxed) < Self.checkedRows else { return }
        for record in records.prefix(Self.checkedRows) {
            try schema.checkOrder(with: record)
            written.add(1, ordering: .relaxed)
        }
    }

    /// The rows of a statement that reads every column, from its start to its end.
    func reader(of statement: Statement, _ connection: SQLiteConnection) -> SQLiteRowReader {
        // The text of a query may be the same for two versions of an entity.
        if let reader = statement.reader, reader.entity == entity { return reader }
        let reader = SQLiteRowReader(statement, connection, entity, keyColumn: entity.keyIndex)
        statement.reader = reader
        return reader
    }
}
