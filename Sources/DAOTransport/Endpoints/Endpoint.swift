import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Turns a response into content. ``Endpoint`` and ``UploadEndpoint`` inherit from it.
public protocol ResponseReading<Content>: Sendable {
    /// The value that the caller receives.
    associatedtype Content: Sendable

    /// Validates a response before its content is made, and throws an error when the response is invalid.
    ///
    /// The client calls it for HTTP responses only, and only when the transport had no error. By default
    /// every response is valid.
    func validate(_ request: URLRequest, response: HTTPURLResponse, data: Data) throws

    /// Returns the content of a response. The body is empty when the server sent none.
    func content(from response: URLResponse?, with body: Data) throws -> Content
}

extension ResponseReading {
    /// Accepts every response.
    public func validate(_ request: URLRequest, response: HTTPURLResponse, data: Data) throws {}
}

/// One operation of a server: an immutable value that makes the request and reads the response.
///
/// An endpoint has no side effects; the ``Client`` sends the request. The URL can be relative to the client's
/// base URL.
///
/// ```swift
/// struct MottoEndpoint: Endpoint {
///     func makeRequest() throws -> URLRequest {
///         guard let url = URL(string: "motto") else { throw URLError(.badURL) }
///         return URLRequest(url: url)
///     }
///
///     func content(from response: URLResponse?, with body: Data) throws -> String {
///         String(decoding: body, as: UTF8.self)
///     }
/// }
/// ```
public protocol Endpoint<Content>: ResponseReading {
    /// Returns the request to send.
    func makeRequest() throws -> URLRequest
}

/// An endpoint whose response has no content. Only ``ResponseReading/validate(_:response:data:)`` reads the
/// response. By default it refuses error responses as ``ResponseValidator`` does.
public protocol VoidEndpoint: Endpoint where Content == Void {}

extension VoidEndpoint {
    /// Throws for API errors and every status outside 200..<300.
    public func validate(_ request: URLRequest, response: HTTPURLResponse, data: Data) throws {
        try ResponseValidator.validate(response, with: data)
    }

    /// Returns no content.
    public func content(from response: URLResponse?, with body: Data) throws {}
}
