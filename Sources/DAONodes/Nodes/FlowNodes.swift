import DAOTransport
import Dispatch

/// Maps the errors of the next node to other errors.
///
/// ```swift
/// let reader = ErrorMapperNode(next: UserReaderNode()) { error in
///     (error as NSError).code == 100 ? ReadError.notFound : ReadError.undefined
/// }
/// ```
public struct ErrorMapperNode<Input: Sendable, Output: Sendable>: Node {
    private let next: any Node<Input, Output>
    private let transform: @Sendable (any Error) -> any Error

    /// Creates a node that maps the errors of the next node.
    public init(next: any Node<Input, Output>, _ transform: @escaping @Sendable (any Error) -> any Error) {
        self.next = next
        self.transform = transform
    }

    /// Calls the next node. A cancellation is not an error and is not mapped.
    public func process(_ input: Input) -> Observer<Output> {
        next.process(input).mapError(transform)
    }
}

/// Runs the next node on a queue, so that the caller is never blocked. Listeners run on the same queue or on
/// another queue.
///
/// ```swift
/// let chain = DispatcherNode(next: reader, on: .global(qos: .userInitiated), deliveringOn: .main)
/// ```
public struct DispatcherNode<Input: Sendable, Output: Sendable>: Node {
    private let next: any Node<Input, Output>
    private let queue: DispatchQueue
    private let deliveryQueue: DispatchQueue

    /// Creates a node that runs the next node on a queue.
    ///
    /// - Parameters:
    ///   - next: the node that runs on the queue.
    ///   - queue: the queue of its work.
    ///   - deliveryQueue: the queue of the listeners; the same queue by default.
    public init(next: any Node<Input, Output>, on queue: DispatchQueue, deliveringOn deliveryQueue: DispatchQueue? = nil) {
        self.next = next
        self.queue = queue
        self.deliveryQueue = deliveryQueue ?? queue
    }

    /// Calls the next node on the queue. When the result is cancelled before that, the next node is not
    /// called.
    public func process(_ input: Input) -> Observer<Output> {
        let result = AsyncContext<Output>().on(deliveryQueue)
        // The input is passed to the other thread under a lock, like all state in this module.
        let input = Locked(input)
        let log = ChainLog.current
        queue.async { [next] in
            guard !result.isCancelled else { return }
            ChainLog.$current.withValue(log) { next.process(input.withLock { $0 }) }.forward(to: result)
        }
        return result
    }
}

/// The usual top of a chain. The work begins on a global queue, and listeners are called on the main queue.
///
/// It is a ``DispatcherNode`` with these queues as defaults.
public struct ChainConfiguratorNode<Input: Sendable, Output: Sendable>: Node {
    private let next: any Node<Input, Output>
    private let beginQueue: DispatchQueue
    private let endQueue: DispatchQueue

    /// A node above a chain.
    ///
    /// - Parameters:
    ///   - next: the chain.
    ///   - beginQueue: the queue that calls the next node.
    ///   - endQueue: the queue of the listeners.
    public init(
        next: any Node<Input, Output>,
        beginQueue: DispatchQueue = .global(qos: .userInitiated),
        endQueue: DispatchQueue = .main
    ) {
        self.next = next
        self.beginQueue = beginQueue
        self.endQueue = endQueue
    }

    /// Calls the next node on the first queue and delivers outcomes on the second.
    public func process(_ input: Input) -> Observer<Output> {
        DispatcherNode(next: next, on: beginQueue, deliveringOn: endQueue).process(input)
    }
}

/// Work that can be stopped from outside, such as a transfer.
public protocol Aborter: Sendable {
    /// Stops the work. Called once for every observer that is cancelled before its work is done.
    func cancel()
}

/// Stops external work when the result is cancelled.
///
/// Nodes of this module stop when their observer is cancelled. Use this node for work that has no observer.
public struct AborterNode<Input: Sendable, Output: Sendable>: Node {
    private let next: any Node<Input, Output>
    private let aborter: any Aborter

    /// Creates a node above a node whose work the aborter stops.
    public init(next: any Node<Input, Output>, aborter: any Aborter) {
        self.next = next
        self.aborter = aborter
    }

    /// Calls the next node. Calls the aborter once when the result, or the observer of the next node, is
    /// cancelled before the next node has finished.
    public func process(_ input: Input) -> Observer<Output> {
        let result = Context<Output>()
        result.link { [aborter] in aborter.cancel() }
        next.process(input).forward(to: result)
        return result
    }
}
