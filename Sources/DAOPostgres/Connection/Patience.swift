import DAOCore
import DAOSystemPostgres
import Dispatch

/// How long to wait for the answers to one message. Each sign of life of the server begins the time anew.
final class Patience {
    private let limit: Duration
    private var deadline: ContinuousClock.Instant
    private let isCancellable: Bool
    /// Waits for the end of the cancellation.
    private var cancelling: DispatchGroup?

    /// How long a server may take to cancel a command, and how often is asked whether it has to.
    private static let cancelLimit = Duration.seconds(5)
    private static let slice = Duration.milliseconds(10)

    /// - Parameters:
    ///   - limit: How long nothing may come.
    ///   - isCancellable: Whether a cancellation of the task cancels the running command.
    init(_ limit: Duration, isCancellable: Bool = false) {
        self.limit = limit
        self.isCancellable = isCancellable
        deadline = .now + limit
    }

    /// Whether the running command was cancelled.
    var hasCancelled: Bool { cancelling != nil }

    var isOver: Bool { deadline <= .now }

    /// How long to wait now, in milliseconds.
    var nextWait: Int32 {
        let rest = max(deadline - .now, .milliseconds(1))
        return (isCancellable && !hasCancelled ? min(rest, Self.slice) : rest).milliseconds
    }

    func restart() { if !hasCancelled { deadline = .now + limit } }

    /// Cancels the running command of a connection if its task was cancelled.
    func didWait(for connection: OpaquePointer?) {
        guard isCancellable, !hasCancelled, CallCancellation.isRequested, let cancel = PQgetCancel(connection) else { return }
        let group = DispatchGroup()
        let address = UInt(bitPattern: cancel)
        // libpq waits without a limit for the server to have got it.
        DispatchQueue.global(qos: .userInitiated).async(group: group) {
            var message = [CChar](repeating: 0, count: 256)
            let cancel = OpaquePointer(bitPattern: address)
            PQcancel(cancel, &message, Int32(message.count))
            PQfreeCancel(cancel)
        }
        cancelling = group
        deadline = .now + min(limit, Self.cancelLimit)
    }

    /// Waits until the server has got a cancellation; false when it does not.
    func endCancelling() -> Bool { cancelling?.wait(timeout: .now() + .seconds(1)) != .timedOut }
}
