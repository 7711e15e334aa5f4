/// Loads content from a server. A subclass adds `load()`; no method has to be overridden.
///
/// ```swift
/// final class BookListLoader: WebLoader<[Book]> {
///     func load() {
///         guard startLoading() else { return }
///         request(BookListEndpoint())
///     }
/// }
/// ```
///
/// The request is cancelled when the loader is released.
@MainActor
open class WebLoader<Content: Sendable>: ContentLoader<Content> {
    private let client: any Client
    private var task: Task<Void, Never>?

    /// Creates a loader on a client.
    public init(client: any Client) {
        self.client = client
    }

    deinit {
        task?.cancel()
    }

    /// Requests the content and finishes loading with it. Call ``ContentLoader/startLoading()`` first.
    public final func request<Request: Endpoint>(_ endpoint: Request) where Request.Content == Content {
        request(endpoint) { $0 }
    }

    /// Requests a value, transforms it into the content and finishes loading with it. Call
    /// ``ContentLoader/startLoading()`` first. A request that is still in progress is cancelled.
    public final func request<Request: Endpoint>(
        _ endpoint: Request,
        transform: @escaping @Sendable (Request.Content) throws -> Content
    ) {
        task?.cancel()
        task = Task { [client, weak self] in
            let result: Result<Content, any Error>
            do {
                result = .success(try transform(try await client.request(endpoint)))
            } catch {
                result = .failure(error)
            }
            guard !Task.isCancelled else { return }
            self?.finishLoading(result)
        }
    }
}
