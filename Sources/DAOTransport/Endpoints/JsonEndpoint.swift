import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Turns a JSON response into content: it decodes a root and unwraps it.
public protocol JsonResponseReading<Content>: ResponseReading {
    /// The value that the caller receives.
    associatedtype Content

    /// The type that the whole body decodes to: the content itself, or the envelope around it. A `Decodable` type,
    /// or ``JsonBody``.
    associatedtype Root = Content

    /// Returns the content inside the root. When `Root` is `Content`, that is the root itself.
    func content(from root: Root) throws -> Content

    /// The decoder of the root. By default it reads `book_list` into `bookList`. A type whose coding keys
    /// spell `book_list` needs a plain `JSONDecoder()` here.
    var decoder: JSONDecoder { get }

    /// Whether a response without content is the empty value: the empty list, nil, or an object without members.
    ///
    /// By default it is ``ContentError/missing(statusCode:)``. A server that fails, or a proxy before it, often
    /// sends nothing, and what is stored must not be replaced by that. A response without content has status 204
    /// or 205, or its body is empty, `null` or `{}`.
    var acceptsMissingContent: Bool { get }
}

extension JsonResponseReading {
    /// A decoder that converts keys from snake case.
    public var decoder: JSONDecoder { .convertingFromSnakeCase() }

    /// False.
    public var acceptsMissingContent: Bool { false }

    /// Throws for API errors, with any status, and for every status outside 200..<300.
    public func validate(_ request: URLRequest, response: HTTPURLResponse, data: Data) throws {
        try ResponseValidator.validate(response, with: data)
    }

    private func content(
        from response: URLResponse?, with data: Data, _ unwrap: (JsonBody) throws -> Content
    ) throws -> Content {
        let body = JsonBody(data, of: response, with: decoder)
        let content: Content
        do {
            content = try unwrap(body)
        } catch {
            guard acceptsMissingContent, body.isMissing, let empty = JsonBody.empty(Content.self) else { throw error }
            return empty
        }
        // An empty object is as good as nothing where no type says what an object means: a list can be made of it.
        guard Content.self == Json.self, let json = content as? Json, json.isNull || json.objectValue?.isEmpty == true else {
            return content
        }
        guard acceptsMissingContent, let empty = JsonBody.empty(Content.self) else {
            throw ContentError.missing(statusCode: body.statusCode)
        }
        return empty
    }
}

extension JsonResponseReading where Root: Decodable {
    /// Decodes the root and unwraps it.
    ///
    /// - Throws: `DecodingError` when the body does not decode to a root; ``ContentError`` when the response has no
    ///   content, or only a part of it.
    public func content(from response: URLResponse?, with body: Data) throws -> Content {
        try content(from: response, with: body) { try content(from: $0.decode(Root.self)) }
    }
}

extension JsonResponseReading where Root == JsonBody {
    /// Unwraps the body.
    ///
    /// - Throws: the errors of `content(from:)`, usually those of ``JsonBody/decode(_:)``.
    public func content(from response: URLResponse?, with body: Data) throws -> Content {
        try content(from: response, with: body) { try content(from: $0) }
    }
}

extension JsonResponseReading where Root == Content {
    /// Returns the root, which is the content.
    public func content(from root: Content) throws -> Content {
        root
    }
}

/// An endpoint whose response is JSON, with or without an envelope.
///
/// ```swift
/// struct BookListEndpoint: JsonEndpoint, URLRequestBuildable {      // {"data": {"book_list": […]}}
///     func makeRequest() throws -> URLRequest { try get("books") }
///     func content(from root: ResponseData<BookListRoot>) -> [Book] { root.data.bookList }
/// }
///
/// struct BookListRoot: Decodable { let bookList: [Book] }
/// ```
///
/// The root of a public endpoint is public too, because its method is. To keep a root inside its module, unwrap the
/// ``JsonBody``:
///
/// ```swift
/// public struct BookListEndpoint: JsonEndpoint, URLRequestBuildable {
///     public func makeRequest() throws -> URLRequest { try get("books") }
///     public func content(from body: JsonBody) throws -> [Book] { try body.decode(BookListRoot.self).bookList }
/// }
/// ```
///
/// A module with many such endpoints declares it once, in a protocol of its own. Then roots and `content(from:)` are
/// internal:
///
/// ```swift
/// protocol EnvelopeEndpoint: JsonEndpoint where Root == JsonBody {
///     associatedtype Envelope: Decodable
///     func content(from envelope: Envelope) throws -> Content
/// }
///
/// extension EnvelopeEndpoint {
///     public func content(from body: JsonBody) throws -> Content { try content(from: body.decode(Envelope.self)) }
/// }
/// ```
public protocol JsonEndpoint<Content>: Endpoint, JsonResponseReading {}

/// The envelope that many servers put around every response: `{"data": …}`.
public struct ResponseData<Value: Decodable>: Decodable {
    /// The value inside the envelope.
    public let data: Value
}

extension ResponseData: Sendable where Value: Sendable {}
