import DAOTransport

/// Lets any number of callers share one refresh: who comes while one is under way waits for it and gets its token or error.
///
/// The next caller after that starts another one. A caller that is cancelled leaves the others alone; the refresh goes on.
///
/// ```swift
/// let refresher = TokenRefresherNode(refresh: EndpointNode(client: client, endpoint: RefreshEndpoint()))
/// ```
public final class TokenRefresherNode<Token: Sendable>: Node {
    private let refresh: any Node<Void, Token>
    private let waiting = Locked<[Context<Token>]?>(nil)

    /// A node that refreshes by means of another.
    public init(refresh: any Node<Void, Token>) {
        self.refresh = refresh
    }

    /// Joins the refresh that is under way, or starts one.
    public func process(_ input: Void) -> Observer<Token> {
        let caller = Context<Token>()
        let isFirst = waiting.withLock { waiting in
            defer { waiting = (waiting ?? []) + [caller] }
            return waiting == nil
        }
        if isFirst {
            // Only the first event: what comes after it must not answer the callers of the next refresh.
            refresh.process().firstEvent { [waiting] event in
                let callers = waiting.withLock { waiting in
                    defer { waiting = nil }
                    return waiting ?? []
                }
                for caller in callers { Self.answer(caller, event) }
            }
        }
        return caller
    }

    private static func answer(_ caller: Context<Token>, _ event: Event<Token>) {
        switch event {
        case .data(let token): caller.emit(data: token).finish()
        case .error(let error): caller.emit(error: error).finish()
        case .cancelled: caller.cancel()
        case .finished: caller.emit(error: ObserverError.finishedWithoutValue).finish()
        }
    }
}

/// Refreshes the access after an error that asks for it, and tries once more.
///
/// ```swift
/// let chain = AccessSafeNode(next: dialogs, refresher: TokenRefresherNode(refresh: refresh))
/// ```
///
/// When the refresh fails, its error is the result; when the second try fails, that error is.
public struct AccessSafeNode<Input: Sendable, Output: Sendable, Token: Sendable>: Node {
    private let next: any Node<Input, Output>
    private let refresher: any Node<Void, Token>
    private let needsRefresh: @Sendable (any Error) -> Bool

    /// A node above one that needs access.
    ///
    /// - Parameter needsRefresh: whether an error asks for a refresh; unless said, an answer with status 401 or 403 does.
    public init(
        next: any Node<Input, Output>,
        refresher: any Node<Void, Token>,
        when needsRefresh: @escaping @Sendable (any Error) -> Bool = AccessError.isRefused
    ) {
        self.next = next
        self.refresher = refresher
        self.needsRefresh = needsRefresh
    }

    /// Asks the next node, if need be twice.
    public func process(_ input: Input) -> Observer<Output> {
        next.process(input).mapError { [next, refresher, needsRefresh] (error: any Error) throws -> Observer<Output> in
            guard needsRefresh(error) else { throw error }
            return refresher.process().map { (_: Token) -> Observer<Output> in next.process(input) }
        }
    }
}

/// How refused access is told from other errors.
public enum AccessError {
    /// Whether an error is an answer with status 401 or 403.
    @Sendable public static func isRefused(_ error: any Error) -> Bool {
        let status = (error as? HTTPError)?.statusCode ?? (error as? APIError)?.statusCode
        return status == 401 || status == 403
    }
}
