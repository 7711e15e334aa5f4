import DAONodes
import DAOTransport
import Foundation
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Records the input from the node above.
final class Probe<Input: Sendable, Output: Sendable>: Node {
    private let inputs = Locked<[Input]>([])
    private let output: Output

    init(returning output: Output) { self.output = output }
    func process(_ input: Input) -> Observer<Output> {
        inputs.withLock { $0.append(input) }
        return .emit(data: output)
    }
    var all: [Input] { inputs.withLock { $0 } }
}

@Suite struct RequestNodeTests {
    private struct Token: MetadataProvider {
        let value: String
        func metadata() -> [String: String] { ["Authorization": value] }
    }

    private struct NoURL: URLRouteProvider {
        func url() throws -> URL { throw Failure("no URL") }
    }

    private func created(
        _ method: HTTPMethod,
        _ encoding: RequestEncoding,
        _ raw: Json,
        url: String = "https://host/a",
        headers: [String: String] = [:],
        providers: [any MetadataProvider] = []
    ) async throws -> URLRequest {
        let probe = Probe<URLRequest, Int>(returning: 1)
        let request = TransportURLRequest(
            method: method, url: try #require(URL(string: url)), headers: headers, raw: raw, encoding: encoding)
        _ = try await RequestCreatorNode(next: probe, providers: providers).value(for: request)
        return try #require(probe.all.first)
    }

    @Test func metadataConnectorAddsHeaders() async throws {
        let probe = Probe<RequestModel, Int>(returning: 1)
        #expect(try await MetadataConnectorNode(next: probe, metadata: ["A": "1"]).value(for: ["x": 1]) == 1)
        #expect(probe.all == [RequestModel(metadata: ["A": "1"], raw: ["x": 1])])
    }

    @Test func routerAddsTheRoute() async throws {
        let probe = Probe<RoutableRequestModel, Int>(returning: 1)
        let request = RequestModel(metadata: ["A": "1"], raw: ["x": 1])
        _ = try await RequestRouterNode(next: probe, route: "dialogs/").value(for: request)
        #expect(probe.all.map(\.request) == [request])
        #expect(try probe.all.map { try $0.route.url().absoluteString } == ["dialogs/"])
    }

    @Test func queryInjectorReplacesTheQueryUnlessItsQueryIsEmpty() async throws {
        func url(_ query: URLQuery) async throws -> [String] {
            let probe = Probe<RoutableRequestModel, Int>(returning: 1)
            let request = RoutableRequestModel(request: RequestModel(metadata: [:], raw: Json()), route: "https://host/a?old=1")
            _ = try await URLQueryInjectorNode(next: probe, query: query).value(for: request)
            return try probe.all.map { try $0.route.url().absoluteString }
        }
        #expect(try await url(["b": "x y", "a": "1+1"]) == ["https://host/a?a=1%2B1&b=x%20y"])
        #expect(try await url([:]) == ["https://host/a?old=1"])
        #expect(try await url(["a": .null]) == ["https://host/a?old=1"])
    }

    @Test func queryWritesListsObjectsAndBooleansByItsSettings() {
        var query: URLQuery = ["t": ["x", "y"], "o": ["b": 2, "a": [1.50]], "no": .null, "is": true, "isnt": false]
        func text() -> [String] { query.items.map { "\($0.name)=\($0.value ?? "nil")" } }
        #expect(text() == ["is=1", "isnt=0", "o[a][]=1.5", "o[b]=2", "t[]=x", "t[]=y"])
        query.lists = .plain
        query.booleans = .literal
        #expect(text() == ["is=true", "isnt=false", "o[a]=1.5", "o[b]=2", "t=x", "t=y"])
    }

    @Test func encoderAddsTheEncoding() async throws {
        for encoding in RequestEncoding.allCases {
            let probe = Probe<EncodableRequestModel, Int>(returning: 1)
            let request = RequestModel(metadata: ["A": "1"], raw: ["x": 1])
            let routed = RoutableRequestModel(request: request, route: "a")
            _ = try await RequestEncoderNode(next: probe, encoding: encoding).value(for: routed)
            #expect(probe.all.map(\.encoding) == [encoding])
            #expect(probe.all.map(\.request) == [request])
        }
    }

    @Test func transformerMakesTheURLOrEndsTheChain() async throws {
        let probe = Probe<TransportURLRequest, Int>(returning: 1)
        let node = URLRequestTransformerNode(next: probe, method: .put)
        let request = RequestModel(metadata: ["A": "1"], raw: ["x": 1])
        _ = try await node.value(for: EncodableRequestModel(request: request, route: "a/b", encoding: .formURL))
        let url = try #require(URL(string: "a/b"))
        #expect(
            probe.all == [
                TransportURLRequest(method: .put, url: url, headers: ["A": "1"], raw: ["x": 1], encoding: .formURL)
            ])
        await #expect(throws: Failure("no URL")) {
            try await node.value(for: EncodableRequestModel(request: request, route: NoURL(), encoding: .json))
        }
        await #expect(throws: Failure("no URL")) {
            let injector = URLQueryInjectorNode(next: Probe<RoutableRequestModel, Int>(returning: 1), query: ["a": 1])
            return try await injector.value(for: RoutableRequestModel(request: request, route: NoURL()))
        }
        #expect(probe.all.count == 1)
    }

    @Test func creatorEncodesJSONFormsAndQueries() async throws {
        let raw: Json = ["b": "x y", "a": [1, 2]]
        let json = try await created(.post, .json, raw)
        #expect(json.httpMethod == "POST")
        #expect(json.httpBody == Data(#"{"a":[1,2],"b":"x y"}"#.utf8))
        #expect(json.value(forHTTPHeaderField: "Content-Type") == "application/json")

        let form = try await created(.put, .formURL, raw)
        #expect(form.httpBody == Data("a%5B%5D=1&a%5B%5D=2&b=x+y".utf8))
        #expect(form.value(forHTTPHeaderField: "Content-Type") == "application/x-www-form-urlencoded")

        let query = try await created(.delete, .urlQuery, raw, url: "https://host/a?old=1")
        #expect(query.httpBody == nil)
        #expect(query.url?.query?.removingPercentEncoding == "old=1&a[]=1&a[]=2&b=x y")
        #expect(query.value(forHTTPHeaderField: "Content-Type") == nil)

        let space = try await created(.get, .urlQuery, ["b": "1+1"], url: "https://host/a?old=x+y%2B%26")
        #expect(space.url?.query == "old=x+y%2B%26&b=1%2B1", "what the URL had is sent as it was")
    }

    @Test(arguments: RequestEncoding.allCases) func getSendsItsValuesInTheURL(_ encoding: RequestEncoding) async throws {
        let request = try await created(.get, encoding, ["a": 1])
        #expect(request.url?.absoluteString == "https://host/a?a=1")
        #expect(request.httpBody == nil)
        #expect(try await created(.get, encoding, Json()).url?.absoluteString == "https://host/a")
    }

    @Test func listIsSentAsAPlainJSONList() async throws {
        #expect(try await created(.post, .json, ["_array": [1, 2]]).httpBody == Data("[1,2]".utf8))
    }

    @Test func headersOfProvidersOverrideRequestHeaders() async throws {
        let headers = ["authorization": "old", "Content-Type": "application/vnd.api+json"]
        let request = try await created(
            .post, .json, ["a": 1], headers: headers, providers: [Token(value: "older"), Token(value: "new")])
        #expect(request.value(forHTTPHeaderField: "Authorization") == "new")
        #expect(request.value(forHTTPHeaderField: "Content-Type") == "application/vnd.api+json")
    }

    @Test func formsAndQueriesRequireAnObject() async throws {
        for encoding in [RequestEncoding.formURL, .urlQuery] {
            await #expect(throws: MappingError.self) { try await created(.post, encoding, 1) }
        }
        #expect(try await created(.post, .json, 1).httpBody == Data("1".utf8))
    }

    @Test func headerInjectorKeepsExistingHeaders() async throws {
        let probe = Probe<TransportURLRequest, Int>(returning: 1)
        let url = try #require(URL(string: "https://host/a"))
        let node = HeaderInjectorNode(next: probe, headers: ["Accept": "new", "B": "2"])
        _ = try await node.value(for: TransportURLRequest(method: .get, url: url, headers: ["accept": "own"]))
        #expect(probe.all.map(\.headers) == [["accept": "own", "B": "2"]])
    }

    @Test func encoderNodesMapTheInputAndKeepTheOutput() async throws {
        struct Entry: RawEncodable, Sendable {
            var fails = false
            func toRaw() throws -> Json { if fails { throw Failure("raw") } else { ["entry": 1] } }
        }
        struct Model: DTOEncodable, Sendable {
            var fails = false
            func toDTO() throws -> Entry { if fails { throw Failure("dto") } else { Entry() } }
        }
        let probe = Probe<Json, Data>(returning: Data([7]))
        let raw = RawEncoderNode<Entry, Data>(next: probe)
        let node = DTOEncoderNode<Model, Data>(next: raw)
        #expect(try await node.value(for: Model()) == Data([7]))
        #expect(probe.all == [["entry": 1]])
        await #expect(throws: Failure("dto")) { try await node.value(for: Model(fails: true)) }
        await #expect(throws: Failure("raw")) { try await raw.value(for: Entry(fails: true)) }
        #expect(probe.all.count == 1)

        let echo = EntryInputDTOOutputNode<Entry, Json>(next: Probe<Json, Json>(returning: ["response": 1]))
        #expect(try await echo.value(for: Entry()) == ["response": 1])
    }

    @Test func voidNodesIgnoreTheResponseAndLogIt() async throws {
        let entries = Locked<[String]>([])
        func logged<Input>(_ node: any Node<Input, Void>) -> LoggerNode<Input, Void> {
            LoggerNode(next: node) { entry in entries.withLock { $0.append(entry.node) } }
        }
        let silent = Probe<Json, Json>(returning: Json())
        let talking = Probe<Json, Json>(returning: ["a": 1])
        try await logged(VoidIONode(next: silent)).value()
        try await logged(VoidOutputNode<Json>(next: silent)).value(for: ["x": 1])
        #expect(silent.all == [Json(), ["x": 1]])
        #expect(entries.withLock { $0 } == [])
        try await logged(VoidIONode(next: talking)).value()
        try await logged(VoidOutputNode<Json>(next: talking)).value(for: ["x": 1])
        #expect(entries.withLock { $0 } == ["VoidIONode", "VoidOutputNode"])
    }
}
