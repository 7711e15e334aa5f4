// The errors about a database, its file or a transaction. Every backend throws these, so that one fault has
// one text. The style of the messages is that of the errors about rows.

extension StorageError {
    // MARK: Opening and closing

    /// There is nothing at the path, and the configuration forbids to create it.
    ///
    /// - Parameter path: The path.
    public static func notFound(_ path: String) -> StorageError {
        StorageError(
            .notFound,
            "there is no database at the path, and none may be created; check the path, or open it with create=true and without readOnly=true",
            path: path)
    }

    /// There is no directory to create the file in.
    ///
    /// - Parameters:
    ///   - path: The path of the file.
    ///   - engineCode: The engine's own code.
    ///   - engineMessage: The engine's own message.
    public static func directoryNotFound(
        _ path: String, engineCode: Int? = nil, engineMessage: String? = nil
    ) -> StorageError {
        StorageError(
            .notFound, "the directory '\(TemporaryFile.directory(of: path))' of the database does not exist; create it first",
            path: path,
            engineCode: engineCode, engineMessage: engineMessage)
    }

    /// A path is empty, or is another that no file can have.
    ///
    /// - Parameter path: The path.
    public static func invalidPath(_ path: String) -> StorageError {
        StorageError(
            .invalidConfiguration,
            "the path is empty or names no file; give the path of a file, or use 'memory:' for a database that is not stored",
            path: path)
    }

    /// What is at the path is something else.
    ///
    /// - Parameters:
    ///   - path: The path.
    ///   - what: What is there: "a directory".
    ///   - engineCode: The engine's own code.
    ///   - engineMessage: The engine's own message.
    public static func notADatabase(
        _ path: String?, _ what: String, engineCode: Int? = nil, engineMessage: String? = nil
    ) -> StorageError {
        StorageError(
            .notADatabase, "what is at the path is \(what), not a database of this kind; check the path. Nothing was changed",
            path: path, engineCode: engineCode, engineMessage: engineMessage)
    }

    /// A database was used after it was closed.
    package static func closed(_ path: String?) -> StorageError {
        StorageError(.closed, "the database is closed; open it again to use it", path: path)
    }

    /// A call inside a transaction of a database tried to close the database.
    package static func closedInsideTransaction(_ path: String?) -> StorageError {
        StorageError(
            .invalidTransaction, "the database cannot be closed inside its own transaction; close it after the transaction",
            path: path)
    }

    // MARK: Files

    /// The file that the database has open is no longer at its path, and a write stores nothing (contract L8).
    ///
    /// - Parameters:
    ///   - path: The path of the database's file.
    ///   - what: What has happened: "the file 'app.db' was moved or removed".
    public static func detached(
        _ path: String?, _ what: String = "the file was moved, removed or replaced"
    ) -> StorageError {
        StorageError(
            .detached, "\(what) while the database was open, and nothing was written; close the database, and open it again",
            path: path)
    }

    /// Another database has taken over the rows, and nothing was written (contract D6).
    static func moved(to place: String, path: String?) -> StorageError {
        StorageError(
            .detached, "the rows have moved to '\(place)', which takes the writes now; open that database. Nothing was written",
            path: path)
    }

    /// Stored bytes are damaged (contract L5).
    ///
    /// - Parameters:
    ///   - path: The path of the database's file, when it has one.
    ///   - what: What is damaged: "the catalog entry of 'book' is damaged: its key".
    ///   - entity: The entity that was read.
    ///   - key: The key of the row that was read.
    ///   - field: The field that was read.
    ///   - engineCode: The engine's own code.
    ///   - engineMessage: The engine's own message.
    public static func corrupted(
        _ path: String?, _ what: String = "the database is damaged", entity: String? = nil, key: UniqueID? = nil,
        field: String? = nil, engineCode: Int? = nil, engineMessage: String? = nil
    ) -> StorageError {
        StorageError(
            .corrupted, "\(what); restore the database from a backup", entity: entity, key: key, field: field, path: path,
            engineCode: engineCode, engineMessage: engineMessage)
    }

    // MARK: Writing

    /// A write to a database that was opened to be read.
    ///
    /// - Parameter path: The path of the database's file, when it has one.
    public static func readOnly(_ path: String?) -> StorageError {
        StorageError(
            .readOnly,
            "the database is open for reading only; to write, open it without readOnly=true where the file and its directory may be written",
            path: path)
    }

    /// Another writer did not end in time.
    ///
    /// - Parameters:
    ///   - path: The path of the database's file, when it has one.
    ///   - engineCode: The engine's own result code.
    ///   - engineMessage: The engine's own words.
    public static func busy(_ path: String?, engineCode: Int? = nil, engineMessage: String? = nil) -> StorageError {
        StorageError(
            .busy,
            "another writer kept the database locked for longer than the timeout; try again, or open it with a longer timeout",
            path: path, engineCode: engineCode, engineMessage: engineMessage)
    }

    /// Transactions of several databases wait for each other.
    package static func waitsInCircle(_ path: String?) -> StorageError {
        StorageError(
            .busy,
            "another transaction holds this database and waits for one that this transaction holds; run this one again, "
                + "and let all transactions take the databases in the same order", path: path)
    }

