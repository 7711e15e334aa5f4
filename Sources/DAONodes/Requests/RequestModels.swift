import DAORedaction
import DAOTransport
import Foundation

// The stages of a request in a chain. Every node adds a part, and the type shows which parts are present.

/// The method of a request.
public enum HTTPMethod: String, Sendable, CaseIterable {
    /// Reads a resource; has no body.
    case get = "GET"
    /// Reads only the headers; has no body.
    case head = "HEAD"
    /// Creates a resource or runs an operation.
    case post = "POST"
    /// Replaces a resource.
    case put = "PUT"
    /// Changes a resource.
    case patch = "PATCH"
    /// Removes a resource.
    case delete = "DELETE"
}

/// The route of a request.
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
    /// - Throws: `URLError(.badURL)`, or an error of the route, when the URL cannot be made.
    func url() throws -> URL
}

extension URL: URLRouteProvider {
    /// Returns this URL.
    public func url() -> URL {
        self
    }
}

extension String: URLRouteProvider {
    /// Returns the URL with this text; the empty text is the client's base URL itself.
    ///
    /// - Throws: `URLError(.badURL)` when the text is not a URL.
    public func url() throws -> URL {
        try URL(reference: self)
    }
}

/// The encoding of the values of a request.
public enum RequestEncoding: Sendable, Hashable, CaseIterable {
    /// As a JSON body.
    case json
    /// As the body of a form.
    case formURL
    /// In the URL, appended to its query.
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

    /// Creates a request with headers.
    public init(metadata: [String: String], raw: Json, files: [String: MultipartFile] = [:]) {
        self.metadata = metadata
        self.raw = raw
        self.files = files
    }
}

/// Values, headers and route of a request.
public struct RoutableRequestModel: Sendable {
    /// Headers and values.
    public var request: RequestModel
    /// The route.
    public var route: any URLRouteProvider

    /// Creates a request with a route.
    public init(request: RequestModel, route: any URLRouteProvider) {
        self.request = request
        self.route = route
    }
}

/// Values, headers, route and encoding of a request.
public struct EncodableRequestModel: Sendable {
    /// Headers and values.
    public var request: RequestModel
    /// The route.
    public var route: any URLRouteProvider
    /// The encoding of the values.
    public var encoding: RequestEncoding

    /// Creates a request with an encoding.
    public init(request: RequestModel, route: any URLRouteProvider, encoding: RequestEncoding) {
        self.request = request
        self.route = route
        self.encoding = encoding
    }
}

/// All parts of an HTTP request.
public struct TransportURLRequest: Sendable, Hashable {
    /// The method.
    public var method: HTTPMethod
    /// The URL.
    public var url: URL
    /// Headers by name.
    public var headers: [String: String]
    /// The values to send.
    public var raw: Json
    /// The files to send with them, by the names of their form fields.
    public var files: [String: MultipartFile]
    /// The encoding of the values.
    public var encoding: RequestEncoding

    /// Creates a request with all parts.
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

extension TransportURLRequest: CustomStringConvertible, CustomReflectable {
    /// The method, and the URL without its secrets.
    public var description: String { "\(method.rawValue) \(redacted(url.absoluteString))" }

    /// The same text as ``description``.
    public var customMirror: Mirror { Mirror(self, children: ["request": description]) }
}
