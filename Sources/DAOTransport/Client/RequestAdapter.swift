import DAORedaction
import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Changes a request after the endpoint made it and before the client sends it.
public protocol RequestAdapter: Sendable {
    /// Returns the request to send instead. If it throws, the caller receives the error and nothing is sent.
    func adapt(_ request: URLRequest) async throws -> URLRequest
}

/// Resolves the URLs of endpoints against a base URL.
///
/// A base without a trailing slash is treated as if it had one, so that its last component is kept: `books`
/// against `https://host/api/v1` is `https://host/api/v1/books`. An absolute URL stays unchanged. A path that
/// starts with a slash starts at the host.
public struct BaseRequestAdapter: RequestAdapter {
    /// The base of relative URLs. Its path ends in a slash.
    public let baseURL: URL

    /// Creates an adapter for a base URL.
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

    /// Returns the same request with the resolved URL. Method, headers, query and body stay.
    ///
    /// - Throws: `URLError(.badURL)` when the request has no URL, or its URL cannot be resolved.
    public func adapt(_ request: URLRequest) throws -> URLRequest {
        guard let text = request.url?.absoluteString, let url = URL(string: text, relativeTo: baseURL) else {
            throw URLError(.badURL)
        }
        var request = request
        request.url = url.absoluteURL
        return request
    }
}

extension BaseRequestAdapter: CustomStringConvertible, CustomReflectable {
    /// The base without its secrets.
    public var description: String { "BaseRequestAdapter(\(redacted(baseURL.absoluteString)))" }

    /// The same text as ``description``.
    public var customMirror: Mirror { Mirror(self, children: ["base": description]) }
}

/// Adds headers to every request. A header that the request already has stays unchanged.
///
/// ```swift
/// let authorization = HeaderRequestAdapter { ["Authorization": "Bearer \(await session.token)"] }
/// ```
public struct HeaderRequestAdapter: RequestAdapter {
    private let headers: @Sendable () async throws -> [String: String]

    /// Creates an adapter that calls the closure for the headers of every request.
    public init(_ headers: @escaping @Sendable () async throws -> [String: String]) {
        self.headers = headers
    }

    /// Returns the request with the missing headers added.
    public func adapt(_ request: URLRequest) async throws -> URLRequest {
        var request = request
        for (name, value) in try await headers() where request.value(forHTTPHeaderField: name) == nil {
            request.setValue(value, forHTTPHeaderField: name)
        }
        return request
    }
}
