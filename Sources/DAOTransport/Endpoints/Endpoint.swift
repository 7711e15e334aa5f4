import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// How an answer becomes content. ``Endpoint`` and ``UploadEndpoint`` share it.
public protocol ResponseReading<Content>: Sendable {
    /// What the caller gets.
    associatedtype Content: Sendable

    /// Judges an answer before anything is made of it, and throws what is wrong with it.
    ///
    /// Called for HTTP answers only, and only when the transport had no error. By default every answer is good.
    func validate(_ request: URLRequest, response: HTTPURLResponse, data: Data) throws

    /// The content of an answer. The body is empty when the server sent none.
    func content(from response: URLResponse?, with body: Data) throws -> Content
}

extension ResponseReading {
    /// Accepts every answer.
    public func validate(_ request: URLRequest, response: HTTPURLResponse, data: Data) throws {}
}

/// One thing that can be asked of a server: an immutable value that makes the request and reads the answer.
///
/// An endpoint has no side effects; sending is the ``Client``'s work. Its URL may be relative to the client's base URL.
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
    /// The request to send.
    func makeRequest() throws -> URLRequest
}

/// An endpoint whose answer has no content. Only ``ResponseReading/validate(_:response:data:)`` looks at it, and by default
/// that refuses error answers as ``ResponseValidator`` does.
public protocol VoidEndpoint: Endpoint where Content == Void {}

extension VoidEndpoint {
    /// Refuses API errors and every status outside 200..<300.
    public func validate(_ request: URLRequest, response: HTTPURLResponse, data: Data) throws {
        try ResponseValidator.validate(response, with: data)
    }

    /// Nothing.
    public func content(from response: URLResponse?, with body: Data) throws {}
}
