import DAOCurl
import DAOLoopbackServer
import DAONodes
import DAOTransport
import Foundation
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite(.timeLimit(.minutes(30))) struct ResponseCacheTests {
    private let cache = MemoryResponseCache()

    private func request(_ text: String, method: String = "GET") throws -> URLRequest {
        var request = URLRequest(url: try #require(URL(string: text)))
        request.httpMethod = method
        return request
    }

    @Test func writerStoresSuccessfulResponsesWithTheirEntityTags() async throws {
        let writer = URLCacheWriterNode(cache: cache)
        let good = try response(200, "[1]", headers: ["Etag": "\"v1\""])
        try await writer.value(for: ProcessedResponse(response: good, json: Json()))
        #expect(cache.response(for: good.request) == CachedResponse(data: good.data, etag: "\"v1\""))
        #expect(cache.response(for: try request("https://host/a?a=2&b=1")) != nil)
        #expect(cache.response(for: try request("https://host/a?a=3&b=1")) == nil)

        try await writer.value(for: ProcessedResponse(response: response(502, "[2]"), json: Json()))
        var posted = try response(200, "[3]")
        posted.request.httpMethod = "POST"
        try await writer.value(for: ProcessedResponse(response: posted, json: Json()))
        #expect(cache.response(for: good.request)?.data == good.data)
        #expect(cache.response(for: posted.request) == nil)
    }

    /// A server reads "+" as a space.
    @Test func aPlusAndItsEncodingAreTwoResources() throws {
        cache.store(CachedResponse(data: Data("plus".utf8)), for: try request("https://host/a?q=1%2B1&b=1"))
        #expect(cache.response(for: try request("https://host/a?q=1+1&b=1")) == nil)
        #expect(cache.response(for: try request("https://host/a?b=1&q=1%2B1")) != nil)
    }

    @Test func fullCacheRemovesTheOldestResponse() throws {
        let cache = MemoryResponseCache(capacity: 2)
        for name in ["a", "b", "a", "c"] {
            cache.store(CachedResponse(data: Data(name.utf8)), for: try request("https://host/\(name)"))
        }
        #expect(cache.response(for: try request("https://host/b")) == nil)
        #expect(cache.response(for: try request("https://host/a")) != nil)
        #expect(cache.response(for: try request("https://host/c")) != nil)
    }

    @Test func readerReturnsTheStoredResponseOrAnError() async throws {
        let reader = URLCacheReaderNode(cache: cache)
        let request = try request("https://host/a")
        await #expect(throws: ResponseCacheError.cantLoadDataFromCache) { try await reader.value(for: request) }
        cache.store(CachedResponse(data: Data("[1]".utf8)), for: request)
        #expect(try await reader.value(for: request) == ["_array": [1]])
        for bad in ["{", "1"] {
            cache.store(CachedResponse(data: Data(bad.utf8)), for: request)
            await #expect(throws: DecodingError.self) { try await reader.value(for: request) }
        }
    }

    @Test func eTagReaderSendsTheStoredEntityTag() async throws {
        let probe = Probe<URLRequest, Int>(returning: 1)
        let node = URLETagReaderNode(next: probe, cache: cache)
        let request = try request("https://host/a")
        _ = try await node.value(for: request)
        cache.store(CachedResponse(data: Data()), for: request)
        _ = try await node.value(for: request)
        cache.store(CachedResponse(data: Data(), etag: "\"v1\""), for: request)
        _ = try await node.value(for: request)
        #expect(probe.all.map { $0.value(forHTTPHeaderField: "If-None-Match") } == [nil, nil, "\"v1\""])
    }

    @Test func notModifiedReturnsTheStoredResponse() async throws {
        let stored = Probe<URLRequest, Json>(returning: ["stored": 1])
        let next = Probe<URLDataResponse, Json>(returning: ["fresh": 1])
        let node = URLNotModifiedTriggerNode(next: next, stored: stored)
        #expect(try await node.value(for: response(304)) == ["stored": 1])
        #expect(try await node.value(for: response(200)) == ["fresh": 1])
        #expect(stored.all.count == 1)
        #expect(next.all.count == 1)
    }

    @Test func unchangedResponseIsTransferredOnce() async throws {
        let server = try LoopbackServer()
        let statuses = Locked<[Int]>([])
        let client = CurlClient(baseURL: server.url, configuration: .patient) { exchange in
            statuses.withLock { $0.append(exchange.response?.statusCode ?? 0) }
        }
        let parser = ResponseDataParserNode(next: URLCacheWriterNode(cache: cache))
        let trigger = URLNotModifiedTriggerNode(
            next: ResponseHTTPErrorProcessorNode(next: parser), stored: URLCacheReaderNode(cache: cache))
        let sender = RequestSenderNode(next: ResponseProcessorNode(next: trigger), client: client)
        let chain = URLETagReaderNode(next: sender, cache: cache)
        let request = try request("versioned")
        #expect(try await chain.value(for: request) == ["version": 1])
        #expect(try await chain.value(for: request) == ["version": 1])
        #expect(statuses.withLock { $0 } == [200, 304])

        let offline = FallbackToStoreNode(
            network: TechnicalErrorMapperNode(next: chain), stored: URLCacheReaderNode(cache: cache))
        server.stop()
        #expect(try await offline.value(for: request) == ["version": 1])
    }

    @Test func cacheIsReadOnlyAfterATechnicalError() async throws {
        for error in TechnicalError.allCases {
            let stored = Probe<Int, String>(returning: "stored")
            let node = FallbackToStoreNode(network: ClosureNode<Int, String> { _ in .emit(error: error) }, stored: stored)
            #expect(try await node.value(for: 1) == "stored")
            #expect(stored.all == [1])
        }
        let others: [any Error & Sendable] = [
            HTTPError(statusCode: 500, url: nil), MappingError.badType, URLError(.badServerResponse), Failure("x"),
        ]
        for error in others {
            let stored = Probe<Int, String>(returning: "stored")
            let node = FallbackToStoreNode(network: ClosureNode<Int, String> { _ in .emit(error: error) }, stored: stored)
            await #expect(throws: (any Error).self) { try await node.value(for: 1) }
            #expect(stored.all.isEmpty)
        }
    }

    @Test func cachedResponseIsEmittedFirst() async throws {
        let node = FirstCacheNode(
            stored: URLCacheReaderNode(cache: cache), network: ClosureNode<URLRequest, Json> { _ in .emit(data: ["fresh": 1]) })
        let request = try request("https://host/a")
        func all() async throws -> [Json] {
            var seen: [Json] = []
            for try await value in node.values(for: request) { seen.append(value) }
            return seen
        }
        #expect(try await all() == [["fresh": 1]])
        cache.store(CachedResponse(data: Data(#"{"old":1}"#.utf8)), for: request)
        #expect(try await all() == [["old": 1], ["fresh": 1]])
    }
}
