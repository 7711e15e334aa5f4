import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Changes a request between the endpoint that made it and the server.
public protocol RequestAdapter: Sendable {
    /// The request to send instead. What this throws, the caller gets, and nothing is sent.
    func adapt(_ request: URLRequest) async throws -> URLRequest
}

/// Resolves the URLs of endpoints against a base URL.
///
/// A base without a trailing slash is taken as if it had one, so that its last component is not lost: `books` against
/// `https://host/api/v1` is `https://host/api/v1/books`. An absolute URL stays as it is; a path that starts with a slash
/// starts at the host.
public struct BaseRequestAdapter: RequestAdapter {
    /// Where relative URLs begin; its path ends in a slash.
    public let baseURL: URL

    /// An adapter for a base URL.
    public init(baseURL: URL) {
        guard !baseURL.path.isEmpty || baseURL.query != nil,
            var components = URLComponents(url: baseURL, resolvingAgainstBaseURL: true),
            !components.percentEncodedPath.hasSuffix("/")
        else {
            self.baseURL = baseURL
            return
        }
        components.percentEncodedPath += "/"
        self.baseURL = components.url ?? baseURL
    }

    /// The same request at the resolved URL; method, headers, query and body stay.
    ///
    /// - Throws: `URLError(.badURL)` when the request has no URL, or none that can be resolved.
    public func adapt(_ request: URLRequest) throws -> URLRequest {
        guard let text = request.url?.absoluteString, let url = URL(string: text, relativeTo: baseURL) else {
            throw URLError(.badURL)
        }
        var request = request
        request.url = url.absoluteURL
        return request
    }
}

/// Adds headers to every request. A header that the request has already stays.
///
/// ```swift
/// let authorization = HeaderRequestAdapter { ["Authorization": "Bearer \(await session.token)"] }
/// ```
public struct HeaderRequestAdapter: RequestAdapter {
    private let headers: @Sendable () async throws -> [String: String]

    /// An adapter that asks for the headers anew for every request.
    public init(_ headers: @escaping @Sendable () async throws -> [String: String]) {
        self.headers = headers
    }

    /// The request with the headers it lacked.
    public func adapt(_ request: URLRequest) async throws -> URLRequest {
        var request = request
        for (name, value) in try await headers() where request.value(forHTTPHeaderField: name) == nil {
            request.setValue(value, forHTTPHeaderField: name)
        }
        return request
    }
}
