/// The state of loading content.
///
/// Content that was loaded before stays available while it is loaded again, and after that load failed.
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
    /// No content has been loaded, and no load is in progress.
    case initial
    /// A load is in progress. The cache is the content that was loaded before.
    case loading(cache: Content?)
    /// The content has been loaded.
    case success(content: Content)
    /// The load failed. The cache is the content that was loaded before.
    case failure(error: any Error, cache: Content?)
}

extension LoadingState: Sendable where Content: Sendable {}

extension LoadingState {
    /// The content to show: the loaded content or the cache.
    public var content: Content? {
        switch self {
        case .initial: nil
        case .loading(let cache): cache
        case .success(let content): content
        case .failure(_, let cache): cache
        }
    }

    /// Whether a load is in progress.
    public var isLoading: Bool {
        guard case .loading = self else { return false }
        return true
    }

    /// The error of a failed load; nil in every other state.
    public var error: (any Error)? {
        guard case .failure(let error, _) = self else { return nil }
        return error
    }

    /// The combined state of two contents that are shown together.
    ///
    /// Loading takes precedence over failure, failure over initial, and initial over success. Of two failures
    /// the first error is used. The result has content, or a cache, only when both states have it.
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
    /// Whether both states are the same case with equal contents. The errors of two failures are not
    /// compared.
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
