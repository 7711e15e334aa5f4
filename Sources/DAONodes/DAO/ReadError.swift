import DAOCore

/// Why stored values could not be had, in the few words that an application shows or acts on.
///
/// Nodes let a `StorageError` pass, which says everything; this is for the top of a chain:
///
/// ```swift
/// let chain = ErrorMapperNode(next: ReadOneNode(people, key: { $0 })) { ReadError($0) }
/// ```
public enum ReadError: Error, Sendable, Hashable {
    /// There is no such value.
    case notFound
    /// The database cannot be used now, or at all: closed, busy, damaged, of a newer version, not there.
    case cantConnect
    /// The database cannot do what it was asked to: a bad key, predicate or value, a conflict with another row.
    case badRequest
    /// Anything else.
    case undefined

    /// The word for an error of a database.
    public init(_ error: StorageError) {
        switch error.kind {
        case .closed, .busy, .notFound, .notADatabase, .schemaIsNewer, .schemaMismatch, .corrupted, .io, .outOfSpace,
            .invalidConfiguration:
            self = .cantConnect
        case .duplicateKey, .uniqueViolation, .keyChanged, .invalidKey, .invalidPredicate, .invalidQuery, .invalidSchema,
            .invalidTransaction, .arithmeticOverflow, .readOnly, .unsupported:
            self = .badRequest
        case .corruptedValue:
            self = .undefined
        }
    }

    /// The word for any error: itself, that of a database, else ``undefined``.
    public init(_ error: any Error) {
        switch error {
        case let error as ReadError: self = error
        case let error as StorageError: self.init(error)
        default: self = .undefined
        }
    }
}

extension ReadError: CustomStringConvertible {
    /// What happened.
    public var description: String {
        switch self {
        case .notFound: "There is no such value."
        case .cantConnect: "The database cannot be used."
        case .badRequest: "The database cannot do what it was asked to."
        case .undefined: "The values could not be read."
        }
    }
}
