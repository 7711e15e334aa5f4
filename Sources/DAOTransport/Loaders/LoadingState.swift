/// Where the loading of something stands.
///
/// What was loaded before stays visible while it is loaded again, and after that failed.
///
/// ```swift
/// switch loader.state {
/// case .initial: showNothing()
/// case .loading(let cache): show(cache, spinner: true)
/// case .success(let content): show(content)
/// case .failure(let error, let cache): show(cache, message: "\(error)")
/// }
/// ```
public enum LoadingState<Content> {
    /// Nothing has been loaded, and nothing is being loaded.
    case initial
    /// It is being loaded. The cache is what was loaded before.
    case loading(cache: Content?)
    /// It has been loaded.
    case success(content: Content)
    /// It could not be loaded. The cache is what was loaded before.
    case failure(error: any Error, cache: Content?)
}

extension LoadingState: Sendable where Content: Sendable {}

extension LoadingState {
    /// What there is to show: the loaded content or the cache.
    public var content: Content? {
        switch self {
        case .initial: nil
        case .loading(let cache): cache
        case .success(let content): content
        case .failure(_, let cache): cache
        }
    }

    /// Whether it is being loaded.
    public var isLoading: Bool {
        guard case .loading = self else { return false }
        return true
    }

    /// Why it could not be loaded; nil in every other state.
    public var error: (any Error)? {
        guard case .failure(let error, _) = self else { return nil }
        return error
    }

    /// The state of two things that are shown together.
    ///
    /// Loading beats failure, failure beats initial, initial beats success; of two failures the first one's error counts. The
    /// result has content, or a cache, only when both sides have some.
    public func merge<Other, Merged>(
        _ other: LoadingState<Other>,
        transform: (Content, Other) -> Merged
    ) -> LoadingState<Merged> {
        var merged: Merged? {
            guard let content, let otherContent = other.content else { return nil }
            return transform(content, otherContent)
        }
        if isLoading || other.isLoading { return .loading(cache: merged) }
        if let error = error ?? other.error { return .failure(error: error, cache: merged) }
        return merged.map { .success(content: $0) } ?? .initial
    }
}

extension LoadingState: Equatable where Content: Equatable {
    /// Whether both are the same state with equal contents. The errors of two failures are not compared.
    public static func == (lhs: Self, rhs: Self) -> Bool {
        switch (lhs, rhs) {
        case (.initial, .initial): true
        case (.loading(let left), .loading(let right)): left == right
        case (.success(let left), .success(let right)): left == right
        case (.failure(_, let left), .failure(_, let right)): left == right
        default: false
        }
    }
}
