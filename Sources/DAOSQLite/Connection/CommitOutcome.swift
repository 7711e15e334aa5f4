import DAOCore

/// Whether the outcome of a commit to a file is unknown. All connections of an engine share it.
///
/// SQLite reports a commit as failed when it was written to the log and the sync of the log failed. Other
/// connections go on without it. Whoever opens the file next finds it in the log. No answer in between would be
/// right, so every call fails until the file is opened again.
final class CommitOutcome: Sendable {
    private let unknown = Atomic(false)
    private let error = Lock<StorageError?>(nil)

    /// Notes that a commit has an unknown outcome.
    ///
    /// - Parameter cause: The error of SQLite.
    /// - Returns: The error of this and of all later calls.
    func becomeUnknown(_ cause: StorageError) -> StorageError {
        let unknown = StorageError.outcomeUnknown(
            cause.path, engineCode: cause.engineCode ?? 0, engineMessage: cause.engineMessage)
        error.withLock { $0 = unknown }
        self.unknown.store(true, ordering: .releasing)
        return unknown
    }

    /// Whether every call fails until the file is opened again.
    @inline(__always) var isUnknown: Bool { unknown.load(ordering: .acquiring) }

    /// Throws `.outcomeUnknown` after a commit with an unknown outcome.
    @inline(__always) func check() throws {
        if isUnknown, let error = error.withLock({ $0 }) { throw error }
    }
}
