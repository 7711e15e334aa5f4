import DAOTransport
import Foundation

/// Adds headers to the values of a request.
public struct MetadataConnectorNode<Output: Sendable>: Node {
    private let next: any Node<RequestModel, Output>
    private let metadata: [String: String]

    /// Creates a node that adds the same headers to every request.
    public init(next: any Node<RequestModel, Output>, metadata: [String: String]) {
        self.next = next
        self.metadata = metadata
    }

    /// Passes the values on with the headers.
    public func process(_ input: Json) -> Observer<Output> {
        next.process(RequestModel(metadata: metadata, raw: input))
    }
}

/// Adds headers to the values and files of a form.
public struct MultipartMetadataConnectorNode<Output: Sendable>: Node {
    private let next: any Node<RequestModel, Output>
    private let metadata: [String: String]

    /// Creates a node that adds the same headers to every request.
    public init(next: any Node<RequestModel, Output>, metadata: [String: String]) {
        self.next = next
        self.metadata = metadata
    }

    /// Passes the values and files on with the headers.
    public func process(_ input: MultipartModel<Json>) -> Observer<Output> {
        next.process(RequestModel(metadata: metadata, raw: input.payloadModel, files: input.files))
    }
}

/// Adds the route of a request.
public struct RequestRouterNode<Output: Sendable>: Node {
    private let next: any Node<RoutableRequestModel, Output>
    private let route: any URLRouteProvider

    /// Creates a node that sends every request to the same route.
    public init(next: any Node<RoutableRequestModel, Output>, route: any URLRouteProvider) {
        self.next = next
        self.route = route
    }

    /// Passes the request on with its route.
    public func process(_ input: RequestModel) -> Observer<Output> {
        next.process(RoutableRequestModel(request: input, route: route))
    }
}

/// Replaces the query of the route.
public struct URLQueryInjectorNode<Output: Sendable>: Node {
    private let next: any Node<RoutableRequestModel, Output>
    private let query: URLQuery

    /// Creates a node that sets the same query for every request.
    public init(next: any Node<RoutableRequestModel, Output>, query: URLQuery) {
        self.next = next
        self.query = query
    }

    /// Passes the request on with the query instead of the route's query. An empty query leaves the route
    /// unchanged. When the route has no URL, its error is the result and the next node is not called.
    public func process(_ input: RoutableRequestModel) -> Observer<Output> {
        let items = query.items
        guard !items.isEmpty else { return next.process(input) }
        return .trying {
            var output = input
            output.route = try input.route.url().replacingQuery(by: items)
            return next.process(output)
        }
    }
}

/// Adds the encoding of the values.
public struct RequestEncoderNode<Output: Sendable>: Node {
    private let next: any Node<EncodableRequestModel, Output>
    private let encoding: RequestEncoding

    /// Creates a node that sets the same encoding for every request.
    public init(next: any Node<EncodableRequestModel, Output>, encoding: RequestEncoding) {
        self.next = next
        self.encoding = encoding
    }

    /// Passes the request on with its encoding.
    public func process(_ input: RoutableRequestModel) -> Observer<Output> {
        next.process(EncodableRequestModel(request: input.request, route: input.route, encoding: encoding))
    }
}

/// Makes a URL from the route and adds the method.
public struct URLRequestTransformerNode<Output: Sendable>: Node {
    private let next: any Node<TransportURLRequest, Output>
    private let method: HTTPMethod

    /// Creates a node that sets the same method for every request.
    public init(next: any Node<TransportURLRequest, Output>, method: HTTPMethod) {
        self.next = next
        self.method = method
    }

    /// Passes the request on. When the route has no URL, its error is the result and the next node is not
    /// called.
    public func process(_ input: EncodableRequestModel) -> Observer<Output> {
        .trying {
            let request = input.request
            return next.process(
                TransportURLRequest(
                    method: method, url: try input.route.url(), headers: request.metadata, raw: request.raw, files: request.files,
                    encoding: input.encoding))
        }
    }
}

/// Adds missing headers to a request. The headers of the request take precedence; names compare without
/// regard to case.
public struct HeaderInjectorNode<Output: Sendable>: Node {
    private let next: any Node<TransportURLRequest, Output>
    private let headers: [String: String]

    /// Creates a node that adds the same headers to every request.
    public init(next: any Node<TransportURLRequest, Output>, headers: [String: String]) {
        self.next = next
        self.headers = headers
    }

    /// Passes the request on with the missing headers.
    public func process(_ input: TransportURLRequest) -> Observer<Output> {
        let present = Set(input.headers.keys.map { $0.lowercased() })
        var output = input
        for (name, value) in headers where !present.contains(name.lowercased()) { output.headers[name] = value }
        return next.process(output)
    }
}
