import DAOTransport

/// Counts what is being loaded, for a view that says so.
public final class LoadIndicator: Sendable {
    private let count = Locked(0)
    private let onChange: @Sendable (Int) -> Void

    /// An indicator with nothing being loaded.
    ///
    /// - Parameter onChange: told how many loads were under way after each that began or ended, on the thread that did it.
    public init(onChange: @escaping @Sendable (Int) -> Void = { _ in }) {
        self.onChange = onChange
    }

    /// How many loads are under way.
    public var inFlight: Int {
        count.withLock { $0 }
    }

    func add(_ change: Int) {
        onChange(
            count.withLock { count in
                count += change
                return count
            })
    }
}

/// Counts the work of the node below as a load, from when it is asked until its first outcome, its end or its cancellation.
public struct LoadIndicatableNode<Input: Sendable, Output: Sendable>: Node {
    private let next: any Node<Input, Output>
    private let indicator: LoadIndicator

    /// A node above one whose work is counted.
    public init(next: any Node<Input, Output>, indicator: LoadIndicator) {
        self.next = next
        self.indicator = indicator
    }

    /// Asks the next node.
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
