import DAOCore

/// The reason why a read failed, reduced to the cases that an application shows or handles.
///
/// Nodes pass a `StorageError` on with all its details. Map it at the top of a chain:
///
/// ```swift
/// let chain = ErrorMapperNode(next: ReadOneNode(people, key: { $0 })) { ReadError($0) }
/// ```
public enum ReadError: Error, Sendable, Hashable {
    /// The value does not exist.
    case notFound
    /// The database cannot be used: it is closed, busy, damaged, missing or has a newer version.
    case cantConnect
    /// The request is invalid: an invalid key, predicate or value, or a conflict with another row.
    case badRequest
    /// Any other error.
    case undefined

    /// Creates the read error for a storage error.
    public init(_ error: StorageError) {
        switch error.kind {
        case .closed, .busy, .notFound, .notADatabase, .schemaIsNewer, .schemaMismatch, .corrupted, .io, .outOfSpace,
            .invalidConfiguration, .outcomeUnknown, .detached, .unreachable, .notPermitted, .snapshotTooOld:
            self = .cantConnect
        case .duplicateKey, .uniqueViolation, .referenceViolation, .keyChanged, .invalidKey, .invalidPredicate, .invalidQuery,
            .invalidSchema,
            .invalidTransaction, .arithmeticOverflow, .readOnly, .unsupported, .conflict:
            self = .badRequest
        case .corruptedValue:
            self = .undefined
        }
    }

    /// Creates the read error for any error: a read error itself, the read error for a `StorageError`,
    /// otherwise ``undefined``.
    public init(_ error: any Error) {
        switch error {
        case let error as ReadError: self = error
        case let error as StorageError: self.init(error)
        default: self = .undefined
        }
    }
}

extension ReadError: CustomStringConvertible {
    /// A description of the error.
    public var description: String {
        switch self {
        case .notFound: "There is no such value."
        case .cantConnect: "The database cannot be used."
        case .badRequest: "The database cannot do what it was asked to."
        case .undefined: "The values could not be read."
        }
    }
}
