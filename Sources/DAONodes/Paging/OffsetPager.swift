import DAOTransport

/// A request for one page.
public struct PageRequest: Sendable, Hashable {
    /// The number of elements before the page.
    public let index: Int
    /// The maximum number of elements of the page.
    public let size: Int

    /// Creates a request for a page.
    public init(index: Int, size: Int) {
        self.index = index
        self.size = size
    }
}

/// A page: its value and its number of elements.
public struct OffsetPage<Value: Sendable>: Sendable {
    /// The value of the page.
    public let value: Value
    /// The number of elements of the page.
    public let count: Int

    /// Creates a page.
    public init(_ value: Value, count: Int) {
        self.value = value
        self.count = count
    }
}

extension OffsetPage: Equatable where Value: Equatable {}

extension OffsetPage where Value: Collection {
    /// Creates a page with all elements of a collection.
    public init(_ value: Value) {
        self.init(value, count: value.count)
    }
}

/// The reason why a pager returned no page.
public enum PagingError: Error, Sendable, Hashable {
    /// The pager has no provider; see ``OffsetPager/setProvider(_:)``.
    case dataProviderNotSet
    /// The previous page has not arrived yet.
    case pageUnderWay
}

/// Reads values page by page.
///
/// ```swift
/// let pager = OffsetPager<[Dialog]>(provider: dialogsPage, pageSize: 20)     // any Node<PageRequest, OffsetPage<[Dialog]>>
/// pager.onEnd { hideSpinner() }
/// let first = try await pager.next().value
/// let second = try await pager.next().value
/// ```
///
/// Every page advances the pager by its number of elements. A page with fewer elements than requested, or
/// none, is the end. A request after the end starts there again, in case elements were added. A page that
/// fails does not advance the pager.
///
/// A pager can be used from any thread. It requests one page at a time.
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
        /// The number of the running request. A page is used only if it belongs to this request.
        var current: Int?
        var requests = 0
    }

    private let pageSize: Int
    private let startIndex: Int
    private let state: Locked<State>

    /// Creates a pager at its start.
    ///
    /// - Parameters:
    ///   - provider: returns the pages; it can be set later.
    ///   - pageSize: the number of elements of a page; values below 1 count as 1.
    ///   - startIndex: the index of the first page.
    public init(provider: (any Node<PageRequest, OffsetPage<Value>>)? = nil, pageSize: Int, startIndex: Int = 0) {
        self.pageSize = max(1, pageSize)
        self.startIndex = startIndex
        state = Locked(State(provider: provider, position: Position(index: startIndex)))
    }

    /// Sets the provider of all later pages.
    public func setProvider(_ provider: any Node<PageRequest, OffsetPage<Value>>) {
        state.withLock { $0.provider = provider }
    }

    /// The index of the next page.
    public var index: Int {
        state.withLock { $0.position.index }
    }

    /// Whether the last page was the end.
    public var isAtEnd: Bool {
        state.withLock { $0.position.isAtEnd }
    }

    /// Sets the closure that is called for every page that is the end, before the page is delivered. It
    /// replaces an earlier closure.
    public func onEnd(_ listener: @escaping @Sendable () -> Void) {
        state.withLock { $0.onEnd = listener }
    }

    /// Requests the next page.
    ///
    /// Cancelling the observer cancels the request and does not move the pager; the next page can be requested at
    /// once. The error is the provider's error or a ``PagingError``.
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
            // At once: a provider on a queue hears of its cancellation later.
            result.link { [self] in state.withLock { if $0.current == number { $0.current = nil } } }
            provider.process(request).firstEvent(linkedTo: result) { [self] event in
                arrived(event, as: number, for: result)
            }
            return result
        }
    }

    /// Returns to the start. A running request still delivers its page but no longer moves the pager.
    public func renew() {
        state.withLock { state in
            state.position = Position(index: startIndex)
            state.current = nil
        }
    }

    /// Saves the position of the pager. Several positions can be saved.
    public func saveState() {
        state.withLock { $0.saved.append($0.position) }
    }

    /// Returns to the position that was saved last and removes it. Without a saved position it has no effect.
    /// A running request still delivers its page but no longer moves the pager.
    public func restoreState() {
        state.withLock { state in
            guard let position = state.saved.popLast() else { return }
            state.position = position
            state.current = nil
        }
    }

    /// Removes all saved positions.
    public func clearStates() {
        state.withLock { $0.saved = [] }
    }

    private func arrived(_ event: Event<OffsetPage<Value>>, as number: Int, for result: Context<Value>) {
        let onEnd = state.withLock { state -> (@Sendable () -> Void)? in
            guard state.current == number else { return nil }
            state.current = nil
            guard case .data(let page) = event else { return nil }
            // The number can be one that a server has sent.
            let (index, isTooLarge) = state.position.index.addingReportingOverflow(max(0, page.count))
            state.position.index = isTooLarge ? .max : index
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
    /// Calls the closure once, with the first event. Cancelling the result cancels this observer.
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
