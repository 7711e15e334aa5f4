import DAOCore
import DAONodes
import DAOTransport
import Foundation
import Testing

@testable import DAOExamples

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// What replaces stored values is a complete, successful answer. Every status with every kind of body is answered to the
/// chain of the README and to the default chain, both into a `PersistNode` that replaces everything.
@Suite(.timeLimit(.minutes(30))) struct AnswerTests {
    private static let list = #"[{"id": "7", "is_pinned": true, "messages": []}]"#

    /// Bodies without an answer, and half of one.
    private static let bodies = [
        "", "{}", " {\n} ", "[]", "null", "<html><body>502 Bad Gateway</body></html>", String(list.dropLast(9)),
    ]

    private func envelope(_ list: String) -> String { #"{"data": {"dialog_list": \#(list)}}"# }

    /// The chain of the README.
    private func endpointChain(_ client: StubClient) -> any Node<Json, [Dialog]> {
        let wire = EndpointNode(client: client) { (_: Json) in DialogsEndpoint() }
        return ModelInputNode<Json, [Dialog]>(next: DTOMapperNode<Json, [DialogEntry]>(next: wire))
    }

    /// An endpoint whose whole body is the list.
    private func bareChain(_ client: StubClient, acceptsMissingContent: Bool = false) -> any Node<Json, [Dialog]> {
        struct Bare: JsonEndpoint, URLRequestBuildable {
            typealias Content = Json
            let acceptsMissingContent: Bool
            func makeRequest() throws -> URLRequest { try get("dialogs/") }
        }
        let wire = EndpointNode(client: client) { (_: Json) in Bare(acceptsMissingContent: acceptsMissingContent) }
        return ModelInputNode<Json, [Dialog]>(next: DTOMapperNode<Json, [DialogEntry]>(next: wire))
    }

    private func builderChain(_ client: StubClient, acceptsMissingContent: Bool = false) -> any Node<Json, [Dialog]> {
        var builder = URLChainBuilder(client: client, route: "dialogs/")
        builder.endQueue = .global()
        builder.acceptsMissingContent = acceptsMissingContent
        let chain: any Node<Void, [Dialog]> = builder.build()
        return ClosureNode { _ in chain.process() }
    }

    private func isTyped(_ error: any Error) -> Bool {
        error is HTTPError || error is APIError || error is ContentError || error is DecodingError || error is MappingError
    }

    @Test func onlyACompleteAnswerErasesWhatIsStored() async throws {
        try await withDialogs("memory:") { _, dialogs in
            let stored = [dialog(1, [10]), dialog(2, isPinned: true)]
            try await dialogs.persist(stored)
            let before = try dump(dialogs)
            var answers = 0
            for status in 100...599 {
                for body in Self.bodies {
                    let bare = StubClient(status: status, body: Data(body.utf8))
                    let wrapped = StubClient(status: status, body: Data(envelope(body).utf8))
                    let chains = [
                        ("endpoint, bare", endpointChain(bare)), ("endpoint", endpointChain(wrapped)), ("raw", bareChain(bare)),
                        ("builder", builderChain(bare)), ("builder, wrapped", builderChain(wrapped)),
                    ]
                    let isSuccess = (200..<300).contains(status) && ![204, 205, 206].contains(status)
                    for (name, chain) in chains {
                        let isAnswer = isSuccess && body == "[]" && ["endpoint", "raw", "builder"].contains(name)
                        do {
                            let result = try await PersistNode(dialogs, next: chain, replacing: .all).value(for: [:])
                            #expect(isAnswer && result.isEmpty, "\(name), status \(status), \(body): \(result)")
                            #expect(try await dialogs.count() == 0, "the last row was deleted")
                            answers += 1
                            try await dialogs.translator.messages.erase()
                            try await dialogs.persist(stored)
                        } catch {
                            #expect(!isAnswer && isTyped(error), "\(name), status \(status), \(body): \(error)")
                        }
                        #expect(try dump(dialogs) == before, "\(name), status \(status), \(body)")
                    }
                }
            }
            #expect(answers == 97 * 3)
        }
    }

    @Test func emptyMeansEmptyWhereItIsSaid() async throws {
        for (status, body) in [(200, ""), (200, "{}"), (200, "null"), (200, "[]"), (204, ""), (205, "")] {
            let client = StubClient(status: status, body: Data(body.utf8))
            for chain in [bareChain(client, acceptsMissingContent: true), builderChain(client, acceptsMissingContent: true)] {
                #expect(try await chain.value(for: [:]).isEmpty, "status \(status), \(body)")
            }
        }
        for (status, body) in [(206, "{}"), (502, ""), (304, ""), (302, "null"), (200, "<html>"), (200, "[")] {
            let client = StubClient(status: status, body: Data(body.utf8))
            for chain in [bareChain(client, acceptsMissingContent: true), builderChain(client, acceptsMissingContent: true)] {
                await #expect(throws: (any Error).self, "status \(status), \(body)") { try await chain.value(for: [:]) }
            }
        }
    }

    @Test func bytesAndSilentChainsNeedASuccess() async throws {
        for status in 100...599 {
            var builder = URLChainBuilder(client: StubClient(status: status, body: Data()), .post, route: "a")
            builder.endQueue = .global()
            let silent: any Node<Void, Void> = builder.build()
            let isSuccess = (200..<300).contains(status) && status != 206
            let sent: Void? = try? await silent.value()
            #expect((sent != nil) == isSuccess, "status \(status)")
            let bytes = try? await builder.loadData().value()
            #expect((bytes != nil) == (isSuccess && status != 204 && status != 205), "status \(status)")
        }
        var ranged = URLChainBuilder(
            client: StubClient(status: 206, body: Data("part".utf8)), route: "a", metadata: ["Range": "bytes=0-3"])
        ranged.endQueue = .global()
        #expect(try await ranged.loadData().value() == Data("part".utf8))
    }

    @Test func unchangedResponseReachesItsNodeAndNothingReplacesTheStoredOne() async throws {
        let cache = MemoryResponseCache()
        let request = URLRequest(url: try #require(URL(string: "https://host/a")))
        cache.store(CachedResponse(data: Data("[1]".utf8), etag: "v1"), for: request)
        func chain(_ status: Int, _ body: String) -> any Node<URLRequest, Json> {
            let kept = URLCacheReaderNode(cache: cache)
            let parser = ResponseDataParserNode(next: URLCacheWriterNode(cache: cache))
            let content = ResponseDataPreprocessorNode(next: parser, acceptsMissingContent: false)
            let success = ResponseHTTPErrorProcessorNode(next: content, acceptsOtherStatuses: false)
            let response = URLNotModifiedTriggerNode(next: success, stored: kept)
            return RequestSenderNode(
                next: ResponseProcessorNode(next: response), client: StubClient(status: status, body: Data(body.utf8)))
        }
        #expect(try await chain(304, "").value(for: request) == ["_array": [1]])
        for (status, body) in [(502, "[]"), (200, ""), (200, "{}"), (204, ""), (206, "[]"), (200, "<html>"), (302, "[]")] {
            await #expect(throws: (any Error).self) { try await chain(status, body).value(for: request) }
            #expect(cache.response(for: request)?.data == Data("[1]".utf8), "status \(status), \(body)")
        }
        #expect(try await chain(200, "[]").value(for: request) == ["_array": []])
        #expect(cache.response(for: request)?.data == Data("[]".utf8))
    }
}
