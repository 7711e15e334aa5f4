import DAOBookAPI
import DAOLoopbackServer
import DAOTransport
import Foundation
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A single server for all tests of this process.
private let server = Result { try LoopbackServer() }

private struct Raw: Endpoint, URLRequestBuildable {
    let path: String

    init(_ path: String) { self.path = path }

    func makeRequest() throws -> URLRequest { try get(path) }
    func content(from response: URLResponse?, with body: Data) throws -> Data { body }
}

private struct JsonAnswer: JsonEndpoint, URLRequestBuildable {
    typealias Content = Json
    let path: String
    let acceptsMissingContent: Bool

    init(_ path: String, acceptsMissingContent: Bool = false) {
        self.path = path
        self.acceptsMissingContent = acceptsMissingContent
    }

    func makeRequest() throws -> URLRequest { try get(path) }
}

private struct EmptyAnswer: VoidEndpoint, URLRequestBuildable {
    let path: String
    func makeRequest() throws -> URLRequest { try get(path) }
}

private struct Posting: JsonEndpoint, URLRequestBuildable {
    typealias Content = Json
    let body: HTTPBody
    func makeRequest() throws -> URLRequest { try post("echo", body: body) }
}

private struct Upload: JsonUploadEndpoint, URLRequestBuildable {
    typealias Content = Json
    let body: UploadEndpointBody

    func makeRequest() throws -> (URLRequest, UploadEndpointBody) {
        var request = try post("upload", body: nil)
        request.setValue("application/octet-stream", forHTTPHeaderField: "Content-Type")
        return (request, body)
    }
}

private final class Log: Sendable {
    private let lines = Locked<[String]>([])
    func add(_ line: String) { lines.withLock { $0.append(line) } }
    var all: [String] { lines.withLock { $0 } }
}

