import DAOTransport
import Foundation

/// Emits the stored result first, then the fresh result: up to two emissions.
///
/// The stored node is called first, and the network node only after the stored node has an outcome. The order
/// is therefore certain, and the stored result is never a result that the same request has just written. A
/// stored node that fails, or returns no usable result, is skipped silently. An error of the network is
/// emitted even after a stored result. When the stored result is enough and the caller cancels, the network is not asked.
///
/// ```swift
/// let dialogs = FirstCacheNode(stored: read, network: sync, isUsable: { !$0.isEmpty })
/// for try await page in dialogs.values() { show(page) }
/// ```
///
/// The observer keeps both results until a listener subscribes. `value(for:)` returns the first of the two.
public struct FirstCacheNode<Input: Sendable, Output: Sendable>: Node {
    private let stored: any Node<Input, Output>
    private let network: any Node<Input, Output>
    private let isUsable: @Sendable (Output) -> Bool

    /// Creates a node with a stored node and a network node.
    ///
    /// - Parameters:
    ///   - stored: returns the stored result.
    ///   - network: fetches the fresh result.
    ///   - isUsable: whether a stored result is emitted. For example, an empty list can mean that nothing is
    ///     stored.
    public init(
        stored: any Node<Input, Output>,
        network: any Node<Input, Output>,
        isUsable: @escaping @Sendable (Output) -> Bool = { _ in true }
    ) {
        self.stored = stored
        self.network = network
        self.isUsable = isUsable
    }

    /// Asks the stored node, then the network.
    public func process(_ input: Input) -> Observer<Output> {
        let result = Context<Output>(keepsEveryOutcome: true)
        stored.process(input).firstOutcome(linkedTo: result) { [network, isUsable] outcome in
            if case .success(let output) = outcome, isUsable(output) { result.emit(data: output) }
            guard !result.isCancelled else { return }
            network.process(input).forward(to: result)
        }
        return result
    }
}

/// Emits the stored result when the network cannot be reached.
///
/// Only connection errors fall back to the store. Other errors, such as a refusal of the server or an invalid
/// response, are the result. When the store has no result either, the network's error is the result.
///
/// ```swift
/// let dialogs = FallbackToStoreNode(network: sync, stored: read)
/// ```
public struct FallbackToStoreNode<Input: Sendable, Output: Sendable>: Node {
    private let network: any Node<Input, Output>
    private let stored: any Node<Input, Output>
    private let fallsBack: @Sendable (any Error) -> Bool
    private let isUsable: @Sendable (Output) -> Bool

    /// Creates a node with a network node and a stored node.
    ///
    /// - Parameters:
    ///   - network: fetches the result.
    ///   - stored: returns the stored result.
    ///   - fallsBack: whether an error falls back to the store; by default a `TechnicalError` and a
    ///     `URLError` that is a connection failure do. Pass a closure when the network node maps its errors
    ///     to other errors.
    ///   - isUsable: whether a stored result can be used.
    public init(
        network: any Node<Input, Output>,
        stored: any Node<Input, Output>,
        when fallsBack: @escaping @Sendable (any Error) -> Bool = TechnicalError.isConnectionFailure,
        isUsable: @escaping @Sendable (Output) -> Bool = { _ in true }
    ) {
        self.network = network
        self.stored = stored
        self.fallsBack = fallsBack
        self.isUsable = isUsable
    }

    /// Calls the network, and the store if necessary.
    public func process(_ input: Input) -> Observer<Output> {
        network.process(input).mapError { [stored, fallsBack, isUsable] (error: any Error) throws -> Observer<Output> in
            guard fallsBack(error) else { throw error }
            let result = Context<Output>()
            stored.process(input).firstOutcome(linkedTo: result) { outcome in
                if case .success(let output) = outcome, isUsable(output) {
                    result.emit(data: output).finish()
                } else {
                    result.emit(error: error).finish()
                }
            }
            return result
        }
    }
}

