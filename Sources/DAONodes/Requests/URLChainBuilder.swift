import DAOTransport
import Dispatch
import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Builds the default chain from an application's model to the server and back, for those who do not want to put one together.
///
/// ```swift
/// let builder = URLChainBuilder(client: client, .post, route: "dialogs/")
/// let send: any Node<Draft, Dialog> = builder.build()
/// let dialog = try await send.value(for: draft)
/// ```
///
/// From top to bottom: `LoggerNode`, `ChainConfiguratorNode`, `LoadIndicatableNode`, `ModelInputNode`, `DTOMapperNode`,
/// `MetadataConnectorNode`, `RequestRouterNode`, `URLQueryInjectorNode`, `RequestEncoderNode`, `URLRequestTransformerNode`,
/// `RequestCreatorNode`, `TechnicalErrorMapperNode`, `RequestSenderNode`, `ResponseProcessorNode`, `ResponseHTTPErrorProcessorNode`,
/// `ResponseDataPreprocessorNode`, `ResponseDataParserNode`. Nothing is cached.
public struct URLChainBuilder: Sendable {
    /// Sends the requests.
    public var client: any Client
    /// The method of the requests.
    public var method: HTTPMethod
    /// Where they go.
    public var route: any URLRouteProvider
    /// How their values are sent.
    public var encoding: RequestEncoding
    /// Their query; an empty one leaves that of the route.
    public var query: URLQuery
    /// Their headers.
    public var metadata: [String: String]
    /// Give headers that are only known when a request is made.
    public var providers: [any MetadataProvider] = []
    /// Counts what is being loaded.
    public var indicator = LoadIndicator()
    /// Where the work begins.
    public var beginQueue = DispatchQueue.global(qos: .userInitiated)
    /// Where listeners are called.
    public var endQueue = DispatchQueue.main
    /// The names of nodes whose notes are not written.
    public var excludedFromLog: Set<String> = []
    /// Writes the log; by default nowhere.
    public var writeLog: @Sendable (ChainLog.Entry) -> Void = { _ in }

    /// A builder of chains for one request.
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

    /// A chain that sends a model and gives another.
    public func build<Input, Output>() -> any Node<Input, Output>
    where
        Input: DTOEncodable & Sendable, Input.DTO: Sendable, Input.DTO.Raw == Json,
        Output: DTODecodable & Sendable, Output.DTO: Sendable, Output.DTO.Raw == Json
    {
        top(ModelInputNode<Input, Output>(next: DTOMapperNode(next: json)))
    }

    /// A chain that sends nothing and gives a model.
    public func build<Output>() -> any Node<Void, Output>
    where Output: DTODecodable & Sendable, Output.DTO: Sendable, Output.DTO.Raw == Json {
        top(VoidInputNode(next: ModelInputNode<Json, Output>(next: DTOMapperNode(next: json))))
    }

    /// A chain that sends a model and ignores the answer.
    public func build<Input>() -> any Node<Input, Void>
    where Input: DTOEncodable & Sendable, Input.DTO: Sendable, Input.DTO.Raw == Json {
        top(VoidOutputNode<Input>(next: json))
    }

    /// A chain that sends nothing and ignores the answer.
    public func build() -> any Node<Void, Void> {
        top(VoidIONode(next: json))
    }

    /// A chain that sends a model and files as a form, whatever ``encoding`` says, and gives another model.
    public func buildMultipart<Input, Output>() -> any Node<MultipartModel<Input>, Output>
    where
        Input: DTOEncodable & Sendable, Input.DTO: Sendable, Input.DTO.Raw == Json,
        Output: DTODecodable & Sendable, Output.DTO: Sendable, Output.DTO.Raw == Json
    {
        let form = MultipartMetadataConnectorNode(next: routed(jsonAnswer, as: .multipart), metadata: metadata)
        return top(ModelInputNode<MultipartModel<Input>, Output>(next: DTOMapperNode(next: form)))
    }

    /// A chain that sends nothing and loads bytes.
    public func loadData() -> any Node<Void, Data> {
        top(VoidInputNode(next: bytes))
    }

    /// A chain that sends a model and loads bytes.
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
        _ answer: any Node<URLDataResponse, Output>,
        as encoding: RequestEncoding
    ) -> any Node<RequestModel, Output> {
        let sender = RequestSenderNode(next: ResponseProcessorNode(next: answer), client: client)
        let creator = RequestCreatorNode(next: TechnicalErrorMapperNode(next: sender), providers: providers)
        let encoder = RequestEncoderNode(next: URLRequestTransformerNode(next: creator, method: method), encoding: encoding)
        return RequestRouterNode(next: URLQueryInjectorNode(next: encoder, query: query), route: route)
    }

    private func request<Output: Sendable>(_ answer: any Node<URLDataResponse, Output>) -> any Node<Json, Output> {
        MetadataConnectorNode(next: routed(answer, as: encoding), metadata: metadata)
    }

    private var jsonAnswer: any Node<URLDataResponse, Json> {
        ResponseHTTPErrorProcessorNode(next: ResponseDataPreprocessorNode(next: ResponseDataParserNode()))
    }

    private var json: any Node<Json, Json> {
        request(jsonAnswer)
    }

    private var bytes: any Node<Json, Data> {
        request(ResponseHTTPErrorProcessorNode(next: DataLoadingResponseProcessorNode()))
    }
}
