/// The kind of a write. ``TransactionCoordinator`` chooses by it how to make the write atomic.
public enum WriteKind: Sendable {
    /// A single statement of the engine. A failed statement has written nothing, so it needs no savepoint.
    case statement
    /// A single call of a storage with several statements. It runs no code of the application.
    case call
    /// A closure of the application, or a call that runs such a closure between its statements. It runs once.
    case body
    /// Several calls of storages that form one call for the application, such as a row with its related rows.
    /// Inside another transaction, the caller ensures atomicity. In a separate transaction, a failure rolls
    /// back everything, so the calls need no savepoints.
    case compositeCall
    /// A migration or the target of a copy: a closure that works on entities without the application's types.
    case migration

    /// Whether the closure runs code that can call the database again. Such calls join the transaction.
    var entersTransaction: Bool {
        switch self {
        case .statement, .call: false
        case .body, .compositeCall, .migration: true
        }
    }

    /// Whether a failure inside another transaction can leave writes behind, which a savepoint rolls back.
    var needsSavepoint: Bool {
        switch self {
        case .statement, .compositeCall: false
        case .call, .body, .migration: true
        }
    }

    /// Whether the write can run again from its beginning when a store that can grow runs out of space.
    package var mayRunAgain: Bool {
        switch self {
        case .body: false
        case .statement, .call, .compositeCall, .migration: true
        }
    }
}
