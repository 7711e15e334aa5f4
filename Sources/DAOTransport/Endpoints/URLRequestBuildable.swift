import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Makes requests of the common methods. An endpoint conforms to use them.
///
/// ```swift
/// struct BookEndpoint: JsonEndpoint, URLRequestBuildable {
///     let id: Int
///     func makeRequest() throws -> URLRequest { try get("books/\(id)") }
///     func content(from root: ResponseData<Book>) -> Book { root.data }
/// }
/// ```
public protocol URLRequestBuildable {}

extension URLRequestBuildable {
    /// A GET request. Query items replace the query of the URL. With nil or an empty list the URL stays
    /// unchanged.
    public func get(_ url: URL, queryItems: [URLQueryItem]? = nil) -> URLRequest {
        URLRequest(url: queryItems.map { url.replacingQuery(by: $0) } ?? url)
    }

    /// A POST request. Without a body it has no content type.
    public func post(_ url: URL, body: HTTPBody?) -> URLRequest {
        request(url, method: "POST", body: body)
    }

    /// A PATCH request.
    public func patch(_ url: URL, body: HTTPBody) -> URLRequest {
        request(url, method: "PATCH", body: body)
    }

    /// A PUT request.
    public func put(_ url: URL, body: HTTPBody) -> URLRequest {
        request(url, method: "PUT", body: body)
    }

    /// A DELETE request.
    public func delete(_ url: URL) -> URLRequest {
        request(url, method: "DELETE", body: nil)
    }

    /// A GET request for a path, usually relative to the client's base URL (``BaseRequestAdapter``). An empty path is
    /// the base URL itself.
    ///
    /// - Throws: `URLError(.badURL)` when the path is not a valid URL. All methods with a path throw it.
    public func get(_ path: String, queryItems: [URLQueryItem]? = nil) throws -> URLRequest {
        get(try URL(reference: path), queryItems: queryItems)
    }

    /// A POST request for a path.
    public func post(_ path: String, body: HTTPBody?) throws -> URLRequest {
        post(try URL(reference: path), body: body)
    }

    /// A PATCH request for a path.
    public func patch(_ path: String, body: HTTPBody) throws -> URLRequest {
        patch(try URL(reference: path), body: body)
    }

    /// A PUT request for a path.
    public func put(_ path: String, body: HTTPBody) throws -> URLRequest {
        put(try URL(reference: path), body: body)
    }

    /// A DELETE request for a path.
    public func delete(_ path: String) throws -> URLRequest {
        delete(try URL(reference: path))
    }

    private func request(_ url: URL, method: String, body: HTTPBody?) -> URLRequest {
        var request = URLRequest(url: url)
        request.httpMethod = method
        if let body {
            request.setValue(body.contentType, forHTTPHeaderField: "Content-Type")
            request.httpBody = body.data
        }
        return request
    }
}
