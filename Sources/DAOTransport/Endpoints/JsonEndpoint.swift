import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Turns a JSON response into content: it decodes a root and unwraps it.
public protocol JsonResponseReading<Content>: ResponseReading {
    /// The value that the caller receives.
    associatedtype Content

    /// The type that the whole body decodes to: the content itself, or the envelope around it.
    associatedtype Root: Decodable = Content

    /// Returns the content inside the root. When `Root` is `Content`, that is the root itself.
    func content(from root: Root) throws -> Content

    /// The decoder of the root. By default it reads `book_list` into `bookList`. A type whose coding keys
    /// spell `book_list` needs a plain `JSONDecoder()` here.
    var decoder: JSONDecoder { get }
}

extension JsonResponseReading {
    /// A decoder that converts keys from snake case.
    public var decoder: JSONDecoder { .convertingFromSnakeCase() }

    /// Decodes the root and unwraps it.
    ///
    /// - Throws: `DecodingError` when the body does not decode to a root.
    public func content(from response: URLResponse?, with body: Data) throws -> Content {
        try content(from: JsonBody.decode(Root.self, from: body, with: decoder))
    }

    /// Throws for API errors, with any status, and for every status outside 200..<300.
    public func validate(_ request: URLRequest, response: HTTPURLResponse, data: Data) throws {
        try ResponseValidator.validate(response, with: data)
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
/// Swift requires the root of a public `JsonEndpoint` to be public as well. A module with internal envelopes
/// declares an internal protocol that inherits from ``Endpoint``, with an associated type and a method for
/// the root. An extension implements `public func content(from:with:)` with ``JsonBody``. The endpoints are
/// public; their roots are not:
///
/// ```swift
/// protocol EnvelopeEndpoint: Endpoint {
///     associatedtype Root: Decodable
///     func content(from root: Root) throws -> Content
/// }
///
/// extension EnvelopeEndpoint {
///     public func content(from response: URLResponse?, with body: Data) throws -> Content {
///         try content(from: JsonBody.decode(ResponseData<Root>.self, from: body).data)
///     }
/// }
/// ```
public protocol JsonEndpoint<Content>: Endpoint, JsonResponseReading {}

/// The envelope that many servers put around every response: `{"data": …}`.
public struct ResponseData<Value: Decodable>: Decodable {
    /// The value inside the envelope.
    public let data: Value
}

extension ResponseData: Sendable where Value: Sendable {}

/// Reads the body of a response.
public enum JsonBody {
    /// Decodes a whole body.
    ///
    /// For `Json` the rules of the raw layer apply: an empty body and `null` become the empty object, and a
    /// list becomes `{"_array": […]}`, so that any model or list of models can be made from it. Every other
    /// type is decoded directly, and an empty body is an error.
    ///
    /// - Throws: `DecodingError`.
    public static func decode<Root: Decodable>(
        _ type: Root.Type = Root.self,
        from body: Data,
        with decoder: JSONDecoder = .convertingFromSnakeCase()
    ) throws -> Root {
        if type == Json.self, let raw = try raw(from: body) as? Root { return raw }
        return try decoder.decode(type, from: body)
    }

    private static func raw(from body: Data) throws -> Json {
        guard !body.isEmpty else { return Json() }
        switch try Json(parsing: body) {
        case .null: return Json()
        case .array(let elements): return .object([Json.arrayKey: .array(elements)])
        case let json: return json
        }
    }
}
