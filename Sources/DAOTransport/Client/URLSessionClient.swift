import DAORedaction
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

extension HTTPExchange: CustomStringConvertible, CustomReflectable {
    /// The method, the URL without its secrets, and the status or the error.
    public var description: String {
        let status = response.map { "status \($0.statusCode)" } ?? "no response"
        return "\(request.summary): \(error.map { "\($0)" } ?? status)"
    }

    /// The same text as ``description``.
    public var customMirror: Mirror { Mirror(self, children: ["exchange": description]) }
}

extension URLRequest {
    /// The method, and the URL without its secrets.
    package var summary: String { "\(httpMethod ?? "GET") \(redacted(url?.absoluteString ?? ""))" }
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
    /// Sends requests to the origins that the application names.
    private let session: TransferSession
    /// Sends requests to the origins that redirects name; made for the first of them.
    private let foreignSession = Locked<TransferSession?>(nil)
    private let stages: RequestStages

    /// Creates a client for endpoints with URLs relative to a base, or with absolute URLs when there is no
    /// base.
    ///
    /// - Parameters:
    ///   - baseURL: the base of relative URLs; see ``BaseRequestAdapter``.
    ///   - adapters: change every request, in this order, after the base URL has been applied. A request to
    ///     another origin than that of the base URL gets only their headers `Accept…`, `Cache-Control`, `Pragma`,
    ///     `Range` and `User-Agent`, as on redirects; what the endpoint itself made stays.
    ///   - configuration: the configuration of the URL session. On Linux its cache is not used.
    ///   - limits: what the client accepts from a server: the size of a body, redirects, time.
    ///   - responseObserver: called once for every request that was sent, before the caller receives the
    ///     result, on no particular thread.
    public init(
        baseURL: URL? = nil,
        adapters: [any RequestAdapter] = [],
        configuration: URLSessionConfiguration = .default,
        limits: TransferLimits = TransferLimits(),
        responseObserver: (@Sendable (HTTPExchange) -> Void)? = nil
    ) {
        // The request gets the configuration's headers here: a session would send them to every origin.
        let configuration = (configuration.copy() as? URLSessionConfiguration) ?? configuration
        let headers = (configuration.httpAdditionalHeaders ?? [:]).reduce(into: [String: String]()) {
            $0["\($1.key)"] = "\($1.value)"
        }
        configuration.httpAdditionalHeaders = nil
        #if canImport(FoundationNetworking)
            // With a cache, Foundation searches it in the background before a request starts. A request that
            // is cancelled in the meantime can fail after it has left the session's registry, which is a
            // fatal error in Foundation.
            configuration.urlCache = nil
        #endif
        var limits = limits
        let resource = configuration.timeoutIntervalForResource
        if resource > 0, resource < 1e9 { limits.deadline = min(limits.deadline, .seconds(resource)) }
        stages = RequestStages(
            baseURL: baseURL, adapters: adapters, headers: headers, limits: limits, responseObserver: responseObserver)
        session = TransferSession(configuration)
    }

    /// Sends an endpoint's request and returns its content. See ``Client/request(_:progress:)``.
    ///
    /// - Throws: ``TransferError`` too, for a response that exceeds the limits.
    public func request<Request: Endpoint>(_ endpoint: Request, progress: Progress?) async throws -> Request.Content {
        try await stages.request(endpoint, progress, through: self)
    }

    /// Sends an upload and returns the content of its response. See ``Client/upload(_:progress:)``.
    ///
    /// - Throws: the errors of a request, and `CocoaError(.fileReadNoSuchFile)` for a file that does not
    ///   exist. In the latter case nothing is sent.
    public func upload<Request: UploadEndpoint>(_ endpoint: Request, progress: Progress?) async throws -> Request.Content {
        try await stages.upload(endpoint, progress, through: self)
    }

    private func session(for sent: RedirectableRequest) -> TransferSession {
        guard sent.hasLeftOrigin else { return session }
        return foreignSession.withLock { foreign in
            let made = foreign ?? session.withoutCredentials()
            foreign = made
            return made
        }
    }
}

