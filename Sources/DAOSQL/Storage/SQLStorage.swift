import DAOCore
import Synchronization

/// The rows of one model in a table.
final class SQLStorage<Record: Model>: Storage {
    /// How many of the first written rows are checked for swapped fields.
    private static var checkedRows: Int { 16 }

    let owner: SQLDatabase
    let table: SQLTable
    let number: Int
    private let outdated: KnownTable.Outdated
    let schema: Schema<Record>
    private let written = Atomic<Int>(0)
    private let hasTextKey: Bool

    init(_ database: SQLDatabase, _ known: KnownTable) {
        owner = database
        table = known.table
        number = known.number
        outdated = known.outdated
        schema = Record.schema
        hasTextKey = known.table.entity.keyKind == .string
    }

    var database: any Database { owner }
    var entity: EntityDescription { table.entity }

    /// Runs a closure that reads on one connection. The closure runs twice when the table was missing the
    /// first time.
    func reading<Result>(_ body: (SQLSession) throws -> Result) throws -> Result {
        try owner.lifetime.call { try repeating { try owner.instance.coordinator.read(body) } }
    }

    /// Runs a closure that writes, atomically. The closure runs twice when the table was missing the first
    /// time.
    ///
    /// - Parameters:
    ///   - scope: The statements that the closure runs. With any number of statements, the closure calls
    ///     application code.
    ///   - body: The closure.
    func writing<Result>(_ scope: SQLWrite.Scope, _ body: (SQLSession) throws -> Result) throws -> Result {
        func run() throws -> Result {
            let kind: WriteKind =
                switch scope {
                case .statement: .statement
                case .rows: .call
                case .any: .body
                }
            return try owner.instance.coordinator.write(kind, touching: entity.name) { session in
                try owner.begin(session, scope)
                return try body(session)
            }
        }
        return try owner.lifetime.call {
            if owner.settings == nil { throw StorageError.readOnly(owner.instance.path) }
            return try repeating(run)
        }
    }

    /// Runs a closure, and a second time when the table was missing: another process dropped it, or the
    /// transaction that created it was rolled back.
    @inline(__always) private func repeating<Result>(_ work: () throws -> Result) throws -> Result {
        try checkCurrent()
        do {
            return try work()
        } catch is SQLMissingTable {
            try owner.instance.make(table, owner.settings)
        }
        do {
            return try work()
        } catch let error as SQLMissingTable {
            throw error.underlying
        }
    }

    /// Throws unless the entity is still as the model declares it.
    ///
    /// - Throws: `.schemaMismatch` when another version of the model has changed it in this process.
    @inline(__always) func checkCurrent() throws {
        if outdated.isSet { throw owner.instance.outdated(entity.name) }
    }

    /// Checks a row that is about to be stored.
    func check(_ record: Record) throws {
        if hasTextKey { _ = try schema.validKey(of: record) }
    }

    /// Checks the first rows that are stored for swapped fields.
    func checkOrder(_ records: [Record]) throws {
        guard written.load(ordering: .relaxed) < Self.checkedRows else { return }
        for record in records.prefix(Self.checkedRows) {
            try schema.checkOrder(with: record)
            written.add(1, ordering: .relaxed)
        }
    }

    /// Returns a reader of a statement that reads every column. It is used from the first to the last row.
    func reader(of statement: SQLStatement) -> SQLRowReader {
        // Two versions of an entity may have the same query text.
        if let reader = statement.reader, reader.entity == entity { return reader }
        let reader = statement.makeReader(of: entity, keyColumn: entity.keyIndex)
        statement.reader = reader
        return reader
    }
}
