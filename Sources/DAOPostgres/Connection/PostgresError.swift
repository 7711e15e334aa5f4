import DAOCore
import DAOSQL
import DAOSystemPostgres

/// An error of the server or of libpq: the code `SQLSTATE`, and what the server said about it.
struct ServerError: Error {
    /// The code of five characters; empty when libpq reports the error itself.
    var state: String
    var message: String
    var constraint: String?
    /// The number of the command that failed, among those that were sent together.
    var number = 0
    /// Whether it ended because its task was cancelled.
    var isCancelled = false
    /// Whether the server has ended the connection with it.
    var isFatal = false

    init(state: String, message: String) {
        self.state = state
        self.message = message
    }

    init(_ result: OpaquePointer) {
        // The details of a message can contain values, its first line does not.
        func field(_ code: Character) -> String? {
            PQresultErrorField(result, Int32(code.asciiValue ?? 0)).map { String(cString: $0) }
        }
        state = field("C") ?? ""
        message = field("M") ?? String(cString: PQresultErrorMessage(result))
        constraint = field("n")
        isFatal = field("V").map { $0 == "FATAL" || $0 == "PANIC" } ?? false
    }

    /// Whether the connection is lost: the server ends it with every error of this severity, whatever its code says.
    var isLoss: Bool { state.isEmpty || isFatal || ServerErrorCode(state) == .lost }

    /// Whether a value is taken, or two of the rows of a statement have the same key.
    var isRefused: Bool { state == "23505" || state == "21000" }

    /// Whether a table lacks a column.
    private var isMissingColumn: Bool { state == "42703" }

    /// Whether a prepared statement is gone, or does not fit to the tables any more.
    private var isMissingStatement: Bool { ["0A000", "42804", "42883", "26000"].contains(state) }

    /// Whether the statements of the connection have to be prepared again.
    var isOutdated: Bool { isMissingColumn || isMissingStatement }

    /// The error of a message that begins a transaction. A standby knows no transactions that write, and says so.
    var ofBeginning: ServerError {
        var error = self
        if state == "0A000" { error.state = "25006" }
        return error
    }

    /// The error as a storage reports it.
    ///
    /// - Parameters:
    ///   - path: The server, the database and the schema.
    ///   - entity: The entity of the statement.
    func storageError(path: String, entity: String? = nil) -> StorageError {
        let code = code
        return StorageError(
            code.meaning.0, code.meaning.1, entity: entity == "" ? nil : entity, path: path, engineCode: Int(state, radix: 36),
            // The server names the user.
            engineMessage: code == .refusedUser ? nil : message)
    }

    private var code: ServerErrorCode {
        let code = ServerErrorCode(ofPooler: state, message) ?? ServerErrorCode(state)
        // A connection that the server ends for a reason of its own is lost.
        return isLoss && (code == .other || code == .ended) ? .lost : code
    }

    /// The error as statements of an entity throw it.
    func failure(path: String, entity: String? = nil) -> any Error {
        if isCancelled { return CancellationError() }
        let error = storageError(path: path, entity: entity)
        if state == "42P01" { return SQLMissingTable(error) }
        if isMissingColumn { return SQLMissingTable(error, isColumn: true) }
        return isMissingStatement ? SQLMissingTable(error, isStatement: true) : error
    }
}
