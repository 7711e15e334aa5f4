/// Holds loaded content and its loading state, and notifies observers.
///
/// It is isolated to the main actor, like the views that show the content. A subclass adds `load()`; no
/// method has to be overridden.
///
/// ```swift
/// final class GreetingLoader: ContentLoader<String> {
///     func load() async {
///         guard startLoading() else { return }
///         finishLoading(.success("Hello"))
///     }
/// }
/// ```
@MainActor
open class ContentLoader<Content: Sendable> {
    private let observers = Locked<(next: Int, handlers: [(id: Int, notify: @MainActor @Sendable () -> Void)])>((0, []))

    /// Observations of other loaders, kept for the lifetime of this loader.
    public final var observations: [LoaderObservation] = []

    /// The current state. Observers are notified of every new state.
    public final private(set) var state: LoadingState<Content> = .initial {
        didSet {
            for (id, notify) in observers.withLock({ $0.handlers }) {
                // One observer can end the observation of another.
                let isObserving = observers.withLock { $0.handlers.contains { $0.id == id } }
                if isObserving { notify() }
            }
        }
    }

    /// Creates a loader without content.
    public init() {}

    /// Calls a closure after every change of the state until the observation ends. Closures are called in the
    /// order of registration.
    public final func observe(_ changeHandler: @escaping @MainActor @Sendable () -> Void) -> LoaderObservation {
        let id = observers.withLock { observers in
            observers.next += 1
            observers.handlers.append((observers.next, changeHandler))
            return observers.next
        }
        return LoaderObservation { [observers] in
            observers.withLock { $0.handlers.removeAll { $0.id == id } }
        }
    }

    /// The current state, then every new state. A slow consumer can miss intermediate states, never the last.
    public final var states: AsyncStream<LoadingState<Content>> {
        let (stream, continuation) = AsyncStream.makeStream(of: LoadingState<Content>.self, bufferingPolicy: .bufferingNewest(1))
        continuation.yield(state)
        let observation = observe { [weak self] in
            guard let self else { return }
            continuation.yield(self.state)
        }
        continuation.onTermination = { _ in observation.cancel() }
        return stream
    }

    /// Sets the state to `.loading`, with the current content as the cache.
    ///
    /// - Returns: whether loading can start. It is false while loading is in progress; observers are not
    ///   notified then.
    @discardableResult
    public final func startLoading() -> Bool {
        guard !state.isLoading else { return false }
        state = .loading(cache: state.content)
        return true
    }

    /// Sets the state to `.success`, or to `.failure` with the current content as the cache.
    public final func finishLoading(_ result: Result<Content, any Error>) {
        switch result {
        case .success(let content): state = .success(content: content)
        case .failure(let error): state = .failure(error: error, cache: state.content)
        }
    }
}

extension ContentLoader where Content: Equatable {
    /// Sets the state. Observers are not notified when it equals the current state.
    public final func update(_ state: LoadingState<Content>) {
        guard self.state != state else { return }
        self.state = state
    }
}
