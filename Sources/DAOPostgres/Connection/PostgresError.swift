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
    }

    /// Whether the connection is lost.
    var isLoss: Bool { state.isEmpty || state.hasPrefix("08") || state.hasPrefix("57P") }

    /// Whether a value is taken, or two of the rows of a statement have the same key.
    var isRefused: Bool { state == "23505" || state == "21000" }

    /// Whether a prepared statement does not fit to the tables any more.
    var isOutdated: Bool { ["0A000", "42703", "42804", "42883", "26000"].contains(state) }

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
        let (kind, text) = meaning
        return StorageError(
            kind, text, entity: entity == "" ? nil : entity, path: path, engineCode: Int(state, radix: 36),
            // The server names the user.
            engineMessage: state.hasPrefix("28") ? nil : message)
    }

    private var meaning: (StorageError.Kind, String) {
        switch state {
        case "3D000": return (.notFound, "the server has no database of this name; create it, or check the URL")
        case "3F000": return (.notFound, "the database has no schema of this name; create it, or open it with create=true")
        case "42501":
            return (.notPermitted, "the server does not allow this to the user; grant the privilege, or connect as another user")
        case "57014":
            return (
                .busy,
                "the server has ended a statement that took longer than 'statementTimeout'; ask for less, or open it with a longer one"
            )
        case "55P03": return (.busy, StorageError.busy(nil).message)
        case "53300": return (.busy, "the server has no free connections; try again, or open it with a smaller pool")
        case "40001", "40P01":
            return (
                .conflict, "another transaction has changed what this one has read or written; run it again from its beginning"
            )
        case "25006": return (.readOnly, "the server can only be read; connect to the primary")
        case "54000": return (.unsupported, "a value or a row is longer than PostgreSQL stores; store less in it")
        case "53100", "53200":
            return (.outOfSpace, "the server has no space, and nothing was written; free some space and try again")
        case "XX001", "XX002": return (.corrupted, "the database is damaged; restore it from a backup")
        default: break
        }
        if isLoss {
            return (.unreachable, "the connection to the server failed, and nothing was written; check the server, and try again")
        }
        switch state.prefix(2) {
        case "28": return (.notPermitted, "the server refused the user or the password; check both, and the server's pg_hba.conf")
        case "23":
            return (
                .schemaMismatch,
                "a constraint of the table that the model does not declare refused the row; remove the constraint"
            )
        case "42", "0A", "26":
            return (
                .schemaMismatch, "the tables were changed after the storage was made; ask the database for the storage again"
            )
        default: return (.io, "PostgreSQL refused; see the words of the engine")
        }
    }

    /// The error as statements of an entity throw it.
    func failure(path: String, entity: String? = nil) -> any Error {
        if isCancelled { return CancellationError() }
        let error = storageError(path: path, entity: entity)
        if state == "42P01" { return SQLMissingTable(error) }
        return isOutdated ? SQLMissingTable(error, isColumn: true) : error
    }
}
