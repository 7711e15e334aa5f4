import DAOTransport
import Foundation

// A request on its way down a chain: every node adds what it knows, and the type says what is known so far.

/// The method of a request.
public enum HTTPMethod: String, Sendable, CaseIterable {
    /// Reads; has no body.
    case get = "GET"
    /// Reads the headers only; has no body.
    case head = "HEAD"
    /// Adds or does.
    case post = "POST"
    /// Replaces.
    case put = "PUT"
    /// Changes.
    case patch = "PATCH"
    /// Removes.
    case delete = "DELETE"
}

/// Where a request goes.
///
/// ```swift
/// enum Route: URLRouteProvider {
///     case dialog(Int)
///     func url() throws -> URL {
///         guard case .dialog(let id) = self, let url = URL(string: "dialogs/\(id)") else { throw URLError(.badURL) }
///         return url
///     }
/// }
/// ```
public protocol URLRouteProvider: Sendable {
    /// The URL, absolute or relative to the client's base.
    ///
    /// - Throws: `URLError(.badURL)`, or an error of the route's own, when there is no such URL.
    func url() throws -> URL
}

extension URL: URLRouteProvider {
    /// Itself.
    public func url() -> URL {
        self
    }
}

extension String: URLRouteProvider {
    /// The URL that this text is.
    ///
    /// - Throws: `URLError(.badURL)` when it is none.
    public func url() throws -> URL {
        guard let url = URL(string: self) else { throw URLError(.badURL) }
        return url
    }
}

/// How the values of a request are sent.
public enum RequestEncoding: Sendable, Hashable, CaseIterable {
    /// As a JSON body.
    case json
    /// As the body of a form.
    case formURL
    /// In the URL, after the query that it has.
    case urlQuery
    /// As the body of a form with files.
    case multipart
}

/// Values and headers.
public struct RequestModel: Sendable, Hashable {
    /// Headers by name.
    public var metadata: [String: String]
    /// The values to send.
    public var raw: Json
    /// The files to send with them, by the names of their form fields.
    public var files: [String: MultipartFile]

    /// A request that knows its headers.
    public init(metadata: [String: String], raw: Json, files: [String: MultipartFile] = [:]) {
        self.metadata = metadata
        self.raw = raw
        self.files = files
    }
}

/// Values and headers, with where they go.
public struct RoutableRequestModel: Sendable {
    /// Headers and values.
    public var request: RequestModel
    /// Where they go.
    public var route: any URLRouteProvider

    /// A request that knows its route.
    public init(request: RequestModel, route: any URLRouteProvider) {
        self.request = request
        self.route = route
    }
}

/// Values and headers, with where they go and how.
public struct EncodableRequestModel: Sendable {
    /// Headers and values.
    public var request: RequestModel
    /// Where they go.
    public var route: any URLRouteProvider
    /// How the values are sent.
    public var encoding: RequestEncoding

    /// A request that knows its encoding.
    public init(request: RequestModel, route: any URLRouteProvider, encoding: RequestEncoding) {
        self.request = request
        self.route = route
        self.encoding = encoding
    }
}

/// All that an HTTP request is made of.
public struct TransportURLRequest: Sendable, Hashable {
    /// The method.
    public var method: HTTPMethod
    /// Where it goes.
    public var url: URL
    /// Headers by name.
    public var headers: [String: String]
    /// The values to send.
    public var raw: Json
    /// The files to send with them, by the names of their form fields.
    public var files: [String: MultipartFile]
    /// How they are sent.
    public var encoding: RequestEncoding

    /// A request that knows everything.
    public init(
        method: HTTPMethod,
        url: URL,
        headers: [String: String] = [:],
        raw: Json = Json(),
        files: [String: MultipartFile] = [:],
        encoding: RequestEncoding = .json
    ) {
        self.method = method
        self.url = url
        self.headers = headers
        self.raw = raw
        self.files = files
        self.encoding = encoding
    }
}