    /// The snapshot of a stream keeps more than it may.
    static func snapshotTooOld(_ path: String?, keeping bytes: Int, limit: Int) -> StorageError {
        StorageError(
            .snapshotTooOld,
            "while the stream was read, \(bytes) bytes were written that its snapshot keeps in the file or its log, and "
                + "pinnedLimit allows \(limit); begin a new stream after the last value that was read", path: path)
    }

    package static func readsPreventSuspension(_ path: String?) -> StorageError {
        StorageError(
            .busy, "reads or streams did not end in time, and the database holds its locks; end them and suspend it again",
            path: path)
    }

    /// As many reads are running as may run at a time.
    ///
    /// - Parameter option: The option of the driver that says how many.
    package static func tooManyReads(
        _ path: String?, option: String = "maxReaders", engineCode: Int? = nil, engineMessage: String? = nil
    ) -> StorageError {
        StorageError(
            .busy,
            "as many calls are running as \(option) allows; end streams and snapshots, or open the database with greater "
                + "\(option)", path: path, engineCode: engineCode, engineMessage: engineMessage)
    }

    /// A commit failed after its writes may have reached the file.
    ///
    /// - Parameters:
    ///   - path: The path of the database's file.
    ///   - engineCode: The engine's own result code.
    ///   - engineMessage: The engine's own words.
    public static func outcomeUnknown(_ path: String?, engineCode: Int, engineMessage: String?) -> StorageError {
        StorageError(
            .outcomeUnknown,
            "the operating system failed during a commit, and whether the commit is stored is unknown; close the database, "
                + "open it again, and look for what the transaction wrote",
            path: path, engineCode: engineCode, engineMessage: engineMessage)
    }

    /// The operating system does not let the process read a file.
    ///
    /// - Parameters:
    ///   - path: The path of the file.
    ///   - engineCode: The code of the operating system.
    ///   - engineMessage: The words of the operating system.
    public static func notPermitted(_ path: String?, engineCode: Int, engineMessage: String?) -> StorageError {
        StorageError(
            .notPermitted, "this user may not read or write the file, or not use its directory; change their permissions",
            path: path,
            engineCode: engineCode, engineMessage: engineMessage)
    }

    // MARK: Transactions

    /// A transaction was used after its end, or from a task or thread that does not own it.
    package static var transactionEnded: StorageError {
        StorageError(
            .invalidTransaction,
            "the transaction has ended or belongs to another task or thread; do all of its work in its own body")
    }

    /// A write inside a snapshot.
    package static var writeInsideSnapshot: StorageError {
        StorageError(.invalidTransaction, "nothing can be written inside a snapshot; use a transaction instead")
    }

    /// A write inside the closure of an observation.
    static var writeInsideObservation: StorageError {
        StorageError(
            .invalidTransaction, "nothing can be written inside the closure of an observation; write where its values arrive")
    }

    /// A write to the database of a second tenant inside a transaction of the first.
    static var transactionOfTwoTenants: StorageError {
        StorageError(
            .unsupported,
            "no transaction spans the databases of two tenants; end the transaction of the first before the second is written to")
    }

    /// The engine's own handle was requested outside a transaction and a snapshot.
    package static var handleOutsideTransaction: StorageError {
        StorageError(
            .invalidTransaction,
            "the engine's own handle exists only inside a transaction or a snapshot; begin one around the call")
    }

    /// The database does not have a handle of this type.
    package static func unsupportedHandle(_ type: Any.Type, of engine: String, known: [String]) -> StorageError {
        let advice =
            known.isEmpty ? "this database has no engine handle" : "ask for \(known.sorted().joined(separator: " or "))"
        return StorageError(.unsupported, "a database of \(engine) has no handle of type \(type); \(advice)")
    }

    // MARK: Entities

    /// A call inside a transaction or a snapshot tried to change entities.
    ///
    /// - Parameter path: The path of the database's file, when it has one.
    public static func evolutionInsideTransaction(_ path: String?) -> StorageError {
        StorageError(
            .invalidTransaction,
            "entities cannot be changed inside a transaction or a snapshot; change them before it begins", path: path)
    }

    /// An entity store that was opened to read was to write.
    package static func entitiesAreReadOnly(_ path: String?) -> StorageError {
        StorageError(
            .invalidTransaction, "nothing can be written while entities are only read; ask for write access", path: path)
    }

    /// The entity of a storage was changed after the storage was made.
    ///
    /// - Parameters:
    ///   - entity: The entity.
    ///   - path: The path of the database's file, when it has one.
    public static func outdated(_ entity: String, path: String?) -> StorageError {
        StorageError(
            .schemaMismatch,
            "the stored '\(entity)' was changed by another version of its model; ask the database for the storage again",
            entity: entity, path: path)
    }

    /// There is no such entity.
    package static func noEntity(_ entity: String, path: String?) -> StorageError {
        StorageError(.schemaMismatch, "no entity '\(entity)' is stored; check its name", entity: entity, path: path)
    }

    /// There is such an entity already.
    package static func entityExists(_ entity: String, path: String?) -> StorageError {
        StorageError(
            .schemaMismatch, "an entity '\(entity)' is stored already; choose another name", entity: entity, path: path)
    }

    /// The file has a format of a later version of this library.
    package static func formatIsNewer(_ format: Int, supported: Int, path: String?) -> StorageError {
        StorageError(
            .schemaIsNewer,
            "the database has the format \(format), and this library reads formats up to \(supported); update the library",
            path: path)
    }
}