@Suite(.timeLimit(.minutes(30))) struct ClientTests {
    private func makeClient(
        _ kind: ClientKind,
        adapters: [any RequestAdapter] = [],
        observer: (@Sendable (HTTPExchange) -> Void)? = nil
    ) throws -> any Client {
        kind.make(baseURL: try server.get().url, adapters: adapters, responseObserver: observer)
    }

    private func failure(_ path: String, _ client: any Client) async throws -> (any Error)? {
        do {
            _ = try await client.request(JsonAnswer(path))
            return nil
        } catch {
            return error
        }
    }

    // MARK: Stages of a request

    @Test(arguments: ClientKind.allCases)
    func requestReturnsContent(_ kind: ClientKind) async throws {
        let books = try await makeClient(kind).request(BookListEndpoint())
        #expect(books == [Book(id: 1, name: "Mu-Mu"), Book(id: 2, name: "Kashtanka")])
    }

    @Test(arguments: ClientKind.allCases)
    func aRequestIsSentAsItWasBuilt(_ kind: ClientKind) async throws {
        let client = try makeClient(kind, adapters: [HeaderRequestAdapter { ["X-Token": "t"] }])
        let echo = try await client.request(Posting(body: .json(["_array": [1, "é"]] as Json)))
        #expect(echo["method"] == "POST")
        #expect(echo["path"] == "/echo")
        #expect(echo["body"] == #"[1,"é"]"#)
        #expect(echo["headers"]?["content-type"] == "application/json")
        #expect(echo["headers"]?["x-token"] == "t")
    }

    @Test(arguments: ClientKind.allCases)
    func requestStagesRunInOrder(_ kind: ClientKind) async throws {
        struct Logging: Endpoint, URLRequestBuildable {
            let log: Log
            func makeRequest() throws -> URLRequest {
                log.add("make")
                return try get("echo")
            }
            func validate(_ request: URLRequest, response: HTTPURLResponse, data: Data) throws {
                log.add("validate \(response.statusCode) \(request.value(forHTTPHeaderField: "Step") ?? "")")
            }
            func content(from response: URLResponse?, with body: Data) throws -> Int {
                log.add("content")
                return body.count
            }
        }
        struct Step: RequestAdapter {
            let log: Log
            let name: String
            func adapt(_ request: URLRequest) -> URLRequest {
                log.add("adapt \(name)")
                var request = request
                request.setValue((request.value(forHTTPHeaderField: "Step") ?? "") + name, forHTTPHeaderField: "Step")
                return request
            }
        }
        let log = Log()
        let client = try makeClient(kind, adapters: [Step(log: log, name: "1"), Step(log: log, name: "2")]) { exchange in
            log.add("observer \(exchange.error == nil) \(exchange.data.isEmpty)")
        }
        _ = try await client.request(Logging(log: log))
        log.add("caller")
        #expect(log.all == ["make", "adapt 1", "adapt 2", "validate 200 12", "content", "observer true false", "caller"])
    }

    @Test(arguments: ClientKind.allCases)
    func nothingIsSentWhenTheRequestCannotBeMade(_ kind: ClientKind) async throws {
        struct Refusal: Error {}
        struct Refusing: RequestAdapter {
            func adapt(_ request: URLRequest) throws -> URLRequest { throw Refusal() }
        }
        let log = Log()
        let client = try makeClient(kind, adapters: [Refusing()]) { _ in log.add("observer") }
        await #expect(throws: Refusal.self) { try await client.request(Raw("never-sent")) }
        let hits = try await makeClient(kind).request(JsonAnswer("hits?path=/never-sent"))
        #expect(hits["hits"] == 0)
        #expect(log.all.isEmpty)
    }

    @Test(arguments: ClientKind.allCases)
    func observerReceivesTheErrorOfEveryStage(_ kind: ClientKind) async throws {
        let log = Log()
        let client = try makeClient(kind) { exchange in
            log.add("\(exchange.response?.statusCode ?? 0) \(exchange.error.map { "\(type(of: $0))" } ?? "none")")
        }
        _ = try await failure("secret", client)
        _ = try await failure("status/500?body=oops", client)
        _ = try await failure("body?is=<html>", client)
        _ = try await failure("cut-before-answer", client)
        #expect(log.all == ["401 APIError", "500 HTTPError", "200 DecodingError", "0 URLError"])
    }

    // MARK: Errors

    @Test(arguments: ClientKind.allCases)
    func errorBodyIsAnAPIErrorWithAnyStatus(_ kind: ClientKind) async throws {
        #expect(
            try await failure("secret", makeClient(kind)) as? APIError
                == APIError(code: .init(rawValue: "token_invalid"), title: "Sign in again", statusCode: 401))
        let body = "body?is=%7B%22error%22%3A%7B%22code%22%3A7%2C%22description%22%3A%22no%22%7D%7D"
        #expect(
            try await failure(body, makeClient(kind)) as? APIError
                == APIError(code: .init(rawValue: "7"), title: "no", statusCode: 200))
    }

    @Test(arguments: [401, 404, 500, 304], ClientKind.allCases)
    func statusOutside2xxIsAnHTTPError(_ status: Int, _ kind: ClientKind) async throws {
        let error = try await failure("status/\(status)", makeClient(kind))
        let httpError = try #require(error as? HTTPError)
        #expect(httpError.statusCode == status)
        #expect(httpError.url?.path == "/status/\(status)")
    }

    @Test(
        arguments: ["Basic%20realm=%22a%22", "Bearer", "Digest%20realm=%22a%22,nonce=%22b%22", "Nonsense"], ClientKind.allCases)
    func challengeWithoutCredentialIsRefused(_ challenge: String, _ kind: ClientKind) async throws {
        let error = try #require(try await failure("challenge?with=\(challenge)", makeClient(kind)) as? HTTPError)
        #expect(error.statusCode == 401)
        #expect(error.body == Data("nope".utf8))
    }

    @Test(arguments: ClientKind.allCases)
    func invalidJSONIsADecodingError(_ kind: ClientKind) async throws {
        #expect(try await failure("body?is=<html>", makeClient(kind)) is DecodingError)
        await #expect(throws: DecodingError.self) { try await makeClient(kind).request(BookEndpoint404AsContent()) }
    }

    @Test(arguments: ["cut", "cut-before-answer", "cut-in-chunks"], ClientKind.allCases)
    func lostConnectionIsAURLError(_ path: String, _ kind: ClientKind) async throws {
        let error = try await failure(path, makeClient(kind))
        #expect(error is URLError, "\(String(describing: error))")
    }

    @Test(arguments: ClientKind.allCases)
    func stoppedServerIsAConnectionFailure(_ kind: ClientKind) async throws {
        let gone = try LoopbackServer()
        let client = kind.make(baseURL: gone.url)
        #expect(try await client.request(JsonAnswer("body?is=1")) == 1)
        gone.stop()
        let error = try #require(try await failure("books", client) as? URLError)
        #expect(error.isConnectionFailure)
    }

    @Test(arguments: ClientKind.allCases)
    func slowResponseTimesOut(_ kind: ClientKind) async throws {
        let client = kind.make(baseURL: try server.get().url, timeout: 1)
        let error = try #require(try await failure("slow?seconds=10", client) as? URLError)
        #expect(error.code == .timedOut)
        #expect(error.isConnectionFailure)
    }

    // MARK: Malformed and empty responses

    @Test(arguments: ClientKind.allCases)
    func responsesWithoutABodyHaveEmptyData(_ kind: ClientKind) async throws {
        let client = try makeClient(kind)
        for (path, status) in [("status/204", 204), ("body", 200), ("body?is=null", 200), ("body?is=%7B%7D", 200)] {
            await #expect(throws: ContentError.missing(statusCode: status)) { try await client.request(JsonAnswer(path)) }
            #expect(try await client.request(JsonAnswer(path, acceptsMissingContent: true)) == [:])
        }
        try await client.request(EmptyAnswer(path: "status/204"))
        try await client.request(EmptyAnswer(path: "body?is=ignored"))
        await #expect(throws: HTTPError.self) { try await client.request(EmptyAnswer(path: "status/500")) }
    }

    @Test(arguments: ClientKind.allCases)
    func bodyIsCutAtTheAnnouncedLength(_ kind: ClientKind) async throws {
        #expect(try await makeClient(kind).request(JsonAnswer("announces-too-little")) == ["a": 1])
    }

    @Test(arguments: ClientKind.allCases)
    func invalidContentLengthNeitherHangsNorTraps(_ kind: ClientKind) async throws {
        let error = try await failure("announces-nonsense", makeClient(kind))
        #expect(error == nil || error is URLError)
    }

    // MARK: Uploads

    @Test(arguments: ClientKind.allCases)
    func dataFilesAndStreamsAreUploaded(_ kind: ClientKind) async throws {
        let data = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("upload-\(UUID().uuidString)")
        try data.write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let client = try makeClient(kind)

        let fromMemory = try await client.upload(Upload(body: .data(data)))
        #expect(fromMemory["size"] == 300_000)
        #expect(fromMemory["content_type"] == "application/octet-stream")
        #expect(try await client.upload(Upload(body: .file(file))) == fromMemory)
        #expect(try await client.upload(Upload(body: .stream { InputStream(data: data) })) == fromMemory)
        #expect(try await client.upload(Upload(body: .data(Data())))["size"] == 0)
    }

    @Test(arguments: ClientKind.allCases)
    func progressCountsUploadedBytes(_ kind: ClientKind) async throws {
        let progress = Progress(totalUnitCount: -1)
        _ = try await makeClient(kind).upload(Upload(body: .data(Data(count: 300_000))), progress: progress)
        #expect(progress.completedUnitCount == 300_000)
        #expect(progress.totalUnitCount == 300_000)
    }

    @Test(arguments: ClientKind.allCases)
    func missingFileThrowsAndNothingIsSent(_ kind: ClientKind) async throws {
        let missing = URL(fileURLWithPath: "/nowhere/at/all")
        let client = try makeClient(kind)
        await #expect {
            try await client.upload(Upload(body: .file(missing)))
        } throws: { error in
            (error as? CocoaError)?.code == .fileReadNoSuchFile
        }
    }

    // MARK: Progress and cancellation

    @Test(arguments: ClientKind.allCases)
    func progressCountsReceivedBytes(_ kind: ClientKind) async throws {
        let progress = Progress(totalUnitCount: -1)
        let body = try await makeClient(kind).request(Raw("drip"), progress: progress)
        #expect(body.count == 100_000)
        #expect(progress.completedUnitCount == 100_000)
        #expect(progress.totalUnitCount == 100_000)
        #expect(progress.fractionCompleted == 1)
    }

    @Test(arguments: ["slow", "stall"], ClientKind.allCases)
    func cancellingTheTaskStopsTheTransfer(_ path: String, _ kind: ClientKind) async throws {
        let client = try makeClient(kind)
        let task = Task { try await client.request(Raw(path)) }
        try await Task.sleep(for: .milliseconds(200))
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test(arguments: ClientKind.allCases)
    func cancellingTheProgressStopsTheTransfer(_ kind: ClientKind) async throws {
        let client = try makeClient(kind)
        let progress = Progress(totalUnitCount: -1)
        let task = Task { try await client.request(Raw("slow"), progress: progress) }
        try await Task.sleep(for: .milliseconds(200))
        progress.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test(arguments: ClientKind.allCases)
    func cancelledTaskSendsNothing(_ kind: ClientKind) async throws {
        let client = try makeClient(kind)
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await client.request(Raw("cancelled-before"))
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        let cancelled = Progress(totalUnitCount: -1)
        cancelled.cancel()
        await #expect(throws: CancellationError.self) { try await client.request(Raw("cancelled-before"), progress: cancelled) }
        #expect(try await client.request(JsonAnswer("hits?path=/cancelled-before"))["hits"] == 0)
    }

    @Test(arguments: ClientKind.allCases)
    func cancellingAtAnyMomentEndsInAResponseOrACancellation(_ kind: ClientKind) async throws {
        let client = try makeClient(kind)
        await withTaskGroup(of: Void.self) { group in
            for index in 0..<200 {
                group.addTask {
                    let task = Task { try await client.request(Raw("books")) }
                    try? await Task.sleep(for: .microseconds(index * 30))
                    task.cancel()
                    do {
                        #expect(try await !task.value.isEmpty)
                    } catch {
                        #expect(error is CancellationError, "\(error)")
                    }
                }
            }
        }
    }

    @Test(arguments: ClientKind.allCases)
    func completionRunsOnItsQueueAndProgressCancels(_ kind: ClientKind) async throws {
        let client = try makeClient(kind)
        let queue = DispatchQueue(label: "completion")
        let key = DispatchSpecificKey<Bool>()
        queue.setSpecific(key: key, value: true)
        let answered: (Result<[Book], any Error>, Bool) = await withCheckedContinuation { continuation in
            client.request(BookListEndpoint(), completionQueue: queue) { result in
                continuation.resume(returning: (result, DispatchQueue.getSpecific(key: key) == true))
            }
        }
        #expect(try answered.0.get().count == 2)
        #expect(answered.1)

        let cancelled: Result<Data, any Error> = await withCheckedContinuation { continuation in
            let progress = client.request(Raw("slow"), completionQueue: queue) { continuation.resume(returning: $0) }
            queue.asyncAfter(deadline: .now() + 0.2) { progress.cancel() }
        }
        #expect(throws: CancellationError.self) { try cancelled.get() }
    }

    @Test(arguments: ClientKind.allCases)
    func concurrentRequestsReceiveTheirOwnResponses(_ kind: ClientKind) async throws {
        let client = try makeClient(kind)
        let answers = try await withThrowingTaskGroup(of: (Int, Int?).self) { group in
            for index in 0..<50 {
                group.addTask { (index, try await client.request(JsonAnswer("body?is=\(index)")).intValue) }
            }
            return try await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
        }
        #expect(answers.count == 50)
        #expect(answers.allSatisfy { $0.key == $0.value })
    }
}

/// An endpoint that ignores the status and decodes the body of an error response.
private struct BookEndpoint404AsContent: JsonEndpoint, URLRequestBuildable {
    func makeRequest() throws -> URLRequest { try get("not-a-book") }
    func validate(_ request: URLRequest, response: HTTPURLResponse, data: Data) {}
    func content(from root: ResponseData<Book>) -> Book { root.data }
}
