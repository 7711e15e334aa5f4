import DAOTransport
import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A book, as the server sends it.
public struct Book: Codable, Sendable, Equatable {
    /// Its number.
    public let id: Int
    /// Its title.
    public let name: String

    /// A book.
    public init(id: Int, name: String) {
        self.id = id
        self.name = name
    }
}

/// Everything this server sends stands under "data"; nobody outside has to know.
protocol EnvelopeEndpoint: Endpoint, URLRequestBuildable {
    associatedtype Root: Decodable = Content
    func content(from root: Root) throws -> Content
}

extension EnvelopeEndpoint {
    /// Unwraps the root and hands it on.
    public func content(from response: URLResponse?, with body: Data) throws -> Content {
        try content(from: JsonBody.decode(ResponseData<Root>.self, from: body).data)
    }

    /// Refuses errors and statuses that are no success.
    public func validate(_ request: URLRequest, response: HTTPURLResponse, data: Data) throws {
        try ResponseValidator.validate(response, with: data)
    }
}

extension EnvelopeEndpoint where Root == Content {
    func content(from root: Content) -> Content { root }
}

/// The same key for all: `{"data": […]}`.
public struct BookListEndpoint: EnvelopeEndpoint {
    /// What the caller gets, without any envelope.
    public typealias Content = [Book]

    /// The endpoint.
    public init() {}

    /// The request, relative to the base URL.
    public func makeRequest() throws -> URLRequest { try get("books") }
}

/// The same key for all: `{"data": {…}}`.
public struct BookEndpoint: EnvelopeEndpoint {
    /// What the caller gets, without any envelope.
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

/// Both envelopes: `{"data": {"book_list": […]}}`.
public struct NestedBookListEndpoint: EnvelopeEndpoint {
    /// What the caller gets, without any envelope.
    public typealias Content = [Book]

    /// The endpoint.
    public init() {}

    /// The request, relative to the base URL.
    public func makeRequest() throws -> URLRequest { try get("nested-books") }
    func content(from root: BookListResponse) -> [Book] { root.bookList }
}

/// A different key for each: `{"book_list": […]}`, with a root that stays internal.
protocol KeyedEndpoint: Endpoint, URLRequestBuildable {
    associatedtype Root: Decodable = Content
    func content(from root: Root) throws -> Content
}

extension KeyedEndpoint {
    /// Unwraps the root and hands it on.
    public func content(from response: URLResponse?, with body: Data) throws -> Content {
        try content(from: JsonBody.decode(Root.self, from: body))
    }
}

/// A list under a key of its own: `{"book_list": […]}`.
public struct KeyedBookListEndpoint: KeyedEndpoint {
    /// What the caller gets, without any envelope.
    public typealias Content = [Book]

    /// The endpoint.
    public init() {}

    /// The request, relative to the base URL.
    public func makeRequest() throws -> URLRequest { try get("keyed-books") }
    func content(from root: BookListResponse) -> [Book] { root.bookList }
}

/// One book under a key of its own: `{"book": {…}}`.
public struct KeyedBookEndpoint: KeyedEndpoint {
    /// What the caller gets, without any envelope.
    public typealias Content = Book

    struct Root: Decodable { let book: Book }

    /// The endpoint.
    public init() {}

    /// The request, relative to the base URL.
    public func makeRequest() throws -> URLRequest { try get("keyed-book") }
    func content(from root: Root) -> Book { root.book }
}
