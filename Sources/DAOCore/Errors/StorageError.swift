import Foundation

/// The one error that a database, a storage or a DAO throws by itself.
///
/// Whatever the engine underneath, the same fault gives the same ``Kind``. An error thrown by application code (a
/// translator, the body of a transaction) is never wrapped: it comes out as it went in.
///
/// Values of the application's data never appear in an error; keys, entity names and field names do.
///
/// ```swift
/// do {
///     try messages.create(message)
/// } catch let error as StorageError where error.kind == .duplicateKey {
///     print("message \(error.key!) is already stored")
/// }
/// ```
public struct StorageError: Error, Sendable {

    /// What went wrong, as a closed list that an application can switch over.
    public enum Kind: String, Sendable, Hashable, CaseIterable, Codable {
        /// A `create` of a key that is already stored, or given twice in one call.
        case duplicateKey
        /// A second equal value in a field declared `.unique`.
        case uniqueViolation
        /// A translator or a configuration block rewrote the primary key of a stored model.
        case keyChanged
        /// A key that no backend stores: too long, or not of the model's key type.
        case invalidKey
        /// A predicate or a sort that cannot be understood: text with a typo, an unknown field, a value of the wrong type.
        case invalidPredicate
        /// A query that makes no sense: a negative limit or offset, a cursor of another query.
        case invalidQuery
        /// A sum that its field's type cannot hold.
        case arithmeticOverflow
        /// A model's schema contradicts itself: no key or two keys, two fields of one name, two fields swapped.
        case invalidSchema
        /// A URL, a scheme or an option that does not say how to open a database.
        case invalidConfiguration
        /// A stored value that cannot be read as the type of its field.
        case corruptedValue
        /// The file, or a part of it, is damaged.
        case corrupted
        /// The stored schema and the application's differ in a way that needs a migration step.
        case schemaMismatch
        /// The file was written by a newer version of the application or of this library.
        case schemaIsNewer
        /// A transaction used after its end, or from a thread that does not own it.
        case invalidTransaction
        /// The database was closed.
        case closed
        /// Another writer kept the database locked for longer than the configured wait.
        case busy
        /// The disk, or the address space of the map, is full.
        case outOfSpace
        /// A write to something that can only be read.
        case readOnly
        /// The file is there but is not a database of this kind.
        case notADatabase
        /// There is no database at the path, and the configuration says not to create one.
        case notFound
        /// The backend does not have the asked-for feature.
        case unsupported
        /// The operating system refused to read or write.
        case io
    }

    /// The kind of fault, the same on every backend.
    public let kind: Kind
    /// What happened and what to do about it, in a sentence or two, without the values of any data.
    public let message: String
    /// The entity that was worked on, when there was one.
    public var entity: String?
    /// The key of the row that was worked on, when there was one.
    public var key: UniqueID?
    /// The key of the other row in a conflict, for ``Kind/uniqueViolation``.
    public var conflictingKey: UniqueID?
    /// The field that was worked on, when there was one.
    public var field: String?
    /// The path of the database's file, when it has one.
    public var path: String?
    /// For ``Kind/invalidPredicate`` from text: where in the text, as an offset in `Character`s from its start.
    public var position: Int?
    /// The engine's own result code, when an engine reported the fault.
    public var engineCode: Int?
    /// The engine's own words, when an engine reported the fault.
    public var engineMessage: String?

    /// Creates an error.
    ///
    /// - Parameters:
    ///   - kind: What went wrong.
    ///   - message: What happened and what to do about it; no data values.
    ///   - entity: The entity that was worked on.
    ///   - key: The key of the row that was worked on.
    ///   - conflictingKey: The key of the other row in a conflict.
    ///   - field: The field that was worked on.
    ///   - path: The path of the database's file.
    ///   - position: The offset in a predicate's text, in characters.
    ///   - engineCode: The engine's own result code.
    ///   - engineMessage: The engine's own words.
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
        self.message = message
        self.entity = entity
        self.key = key
        self.conflictingKey = conflictingKey
        self.field = field
        self.path = path
        self.position = position
        self.engineCode = engineCode
        self.engineMessage = engineMessage
    }
}

extension StorageError: CustomStringConvertible {
    /// The kind, the message and every detail there is, on one line.
    public var description: String {
        var details: [String] = []
        if let entity { details.append("entity: \(entity)") }
        if let key { details.append("key: \(key.rawValue)") }
        if let conflictingKey { details.append("conflicting key: \(conflictingKey.rawValue)") }
        if let field { details.append("field: \(field)") }
        if let path { details.append("path: \(path)") }
        if let position { details.append("position: \(position)") }
        if let engineMessage { details.append("engine: \(engineMessage)" + (engineCode.map { " (\($0))" } ?? "")) }
        return "\(kind.rawValue): \(message)" + (details.isEmpty ? "" : " [\(details.joined(separator: ", "))]")
    }
}

extension StorageError: LocalizedError {
    /// The same text as ``description``, for interfaces that show an error to a person.
    public var errorDescription: String? { description }
}
