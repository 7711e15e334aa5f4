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
protocol EnvelopeEndpoint: JsonEndpoint, URLRequestBuildable where Root == JsonBody {
    associatedtype Inside: Decodable = Content
    func content(from inside: Inside) throws -> Content
}

extension EnvelopeEndpoint {
    /// Decodes the envelope and returns its content.
    public func content(from body: JsonBody) throws -> Content {
        try content(from: body.decode(ResponseData<Inside>.self).data)
    }
}

extension EnvelopeEndpoint where Inside == Content {
    func content(from inside: Content) -> Content { inside }
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
    func content(from inside: BookListResponse) -> [Book] { inside.bookList }
}

/// A list under a separate key: `{"book_list": […]}`. Its root is internal.
public struct KeyedBookListEndpoint: JsonEndpoint, URLRequestBuildable {
    /// The endpoint.
    public init() {}

    /// The request, relative to the base URL.
    public func makeRequest() throws -> URLRequest { try get("keyed-books") }
    /// The content without the envelope.
    public func content(from body: JsonBody) throws -> [Book] { try body.decode(BookListResponse.self).bookList }
}

/// A single book under a separate key: `{"book": {…}}`. Its root is private.
public struct KeyedBookEndpoint: JsonEndpoint, URLRequestBuildable {
    private struct Envelope: Decodable { let book: Book }

    /// The endpoint.
    public init() {}

    /// The request, relative to the base URL.
    public func makeRequest() throws -> URLRequest { try get("keyed-book") }
    /// The content without the envelope.
    public func content(from body: JsonBody) throws -> Book { try body.decode(Envelope.self).book }
}
