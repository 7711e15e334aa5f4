import DAOTransport

/// Counts running loads, for a view that shows them.
public final class LoadIndicator: Sendable {
    private struct State {
        var count = 0
        /// The numbers that `onChange` has not been called with.
        var pending: [Int] = []
        var isReporting = false
    }

    private let state = Locked(State())
    private let onChange: @Sendable (Int) -> Void

    /// Creates an indicator with no running loads.
    ///
    /// - Parameter onChange: called with the number of running loads after each load begins or ends, once at a time and
    ///   in this order: on the thread where it happens, or on the one that is still in an earlier call.
    public init(onChange: @escaping @Sendable (Int) -> Void = { _ in }) {
        self.onChange = onChange
    }

    /// The number of running loads.
    public var inFlight: Int {
        state.withLock { $0.count }
    }

    func add(_ change: Int) {
        let reports = state.withLock { state in
            state.count += change
            state.pending.append(state.count)
            defer { state.isReporting = true }
            return !state.isReporting
        }
        guard reports else { return }
        while let count = nextReport() { onChange(count) }
    }

    private func nextReport() -> Int? {
        state.withLock { state in
            guard !state.pending.isEmpty else {
                state.isReporting = false
                return nil
            }
            return state.pending.removeFirst()
        }
    }
}

/// Counts the work of the next node as a load, from its call until its first outcome, its end or its
/// cancellation.
public struct LoadIndicatableNode<Input: Sendable, Output: Sendable>: Node {
    private let next: any Node<Input, Output>
    private let indicator: LoadIndicator

    /// Creates a node above a node whose work is counted.
    public init(next: any Node<Input, Output>, indicator: LoadIndicator) {
        self.next = next
        self.indicator = indicator
    }

    /// Calls the next node.
    public func process(_ input: Input) -> Observer<Output> {
        indicator.add(1)
        let isOver = Locked(false)
        let result = Context<Output>()
        next.process(input).listen(for: result) { [indicator] event in
            let isFirst = isOver.withLock { isOver in
                defer { isOver = true }
                return !isOver
            }
            if isFirst { indicator.add(-1) }
            result.receive(event)
        }
        return result
    }
}
