import DAOTransport
import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A book, as the server sends it.
public struct Book: Codable, Sendable, Equatable {
    /// The number of the book.
    public let id: Int
    /// The title of the book.
    public let name: String

    /// A book.
    public init(id: Int, name: String) {
        self.id = id
        self.name = name
    }
}

/// Every response of this server is inside "data". The envelope is internal to this module.
protocol EnvelopeEndpoint: Endpoint, URLRequestBuildable {
    associatedtype Root: Decodable = Content
    func content(from root: Root) throws -> Content
}

extension EnvelopeEndpoint {
    /// Decodes the root and returns its content.
    public func content(from response: URLResponse?, with body: Data) throws -> Content {
        try content(from: JsonBody.decode(ResponseData<Root>.self, from: body).data)
    }

    /// Throws for API errors and statuses that are not a success.
    public func validate(_ request: URLRequest, response: HTTPURLResponse, data: Data) throws {
        try ResponseValidator.validate(response, with: data)
    }
}

extension EnvelopeEndpoint where Root == Content {
    func content(from root: Content) -> Content { root }
}

/// A list in the shared envelope: `{"data": […]}`.
public struct BookListEndpoint: EnvelopeEndpoint {
    /// The content without the envelope.
    public typealias Content = [Book]

    /// The endpoint.
    public init() {}

    /// The request, relative to the base URL.
    public func makeRequest() throws -> URLRequest { try get("books") }
}

/// A single book in the shared envelope: `{"data": {…}}`.
public struct BookEndpoint: EnvelopeEndpoint {
    /// The content without the envelope.
    public typealias Content = Book
    let id: Int

    /// The endpoint.
    public init(id: Int) {
        self.id = id
    }

    /// The request, relative to the base URL.
    public func makeRequest() throws -> URLRequest { try get("books/\(id)") }
}

struct BookListResponse: Decodable {
    let bookList: [Book]
}

/// A list in both envelopes: `{"data": {"book_list": […]}}`.
public struct NestedBookListEndpoint: EnvelopeEndpoint {
    /// The content without the envelope.
    public typealias Content = [Book]

    /// The endpoint.
    public init() {}

    /// The request, relative to the base URL.
    public func makeRequest() throws -> URLRequest { try get("nested-books") }
    func content(from root: BookListResponse) -> [Book] { root.bookList }
}

/// An envelope with a different key for each endpoint: `{"book_list": […]}`. The root stays internal.
protocol KeyedEndpoint: Endpoint, URLRequestBuildable {
    associatedtype Root: Decodable = Content
    func content(from root: Root) throws -> Content
}

extension KeyedEndpoint {
    /// Decodes the root and returns its content.
    public func content(from response: URLResponse?, with body: Data) throws -> Content {
        try content(from: JsonBody.decode(Root.self, from: body))
    }
}

/// A list under a separate key: `{"book_list": […]}`.
public struct KeyedBookListEndpoint: KeyedEndpoint {
    /// The content without the envelope.
    public typealias Content = [Book]

    /// The endpoint.
    public init() {}

    /// The request, relative to the base URL.
    public func makeRequest() throws -> URLRequest { try get("keyed-books") }
    func content(from root: BookListResponse) -> [Book] { root.bookList }
}

/// A single book under a separate key: `{"book": {…}}`.
public struct KeyedBookEndpoint: KeyedEndpoint {
    /// The content without the envelope.
    public typealias Content = Book

    struct Root: Decodable { let book: Book }

    /// The endpoint.
    public init() {}

    /// The request, relative to the base URL.
    public func makeRequest() throws -> URLRequest { try get("keyed-book") }
    func content(from root: Root) -> Book { root.book }
}
