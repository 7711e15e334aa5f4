import DAOTransport

/// The top of a chain that writes the entries of the nodes below, in the order of the chain, before each
/// outcome and when the work is cancelled.
///
/// ```swift
/// let logged = LoggerNode(next: chain, excluding: ["RequestCreatorNode"]) { print($0) }
/// ```
public struct LoggerNode<Input: Sendable, Output: Sendable>: Node {
    private let next: any Node<Input, Output>
    private let excluded: Set<String>
    private let write: @Sendable (ChainLog.Entry) -> Void

    /// Creates a node above a chain.
    ///
    /// - Parameters:
    ///   - next: the chain.
    ///   - excluded: the names of nodes whose entries are omitted.
    ///   - write: called for every other entry, one at a time.
    public init(
        next: any Node<Input, Output>,
        excluding excluded: Set<String> = [],
        write: @escaping @Sendable (ChainLog.Entry) -> Void
    ) {
        self.next = next
        self.excluded = excluded
        self.write = write
    }

    /// Calls the next node with a separate log for this call.
    public func process(_ input: Input) -> Observer<Output> {
        let log = ChainLog()
        let result = Context<Output>()
        ChainLog.$current.withValue(log) { next.process(input) }.listen(for: result) { [excluded, write] event in
            for entry in log.takeEntries() where !excluded.contains(entry.node) { write(entry) }
            result.receive(event)
        }
        return result
    }
}
