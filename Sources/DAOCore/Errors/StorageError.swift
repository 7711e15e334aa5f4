import DAORedaction
import Foundation

/// An error of a database, a storage or a DAO.
///
/// The same fault has the same ``Kind`` on every backend. An error that application code throws, such as a
/// translator or the closure of a transaction, is rethrown unchanged and is never wrapped.
///
/// An error never contains values of the application's data. It contains keys, entity names and field names.
///
/// ```swift
/// do {
///     try messages.create(message)
/// } catch let error as StorageError where error.kind == .duplicateKey {
///     print("message \(error.key!) is already stored")
/// }
/// ```
public struct StorageError: Error, Sendable {

    /// The kind of a fault. It is a closed list that an application can switch over.
    public enum Kind: String, Sendable, Hashable, CaseIterable, Codable {
        /// `create` got a key that is already stored, or got the same key twice in one call.
        case duplicateKey
        /// A field declared `.unique` got a value that another row already has.
        case uniqueViolation
        /// A ``Reference`` got a key that no row has, or a row was to be erased that a Reference leads to and that its
        /// field does not let go.
        case referenceViolation
        /// A translator or a configuration closure changed the primary key of a stored model.
        case keyChanged
        /// The key cannot be stored: it is too long, or does not have the type of the model's key.
        case invalidKey
        /// A predicate or a sort is not valid: a typing error in the text, an unknown field, a value of the
        /// wrong type.
        case invalidPredicate
        /// A query is not valid: a negative limit or offset, a cursor of another query.
        case invalidQuery
        /// The type of the field cannot hold the sum.
        case arithmeticOverflow
        /// The schema of a model contradicts itself: no key or two keys, two fields with the same name, two
        /// swapped fields.
        case invalidSchema
        /// The URL, the scheme or an option does not describe how to open a database.
        case invalidConfiguration
        /// A stored value cannot be read as the type of its field.
        case corruptedValue
        /// The file, or a part of it, is damaged.
        case corrupted
        /// The stored schema and the application's schema differ in a way that needs a migration step.
        case schemaMismatch
        /// A newer version of the application or of this library wrote the file.
        case schemaIsNewer
        /// A transaction was used after its end, or from a thread that does not own it.
        case invalidTransaction
        /// The database is closed.
        case closed
        /// Another writer locked the database for longer than the configured timeout.
        case busy
        /// The disk, or the address space of the map, is full.
        case outOfSpace
        /// The database can only be read.
        case readOnly
        /// The file exists but is not a database of this kind.
        case notADatabase
        /// The path has no database, and the configuration does not create missing databases.
        case notFound
        /// The backend does not have the requested feature.
        case unsupported
        /// The operating system failed to read or write.
        case io
        /// The write was based on a state that another writer has changed since. Nothing was written. It is safe
        /// to run the work again from its reads: `Database.transaction(retrying:_:)` does so.
        case conflict
        /// The connection was lost or the disk failed during a commit, and whether the commit happened cannot be
        /// told. Read the rows that the transaction wrote, or look for a key that it created, before running it
        /// again. After a failure of the disk, close the database and open it again first.
        case outcomeUnknown
        /// The path no longer leads to the open file, because the file was moved, removed or replaced: close the
        /// database and open it again. Or another database has taken over the rows: open that one.
        case detached
        /// The database cannot be reached: a server does not answer, or a network is down. Nothing was written.
        /// Try again later.
        case unreachable
        /// The operating system or the database does not allow this access. Change the permissions, or open the
        /// database as another user.
        case notPermitted
        /// The snapshot of a stream kept more of the file or of its log than the option `pinnedLimit` allows. Nothing is wrong
        /// with the rows that were read. Begin anew, after the last of them.
        case snapshotTooOld
    }

    /// The kind of fault, the same on every backend.
    public let kind: Kind
    /// What happened and what to do about it, in one or two sentences. It contains no values of the
    /// application's data.
    public let message: String
    /// The name of the entity; nil when the fault does not concern an entity.
    public var entity: String?
    /// The key of the row; nil when the fault does not concern a row.
    public var key: UniqueID?
    /// The key of the conflicting row, for ``Kind/uniqueViolation``; the key that the row refers to, for
    /// ``Kind/referenceViolation``.
    public var conflictingKey: UniqueID?
    /// The name of the field; nil when the fault does not concern a field.
    public var field: String?
    /// The path of the database's file; nil when the database has no file.
    public var path: String?
    /// The position of a fault in the text of a predicate (``Kind/invalidPredicate``), as an offset in
    /// `Character`s.
    public var position: Int?
    /// The engine's result code; nil when the engine did not report the fault.
    public var engineCode: Int?
    /// The engine's message; nil when the engine did not report the fault.
    public var engineMessage: String?
    /// What to ask a database on a server for the outcome of a commit with (``Kind/outcomeUnknown``); nil when it cannot be
    /// asked.
    public var commitToken: String?

    /// Creates an error.
    ///
    /// - Parameters:
    ///   - kind: The kind of fault.
    ///   - message: What happened and what to do about it, without values of the application's data. What controls a terminal is
    ///     left out of it, and out of the engine's message: both can have names out of a file that somebody else has made.
    ///   - entity: The name of the entity.
    ///   - key: The key of the row.
    ///   - conflictingKey: The key of the conflicting row.
    ///   - field: The name of the field.
    ///   - path: The path of the database's file.
    ///   - position: The offset in the text of a predicate, in characters.
    ///   - engineCode: The engine's result code.
    ///   - engineMessage: The engine's message.
    public init(
        _ kind: Kind,
        _ message: String,
        entity: String? = nil,
        key: UniqueID? = nil,
        conflictingKey: UniqueID? = nil,
        field: String? = nil,
        path: String? = nil,
        position: Int? = nil,
        engineCode: Int? = nil,
        engineMessage: String? = nil
    ) {
        self.kind = kind
        self.message = printable(message)
        self.entity = entity
        self.key = key
        self.conflictingKey = conflictingKey
        self.field = field
        self.path = path
        self.position = position
        self.engineCode = engineCode
        self.engineMessage = engineMessage.map(printable)
    }
}

extension StorageError: CustomStringConvertible {
    /// The kind, the message and all details, on one line. What controls a terminal is left out: names and messages can come out of
    /// a file that somebody else has made.
    public var description: String {
        var details: [String] = []
        if let entity { details.append("entity: \(entity)") }
        if let key { details.append("key: \(key.rawValue)") }
        if let conflictingKey { details.append("conflicting key: \(conflictingKey.rawValue)") }
        if let field { details.append("field: \(field)") }
        if let path { details.append("path: \(path)") }
        if let position { details.append("position: \(position)") }
        if let commitToken { details.append("token: \(commitToken)") }
        if let engineMessage { details.append("engine: \(engineMessage)" + (engineCode.map { " (\($0))" } ?? "")) }
        return printable("\(kind.rawValue): \(message)" + (details.isEmpty ? "" : " [\(details.joined(separator: ", "))]"))
    }
}

extension StorageError: LocalizedError {
    /// The same text as ``description``, for user interfaces.
    public var errorDescription: String? { description }
}
