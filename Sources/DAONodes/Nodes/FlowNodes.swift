import DAOTransport
import Dispatch

/// Makes other errors of the errors of the node below.
///
/// ```swift
/// let reader = ErrorMapperNode(next: UserReaderNode()) { error in
///     (error as NSError).code == 100 ? ReadError.notFound : ReadError.undefined
/// }
/// ```
public struct ErrorMapperNode<Input: Sendable, Output: Sendable>: Node {
    private let next: any Node<Input, Output>
    private let transform: @Sendable (any Error) -> any Error

    /// A node above one whose errors it maps.
    public init(next: any Node<Input, Output>, _ transform: @escaping @Sendable (any Error) -> any Error) {
        self.next = next
        self.transform = transform
    }

    /// Asks the next node. A cancellation is no error and is not mapped.
    public func process(_ input: Input) -> Observer<Output> {
        next.process(input).mapError(transform)
    }
}

/// Runs the node below on a queue, so that the caller is never blocked, and its listeners on the same or another queue.
///
/// ```swift
/// let chain = DispatcherNode(next: reader, on: .global(qos: .userInitiated), answeringOn: .main)
/// ```
public struct DispatcherNode<Input: Sendable, Output: Sendable>: Node {
    private let next: any Node<Input, Output>
    private let queue: DispatchQueue
    private let answerQueue: DispatchQueue

    /// A node above one to be run on a queue.
    ///
    /// - Parameter answerQueue: where listeners run; the same queue unless said.
    public init(next: any Node<Input, Output>, on queue: DispatchQueue, answeringOn answerQueue: DispatchQueue? = nil) {
        self.next = next
        self.queue = queue
        self.answerQueue = answerQueue ?? queue
    }

    /// Asks the next node on the queue. When the result is cancelled before that, the next node is not asked.
    public func process(_ input: Input) -> Observer<Output> {
        let result = AsyncContext<Output>().on(answerQueue)
        // The input changes threads under the lock of a box, as everything else here does.
        let input = Locked(input)
        let log = ChainLog.current
        queue.async { [next] in
            guard !result.isCancelled else { return }
            ChainLog.$current.withValue(log) { next.process(input.withLock { $0 }) }.forward(to: result)
        }
        return result
    }
}

/// The usual top of a chain: the work begins on a global queue, and listeners are called on the main queue.
///
/// It is a ``DispatcherNode`` with these queues for defaults.
public struct ChainConfiguratorNode<Input: Sendable, Output: Sendable>: Node {
    private let next: any Node<Input, Output>
    private let beginQueue: DispatchQueue
    private let endQueue: DispatchQueue

    /// A node above a chain.
    ///
    /// - Parameters:
    ///   - beginQueue: where the next node is asked.
    ///   - endQueue: where listeners run.
    public init(
        next: any Node<Input, Output>,
        beginQueue: DispatchQueue = .global(qos: .userInitiated),
        endQueue: DispatchQueue = .main
    ) {
        self.next = next
        self.beginQueue = beginQueue
        self.endQueue = endQueue
    }

    /// Asks the next node on the first queue and answers on the second.
    public func process(_ input: Input) -> Observer<Output> {
        DispatcherNode(next: next, on: beginQueue, answeringOn: endQueue).process(input)
    }
}

/// Something that can be stopped from outside, such as a transfer.
public protocol Aborter: Sendable {
    /// Stops the work. Called once for every observer that is cancelled before its work is done.
    func cancel()
}

/// Stops foreign work when the result is cancelled.
///
/// Nodes of this module stop by themselves when their observer is cancelled; this one is for work that an observer does not
/// know of.
public struct AborterNode<Input: Sendable, Output: Sendable>: Node {
    private let next: any Node<Input, Output>
    private let aborter: any Aborter

    /// A node above one whose work the aborter stops.
    public init(next: any Node<Input, Output>, aborter: any Aborter) {
        self.next = next
        self.aborter = aborter
    }

    /// Asks the next node, and the aborter once when the result, or the next node's, is cancelled before the next node has finished.
    public func process(_ input: Input) -> Observer<Output> {
        let result = Context<Output>()
        result.link { [aborter] in aborter.cancel() }
        next.process(input).forward(to: result)
        return result
    }
}
