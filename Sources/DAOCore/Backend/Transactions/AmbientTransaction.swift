import Foundation

/// The transaction that the running code is inside of, so that DAOs and nested translators join it without a parameter.
///
/// It travels as a task local. A child task inherits the task local but not the transaction: the thread tells (contract T5).
final class AmbientTransaction: @unchecked Sendable {
    // Sendable because `isActive` and `handle` are only touched by the thread in `thread`, which every access checks first.

    @TaskLocal static var current: AmbientTransaction?

    /// The coordinator whose transaction it is.
    let owner: ObjectIdentifier
    /// The transaction itself.
    let handle: AnyObject
    /// Whether it may write.
    let canWrite: Bool
    /// Whether it was begun for one call, whose failure undoes all of it: calls inside need no savepoints.
    let isOneCall: Bool
    /// The transaction of another database around this one.
    let outer: AmbientTransaction?
    private let thread: pthread_t
    private var isActive = true

    init(owner: ObjectIdentifier, handle: AnyObject, canWrite: Bool, isOneCall: Bool = false) {
        self.owner = owner
        self.handle = handle
        self.canWrite = canWrite
        self.isOneCall = isOneCall
        outer = Self.current
        thread = pthread_self()
    }

    /// Whether the transaction is running, on this thread.
    var isUsable: Bool { pthread_equal(thread, pthread_self()) != 0 && isActive }

    /// Says that the transaction has ended. Called by its own thread.
    func end() { isActive = false }

    /// The ambient transaction of a coordinator, or nil.
    ///
    /// - Throws: `.invalidTransaction` when there is one that this code must not use.
    static func find(owner: ObjectIdentifier) throws -> AmbientTransaction? {
        var candidate = current
        while let transaction = candidate {
            if transaction.owner == owner {
                guard transaction.isUsable else {
                    throw StorageError(
                        .invalidTransaction,
                        "a transaction is used after its end or from another task or thread: its body must do all its work itself"
                    )
                }
                return transaction
            }
            candidate = transaction.outer
        }
        return nil
    }
}
