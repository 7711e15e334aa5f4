import DAOTransport
import Dispatch
import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Builds the default chain from an application's model to the server and back.
///
/// ```swift
/// let builder = URLChainBuilder(client: client, .post, route: "dialogs/")
/// let send: any Node<Draft, Dialog> = builder.build()
/// let dialog = try await send.value(for: draft)
/// ```
///
/// From top to bottom: `LoggerNode`, `ChainConfiguratorNode`, `LoadIndicatableNode`, `ModelInputNode`,
/// `DTOMapperNode`, `MetadataConnectorNode`, `RequestRouterNode`, `URLQueryInjectorNode`,
/// `RequestEncoderNode`, `URLRequestTransformerNode`, `RequestCreatorNode`, `TechnicalErrorMapperNode`,
/// `RequestSenderNode`, `ResponseProcessorNode`, `ResponseHTTPErrorProcessorNode`,
/// `ResponseDataPreprocessorNode`, `ResponseDataParserNode`. Nothing is cached.
///
/// Only a complete, successful response is a result: a status outside 200..<300 is an `HTTPError`, and a response without
/// content, or with a part of it, is a `ContentError`. A chain that ignores the response needs no content.
public struct URLChainBuilder: Sendable {
    /// Sends the requests.
    public var client: any Client
    /// The method of the requests.
    public var method: HTTPMethod
    /// The route.
    public var route: any URLRouteProvider
    /// The encoding of the values.
    public var encoding: RequestEncoding
    /// The query of the requests; an empty query leaves the query of the route.
    public var query: URLQuery
    /// The headers of the requests.
    public var metadata: [String: String]
    /// Provide headers that are known only when a request is made.
    public var providers: [any MetadataProvider] = []
    /// Whether a response without content is the empty value: the empty list, an object without members, no bytes.
    ///
    /// A response without content has status 204 or 205, or its body is empty, `null` or `{}`. By default it is
    /// `ContentError.missing`, because it is not the answer that there is nothing: that is `[]`.
    public var acceptsMissingContent = false
    /// Counts running loads.
    public var indicator = LoadIndicator()
    /// The queue that starts the work.
    public var beginQueue = DispatchQueue.global(qos: .userInitiated)
    /// The queue of the listeners.
    public var endQueue = DispatchQueue.main
    /// The names of nodes whose log entries are omitted.
    public var excludedFromLog: Set<String> = []
    /// Writes the log entries; by default they are dropped.
    public var writeLog: @Sendable (ChainLog.Entry) -> Void = { _ in }

    /// Creates a builder of chains for one request.
    public init(
        client: any Client,
        _ method: HTTPMethod = .get,
        route: any URLRouteProvider,
        encoding: RequestEncoding = .json,
        query: URLQuery = [:],
        metadata: [String: String] = [:]
    ) {
        self.client = client
        self.method = method
        self.route = route
        self.encoding = encoding
        self.query = query
        self.metadata = metadata
    }

    /// Builds a chain that sends a model and returns another model.
    public func build<Input, Output>() -> any Node<Input, Output>
    where
        Input: DTOEncodable & Sendable, Input.DTO: Sendable, Input.DTO.Raw == Json,
        Output: DTODecodable & Sendable, Output.DTO: Sendable, Output.DTO.Raw == Json
    {
        top(ModelInputNode<Input, Output>(next: DTOMapperNode(next: json)))
    }

    /// Builds a chain without input that returns a model.
    public func build<Output>() -> any Node<Void, Output>
    where Output: DTODecodable & Sendable, Output.DTO: Sendable, Output.DTO.Raw == Json {
        top(VoidInputNode(next: ModelInputNode<Json, Output>(next: DTOMapperNode(next: json))))
    }

    /// Builds a chain that sends a model and ignores the response.
    public func build<Input>() -> any Node<Input, Void>
    where Input: DTOEncodable & Sendable, Input.DTO: Sendable, Input.DTO.Raw == Json {
        top(VoidOutputNode<Input>(next: request(jsonResponse(acceptsMissingContent: true))))
    }

    /// Builds a chain without input that ignores the response.
    public func build() -> any Node<Void, Void> {
        top(VoidIONode(next: request(jsonResponse(acceptsMissingContent: true))))
    }

    /// Builds a chain that sends a model and files as a form, regardless of ``encoding``, and returns another
    /// model.
    public func buildMultipart<Input, Output>() -> any Node<MultipartModel<Input>, Output>
    where
        Input: DTOEncodable & Sendable, Input.DTO: Sendable, Input.DTO.Raw == Json,
        Output: DTODecodable & Sendable, Output.DTO: Sendable, Output.DTO.Raw == Json
    {
        let form = MultipartMetadataConnectorNode(
            next: routed(jsonResponse(acceptsMissingContent: acceptsMissingContent), as: .multipart), metadata: metadata)
        return top(ModelInputNode<MultipartModel<Input>, Output>(next: DTOMapperNode(next: form)))
    }

    /// Builds a chain without input that loads bytes.
    public func loadData() -> any Node<Void, Data> {
        top(VoidInputNode(next: bytes))
    }

    /// Builds a chain that sends a model and loads bytes.
    public func loadData<Input>() -> any Node<Input, Data>
    where Input: DTOEncodable & Sendable, Input.DTO: Sendable, Input.DTO.Raw == Json {
        top(DTOEncoderNode<Input, Data>(next: RawEncoderNode(next: bytes)))
    }

    // MARK: Parts

    private func top<Input: Sendable, Output: Sendable>(_ next: any Node<Input, Output>) -> any Node<Input, Output> {
        let indicated = LoadIndicatableNode(next: next, indicator: indicator)
        let configured = ChainConfiguratorNode(next: indicated, beginQueue: beginQueue, endQueue: endQueue)
        return LoggerNode(next: configured, excluding: excludedFromLog, write: writeLog)
    }

    private func routed<Output: Sendable>(
        _ response: any Node<URLDataResponse, Output>,
        as encoding: RequestEncoding
    ) -> any Node<RequestModel, Output> {
        let sender = RequestSenderNode(next: ResponseProcessorNode(next: response), client: client)
        let creator = RequestCreatorNode(next: TechnicalErrorMapperNode(next: sender), providers: providers)
        let encoder = RequestEncoderNode(next: URLRequestTransformerNode(next: creator, method: method), encoding: encoding)
        return RequestRouterNode(next: URLQueryInjectorNode(next: encoder, query: query), route: route)
    }

    private func request<Output: Sendable>(_ response: any Node<URLDataResponse, Output>) -> any Node<Json, Output> {
        MetadataConnectorNode(next: routed(response, as: encoding), metadata: metadata)
    }

    private func jsonResponse(acceptsMissingContent: Bool) -> any Node<URLDataResponse, Json> {
        let content = ResponseDataPreprocessorNode(
            next: ResponseDataParserNode(), acceptsMissingContent: acceptsMissingContent)
        return ResponseHTTPErrorProcessorNode(next: content, acceptsOtherStatuses: false)
    }

    private var json: any Node<Json, Json> {
        request(jsonResponse(acceptsMissingContent: acceptsMissingContent))
    }

    private var bytes: any Node<Json, Data> {
        let body = DataLoadingResponseProcessorNode(acceptsMissingContent: acceptsMissingContent)
        return request(ResponseHTTPErrorProcessorNode(next: body, acceptsOtherStatuses: false))
    }
}
