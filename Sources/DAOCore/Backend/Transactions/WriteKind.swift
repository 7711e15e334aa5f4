/// What a write does, which decides how ``TransactionCoordinator`` makes it atomic.
public enum WriteKind: Sendable {
    /// One statement of the engine. When it fails it has written nothing, so it needs no savepoint.
    case statement
    /// One call of a storage, made of several statements. It runs no code of the application.
    case call
    /// A body of the application, or a call that runs one between its statements. It runs once.
    case body
    /// Several calls of storages that are one call to the application, such as a row with its related rows. Inside
    /// another transaction the caller makes the whole atomic. In a transaction begun for it, a failure undoes
    /// everything, so that the calls need no savepoints.
    case compositeCall
    /// A migration or the target of a copy: a body that works on entities without the application's types.
    case migration

    /// Whether the body runs code that may call the database again, which then joins the transaction.
    var entersTransaction: Bool {
        switch self {
        case .statement, .call: false
        case .body, .compositeCall, .migration: true
        }
    }

    /// Whether a failure inside another transaction may leave writes behind, which a savepoint undoes.
    var needsSavepoint: Bool {
        switch self {
        case .statement, .compositeCall: false
        case .call, .body, .migration: true
        }
    }

    /// Whether the write may run again from its beginning after the engine ran out of space that can be made larger.
    package var mayRunAgain: Bool {
        switch self {
        case .body: false
        case .statement, .call, .compositeCall, .migration: true
        }
    }
}
