import DAOCurl
import DAOLoopbackServer
import DAONodes
import DAOTransport
import Foundation
import Testing

@testable import DAOExamples

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Runs the chains that the documentation shows.
@Suite(.timeLimit(.minutes(30))) struct RequestExampleTests {
    @Test func documentedChainFiltersItsLogAndKeepsItsErrors() async throws {
        let server = try LoopbackServer()
        let log = Log()
        let chain = defaultChain(client: CurlClient(baseURL: server.url, configuration: .patient)) { log.add($0) }
        // This server puts an envelope around its dialogs, which only an endpoint removes.
        await #expect(throws: MappingError.self) { try await chain.value() }
        #expect(log.all.first == "RequestCreatorNode: GET dialogs/?pinned=1&tags%5B%5D=new&tags%5B%5D=red")
        #expect(!log.all.contains { $0.hasPrefix("ResponseDataParserNode") })
    }

    @Test func documentedChainReturnsTheStoredResponse() async throws {
        let server = try LoopbackServer()
        let chain = cachedChain(client: CurlClient(baseURL: server.url, configuration: .patient))
        let request = URLRequest(url: try #require(URL(string: "versioned")))
        for _ in 0..<2 { #expect(try await chain.value(for: request) == ["version": 1]) }
        server.stop()
        #expect(try await chain.value(for: request) == ["version": 1])
    }

    @Test func documentedPagerReadsAllPages() async throws {
        let provider = ClosureNode<PageRequest, OffsetPage<[Dialog]>> { request in
            let ids = (0..<45).dropFirst(request.index).prefix(request.size)
            return .emit(data: OffsetPage(ids.map { Dialog(id: $0, isPinned: false, messages: []) }))
        }
        #expect(try await allPages(of: provider).map(\.id) == Array(0..<45))
    }
}
