import DAOCore
import DAOSQL

/// The open engines, by path.
private let instances = SharedInstances<String, SQLInstance>()

extension DatabaseDriver {
    /// Opens databases of SQLSkeleton, as in `sqlskeleton:name`.
    public static let sqlskeleton = DatabaseDriver(scheme: "sqlskeleton") { configuration in
        let (path, writes) = (configuration.path, !configuration.isReadOnly)
        let instance = try instances.acquire(path) {
            try SQLInstance(SQLSkeletonEngine(path: path), writes: writes)
        }
        return try SQLDatabase(configuration, on: instance, writes: writes) { instances.release(path) { $0.close() } }
    }
}

/// An SQL engine: its dialect, and connections.
final class SQLSkeletonEngine: SQLEngine {
    let traits: SQLEngineTraits
    let dialect: any SQLDialect = SQLSkeletonDialect()

    init(path: String) { traits = SQLEngineTraits(name: "SQLSkeleton", path: path, isPersistent: false) }

    func connect(_ access: SQLAccess) throws -> any SQLConnection { SQLSkeletonConnection() }
}

/// A connection of the engine. One thread uses it at a time.
final class SQLSkeletonConnection: SQLConnection {
    var underlyingHandle: (any UnderlyingHandle)? { nil }

    func beginReading() throws { throw unfinished() }

    func beginWriting(_ write: SQLWrite) throws { throw unfinished() }

    func commit(isObserved: Bool) throws -> (before: UInt64, after: UInt64)? { throw unfinished() }

    func rollback() {}

    func beginSavepoint() throws { throw unfinished() }

    func releaseSavepoint() throws { throw unfinished() }

    func rollbackSavepoint() throws { throw unfinished() }

    func checkTransaction() throws { throw unfinished() }

    func prepare(_ text: String, entity: String) throws -> SQLStatement { SQLSkeletonStatement() }

    func batch(_ write: SQLRowWrite, of table: SQLTable) throws -> SQLRowBatch { SQLSkeletonRowBatch() }

    func execute(_ text: String) throws { throw unfinished() }

    func explain(_ query: SQLText, of entity: EntityDescription) throws -> QueryPlan { throw unfinished() }

    func schemaVersion() throws -> UInt64 { throw unfinished() }

    func catalogDidChange() throws { throw unfinished() }

    func hasTable(_ name: String) throws -> Bool { throw unfinished() }

    func storedTable(_ name: String) throws -> SQLStoredTable? { throw unfinished() }

    func takenNames() throws -> Set<String> { throw unfinished() }

    func makeRoom(for table: String) throws { throw unfinished() }

    func ties(to table: String) throws -> [String] { throw unfinished() }
}

/// A prepared statement.
final class SQLSkeletonStatement: SQLStatement {
    override func bind(_ bindings: [SQLBinding]) throws { throw unfinished() }

    override func makeReader(of entity: EntityDescription, firstField: Int = 0, keyColumn: Int) -> SQLRowReader {
        SQLSkeletonRowReader(entity: entity, firstField: firstField, keyColumn: keyColumn)
    }

    override func run() throws -> Int { throw unfinished() }

    override func reset() {}
}

/// The rows of a statement. It also reads the fields of a row: override `isNull`, `readInt64` and those beside it.
final class SQLSkeletonRowReader: SQLRowReader {
    override func step() throws -> Bool { throw unfinished() }
}

/// Rows that are written. It also takes the fields of a row: override `writeNull`, `writeInt64` and those beside it.
final class SQLSkeletonRowBatch: SQLRowBatch {
    override func add() throws { throw unfinished() }

    override func add(changing key: Key) throws { throw unfinished() }
}

/// The SQL of the engine. What is here is standard SQL; compare each line with your engine.
struct SQLSkeletonDialect: SQLDialect {
    func quoted(_ name: String) -> String { "\"\(name)\"" }

    func placeholder(_ position: Int) -> String { "?\(position)" }

    func columnType(of field: FieldDescription) -> String { field.type.kind.rawValue }

    func literal(_ value: Value) -> String? { nil }

    func tableOptions(for entity: EntityDescription) -> String { "" }

    var orderedTableOptions: String { "" }

    func comparable(_ column: String, _ field: FieldDescription) -> String { column }

    func canCompare(_ left: ValueKind, with right: ValueKind) -> Bool { left == right }

    func isSame(_ left: String, _ right: String, isNegated: Bool) -> String {
        "\(left) IS \(isNegated ? "" : "NOT ")DISTINCT FROM \(right)"
    }

    func sortTerm(_ column: String, isAscending: Bool, nilsFirst: Bool?) -> String {
        column + (isAscending ? " ASC" : " DESC") + (nilsFirst ?? isAscending ? " NULLS FIRST" : " NULLS LAST")
    }

    func contains(_ column: String, _ placeholder: String) -> String { "POSITION(\(placeholder) IN \(column)) > 0" }

    func isIn(_ column: String, _ placeholder: String) -> String { "\(column) = ANY(\(placeholder))" }

    func list(_ placeholder: String, of kind: ValueKind) -> String {
        "UNNEST(\(placeholder)) WITH ORDINALITY AS list(value, number)"
    }

    func nestedOrder(_ terms: [String]) -> String { "" }

    // The suite evaluates these two conditions itself while the engine cannot call Swift.
    var callsFunctions: Bool { false }

    func matches(_ column: String, _ placeholder: String) -> String { "" }

    func matchesFilter(_ columns: [String], _ placeholder: String) -> String { "" }
}

/// The error of a method that is still to be written.
private func unfinished(_ method: String = #function) -> StorageError {
    StorageError(.unsupported, "'\(method)' of SQLSkeleton is still to be implemented")
}
