import DAOCurl
import DAOLoopbackServer
import DAONodes
import DAOTransport
import Foundation
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A response with a status, headers and a body.
func response(_ status: Int, _ body: String = "", headers: [String: String] = [:]) throws -> URLDataResponse {
    let url = try #require(URL(string: "https://host/a?b=1&a=2"))
    let response = try #require(HTTPURLResponse(url: url, statusCode: status, httpVersion: nil, headerFields: headers))
    return URLDataResponse(request: URLRequest(url: url), response: response, data: Data(body.utf8))
}

@Suite(.timeLimit(.minutes(30))) struct ResponseNodeTests {
    @Test func senderReturnsResponsesWithAnyStatus() async throws {
        let server = try LoopbackServer()
        let sender = RequestSenderNode(
            next: ClosureNode<DataResponse, DataResponse> { .emit(data: $0) },
            client: CurlClient(baseURL: server.url, configuration: .patient))
        let good = try await sender.value(for: URLRequest(url: #require(URL(string: "books"))))
        #expect(good.response?.statusCode == 200)
        #expect(!good.data.isEmpty)
        #expect(good.error == nil)
        let bad = try await sender.value(for: URLRequest(url: #require(URL(string: "status/502?body=oops"))))
        #expect(bad.response?.statusCode == 502)
        #expect(bad.data == Data("oops".utf8))
        let cut = try await sender.value(for: URLRequest(url: #require(URL(string: "cut"))))
        #expect(cut.response == nil)
        #expect(cut.error is URLError)
    }

    @Test func cancellingStopsTheSenderAndCallsNoNode() async throws {
        let server = try LoopbackServer()
        let started = AsyncStream.makeStream(of: Void.self)
        let ended = AsyncStream.makeStream(of: (any Error)?.self)
        let client = CurlClient(
            baseURL: server.url,
            adapters: [
                HeaderRequestAdapter {
                    started.continuation.yield()
                    return [:]
                }
            ], configuration: .patient
        ) { ended.continuation.yield($0.error) }
        let asked = Counter()
        let sender = RequestSenderNode(
            next: ClosureNode<DataResponse, Int> { _ in
                asked.increment()
                return .emit(data: 1)
            }, client: client)
        let request = URLRequest(url: try #require(URL(string: "slow")))
        var starts = started.stream.makeAsyncIterator()
        var ends = ended.stream.makeAsyncIterator()

        let log = Log()
        let observer = log.follow(sender.process(request))
        await starts.next()
        observer.cancel()
        #expect(log.all == ["cancelled", "defer"])
        #expect(await ends.next() as? CancellationError != nil)

        let task = Task { try await sender.value(for: request) }
        await starts.next()
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(await ends.next() as? CancellationError != nil)
        #expect(asked.value == 0)
    }

    @Test func connectionErrorsBecomeTechnicalErrors() async {
        let names: [(URLError.Code, Int, TechnicalError)] = [
            (.dataNotAllowed, -1020, .dataNotAllowed), (.notConnectedToInternet, -1009, .noInternetConnection),
            (.timedOut, -1001, .timeout), (.cannotConnectToHost, -1004, .cantConnectToHost),
        ]
        for (code, number, expected) in names {
            #expect(code.rawValue == number)
            let node = TechnicalErrorMapperNode(next: ClosureNode<Int, Int> { _ in .emit(error: URLError(code)) })
            await #expect(throws: expected) { try await node.value(for: 1) }
        }
        let others: [any Error & Sendable] = [URLError(.badURL), Failure("x")]
        for other in others {
            let node = TechnicalErrorMapperNode(next: ClosureNode<Int, Int> { _ in .emit(error: other) })
            await #expect(throws: (any Error).self) { try await node.value(for: 1) }
            #expect(TechnicalError(other) == nil)
        }
        let kept = TechnicalErrorMapperNode(next: ClosureNode<Int, Int> { _ in .emit(error: Failure("x")) })
        await #expect(throws: Failure("x")) { try await kept.value(for: 1) }
    }

    @Test func transportFailureWithoutAResponseEndsTheChain() async throws {
        let probe = Probe<URLDataResponse, Int>(returning: 1)
        let node = ResponseProcessorNode(next: probe)
        let there = try response(200, "body")
        await #expect(throws: Failure("cut")) {
            try await node.value(for: DataResponse(request: there.request, data: there.data, error: Failure("cut")))
        }
        await #expect(throws: URLError.self) { try await node.value(for: DataResponse(request: there.request)) }
        #expect(probe.all.isEmpty)
        var full = DataResponse(request: there.request, response: there.response, data: there.data)
        #expect(try await node.value(for: full) == 1)
        full.error = Failure("cut")
        #expect(try await node.value(for: full) == 1)
        #expect(probe.all.map(\.data) == [Data("body".utf8), Data()])
    }

    @Test func fiveStatusesAreErrorsAndOthersContinue() async throws {
        let probe = Probe<URLDataResponse, Int>(returning: 1)
        let node = ResponseHTTPErrorProcessorNode(next: probe)
        let kinds: [(Int, HTTPError.Kind)] = [
            (400, .badRequest), (401, .unauthorized), (403, .forbidden), (404, .notFound), (500, .internalServerError),
        ]
        for (status, kind) in kinds {
            let error = await #expect(throws: HTTPError.self) { try await node.value(for: response(status, "why")) }
            #expect(error?.kind == kind)
            #expect(error?.body == Data("why".utf8))
        }
        #expect(probe.all.isEmpty)
        for status in [200, 204, 304, 402, 418, 502] { #expect(try await node.value(for: response(status)) == 1) }
        #expect(probe.all.map(\.response.statusCode) == [200, 204, 304, 402, 418, 502])
    }

    @Test func noContentAndNullBecomeTheEmptyObject() async throws {
        let probe = Probe<URLDataResponse, Json>(returning: ["next": 1])
        let node = ResponseDataPreprocessorNode(next: probe)
        #expect(try await node.value(for: response(204, "ignored")) == Json())
        #expect(try await node.value(for: response(200, "null")) == Json())
        #expect(probe.all.isEmpty)
        #expect(try await node.value(for: response(200, "{}")) == ["next": 1])
        #expect(try await node.value(for: response(200)) == ["next": 1])
    }

    @Test func parserReadsObjectsListsAndEmptyBodies() async throws {
        let node = ResponseDataParserNode()
        #expect(try await node.value(for: response(200)) == Json())
        #expect(try await node.value(for: response(200, "[1,2]")) == ["_array": [1, 2]])
        #expect(try await node.value(for: response(200, #"{"a":1}"#)) == ["a": 1])
        for bad in ["1", "\"text\"", "true", "{", "<html>"] {
            await #expect(throws: DecodingError.self) { try await node.value(for: response(200, bad)) }
        }
    }

    @Test func parserWaitsForItsNextNodeAndFailsWithItsError() async throws {
        let probe = Probe<ProcessedResponse, Void>(returning: ())
        #expect(try await ResponseDataParserNode(next: probe).value(for: response(200, "[1]")) == ["_array": [1]])
        #expect(probe.all.map(\.json) == [["_array": [1]]])
        let failing = ClosureNode<ProcessedResponse, Void> { _ in .emit(error: Failure("disk")) }
        await #expect(throws: Failure("disk")) { try await ResponseDataParserNode(next: failing).value(for: response(200, "[]")) }
        let held = Context<Void>()
        let observer = ResponseDataParserNode(next: ClosureNode { _ in held }).process(try response(200, "[]"))
        observer.cancel()
        #expect(held.isCancelled)
    }

    @Test func loadedDataIsReturnedUnchanged() async throws {
        #expect(try await DataLoadingResponseProcessorNode().value(for: response(200, "null")) == Data("null".utf8))
    }

    @Test func indicatorCountsRunningLoads() {
        let seen = Locked<[Int]>([])
        let indicator = LoadIndicator { count in seen.withLock { $0.append(count) } }
        let (first, second, third) = (Context<Int>(), Context<Int>(), Context<Int>())
        let contexts = [first, second, third]
        let node = LoadIndicatableNode(next: ClosureNode<Int, Int> { contexts[$0] }, indicator: indicator)
        let observers = (0..<3).map { node.process($0) }
        #expect(indicator.inFlight == 3)
        first.emit(data: 1).emit(data: 2)
        #expect(indicator.inFlight == 2)
        second.emit(error: Failure("x")).finish()
        observers[2].cancel()
        #expect(seen.withLock { $0 } == [1, 2, 3, 2, 1, 0])
    }

    /// What a view shows last is the truth, also where loads begin and end on many threads.
    @Test func indicatorReportsInOrder() async {
        let seen = Locked<[Int]>([])
        let indicator = LoadIndicator { count in
            if count % 7 == 0 { Thread.sleep(forTimeInterval: 0.0001) }
            seen.withLock { $0.append(count) }
        }
        let node = LoadIndicatableNode(next: ClosureNode<Int, Int> { .emit(data: $0) }, indicator: indicator)
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<8 { group.addTask { for number in 0..<500 { _ = node.process(number) } } }
        }
        let all = seen.withLock { $0 }
        #expect(all.count == 8000)
        #expect(zip([0] + all, all).allSatisfy { abs($0 - $1) == 1 })
        #expect(all.last == 0)
        #expect(indicator.inFlight == 0)
    }

    @Test func configuratorUsesItsQueues() async {
        let (begin, end) = (DispatchQueue.named("begin"), DispatchQueue.named("end"))
        let log = Log()
        let node = ChainConfiguratorNode(
            next: ClosureNode<Int, Int> { input in
                log.add(DispatchQueue.currentName ?? "none")
                return .emit(data: input)
            }, beginQueue: begin, endQueue: end)
        let done = AsyncStream.makeStream(of: Void.self)
        node.process(1).onCompleted { _ in log.add(DispatchQueue.currentName ?? "none") }.defer { done.continuation.finish() }
        for await _ in done.stream {}
        #expect(log.all == ["begin", "end"])
    }
}
