import DAOTransport
import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A client on libcurl.
///
/// It has the stages, the limits, the rules for redirects and the errors of `URLSessionClient`, and no answer of
/// a server ends the process. Use it on Linux, where Foundation's own client ends the process on some answers.
///
/// ```swift
/// let client = CurlClient(
///     baseURL: server,
///     adapters: [HeaderRequestAdapter { ["Authorization": "Bearer \(await session.token)"] }]
/// )
/// let books = try await client.request(BookListEndpoint())
/// ```
///
/// The requests of a client share its connections and its cookies, over HTTP/1.1 or HTTP/2. One thread serves
/// all of them; it ends when the client is released. An answer that breaks off, at any byte, is a `URLError`
/// whose `isConnectionFailure` is true. A body without a length, over HTTP/1.1 and not in chunks, ends with its
/// connection: what is missing of it only the mapping can tell.
///
/// A request that is not idempotent (POST, PATCH) is never sent twice, unless a redirect asks for it.
public final class CurlClient: Client {
    private let loop: CurlLoop
    private let stages: RequestStages

    /// Creates a client for endpoints with URLs relative to a base, or with absolute URLs when there is no
    /// base.
    ///
    /// - Parameters:
    ///   - baseURL: the base of relative URLs; see `BaseRequestAdapter`.
    ///   - adapters: change every request, in this order, after the base URL has been applied.
    ///   - configuration: headers, timeout, proxy, trust and connections.
    ///   - limits: what the client accepts from a server: the sizes of headers and body, redirects, time.
    ///   - responseObserver: called once for every request that was sent, before the caller receives the
    ///     result, on no particular thread.
    public init(
        baseURL: URL? = nil,
        adapters: [any RequestAdapter] = [],
        configuration: CurlConfiguration = CurlConfiguration(),
        limits: TransferLimits = TransferLimits(),
        responseObserver: (@Sendable (HTTPExchange) -> Void)? = nil
    ) {
        stages = RequestStages(
            baseURL: baseURL, adapters: adapters, headers: configuration.headers, limits: limits,
            responseObserver: responseObserver)
        loop = CurlLoop(configuration)
    }

    deinit {
        loop.close()
    }

    /// Sends an endpoint's request and returns its content. See `Client.request(_:progress:)`.
    ///
    /// - Throws: `TransferError` too, for a response that exceeds the limits.
    public func request<Request: Endpoint>(_ endpoint: Request, progress: Progress?) async throws -> Request.Content {
        try await stages.request(endpoint, progress, through: self)
    }

    /// Sends an upload and returns the content of its response. See `Client.upload(_:progress:)`.
    ///
    /// A stream is read on a thread of its own, as fast as the server takes it, and at most 256 KiB ahead.
    ///
    /// - Throws: the errors of a request, and `CocoaError(.fileReadNoSuchFile)` for a file that does not
    ///   exist. In the latter case nothing is sent.
    public func upload<Request: UploadEndpoint>(_ endpoint: Request, progress: Progress?) async throws -> Request.Content {
        try await stages.upload(endpoint, progress, through: self)
    }
}

extension CurlClient: RequestSender {
    package func send(
        _ sent: RedirectableRequest,
        limits: TransferLimits,
        before end: DispatchTime,
        progress: Progress?,
        counting counted: Transfer.Counted
    ) async -> Transfer.Outcome {
        guard let url = sent.request.url, canSend(to: url) else { return (Data(), nil, URLError(.badURL)) }
        let transfer = Transfer(sent.request, limits: limits, progress: progress, counting: counted)
        return await transfer.outcome(before: end) { [loop] in
            CurlTask(sent, url: url, headerLimit: limits.maximumHeaderSize, transfer: transfer, loop: loop)
        }
    }

    package func canSend(to url: URL) -> Bool { isUnderstoodAlike(url) }
}
