import DAOTransport
import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Provides headers that are known only when a request is made, such as a token.
public protocol MetadataProvider: Sendable {
    /// Headers by name.
    func metadata() -> [String: String]
}

/// Makes the HTTP request.
///
/// GET and HEAD have no body: their values are sent in the URL, with any encoding. A list in the form
/// `{"_array": […]}` is sent as a plain JSON list.
public struct RequestCreatorNode<Output: Sendable>: Node {
    private let next: any Node<URLRequest, Output>
    private let providers: [any MetadataProvider]

    /// Creates a node above a node with HTTP request input.
    ///
    /// - Parameters:
    ///   - next: the node that receives the HTTP request.
    ///   - providers: called for every request. Their headers override the headers of the request; headers of
    ///     later providers override the headers of earlier providers.
    public init(next: any Node<URLRequest, Output>, providers: [any MetadataProvider] = []) {
        self.next = next
        self.providers = providers
    }

    /// Makes the request and calls the next node. When the request cannot be made, the next node is not
    /// called. The error is `MappingError.cantMapObjectToRaw` for a form or a query whose value is not an
    /// object, `MappingError.badValue` for files that the encoding does not send, and Foundation's error for
    /// a file that cannot be read.
    public func process(_ input: TransportURLRequest) -> Observer<Output> {
        .trying {
            let request = try makeRequest(input)
            ChainLog.record("RequestCreatorNode", .request, request.summary)
            return next.process(request)
        }
    }

    private func makeRequest(_ input: TransportURLRequest) throws -> URLRequest {
        let hasBody = input.method != .get && input.method != .head
        guard input.files.isEmpty || (hasBody && input.encoding == .multipart) else {
            throw MappingError.badValue(field: "files")
        }
        var url = input.url
        var body: HTTPBody?
        switch hasBody ? input.encoding : .urlQuery {
        case .json: body = .json(input.raw)
        case .formURL: body = .form(try items(of: input.raw))
        case .multipart: body = try .multipart(MultipartModel(payloadModel: input.raw, files: input.files))
        case .urlQuery: url = url.addingQuery(try items(of: input.raw))
        }
        var request = URLRequest(url: url)
        request.httpMethod = input.method.rawValue
        request.httpBody = body?.data
        if let body { request.setValue(body.contentType, forHTTPHeaderField: "Content-Type") }
        for headers in [input.headers] + providers.map({ $0.metadata() }) {
            for (name, value) in headers { request.setValue(value, forHTTPHeaderField: name) }
        }
        return request
    }

    private func items(of raw: Json) throws -> [URLQueryItem] {
        guard let members = raw.objectValue else { throw MappingError.cantMapObjectToRaw }
        return URLQuery(members).items
    }
}
