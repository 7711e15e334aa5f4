import DAOCore
import DAOSystemSQLite
import Foundation

/// Extended result codes. SQLite defines them as macros that Swift does not import.
enum ExtendedCode {
    static let constraintPrimaryKey = SQLITE_CONSTRAINT | (6 << 8)
    static let constraintTrigger = SQLITE_CONSTRAINT | (7 << 8)
    static let constraintUnique = SQLITE_CONSTRAINT | (8 << 8)
    static let constraintRowID = SQLITE_CONSTRAINT | (10 << 8)
    /// The file was moved or removed.
    static let readOnlyMoved = SQLITE_READONLY | (4 << 8)
    /// A file that may only be read has a journal that has to be undone.
    static let readOnlyRollback = SQLITE_READONLY | (3 << 8)
    static let noMemoryForIO = SQLITE_IOERR | (12 << 8)
    static let refusedByIO = SQLITE_IOERR | (28 << 8)
    static let oldSnapshot = SQLITE_ERROR | (3 << 8)
    /// The index of the log could not be extended.
    static let sharedMemorySize = SQLITE_IOERR | (19 << 8)
    /// The failures of a commit after all of it was written to the log: the log could not be synced, or its index
    /// could not be extended, locked or mapped.
    static let afterLogging = [4, 19, 20, 21].map { SQLITE_IOERR | ($0 << 8) }
    /// The first of them: the log could not be synced.
    static let logNotSynced = SQLITE_IOERR | (4 << 8)
}

/// Translates SQLite's result codes into storage errors.
enum SQLiteError {

    /// Returns the error for a result code.
    ///
    /// - Parameters:
    ///   - code: The extended result code.
    ///   - message: The message of SQLite.
    ///   - path: The path of the database's file.
    ///   - entity: The entity that the call was about.
    ///   - systemCode: The error code of the operating system, or zero.
    static func error(
        _ code: Int32, _ message: String, path: String, entity: String? = nil, systemCode: Int32 = 0
    ) -> StorageError {
        // SQLite's own code covers only one of the ways to run out of space.
        if code == PageChecksums.mismatch { return PageChecksums.error(page: 0, path: path, entity: entity, message: message) }
        let isFull =
            code == ExtendedCode.sharedMemorySize
            || code & 0xFF == SQLITE_IOERR && [ENOSPC, EDQUOT, EFBIG].contains(systemCode)
        // SQLite takes a page that the operating system failed to read for damage.
        let isUnread = code & 0xFF == SQLITE_CORRUPT && [EIO, ENXIO, ERANGE].contains(systemCode)
        var (kind, text) = meaning(of: isFull ? SQLITE_FULL : isUnread ? SQLITE_IOERR : code)
        if code == SQLITE_ERROR, message.hasPrefix("unsafe use of") {
            kind = .notPermitted
            text =
                "a trigger or a view of the file uses a function or a virtual table that only a trusted file may use; open the "
                + "database with trustedSchema=true if you trust the file"
        }
        if code & 0xFF == SQLITE_ERROR, message.hasPrefix("no such collation sequence") {
            kind = .unsupported
            text =
                "a column or an index of the file is ordered by a collation of the program that made it, which is not here; copy the file, "
                + "and drop the index or declare the column without the collation there"
        }
        if code == SQLITE_ERROR, message.hasPrefix("too many columns") {
            (kind, text) = (.unsupported, "a table of SQLite has at most 2000 columns; use fewer fields, or LMDB")
        }
        return StorageError(kind, text, entity: entity, path: path, engineCode: Int(code), engineMessage: message)
    }

    /// The kind and the words of a result code: those of the extended code where they differ from those of its primary code.
    static func meaning(of code: Int32) -> (StorageError.Kind, String) {
        switch code {
        case ExtendedCode.readOnlyMoved:
            return (.detached, StorageError.detached(nil, "the file was moved or removed").message)
        case ExtendedCode.readOnlyRollback:
            return (
                .busy,
                "another program was interrupted while it wrote to the file, and left its journal; open the file with that program, "
                    + "which undoes what it had not finished. Nothing was changed"
            )
        case ExtendedCode.noMemoryForIO: return meaning(of: SQLITE_NOMEM)
        case ExtendedCode.refusedByIO: return meaning(of: SQLITE_PERM)
        // The checksums of pages say so. What the file system calls damaged is an error of reading.
        case PageChecksums.mismatch: return meaning(of: SQLITE_CORRUPT)
        case ExtendedCode.oldSnapshot:
            return (.snapshotTooOld, "the log no longer has the pages of the snapshot; read again")
        default: break
        }
        return switch code & 0xFF {
        case SQLITE_BUSY, SQLITE_LOCKED, SQLITE_PROTOCOL:
            (.busy, StorageError.busy(nil).message)
        case SQLITE_FULL: (.outOfSpace, "there is no space, and nothing was written; free some space and try again")
        case SQLITE_NOMEM: (.outOfSpace, "there is not enough memory; free some memory and try again")
        case SQLITE_READONLY:
            (.readOnly, "the file, a file beside it or their directory cannot be written; check their permissions")
        case SQLITE_NOTADB: (.notADatabase, "the file is not an SQLite database, or is encrypted; check the path")
        case SQLITE_CORRUPT:
            (.corrupted, "the database is damaged; restore it from a backup, or recover what is left with 'sqlite3 .recover'")
        case SQLITE_TOOBIG: (.unsupported, "a value or a row is longer than SQLite stores; store less in it")
        case SQLITE_NOLFS: (.unsupported, "the operating system has no files of this length; store less in the file")
        case SQLITE_CANTOPEN: (.io, "the file or a file beside it cannot be opened; check their permissions")
        case SQLITE_PERM: (.notPermitted, "the operating system refused access to the file; check its permissions")
        case SQLITE_AUTH: (.notPermitted, "SQLite does not allow this statement; see the words of the engine")
        case SQLITE_IOERR: (.io, "the operating system failed to read or write the file; see the words of the engine")
        case SQLITE_CONSTRAINT, SQLITE_MISMATCH:
            (.schemaMismatch, "a constraint of the table that the model does not declare refused the row; remove the constraint")
        case SQLITE_ERROR, SQLITE_SCHEMA:
            (.schemaMismatch, "the tables were changed after the storage was made; ask the database for the storage again")
        case SQLITE_ABORT: (.invalidTransaction, "SQLite has ended the transaction; run it again from its beginning")
        // SQLITE_FORMAT is not used by any version.
        case SQLITE_INTERNAL, SQLITE_INTERRUPT, SQLITE_NOTFOUND, SQLITE_EMPTY, SQLITE_MISUSE, SQLITE_FORMAT, SQLITE_RANGE,
            SQLITE_NOTICE, SQLITE_WARNING, SQLITE_ROW, SQLITE_DONE:
            (.io, "SQLite refused; see the words of the engine")
        default: (.io, "SQLite refused; see the words of the engine")
        }
    }
}
