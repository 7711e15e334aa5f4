import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A request and its result, for the client's observer.
public struct HTTPExchange: Sendable {
    /// The request as it was sent.
    public let request: URLRequest
    /// The response; nil when no response arrived.
    public let response: HTTPURLResponse?
    /// The body of the response.
    public let data: Data
    /// The error that the caller receives, from any stage; nil when the caller receives content.
    public let error: (any Error)?
}

/// A client on Foundation's URL loading system.
///
/// Every request has the same stages: the endpoint makes it, the adapters change it in order, the client
/// sends it, a transport error ends it, the endpoint validates the response, the endpoint makes the content,
/// the observer is called with the result, and the caller receives the content or the error. When the
/// endpoint or an adapter throws, nothing is sent and the observer is not called.
///
/// ```swift
/// let client = URLSessionClient(
///     baseURL: server,
///     adapters: [HeaderRequestAdapter { ["Authorization": "Bearer \(await session.token)"] }],
///     responseObserver: { exchange in
///         if (exchange.error as? APIError)?.code == .tokenInvalid { session.expire() }
///     }
/// )
/// let books = try await client.request(BookListEndpoint())
/// ```
public final class URLSessionClient: Client {
    private let session: URLSession
    private let transfers: TransferDelegate
    private let adapters: [any RequestAdapter]
    private let responseObserver: (@Sendable (HTTPExchange) -> Void)?

    /// Creates a client for endpoints with URLs relative to a base, or with absolute URLs when there is no
    /// base.
    ///
    /// - Parameters:
    ///   - baseURL: the base of relative URLs; see ``BaseRequestAdapter``.
    ///   - adapters: change every request, in this order, after the base URL has been applied.
    ///   - configuration: the configuration of the URL session. On Linux its cache is not used.
    ///   - responseObserver: called once for every request that was sent, before the caller receives the
    ///     result, on no particular thread.
    public init(
        baseURL: URL? = nil,
        adapters: [any RequestAdapter] = [],
        configuration: URLSessionConfiguration = .default,
        responseObserver: (@Sendable (HTTPExchange) -> Void)? = nil
    ) {
        let base: [any RequestAdapter] = baseURL.map { [BaseRequestAdapter(baseURL: $0)] } ?? []
        self.adapters = base + adapters
        self.responseObserver = responseObserver
        transfers = TransferDelegate()
        session = URLSession(configuration: Self.safe(configuration), delegate: transfers, delegateQueue: nil)
    }

    /// The configuration without the settings that can crash the process.
    private static func safe(_ configuration: URLSessionConfiguration) -> URLSessionConfiguration {
        #if canImport(FoundationNetworking)
            // With a cache, Foundation searches it in the background before a request starts. A request that
            // is cancelled in the meantime can fail after it has left the session's registry, which is a
            // fatal error in Foundation.
            guard let copy = configuration.copy() as? URLSessionConfiguration else { return configuration }
            copy.urlCache = nil
            return copy
        #else
            return configuration
        #endif
    }

    deinit {
        session.finishTasksAndInvalidate()
    }

    /// Sends an endpoint's request and returns its content. See ``Client/request(_:progress:)``.
    public func request<Request: Endpoint>(_ endpoint: Request, progress: Progress?) async throws -> Request.Content {
        try Task.checkCancellation()
        let request = try await adapted(endpoint.makeRequest())
        let transfer = Transfer(session.dataTask(with: request), progress: progress, counting: .received)
        return try await content(of: endpoint, request: request, transfer)
    }

    /// Sends an upload and returns the content of its response. See ``Client/upload(_:progress:)``.
    ///
    /// - Throws: the errors of a request, and `CocoaError(.fileReadNoSuchFile)` for a file that does not
    ///   exist. In the latter case nothing is sent.
    public func upload<Request: UploadEndpoint>(_ endpoint: Request, progress: Progress?) async throws -> Request.Content {
        try Task.checkCancellation()
        let (made, body) = try endpoint.makeRequest()
        var request = try await adapted(made)
        let task: URLSessionTask
        switch body {
        case .data(let data):
            task = session.uploadTask(with: request, from: data)
        case .file(let url):
            guard FileManager.default.isReadableFile(atPath: url.path) else { throw CocoaError(.fileReadNoSuchFile) }
            task = session.uploadTask(with: request, fromFile: url)
        case .stream(let makeStream):
            request.httpBodyStream = makeStream()
            task = session.dataTask(with: request)
        }
        return try await content(of: endpoint, request: request, Transfer(task, progress: progress, counting: .sent))
    }

    private func adapted(_ request: URLRequest) async throws -> URLRequest {
        var request = request
        for adapter in adapters { request = try await adapter.adapt(request) }
        return request
    }

    private func content<Reading: ResponseReading>(
        of reading: Reading,
        request: URLRequest,
        _ transfer: Transfer
    ) async throws -> Reading.Content {
        let (data, response, transportError) = await transfers.run(transfer)
        let http = response as? HTTPURLResponse
        do {
            if let transportError { throw transportError }
            if let http { try reading.validate(request, response: http, data: data) }
            let content = try reading.content(from: response, with: data)
            responseObserver?(HTTPExchange(request: request, response: http, data: data, error: nil))
            return content
        } catch {
            responseObserver?(HTTPExchange(request: request, response: http, data: data, error: error))
            throw error
        }
    }
}