extension URLSessionClient: RequestSender {
    package func send(
        _ sent: RedirectableRequest,
        limits: TransferLimits,
        before end: DispatchTime,
        progress: Progress?,
        counting counted: Transfer.Counted
    ) async -> Transfer.Outcome {
        await session(for: sent).send(
            sent.request, body: sent.body, limits: limits, before: end, progress: progress, counting: counted)
    }
}

/// Sends a request and returns its response, a redirect included.
package protocol RequestSender: Sendable {
    func send(
        _ sent: RedirectableRequest,
        limits: TransferLimits,
        before end: DispatchTime,
        progress: Progress?,
        counting counted: Transfer.Counted
    ) async -> Transfer.Outcome

    /// Whether a request can be sent to a URL. The response stays a redirect to any other one.
    func canSend(to url: URL) -> Bool
}

extension RequestSender {
    package func canSend(to url: URL) -> Bool { true }
}

/// The stages of a request, which are the same for every client.
package struct RequestStages: Sendable {
    private let preparation: RequestPreparation
    private let limits: TransferLimits
    private let responseObserver: (@Sendable (HTTPExchange) -> Void)?

    package init(
        baseURL: URL?,
        adapters: [any RequestAdapter],
        headers: [String: String],
        limits: TransferLimits,
        responseObserver: (@Sendable (HTTPExchange) -> Void)?
    ) {
        preparation = RequestPreparation(baseURL: baseURL, adapters: adapters, headers: headers)
        self.limits = limits
        self.responseObserver = responseObserver
    }

    package func request<Request: Endpoint>(
        _ endpoint: Request,
        _ progress: Progress?,
        through sender: some RequestSender
    ) async throws -> Request.Content {
        try Task.checkCancellation()
        let request = try await preparation.prepare(endpoint.makeRequest())
        return try await content(of: endpoint, try RedirectableRequest(request, body: nil), progress, sender)
    }

    package func upload<Request: UploadEndpoint>(
        _ endpoint: Request,
        _ progress: Progress?,
        through sender: some RequestSender
    ) async throws -> Request.Content {
        try Task.checkCancellation()
        let (made, body) = try endpoint.makeRequest()
        let request = try await preparation.prepare(made)
        if case .file(let url) = body, !FileManager.default.isReadableFile(atPath: url.path) {
            throw CocoaError(.fileReadNoSuchFile)
        }
        return try await content(of: endpoint, try RedirectableRequest(request, body: body), progress, sender)
    }

    private func content<Reading: ResponseReading>(
        of reading: Reading,
        _ sent: RedirectableRequest,
        _ progress: Progress?,
        _ sender: some RequestSender
    ) async throws -> Reading.Content {
        let request = sent.request
        let (data, response, transportError) = await exchange(sent, progress, sender)
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

    /// Sends a request and follows the redirects of its response.
    private func exchange(
        _ sent: RedirectableRequest,
        _ progress: Progress?,
        _ sender: some RequestSender
    ) async -> Transfer.Outcome {
        let end = DispatchTime.now() + limits.deadline.timeInterval
        let counted: Transfer.Counted = sent.body == nil ? .received : .sent
        var sent = sent
        var redirects = 0
        while true {
            var outcome = await sender.send(sent, limits: limits, before: end, progress: progress, counting: counted)
            guard outcome.error == nil, let response = outcome.response as? HTTPURLResponse else { return outcome }
            do {
                guard try sent.follow(response), let url = sent.request.url, sender.canSend(to: url) else { return outcome }
                redirects += 1
                if redirects > limits.maximumRedirects { throw TransferError.tooManyRedirects(limit: limits.maximumRedirects) }
            } catch {
                outcome.error = error
                return outcome
            }
        }
    }
}

extension Duration {
    fileprivate var timeInterval: TimeInterval {
        let (seconds, attoseconds) = components
        return TimeInterval(seconds) + TimeInterval(attoseconds) / 1e18
    }
}
