import DAOTransport
import Foundation

/// Gives the stored result first, then the fresh one: up to two emissions.
///
/// The stored node is asked first, and the network only after it has answered, so that the order is certain and the stored
/// result is never one the same request has just written. A stored node that fails, or gives nothing usable, is passed over
/// in silence. An error of the network is emitted also after a stored result.
///
/// ```swift
/// let dialogs = FirstCacheNode(stored: read, network: sync, isUsable: { !$0.isEmpty })
/// for try await page in dialogs.values() { show(page) }
/// ```
///
/// Its observer keeps both until somebody listens. `value(for:)` gives the first of the two.
public struct FirstCacheNode<Input: Sendable, Output: Sendable>: Node {
    private let stored: any Node<Input, Output>
    private let network: any Node<Input, Output>
    private let isUsable: @Sendable (Output) -> Bool

    /// A node over a stored and a network node.
    ///
    /// - Parameter isUsable: whether a stored result is worth emitting; an empty list, say, may mean that nothing is stored.
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
            network.process(input).forward(to: result)
        }
        return result
    }
}

/// Gives the stored result when the network cannot be reached.
///
/// Only errors of the connection are answered from the store; a server that refuses, or answers nonsense, is heard. When the
/// store has nothing either, the network's error is the result.
///
/// ```swift
/// let dialogs = FallbackToStoreNode(network: sync, stored: read)
/// ```
public struct FallbackToStoreNode<Input: Sendable, Output: Sendable>: Node {
    private let network: any Node<Input, Output>
    private let stored: any Node<Input, Output>
    private let fallsBack: @Sendable (any Error) -> Bool
    private let isUsable: @Sendable (Output) -> Bool

    /// A node over a network and a stored node.
    ///
    /// - Parameters:
    ///   - fallsBack: whether an error is to be answered from the store; unless said, a `TechnicalError` is, and a `URLError`
    ///     that is a connection failure. Give one that knows them when the network node maps its errors to others.
    ///   - isUsable: whether a stored result is worth giving.
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

    /// Asks the network, and if need be the store.
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

/// Asks the network only when the stored result is older than a given time.
///
/// A stored result of unknown date, of a date in the future, or none at all counts as too old. The network's answer, error
/// included, is then the result; put a ``FallbackToStoreNode`` in its place to fall back to the old one.
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

    /// A node over a stored and a network node.
    ///
    /// - Parameters:
    ///   - lifetime: how long a stored result stands in for a fresh one; at exactly this age it still does.
    ///   - now: tells the time.
    ///   - storedAt: when a stored result was fetched; nil when that is not known.
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

    /// Asks the store, and if need be the network.
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

/// Remembers when results were fetched, for as long as the process runs: dates for a ``StaleAfterNode`` whose results carry none.
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

    /// No dates yet.
    public init(now: @escaping @Sendable () -> Date = { Date() }) {
        self.now = now
    }

    /// When the result for an input was last fetched.
    public func date(for input: Input) -> Date? {
        dates.withLock { $0[input] }
    }

    /// Forgets when the result for an input was fetched, so that it counts as too old.
    public func forget(_ input: Input) {
        dates.withLock { $0[input] = nil }
    }

    /// The same node, with the date of every success remembered.
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
    /// Hands over the first outcome, or that there is none, once. Cancellation goes both ways between this observer and the
    /// result the outcome is for.
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
