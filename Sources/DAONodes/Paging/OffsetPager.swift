import DAOTransport

/// What a pager asks for.
public struct PageRequest: Sendable, Hashable {
    /// How many elements come before the page.
    public let index: Int
    /// How many elements the page may have.
    public let size: Int

    /// A request for a page.
    public init(index: Int, size: Int) {
        self.index = index
        self.size = size
    }
}

/// One page: its value, and how many elements that is.
public struct OffsetPage<Value: Sendable>: Sendable {
    /// What the page holds.
    public let value: Value
    /// The number of its elements.
    public let count: Int

    /// A page.
    public init(_ value: Value, count: Int) {
        self.value = value
        self.count = count
    }
}

extension OffsetPage: Equatable where Value: Equatable {}

extension OffsetPage where Value: Collection {
    /// A page of all the elements of a collection.
    public init(_ value: Value) {
        self.init(value, count: value.count)
    }
}

/// Why a pager gave no page.
public enum PagingError: Error, Sendable, Hashable {
    /// The pager has nobody to ask; see ``OffsetPager/setProvider(_:)``.
    case dataProviderNotSet
    /// The page before has not arrived yet.
    case pageUnderWay
}

/// Reads something page by page.
///
/// ```swift
/// let pager = OffsetPager<[Dialog]>(provider: dialogsPage, pageSize: 20)     // any Node<PageRequest, OffsetPage<[Dialog]>>
/// pager.onEnd { hideSpinner() }
/// let first = try await pager.next().value
/// let second = try await pager.next().value
/// ```
///
/// Every page moves the pager on by the elements it has. A page with fewer elements than asked for, or none, is the end. Asking on after
/// the end asks again from there, in case something was added. A page that fails moves nothing.
///
/// May be used from any thread; one page at a time is asked for.
public final class OffsetPager<Value: Sendable>: Sendable {
    private struct Position {
        var index: Int
        var isAtEnd = false
    }

    private struct State {
        var provider: (any Node<PageRequest, OffsetPage<Value>>)?
        var position: Position
        var saved: [Position] = []
        var onEnd: @Sendable () -> Void = {}
        /// The request under way. What it brings counts only while it is this one.
        var current: Int?
        var requests = 0
    }

    private let pageSize: Int
    private let startIndex: Int
    private let state: Locked<State>

    /// A pager at its start.
    ///
    /// - Parameters:
    ///   - provider: gives the pages; may be set later.
    ///   - pageSize: how many elements to ask for at a time; less than one counts as one.
    ///   - startIndex: where the first page begins.
    public init(provider: (any Node<PageRequest, OffsetPage<Value>>)? = nil, pageSize: Int, startIndex: Int = 0) {
        self.pageSize = max(1, pageSize)
        self.startIndex = startIndex
        state = Locked(State(provider: provider, position: Position(index: startIndex)))
    }

    /// Who gives the pages from now on.
    public func setProvider(_ provider: any Node<PageRequest, OffsetPage<Value>>) {
        state.withLock { $0.provider = provider }
    }

    /// Where the next page begins.
    public var index: Int {
        state.withLock { $0.position.index }
    }

    /// Whether the last page was the end.
    public var isAtEnd: Bool {
        state.withLock { $0.position.isAtEnd }
    }

    /// Has a closure called with every page that is the end, before the page is delivered. It replaces an earlier one.
    public func onEnd(_ listener: @escaping @Sendable () -> Void) {
        state.withLock { $0.onEnd = listener }
    }

    /// The next page.
    ///
    /// Canceling the observer cancels the request and leaves the pager where it is. The error is the provider's, or a ``PagingError``.
    public func next() -> Observer<Value> {
        let asked: Result<(Int, PageRequest, any Node<PageRequest, OffsetPage<Value>>), PagingError> = state.withLock { state in
            guard let provider = state.provider else { return .failure(.dataProviderNotSet) }
            guard state.current == nil else { return .failure(.pageUnderWay) }
            state.requests += 1
            state.current = state.requests
            return .success((state.requests, PageRequest(index: state.position.index, size: pageSize), provider))
        }
        switch asked {
        case .failure(let error): return .emit(error: error)
        case .success(let (number, request, provider)):
            let result = Context<Value>()
            provider.process(request).firstEvent(linkedTo: result) { [self] event in
                arrived(event, as: number, for: result)
            }
            return result
        }
    }

    /// Goes back to the start. A page that is under way is still delivered and no longer moves the pager.
    public func renew() {
        state.withLock { state in
            state.position = Position(index: startIndex)
            state.current = nil
        }
    }

    /// Remembers where the pager is; several places may be remembered.
    public func saveState() {
        state.withLock { $0.saved.append($0.position) }
    }

    /// Goes back to the place remembered last, and forgets it; does nothing when none is remembered. A page that is under way is still
    /// delivered and no longer moves the pager.
    public func restoreState() {
        state.withLock { state in
            guard let position = state.saved.popLast() else { return }
            state.position = position
            state.current = nil
        }
    }

    /// Forgets all remembered places.
    public func clearStates() {
        state.withLock { $0.saved = [] }
    }

    private func arrived(_ event: Event<OffsetPage<Value>>, as number: Int, for result: Context<Value>) {
        let onEnd = state.withLock { state -> (@Sendable () -> Void)? in
            guard state.current == number else { return nil }
            state.current = nil
            guard case .data(let page) = event else { return nil }
            state.position.index += max(0, page.count)
            state.position.isAtEnd = page.count < pageSize
            return state.position.isAtEnd ? state.onEnd : nil
        }
        onEnd?()
        switch event {
        case .data(let page): result.emit(data: page.value).finish()
        case .error(let error): result.emit(error: error).finish()
        case .cancelled: result.cancel()
        case .finished: result.emit(error: ObserverError.finishedWithoutValue).finish()
        }
    }
}

extension Observer {
    /// Hands over the first event, once. Cancellation of the result reaches this observer.
    fileprivate func firstEvent<Output: Sendable>(
        linkedTo result: Observer<Output>,
        _ handle: @escaping @Sendable (Event<Model>) -> Void
    ) {
        let unlink = result.link { [weak self] in self?.cancel() }
        firstEvent { event in
            unlink()
            handle(event)
        }
    }
}
