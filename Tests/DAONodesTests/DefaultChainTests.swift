import DAOCurl
import DAOLoopbackServer
import DAONodes
import DAOTransport
import Foundation
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

private struct BookEntry: Codable, RawMappable, Sendable {
    typealias Raw = Json
    let id: Int
    let name: String
}

private struct Book: DTOConvertible, Equatable, Sendable {
    let name: String
    static func from(dto: BookEntry) -> Book { Book(name: dto.name) }
    func toDTO() -> BookEntry { BookEntry(id: 0, name: name) }
}

@Suite(.timeLimit(.minutes(30))) struct DefaultChainTests {
    private let queue = DispatchQueue.named("end")

    private func builder(
        _ server: LoopbackServer,
        _ method: HTTPMethod = .get,
        _ route: String,
        encoding: RequestEncoding = .json
    ) -> URLChainBuilder {
        var builder = URLChainBuilder(
            client: CurlClient(baseURL: server.url, configuration: .patient), method, route: route, encoding: encoding)
        builder.endQueue = queue
        return builder
    }

    /// The names of the nodes, from top to bottom.
    private func names(_ node: Any) -> [String] {
        var names: [String] = []
        var current: Any? = node
        while let node = current {
            names.append(String("\(type(of: node))".prefix { $0 != "<" }))
            var next = Mirror(reflecting: node).children.first { $0.label == "next" }?.value
            if let value = next, Mirror(reflecting: value).displayStyle == .optional {
                next = Mirror(reflecting: value).children.first?.value
            }
            current = next
        }
        return names
    }

    @Test func defaultChainHasSeventeenNodesInOrder() throws {
        let server = try LoopbackServer()
        let chain: any Node<Book, [Book]> = builder(server, .get, "books").build()
        #expect(
            names(chain) == [
                "LoggerNode", "ChainConfiguratorNode", "LoadIndicatableNode", "ModelInputNode", "DTOMapperNode",
                "MetadataConnectorNode", "RequestRouterNode", "URLQueryInjectorNode", "RequestEncoderNode",
                "URLRequestTransformerNode", "RequestCreatorNode", "TechnicalErrorMapperNode", "RequestSenderNode",
                "ResponseProcessorNode", "ResponseHTTPErrorProcessorNode", "ResponseDataPreprocessorNode",
                "ResponseDataParserNode",
            ])
    }

    @Test func defaultChainSendsAModelAndReturnsAnother() async throws {
        let server = try LoopbackServer()
        var sending = builder(server, .post, "echo")
        sending.query = ["page": 2]
        sending.metadata = ["X-Kind": "book"]
        let echo: any Node<Book, Json> = sending.build()
        let response = try await echo.value(for: Book(name: "Mu-Mu"))
        #expect(response["method"] == "POST")
        #expect(response["path"] == "/echo?page=2")
        #expect(response["headers"]?["x-kind"] == "book")
        #expect(response["headers"]?["content-type"] == "application/json")
        #expect(response["body"]?.stringValue == #"{"id":0,"name":"Mu-Mu"}"#)

        let list = #"[{"id":1,"name":"Mu-Mu"},{"id":2,"name":"Kashtanka"}]"#
        let query = try #require(list.addingPercentEncoding(withAllowedCharacters: .alphanumerics))
        let books: any Node<Void, [Book]> = builder(server, .get, "body?is=\(query)").build()
        #expect(try await books.value() == [Book(name: "Mu-Mu"), Book(name: "Kashtanka")])
    }

    @Test func allKindsOfChainsWork() async throws {
        let server = try LoopbackServer()
        let silent: any Node<Void, Void> = builder(server, .post, "echo").build()
        try await silent.value()
        let sending: any Node<Book, Void> = builder(server, .post, "status/204").build()
        try await sending.value(for: Book(name: "a"))
        #expect(try await builder(server, .get, "body?is=bytes").loadData().value() == Data("bytes".utf8))
        let loading: any Node<Book, Data> = builder(server, .post, "upload").loadData()
        #expect(try await !loading.value(for: Book(name: "a")).isEmpty)
    }

    @Test func formIsSentWithItsFiles() async throws {
        let server = try LoopbackServer()
        let form: any Node<MultipartModel<Book>, Json> = builder(server, .post, "echo").buildMultipart()
        let file = MultipartFile.data(Data("bytes".utf8), fileName: "cover.txt", contentType: "text/plain")
        let response = try await form.value(for: MultipartModel(payloadModel: Book(name: "Mu-Mu"), files: ["cover": file]))
        #expect(response["headers"]?["content-type"]?.stringValue?.hasPrefix("multipart/form-data; boundary=") == true)
        let body = try #require(response["body"]?.stringValue)
        #expect(body.contains("name=\"name\"\r\n\r\nMu-Mu\r\n"))
        #expect(body.contains("name=\"cover\"; filename=\"cover.txt\"\r\nContent-Type: text/plain\r\n\r\nbytes\r\n"))
    }

    @Test func filesWithoutAMultipartEncodingAreAnError() async throws {
        let server = try LoopbackServer()
        let form: any Node<MultipartModel<Book>, Json> = builder(server, .get, "echo").buildMultipart()
        let file = MultipartFile.data(Data(), fileName: "a", contentType: "text/plain")
        await #expect(throws: MappingError.self) {
            try await form.value(for: MultipartModel(payloadModel: Book(name: "a"), files: ["cover": file]))
        }
    }

    @Test func responseWithoutContentIsTheEmptyListOnlyWhenTheBuilderSaysSo() async throws {
        let server = try LoopbackServer()
        for (route, status) in [("status/204", 204), ("body?is=null", 200), ("body", 200), ("body?is=%7B%7D", 200)] {
            var builder = builder(server, .get, route)
            let books: any Node<Void, [Book]> = builder.build()
            await #expect(throws: ContentError.missing(statusCode: status)) { try await books.value() }
            builder.acceptsMissingContent = true
            let empty: any Node<Void, [Book]> = builder.build()
            #expect(try await empty.value().isEmpty)
        }
        let books: any Node<Void, [Book]> = builder(server, .get, "body?is=%5B%5D").build()
        #expect(try await books.value().isEmpty)
    }

    @Test func defaultChainFailsWithTheErrorsOfItsNodes() async throws {
        let server = try LoopbackServer()
        func books(_ route: String) -> any Node<Void, [Book]> { builder(server, .get, route).build() }
        for (status, kind) in [(401, HTTPError.Kind.unauthorized), (404, .notFound), (500, .internalServerError)] {
            let error = await #expect(throws: HTTPError.self) { try await books("status/\(status)").value() }
            #expect(error?.kind == kind)
        }
        let unlisted = await #expect(throws: HTTPError.self) { try await books("status/502").value() }
        #expect(unlisted?.statusCode == 502)
        await #expect(throws: DecodingError.self) { try await books("body?is=1").value() }
        await #expect(throws: URLError.self) { try await books("cut").value() }
        server.stop()
        await #expect(throws: TechnicalError.cantConnectToHost) { try await books("books").value() }
    }

    @Test func defaultChainDeliversOnItsQueueAndCountsItsLoads() async throws {
        let server = try LoopbackServer()
        var loading = builder(server, .get, "body?is=bytes")
        let indicator = LoadIndicator()
        loading.indicator = indicator
        let log = Log()
        let done = AsyncStream.makeStream(of: Void.self)
        loading.loadData().process()
            .onCompleted { _ in log.add("\(DispatchQueue.currentName ?? "none") \(indicator.inFlight)") }
            .defer { done.continuation.finish() }
        for await _ in done.stream {}
        #expect(log.all == ["end 0"])
    }

    // MARK: The log

    private func log(excluding: Set<String> = [], route: String = "body?is=%7B%22id%22%3A1%7D") async throws -> [String] {
        let server = try LoopbackServer()
        let notes = Locked<[String]>([])
        var logging = builder(server, .get, route)
        logging.excludedFromLog = excluding
        logging.writeLog = { entry in notes.withLock { $0.append(entry.node) } }
        let chain: any Node<Void, Book> = logging.build()
        _ = try? await chain.value()
        return notes.withLock { $0 }
    }

    @Test func logIsOrderedByStageAndFilteredByName() async throws {
        let all = [
            "RequestCreatorNode", "RequestSenderNode", "ResponseProcessorNode", "ResponseDataParserNode", "DTOMapperNode",
        ]
        #expect(try await log() == all)
        #expect(try await log(excluding: ["RequestSenderNode", "DTOMapperNode"]) == [all[0], all[2], all[3]])
        #expect(
            try await log(route: "status/404")
                == ["RequestCreatorNode", "RequestSenderNode", "ResponseProcessorNode", "ResponseHTTPErrorProcessorNode"])
        #expect(
            try await log(route: "status/204")
                == ["RequestCreatorNode", "RequestSenderNode", "ResponseProcessorNode", "ResponseDataPreprocessorNode"])
    }

    @Test func entriesAreSortedByStage() async throws {
        let notes = Log()
        let node = LoggerNode(
            next: ClosureNode<Int, Int> { input in
                ChainLog.record("c", .mapping, "1")
                ChainLog.record("a", .request, "2")
                ChainLog.record("d", .mapping, "3")
                ChainLog.record("b", ChainLog.Stage(rawValue: 150), "4")
                return .emit(data: input)
            }, write: { notes.add("\($0)") })
        #expect(try await node.value(for: 1) == 1)
        #expect(notes.all == ["a: 2", "b: 4", "c: 1", "d: 3"])
        #expect(ChainLog.current == nil)
    }

    @Test func logIsPropagatedThroughOperatorsAndQueues() async throws {
        func logged(_ make: @escaping @Sendable (Observer<[Int]>) -> Observer<String>) async -> [String] {
            let notes = Log()
            let inner = DispatcherNode(
                next: ClosureNode<Int, [Int]>(async: { input in
                    ChainLog.record("source", .request, "")
                    return [input]
                }), on: .named("work"))
            let node = LoggerNode(
                next: ClosureNode<Int, String> { make(inner.process($0)) }, write: { notes.add($0.node) })
            _ = try? await node.value(for: 1)
            return notes.all
        }
        @Sendable func note<Value>(_ value: Value) -> String {
            ChainLog.record("above", .mapping, "")
            return "\(value)"
        }
        let both = ["source", "above"]
        #expect(await logged { $0.map { note($0) } } == both)
        #expect(await logged { $0.map { .emit(data: note($0)) } } == both)
        #expect(await logged { $0.filter { _ in true }.map { note($0) } } == both)
        #expect(await logged { $0.combine(.emit(data: 2)).map { note($0) } } == both)
        #expect(await logged { $0.combineTolerance(.emit(data: 2)).map { note($0) } } == both)
        #expect(await logged { $0.chain { _ in .emit(data: 2) }.map { note($0) } } == both)
        #expect(await logged { $0.dispatch(on: .named("other")).map { note($0) } } == both)
        #expect(await logged { $0.multicast().map { note($0) } } == both)
        #expect(
            await logged { $0.map { (_: [Int]) throws -> String in throw Failure("x") }.mapError { _ in .emit(data: note(1)) } }
                == both)
        #expect(await logged { $0.mapInOrder { note($0) } } == both)
    }

    @Test func cancellingWritesTheRecordedEntries() {
        let notes = Log()
        let held = Context<Int>()
        let node = LoggerNode(
            next: ClosureNode<Int, Int> { _ in
                ChainLog.record("a", .request, "")
                return held
            }, write: { notes.add($0.node) })
        let observer = node.process(1)
        #expect(notes.all.isEmpty)
        observer.cancel()
        #expect(held.isCancelled)
        #expect(notes.all == ["a"])
    }
}
