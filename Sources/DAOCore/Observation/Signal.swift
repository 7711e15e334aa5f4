/// Wakes a waiting task. Signals that are raised while no task waits are stored as one signal.
final class Signal: Sendable {
    private enum State {
        case idle
        case raised
        case waiting(CheckedContinuation<Void, Never>)
    }

    private let state = Lock(State.idle)

    /// Wakes the waiting task, or lets the next waiting task continue immediately.
    func raise() {
        let continuation = state.withLock { state -> CheckedContinuation<Void, Never>? in
            if case .waiting(let continuation) = state {
                state = .idle
                return continuation
            }
            state = .raised
            return nil
        }
        continuation?.resume()
    }

    /// Waits until the signal is raised or the task is cancelled. Only one task can wait at a time.
    func wait() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let passes = state.withLock { state -> Bool in
                    if case .raised = state {
                        state = .idle
                        return true
                    }
                    if Task.isCancelled { return true }
                    state = .waiting(continuation)
                    return false
                }
                if passes { continuation.resume() }
            }
        } onCancel: {
            raise()
        }
    }
}
