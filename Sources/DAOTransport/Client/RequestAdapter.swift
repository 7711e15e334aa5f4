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
/// | URL of the endpoint | against `https://host/api/v1?key=1` |
/// |---|---|
/// | `books` | `https://host/api/v1/books?key=1`: a base without a trailing slash is treated as if it had one |
/// | `/books` | `https://host/books?key=1` |
/// | an empty text, or `?page=2` | `https://host/api/v1?key=1`, `https://host/api/v1?key=1&page=2` |
/// | `v1:batch` | `https://host/api/v1/v1:batch?key=1`: a scheme is followed by `//` |
/// | `https://other/books`, `//other/books` | `https://other/books`, unchanged |
///
/// The query of the base is part of every URL below the base. A name that the endpoint's own query has is not
/// repeated.
public struct BaseRequestAdapter: RequestAdapter {
    /// The base of relative URLs. Its path ends in a slash.
    public let baseURL: URL
    /// The base as it was given: what an empty path names.
    private let place: URL

    /// Creates an adapter for a base URL.
    public init(baseURL: URL) {
        place = baseURL
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

    /// Returns the same request with the resolved URL. Method, headers and body stay.
    ///
    /// - Throws: `URLError(.badURL)` when the request has no URL, or its URL cannot be resolved.
    public func adapt(_ request: URLRequest) throws -> URLRequest {
        guard let text = request.url?.absoluteString, let url = resolve(text) else { throw URLError(.badURL) }
        var request = request
        request.url = url
        return request
    }

    private func resolve(_ text: String) -> URL? {
        let head = text.prefix { !"/?#".contains($0) }
        let hasAuthority = (head.isEmpty || head.last == ":") && text.dropFirst(head.count).hasPrefix("//")
        if hasAuthority { return URL(string: text, relativeTo: baseURL)?.absoluteURL }
        if text.isEmpty { return place.absoluteURL }
        // A colon in the first segment would make it a scheme.
        let path = head.contains(":") ? "./" + text : text
        let isPlace = text.hasPrefix("?") || text.hasPrefix("#")
        return URL(string: path, relativeTo: isPlace ? place : baseURL)?.absoluteURL.addingMissingQuery(of: baseURL)
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

/// What a client does to every request before it sends it.
package struct RequestPreparation: Sendable {
    private let adapters: [any RequestAdapter]
    private let headers: [String: String]
    private let base: BaseRequestAdapter?

    /// - Parameters:
    ///   - baseURL: the base of relative URLs.
    ///   - adapters: change every request, in this order, after the base URL has been applied.
    ///   - headers: added where they are missing, after the adapters.
    package init(baseURL: URL?, adapters: [any RequestAdapter], headers: [String: String] = [:]) {
        self.adapters = (baseURL.map { [BaseRequestAdapter(baseURL: $0)] } ?? []) + adapters
        self.headers = headers
        base = self.adapters.lazy.compactMap { $0 as? BaseRequestAdapter }.first
    }

    /// Returns the request to send.
    ///
    /// What adapters add belongs to the origin of the base URL. A request whose endpoint names another origin is
    /// sent as the endpoint made it, with the adapters' headers that say what the caller wants, not who the caller
    /// is. Adapters that have no base URL among them change every request.
    package func prepare(_ made: URLRequest) async throws -> URLRequest {
        var request = made
        for adapter in adapters { request = try await adapter.adapt(request) }
        for (name, value) in headers where request.value(forHTTPHeaderField: name) == nil {
            request.setValue(value, forHTTPHeaderField: name)
        }
        guard let base, let home = try? Origin(base.baseURL) else { return request }
        var foreign = try base.adapt(made)
        guard let origin = try? Origin(foreign.url), origin != home else { return request }
        for (name, value) in request.allHTTPHeaderFields ?? [:]
        where Origin.publicHeaders.contains(name.lowercased()) && foreign.value(forHTTPHeaderField: name) == nil {
            foreign.setValue(value, forHTTPHeaderField: name)
        }
        return foreign
    }
}
