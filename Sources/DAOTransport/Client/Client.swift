import Foundation

/// Sends the requests of endpoints. The client has all side effects; an endpoint only describes a request.
///
/// ```swift
/// let client = URLSessionClient(baseURL: server)
/// let books = try await client.request(BookListEndpoint())
/// ```
public protocol Client: Sendable {
    /// Sends an endpoint's request and returns its content.
    ///
    /// Cancelling the task, or the progress, stops the transfer and throws `CancellationError`.
    ///
    /// - Parameters:
    ///   - endpoint: the operation.
    ///   - progress: counts the bytes of the response; nil when the caller needs no progress.
    /// - Throws: the original error: a `URLError`, the error of the endpoint's validation (``APIError``,
    ///   ``HTTPError``), or the error of its content (`DecodingError`).
    func request<Request: Endpoint>(_ endpoint: Request, progress: Progress?) async throws -> Request.Content

    /// Sends an upload and returns the content of its response.
    ///
    /// - Parameters:
    ///   - endpoint: the upload.
    ///   - progress: counts the bytes sent; nil when the caller needs no progress.
    /// - Throws: as ``request(_:progress:)``.
    func upload<Request: UploadEndpoint>(_ endpoint: Request, progress: Progress?) async throws -> Request.Content
}

extension Client {
    /// Sends an endpoint's request and returns its content.
    public func request<Request: Endpoint>(_ endpoint: Request) async throws -> Request.Content {
        try await request(endpoint, progress: nil)
    }

    /// Sends an upload and returns the content of its response.
    public func upload<Request: UploadEndpoint>(_ endpoint: Request) async throws -> Request.Content {
        try await upload(endpoint, progress: nil)
    }

    /// Sends an endpoint's request from code that does not run in a task.
    ///
    /// - Parameters:
    ///   - endpoint: the operation.
    ///   - queue: the queue that the completion runs on; the main queue by default.
    ///   - completion: called exactly once, after a cancellation too.
    /// - Returns: the progress of the response; cancelling it stops the transfer.
    @discardableResult
    public func request<Request: Endpoint>(
        _ endpoint: Request,
        completionQueue queue: DispatchQueue = .main,
        completion: @escaping @Sendable (Result<Request.Content, any Error>) -> Void
    ) -> Progress {
        complete(on: queue, completion) { try await request(endpoint, progress: $0) }
    }

    /// Sends an upload from code that does not run in a task. See ``request(_:completionQueue:completion:)``.
    @discardableResult
    public func upload<Request: UploadEndpoint>(
        _ endpoint: Request,
        completionQueue queue: DispatchQueue = .main,
        completion: @escaping @Sendable (Result<Request.Content, any Error>) -> Void
    ) -> Progress {
        complete(on: queue, completion) { try await upload(endpoint, progress: $0) }
    }

    private func complete<Content: Sendable>(
        on queue: DispatchQueue,
        _ completion: @escaping @Sendable (Result<Content, any Error>) -> Void,
        _ work: @escaping @Sendable (Progress) async throws -> Content
    ) -> Progress {
        let progress = Progress(totalUnitCount: -1)
        Task {
            let result: Result<Content, any Error>
            do {
                result = .success(try await work(progress))
            } catch {
                result = .failure(error)
            }
            queue.async { completion(result) }
        }
        return progress
    }
}
