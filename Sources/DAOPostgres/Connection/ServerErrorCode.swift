import DAOCore

/// What a code of PostgreSQL's table of error codes means for a call.
enum ServerErrorCode: Equatable, CaseIterable {
    /// The connection has ended, or the server ends it.
    case lost
    case noDatabase, noSchema
    case refusedUser, notAllowed
    case tookTooLong, locked, inUse, noConnections
    case conflict
    case readOnly
    case tooLong
    case noSpace
    /// What is stored is damaged. Nothing else may be called so: whoever reads it restores a backup.
    case damaged
    /// A constraint, or a trigger or a function, of the table refused the row.
    case constraint, trigger
    /// The tables are not those of the storage.
    case otherTables
    /// The transaction or its cursor has ended.
    case ended
    case oldSnapshot
    /// A pooler gives a connection to another client after each statement.
    case statementPooler
    case other

    /// The meaning of a code of five characters: its own, or that of its class, the first two of them.
    init(_ state: String) {
        self = Self.codes[state] ?? Self.classes[String(state.prefix(2))] ?? (state.isEmpty ? .lost : .other)
    }

    /// The meaning of what PgBouncer says under the code of a broken protocol, by its words; nil for everything else.
    ///
    /// Source: PgBouncer's documentation of `query_wait_timeout`, `max_client_conn`, `pool_mode` and `auth_type`.
    init?(ofPooler state: String, _ message: String) {
        guard state == "08P01" else { return nil }
        if message.contains("query_wait_timeout") || message.contains("no more connections allowed") {
            self = .noConnections
        } else if message.contains("statement pooling") {
            self = .statementPooler
        } else if message.contains("authentication failed") || message.contains("no such user") {
            self = .refusedUser
        } else {
            return nil
        }
    }

    /// The meaning of every class.
    static let classes: [String: ServerErrorCode] = [
        // Success, warnings, no data: no errors.
        "00": .other, "01": .other, "02": .other,
        "03": .other, "08": .lost,
        // What triggers and functions of others do.
        "09": .trigger, "20": .trigger, "27": .trigger, "2F": .trigger, "38": .trigger, "39": .trigger, "P0": .trigger,
        "0A": .otherTables, "0B": .ended, "0F": .other, "0L": .notAllowed, "0P": .notAllowed, "0Z": .other, "10": .other,
        "21": .other, "22": .otherTables, "23": .constraint, "24": .ended, "25": .ended,
        // A statement that was prepared on a connection that another one has replaced.
        "26": .lost,
        "28": .refusedUser, "2B": .otherTables, "2D": .ended, "34": .ended, "3B": .ended, "3D": .noDatabase, "3F": .noSchema,
        "40": .conflict, "42": .otherTables, "44": .constraint, "53": .noSpace, "54": .tooLong, "55": .other, "57": .lost,
        "58": .other, "72": .oldSnapshot, "F0": .other, "HV": .other, "XX": .other,
    ]

    /// The meaning of the codes that differ from their class.
    static let codes: [String: ServerErrorCode] = [
        "25006": .readOnly,
        // A transaction that was idle, or lasted, for too long.
        "25P03": .lost, "25P04": .lost,
        "40002": .constraint, "40003": .lost,
        "42501": .notAllowed,
        "53300": .noConnections,
        "55006": .inUse, "55P03": .locked,
        "57000": .other, "57014": .tookTooLong,
        "HV001": .noSpace,
        "XX001": .damaged, "XX002": .damaged,
    ]

    /// The kind of the error, and its words.
    var meaning: (StorageError.Kind, String) {
        switch self {
        case .lost:
            (.unreachable, "the connection to the server failed, and nothing was written; check the server, and try again")
        case .noDatabase: (.notFound, "the server has no database of this name; create it, or check the URL")
        case .noSchema: (.notFound, "the database has no schema of this name; create it, or open it with create=true")
        case .refusedUser:
            (.notPermitted, "the server refused the user or the password; check both, and the server's pg_hba.conf")
        case .notAllowed:
            (.notPermitted, "the server does not allow this to the user; grant the privilege, or connect as another user")
        case .tookTooLong:
            (
                .busy,
                "the server has ended a statement that took longer than 'statementTimeout'; ask for less, or open it with a longer one"
            )
        case .locked, .inUse: (.busy, StorageError.busy(nil).message)
        case .noConnections: (.busy, "the server has no free connections; try again, or open it with a smaller pool")
        case .conflict:
            (.conflict, "another transaction has changed what this one has read or written; run it again from its beginning")
        case .readOnly: (.readOnly, "the server can only be read; connect to the primary")
        case .tooLong: (.unsupported, "a value or a row is longer than PostgreSQL stores; store less in it")
        case .noSpace: (.outOfSpace, "the server has no space, and nothing was written; free some space and try again")
        case .damaged: (.corrupted, "the database is damaged; restore it from a backup")
        case .constraint:
            (
                .schemaMismatch,
                "a constraint of the table that the model does not declare refused the row; remove the constraint"
            )
        case .trigger:
            (
                .schemaMismatch,
                "a trigger or a function of the table that the model does not declare refused the call; remove the trigger"
            )
        case .otherTables:
            (.schemaMismatch, "the tables were changed after the storage was made; ask the database for the storage again")
        case .ended: (.invalidTransaction, "the server has ended the transaction; run it again from its beginning")
        case .statementPooler:
            (
                .unsupported,
                "the pooler shares the server's connections between statements; use its transaction mode with pooler=transaction"
            )
        case .oldSnapshot: (.snapshotTooOld, "the server no longer has the rows of the snapshot; read again")
        case .other: (.io, "PostgreSQL refused; see the words of the engine")
        }
    }
}
