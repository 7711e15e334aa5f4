import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// How a JSON answer becomes content: decoded into a root, and unwrapped.
public protocol JsonResponseReading<Content>: ResponseReading {
    /// What the caller gets.
    associatedtype Content

    /// What the whole body decodes to: the content itself, or the envelope around it.
    associatedtype Root: Decodable = Content

    /// The content inside the root. Where `Root` is `Content`, it is the root itself.
    func content(from root: Root) throws -> Content

    /// The decoder of the root. By default it reads `book_list` into `bookList`; a type with coding keys of its own that
    /// spell `book_list` needs a plain `JSONDecoder()` here.
    var decoder: JSONDecoder { get }
}

extension JsonResponseReading {
    /// A decoder that converts keys from snake case.
    public var decoder: JSONDecoder { .convertingFromSnakeCase() }

    /// Decodes the root and unwraps it.
    ///
    /// - Throws: `DecodingError` when the body is not such a root.
    public func content(from response: URLResponse?, with body: Data) throws -> Content {
        try content(from: JsonBody.decode(Root.self, from: body, with: decoder))
    }

    /// Refuses API errors, whatever their status, and every status outside 200..<300.
    public func validate(_ request: URLRequest, response: HTTPURLResponse, data: Data) throws {
        try ResponseValidator.validate(response, with: data)
    }
}

extension JsonResponseReading where Root == Content {
    /// The root, which is the content.
    public func content(from root: Content) throws -> Content {
        root
    }
}

/// An endpoint that answers in JSON, with or without an envelope.
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
/// Swift wants the root of a public `JsonEndpoint` to be public as well. A module that keeps its envelopes to itself declares
/// a protocol of its own over ``Endpoint``, internal, with the associated type and the method it likes, and gives it
/// `public func content(from:with:)` by means of ``JsonBody``. Its endpoints are public, their roots are not:
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

/// The envelope that many servers put around every answer: `{"data": …}`.
public struct ResponseData<Value: Decodable>: Decodable {
    /// What the envelope holds.
    public let data: Value
}

extension ResponseData: Sendable where Value: Sendable {}

/// Reads the body of an answer.
public enum JsonBody {
    /// Decodes a whole body.
    ///
    /// For `Json` itself the rules of the raw layer hold: nothing and `null` read as the empty object, and a list as
    /// `{"_array": […]}`, so that any model or list of models can be made of it. Every other type is decoded as it stands,
    /// and an empty body is an error.
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
