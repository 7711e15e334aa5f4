import DAOTransport

/// Shares one refresh among any number of callers. A caller that arrives during a refresh waits for it and
/// receives its token or error.
///
/// The next caller after that starts another refresh. A cancelled caller does not affect the other callers;
/// the refresh continues.
///
/// ```swift
/// let refresher = TokenRefresherNode(refresh: EndpointNode(client: client, endpoint: RefreshEndpoint()))
/// ```
public final class TokenRefresherNode<Token: Sendable>: Node {
    private struct State {
        var waiting: [Context<Token>]?
        var refreshes = 0
    }

    private let refresh: any Node<Void, Token>
    private let state = Locked(State())

    /// Creates a node that refreshes with another node.
    public init(refresh: any Node<Void, Token>) {
        self.refresh = refresh
    }

    /// Joins the running refresh, or starts a refresh.
    public func process(_ input: Void) -> Observer<Token> {
        let caller = Context<Token>()
        let isFirst = state.withLock { state in
            defer { state.waiting = (state.waiting ?? []) + [caller] }
            return state.waiting == nil
        }
        if isFirst {
            // Only the first event: later events must not reach the callers of the next refresh.
            refresh.process().firstEvent { [state] event in
                let callers = state.withLock { state in
                    defer { state.waiting = nil }
                    if case .data = event { state.refreshes += 1 }
                    return state.waiting ?? []
                }
                for caller in callers { Self.deliver(caller, event) }
            }
        }
        return caller
    }

    /// The number of refreshes that have succeeded.
    var refreshes: Int { state.withLock { $0.refreshes } }

    private static func deliver(_ caller: Context<Token>, _ event: Event<Token>) {
        switch event {
        case .data(let token): caller.emit(data: token).finish()
        case .error(let error): caller.emit(error: error).finish()
        case .cancelled: caller.cancel()
        case .finished: caller.emit(error: ObserverError.finishedWithoutValue).finish()
        }
    }
}

/// Refreshes the access after an error that requires it, and retries once.
///
/// ```swift
/// let chain = AccessSafeNode(next: dialogs, refresher: TokenRefresherNode(refresh: refresh))
/// ```
///
/// When the refresh fails, its error is the result. When the retry fails, the error of the retry is the
/// result.
///
/// An error can arrive late, for a token that another call has refreshed in the meantime. Then the call is repeated with
/// the new token, and only when that is refused too, the access is refreshed. Chains that share a token share one
/// ``TokenRefresherNode``.
public struct AccessSafeNode<Input: Sendable, Output: Sendable, Token: Sendable>: Node {
    private let next: any Node<Input, Output>
    private let refresher: TokenRefresherNode<Token>
    private let needsRefresh: @Sendable (any Error) -> Bool

    /// Creates a node above a node that needs access.
    ///
    /// - Parameters:
    ///   - next: the node that needs access.
    ///   - refresher: refreshes the access; a ``TokenRefresherNode`` when several chains share the token.
    ///   - needsRefresh: whether an error requires a refresh; by default a response with status 401 or 403 does.
    public init(
        next: any Node<Input, Output>,
        refresher: any Node<Void, Token>,
        when needsRefresh: @escaping @Sendable (any Error) -> Bool = AccessError.isRefused
    ) {
        self.next = next
        self.refresher = refresher as? TokenRefresherNode<Token> ?? TokenRefresherNode(refresh: refresher)
        self.needsRefresh = needsRefresh
    }

    /// Calls the next node, and again after a refresh if necessary.
    public func process(_ input: Input) -> Observer<Output> {
        let refreshes = refresher.refreshes
        return call(input) {
            guard refresher.refreshes == refreshes else { return call(input) { refreshed(input) } }
            return refreshed(input)
        }
    }

    private func call(_ input: Input, whenRefused: @escaping @Sendable () -> Observer<Output>) -> Observer<Output> {
        next.process(input).mapError { [needsRefresh] (error: any Error) throws -> Observer<Output> in
            guard needsRefresh(error) else { throw error }
            return whenRefused()
        }
    }

    private func refreshed(_ input: Input) -> Observer<Output> {
        refresher.process().map { [next] (_: Token) -> Observer<Output> in next.process(input) }
    }
}

/// Distinguishes refused access from other errors.
public enum AccessError {
    /// Whether an error is a response with status 401 or 403.
    @Sendable public static func isRefused(_ error: any Error) -> Bool {
        let status = (error as? HTTPError)?.statusCode ?? (error as? APIError)?.statusCode
        return status == 401 || status == 403
    }
}
