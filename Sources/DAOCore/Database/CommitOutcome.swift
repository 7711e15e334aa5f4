/// What became of a transaction whose commit was not answered; see ``Database/outcome(of:)``.
public enum CommitOutcome: Sendable, Hashable {
    /// It is stored.
    case committed
    /// Nothing of it is stored, nor will be.
    case rolledBack
}

extension Database {
    /// Throws `.unsupported`: there is no server to ask.
    public func outcome(of commitToken: String) throws -> CommitOutcome { throw withoutServer }

    /// The error of a database that knows no outcomes.
    package var withoutServer: StorageError {
        StorageError(
            .unsupported,
            "\(capabilities.engine) databases are on no server that knows the outcome of a commit; read what is stored",
            path: configuration.path)
    }
}
