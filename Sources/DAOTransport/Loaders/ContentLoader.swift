/// Holds loaded content and the state of its loading, and tells who wants to know.
///
/// It lives on the main actor, as what shows it does. It may be subclassed to say what `load()` means; nothing has to be
/// overridden.
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

    /// Observations of other loaders, kept as long as this one lives.
    public final var observations: [LoaderObservation] = []

    /// Where the loading stands. Observers are told of every new state.
    public final private(set) var state: LoadingState<Content> = .initial {
        didSet {
            for observer in observers.withLock({ $0.handlers }) { observer.notify() }
        }
    }

    /// A loader with nothing loaded.
    public init() {}

    /// Calls a closure after every change of the state, in the order of registration, until the observation ends.
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

    /// The current state, then every new one. A slow consumer may miss states in between, never the last.
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

    /// Goes to `.loading`, with what there is as the cache.
    ///
    /// - Returns: whether loading may start; false, and nobody is told, while it is under way already.
    @discardableResult
    public final func startLoading() -> Bool {
        guard !state.isLoading else { return false }
        state = .loading(cache: state.content)
        return true
    }

    /// Goes to `.success`, or to `.failure` with what there is as the cache.
    public final func finishLoading(_ result: Result<Content, any Error>) {
        switch result {
        case .success(let content): state = .success(content: content)
        case .failure(let error): state = .failure(error: error, cache: state.content)
        }
    }
}

extension ContentLoader where Content: Equatable {
    /// Goes to a state, and tells nobody when it is the present one.
    public final func update(_ state: LoadingState<Content>) {
        guard self.state != state else { return }
        self.state = state
    }
}