/// Calls the network only when the stored result is older than a given time.
///
/// A missing stored result, or a stored result with an unknown or future date, counts as too old. The outcome
/// of the network, error included, is then the result. Pass a ``FallbackToStoreNode`` as the network node to
/// fall back to the old result.
///
/// ```swift
/// let dialogs = StaleAfterNode(stored: read, network: sync, after: .seconds(300)) { _, page in page.first?.syncedAt }
/// ```
public struct StaleAfterNode<Input: Sendable, Output: Sendable>: Node {
    private let stored: any Node<Input, Output>
    private let network: any Node<Input, Output>
    private let lifetime: Duration
    private let now: @Sendable () -> Date
    private let storedAt: @Sendable (Input, Output) throws -> Date?

    /// Creates a node with a stored node and a network node.
    ///
    /// - Parameters:
    ///   - stored: returns the stored result.
    ///   - network: fetches a fresh result.
    ///   - lifetime: the maximum age of a stored result that is used instead of a fresh result, inclusive.
    ///   - now: returns the current time.
    ///   - storedAt: the time when a stored result was fetched; nil when it is unknown.
    public init(
        stored: any Node<Input, Output>,
        network: any Node<Input, Output>,
        after lifetime: Duration,
        now: @escaping @Sendable () -> Date = { Date() },
        storedAt: @escaping @Sendable (Input, Output) throws -> Date?
    ) {
        self.stored = stored
        self.network = network
        self.lifetime = lifetime
        self.now = now
        self.storedAt = storedAt
    }

    /// Calls the store, and the network if necessary.
    public func process(_ input: Input) -> Observer<Output> {
        let result = Context<Output>()
        stored.process(input).firstOutcome(linkedTo: result) { [self] outcome in
            if case .success(let output) = outcome, isFresh(output, for: input) {
                result.emit(data: output).finish()
            } else {
                network.process(input).forward(to: result)
            }
        }
        return result
    }

    private func isFresh(_ output: Output, for input: Input) -> Bool {
        guard let date = try? storedAt(input, output) else { return false }
        let age = now().timeIntervalSince(date)
        return age >= 0 && .seconds(age) <= lifetime
    }
}

/// Records when results were fetched, until the process ends: for a ``StaleAfterNode`` whose results have no
/// date.
///
/// ```swift
/// let times = FetchTimes<String>()
/// let dialogs = StaleAfterNode(stored: read, network: times.recording(sync), after: .seconds(300)) { folder, _ in
///     times.date(for: folder)
/// }
/// ```
public final class FetchTimes<Input: Hashable & Sendable>: Sendable {
    private let dates = Locked<[Input: Date]>([:])
    private let now: @Sendable () -> Date

    /// Creates an empty record.
    public init(now: @escaping @Sendable () -> Date = { Date() }) {
        self.now = now
    }

    /// Returns the time when the result for an input was last fetched.
    public func date(for input: Input) -> Date? {
        dates.withLock { $0[input] }
    }

    /// Removes the time of an input, so that its result counts as too old.
    public func forget(_ input: Input) {
        dates.withLock { $0[input] = nil }
    }

    /// Returns the same node, which also records the time of every success.
    public func recording<Output: Sendable>(_ node: any Node<Input, Output>) -> any Node<Input, Output> {
        ClosureNode { [dates, now] input in
            node.process(input).map { (output: Output) -> Output in
                dates.withLock { $0[input] = now() }
                return output
            }
        }
    }
}

extension Observer {
    /// Calls the closure once with the first outcome, or with an error when there is none. Cancellation
    /// propagates in both directions between this observer and the result.
    func firstOutcome<Output: Sendable>(
        linkedTo result: Observer<Output>,
        _ handle: @escaping @Sendable (Result<Model, any Error>) -> Void
    ) {
        let unlink = result.link { [weak self] in self?.cancel() }
        let log = ChainLog.current
        firstEvent { event in
            unlink()
            ChainLog.$current.withValue(log) {
                switch event {
                case .data(let data): handle(.success(data))
                case .error(let error): handle(.failure(error))
                case .cancelled: result.cancel()
                case .finished: handle(.failure(ObserverError.finishedWithoutValue))
                }
            }
        }
    }
}
