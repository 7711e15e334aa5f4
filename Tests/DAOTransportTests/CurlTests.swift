import DAOLoopbackServer
import DAOTestSupport
import DAOTransport
import Foundation
import Testing

@testable import DAOCurl

#if canImport(Glibc)
    import Glibc
#endif

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

private struct Fetch: Endpoint, URLRequestBuildable {
    var path = "start"
    var method = "GET"
    var headers: [String: String] = [:]
    var body: String?

    func makeRequest() throws -> URLRequest {
        var request = try get(path)
        request.httpMethod = method
        request.httpBody = body.map { Data($0.utf8) }
        for (name, value) in headers { request.setValue(value, forHTTPHeaderField: name) }
        return request
    }
    func validate(_ request: URLRequest, response: HTTPURLResponse, data: Data) throws {
        try ResponseValidator.validate(response, with: data)
    }
    func content(from response: URLResponse?, with body: Data) -> String { String(decoding: body, as: UTF8.self) }
}

/// Gives the head of the response with its body.
private struct FetchHead: Endpoint, URLRequestBuildable {
    struct Content {
        let status: Int
        let url: String
        /// The headers by their names in lower case.
        let fields: [String: String]
        let body: String
    }

    func makeRequest() throws -> URLRequest { try get("start") }
    func content(from response: URLResponse?, with body: Data) -> Content {
        let head = response as? HTTPURLResponse
        let fields = (head?.allHeaderFields ?? [:]).map { ("\($0.key)".lowercased(), "\($0.value)") }
        return Content(
            status: head?.statusCode ?? 0, url: head?.url?.absoluteString ?? "",
            fields: Dictionary(fields, uniquingKeysWith: { "\($0), \($1)" }), body: String(decoding: body, as: UTF8.self))
    }
}

private struct Send: JsonUploadEndpoint, URLRequestBuildable {
    typealias Content = Json
    let body: UploadEndpointBody
    func makeRequest() throws -> (URLRequest, UploadEndpointBody) { (try post("upload", body: nil), body) }
}

/// Where a test looks at its stream.
private final class StreamLog: Sendable {
    private let state = Locked((count: 0, isClosed: false))
    var count: Int { state.withLock { $0.count } }
    var isClosed: Bool { state.withLock { $0.isClosed } }
    func add(_ count: Int) { state.withLock { $0.count += count } }
    func close() { state.withLock { $0.isClosed = true } }
}

/// A stream of zeros that gives a block at a time, as slowly as a test wants.
private final class SlowStream: InputStream {
    private let log: StreamLog
    private let limit: Int
    private let pause: Double

    init(_ log: StreamLog, limit: Int, pause: Double) {
        self.log = log
        self.limit = limit
        self.pause = pause
        super.init(data: Data())
    }

    override func open() {}
    override func close() { log.close() }
    override var hasBytesAvailable: Bool { true }
    override var streamError: (any Error)? { nil }

    override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength: Int) -> Int {
        if pause > 0 { Thread.sleep(forTimeInterval: pause) }
        let count = min(maxLength, limit - log.count, 1 << 16)
        buffer.update(repeating: 0, count: count)
        log.add(count)
        return count
    }
}

/// Waits until a condition holds, for ten seconds at most.
private func eventually(_ condition: () -> Bool) async -> Bool {
    for _ in 0..<1000 where !condition() { try? await Task.sleep(for: .milliseconds(10)) }
    return condition()
}

private func makeClient(
    _ url: URL, _ configuration: CurlConfiguration = .patient, limits: TransferLimits = TransferLimits(deadline: .seconds(60))
) -> CurlClient {
    CurlClient(baseURL: url, configuration: configuration, limits: limits)
}

@Suite(.timeLimit(.minutes(30)), .serialized) struct CurlTests {
    // MARK: Connections

    @Test func connectionIsUsedAgain() async throws {
        let server = try HostileServer(keepsAlive: true) { request, connection in
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        }
        let client = makeClient(server.url)
        for _ in 0..<20 { #expect(try await client.request(Fetch()) == "ok") }
        #expect(try await client.request(Fetch(method: "POST", body: "x")) == "ok")
        #expect(server.requests.count == 21)
        #expect(server.connections == 1)
    }

    @Test func connectionsToAHostAreLimited() async throws {
        let open = Locked((now: 0, most: 0))
        let server = try HostileServer { request, connection in
            open.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1)) }
            Thread.sleep(forTimeInterval: 0.05)
            open.withLock { $0.now -= 1 }
            connection.respond(200, [:], "ok")
        }
        let client = makeClient(server.url, CurlConfiguration(maximumConnectionsPerHost: 3))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<12 {
                group.addTask {
                    let body = try await client.request(Fetch())
                    #expect(body == "ok")
                }
            }
            try await group.waitForAll()
        }
        #expect(open.withLock { $0.most } == 3)
    }

    /// The connection breaks when the second request on it has arrived, without a byte of an answer.
    @Test(arguments: [("GET", nil), ("PUT", "x"), ("POST", "x"), ("POST", nil), ("PATCH", "x")] as [(String, String?)])
    func requestThatIsNotIdempotentIsNotSentTwice(_ method: String, _ body: String?) async throws {
        let count = Locked(0)
        let server = try HostileServer(keepsAlive: true) { request, connection in
            guard request.path == "/start",
                count.withLock({
                    $0 += 1; return $0
                }) == 1
            else {
                return connection.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok") ? () : ()
            }
            connection.hangUp()
        }
        let client = makeClient(server.url)
        _ = try await client.request(Fetch(path: "first"))
        let failure = await error { try await client.request(Fetch(method: method, body: body)) }
        let sent = server.requests.count { $0.path == "/start" }
        if method == "GET" || method == "PUT" {
            #expect(failure == nil)
            #expect(sent == 2)
        } else {
            #expect((failure as? URLError)?.code == .networkConnectionLost)
            #expect(sent == 1)
        }
    }

    @Test func threadAndConnectionsEndWithTheClient() async throws {
        let server = try HostileServer(keepsAlive: true) { _, connection in
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        }
        weak var released: CurlClient?
        do {
            let client = makeClient(server.url)
            _ = try await client.request(Fetch())
            released = client
        }
        #expect(await eventually { released == nil })
        #if os(Linux)
            func threads() -> Int {
                let tasks = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")) ?? []
                return tasks.count { (try? String(contentsOfFile: "/proc/self/task/\($0)/comm", encoding: .utf8)) == "DAOCurl\n" }
            }
            let before = threads()
            do {
                let clients = (0..<20).map { _ in makeClient(server.url) }
                for client in clients { _ = try await client.request(Fetch()) }
                // The list of threads can miss some while others end.
                #expect(await eventually { threads() >= 20 })
                withExtendedLifetime(clients) {}
            }
            #expect(await eventually { threads() <= before })
        #endif
    }

    @Test func transferIsReleasedWithItsRequest() async throws {
        let server = try HostileServer { _, connection in connection.respond(200, [:], "ok") }
        final class Observer: Sendable {}
        weak var observer: Observer?
        do {
            let kept = Observer()
            observer = kept
            let client = CurlClient(baseURL: server.url) { [kept] _ in withExtendedLifetime(kept) {} }
            _ = try await client.request(Fetch())
            let progress = Progress(totalUnitCount: -1)
            _ = try await client.request(Fetch(), progress: progress)
        }
        #expect(await eventually { observer == nil })
    }

    // MARK: Limits

    @Test(arguments: ["lines", "one line", "informational", "trailer", "status line"])
    func headersAreLimited(_ kind: String) async throws {
        let server = try HostileServer { _, connection in
            let start = kind == "status line" ? "HTTP/1.1 200 " : kind == "informational" ? "" : "HTTP/1.1 200 OK\r\n"
            connection.send(kind == "trailer" ? start + "Transfer-Encoding: chunked\r\n\r\n0\r\n" : start)
            if kind == "one line" { connection.send("X: ") }
            let piece =
                switch kind {
                case "informational": "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"
                case "lines", "trailer": "X-Header: value\r\n"
                default: String(repeating: "x", count: 1000)
                }
            for _ in 0..<200_000 { guard connection.send(piece) else { return } }
        }
        let start = ContinuousClock.now
        let failure = await error {
            try await makeClient(server.url, limits: TransferLimits(maximumHeaderSize: 50_000, deadline: .seconds(60))).request(
                Fetch())
        }
        #expect(failure as? TransferError == .headersTooLarge(limit: 50_000), "\(String(describing: failure))")
        #expect(ContinuousClock.now - start < .seconds(10))
    }

    @Test(arguments: ["100 Continue", "102 Processing", "103 Early Hints"])
    func headersAreThoseOfTheFinalResponse(_ status: String) async throws {
        let early = "HTTP/1.1 \(status)\r\nLink: </early>\r\nX-Both: early\r\nLocation: /early\r\n\r\n"
        let server = try HostileServer { request, connection in
            let body = request.path.contains("start") ? "" : "final"
            connection.send(early + early)
            connection.send(
                (body.isEmpty ? "HTTP/1.1 302 Found\r\nLocation: /end\r\n" : "HTTP/1.1 200 OK\r\nX-Both: final\r\n")
                    + "Content-Length: \(body.utf8.count)\r\nConnection: close\r\n\r\n\(body)")
        }
        let response = try await makeClient(server.url).request(FetchHead())
        #expect(response.status == 200)
        #expect(response.url.hasSuffix("/end"))
        #expect(response.body == "final")
        #expect(response.fields["x-both"] == "final")
        #expect(response.fields["content-length"] == "5")
        #expect(response.fields["link"] == nil && response.fields["location"] == nil)
    }

    @Test(arguments: ["A\r\nB", "A:", "", "A B", "Ä"])
    func headerThatHTTPDoesNotAllowIsRefused(_ name: String) async throws {
        let server = try HostileServer { _, connection in connection.respond(200) }
        let client = CurlClient(baseURL: server.url, configuration: CurlConfiguration(headers: [name: "x"]))
        #expect(await error { try await client.request(Fetch()) } as? TransferError == .invalidHeader(name))
        let method = await error { try await makeClient(server.url).request(Fetch(method: "GET / HTTP/1.1\r\nA:")) }
        #expect(method as? TransferError == .invalidHeader("method"))
        #expect(server.requests.isEmpty)
        _ = await error { try await makeClient(server.url).request(Fetch(headers: ["A": "x\r\nB: y"])) }
        #expect(server.requests.allSatisfy { $0.headers["b"] == nil })
    }

    // MARK: Streams

    /// A server that stops to receive stops the stream too.
    @Test func streamIsReadAsFastAsTheServerTakesIt() async throws {
        let listener = try StoppedServer()
        let stream = StreamLog()
        let client = makeClient(listener.url)
        let task = Task { try await client.upload(Send(body: .stream { SlowStream(stream, limit: .max, pause: 0) })) }
        #expect(await eventually { stream.count > 300_000 })
        try await Task.sleep(for: .milliseconds(300))
        let count = stream.count
        try await Task.sleep(for: .milliseconds(300))
        // What the sockets take, and four blocks.
        #expect(stream.count == count)
        #expect(count < 16 << 20)
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(await eventually { stream.isClosed })
    }

    @Test func slowStreamKeepsNobodyWaiting() async throws {
        let server = try LoopbackServer()
        // The timeout is shorter than a pause of the stream: the server is not at fault.
        let client = makeClient(server.url, CurlConfiguration(timeout: .seconds(2)))
        let (stream, limit) = (StreamLog(), 2 << 16)
        let progress = Progress(totalUnitCount: -1)
        let upload = Task {
            try await client.upload(Send(body: .stream { SlowStream(stream, limit: limit, pause: 2.5) }), progress: progress)
        }
        for _ in 0..<10 { _ = try await client.request(Fetch(path: "books")) }
        #expect(stream.count < limit)
        #expect(try await upload.value["size"] == 131_072)
        #expect(progress.completedUnitCount == 131_072)
    }

    @Test func filesAreSentAsTheyAreAndStreamsWithoutContentToo() async throws {
        let server = try LoopbackServer()
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("upload-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: file) }
        try Data(count: 1000).write(to: file)
        #expect(try await makeClient(server.url).upload(Send(body: .file(file)))["size"] == 1000)
        try Data().write(to: file)
        #expect(try await makeClient(server.url).upload(Send(body: .file(file)))["size"] == 0)
        #expect(try await makeClient(server.url).upload(Send(body: .stream { InputStream(data: Data()) }))["size"] == 0)
    }

    // MARK: TLS and HTTP/2

    @Test func certificateMustBeTrusted() async throws {
        let server = try LoopbackServer(tls: "answer")
        let failure = await error { try await makeClient(server.url).request(Fetch()) }
        #expect((failure as? URLError)?.code == .serverCertificateUntrusted)
        #expect((failure as? URLError)?.isConnectionFailure == false)
        let configuration = CurlConfiguration(trustedCertificates: server.certificate)
        #expect(try await makeClient(server.url, configuration).request(Fetch()).contains(#""stream": 1"#))
        // The certificate is for the address, not for the name.
        let named = try #require(URL(string: server.url.absoluteString.replacingOccurrences(of: "127.0.0.1", with: "localhost")))
        let other = await error { try await makeClient(named, configuration).request(Fetch()) }
        #expect((other as? URLError)?.code == .serverCertificateUntrusted)
    }

    @Test func requestsShareAConnectionOfHTTP2() async throws {
        let server = try LoopbackServer(tls: "together")
        let client = makeClient(server.url, CurlConfiguration(trustedCertificates: server.certificate))
        let answers = try await withThrowingTaskGroup(of: Json.self) { group in
            for index in 0..<8 {
                group.addTask {
                    guard index > 4 else { return try Json(parsing: Data(try await client.request(Fetch()).utf8)) }
                    return try await client.upload(Send(body: .data(Data(count: 100_000))))
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(answers.allSatisfy { $0["connection"] == 1 })
        #expect(Set(answers.compactMap { $0["stream"]?.intValue }).count == 8)
        #expect(answers.count { $0["size"] == 100_000 } == 3)
    }

    @Test(arguments: ["reset", "goaway", "cut", "http1-cut", "handshake"])
    func brokenOffConnectionWithTLSIsAConnectionFailure(_ mode: String) async throws {
        let server = try LoopbackServer(tls: mode)
        let client = makeClient(server.url, CurlConfiguration(trustedCertificates: server.certificate))
        let failure = await error { try await client.request(Fetch()) }
        #expect((failure as? URLError)?.isConnectionFailure == true, "\(String(describing: failure))")
    }

    @Test func serverWithoutHTTP2GetsHTTP1() async throws {
        let server = try LoopbackServer(tls: "http1")
        let client = makeClient(server.url, CurlConfiguration(trustedCertificates: server.certificate))
        #expect(try await client.request(Fetch()).contains(#""stream": 0"#))
    }

    // MARK: Proxies, cookies, URLs

    @Test func proxyIsUsedWhereItIsAsked() async throws {
        let proxy = try HostileServer { request, connection in connection.respond(200, [:], "by proxy") }
        let target = try #require(URL(string: "http://books.invalid/"))
        let client = makeClient(target, CurlConfiguration(proxy: .url(proxy.url)))
        #expect(try await client.request(Fetch()) == "by proxy")
        #expect(proxy.requests.map(\.path) == ["http://books.invalid/start"])
        let failure = await error { try await makeClient(target).request(Fetch()) }
        #expect((failure as? URLError)?.code == .cannotFindHost)
    }

    @Test func cookiesAreKeptUnlessTheyAreNotWanted() async throws {
        let server = try HostileServer { _, connection in connection.respond(200, ["Set-Cookie": "id=1; Path=/"], "ok") }
        for keeps in [true, false] {
            let client = makeClient(server.url, CurlConfiguration(keepsCookies: keeps))
            _ = try await client.request(Fetch())
            _ = try await client.request(Fetch(headers: ["Cookie": "own=2"]))
            let sent = try #require(server.requests.last?.headers["cookie"])
            #expect(sent.contains("own=2"))
            #expect(sent.contains("id=1") == keeps)
        }
        _ = try await makeClient(server.url).request(Fetch())
        #expect(server.requests.last.map { $0.headers["cookie"] == nil } == true)
    }

    @Test(arguments: [
        ("http://example.com/a?b#c", true), ("http://user:pass@example.com:80/", true), ("http://[::1]:8080/", true),
        ("http://127.0.0.1/", true), ("http://127.1/", true), ("http://EXAMPLE.com/", true),
        ("http://b%C3%BCcher.example/", true),
        ("http://xn--bcher-kva.example/", true), ("http://%5B/", false), ("http://a%20b/", false), ("http://", false),
        ("http://:80/", false), ("http://a:99999/", false),
    ])
    func urlsAreUnderstoodAlike(_ text: String, _ isUsable: Bool) {
        guard let url = URL(string: text) else { return #expect(!isUsable, "\(text)") }
        #expect(isUnderstoodAlike(url) == isUsable, "\(text): \(url.host ?? "no host")")
    }

    /// Whatever a server writes into `Location`: the redirect, an error, or a place that both libraries understand.
    @Test func anyLocationIsSurvived() async throws {
        let pieces = [
            "http://", "https:", "//", "/", "\\", "@", ":", "[", "]", "%", "%5B", "%00", "?", "#", "..", "a", "127.0.0.1", "é",
            "\u{202E}", " ", "\t", "xn--", "99999", "-", "|", "^", "`", "<", "{", ";", "=", "&", "::1", "0x7f.1",
        ]
        var generator = SeededGenerator(seed: 55)
        let locations = (0..<2000).map { _ in
            (0..<Int.random(in: 1...7, using: &generator)).compactMap { _ in pieces.randomElement(using: &generator) }.joined()
        }
        let server = try HostileServer { request, connection in
            guard let index = Int(request.path.dropFirst()), locations.indices.contains(index) else {
                return connection.respond(404)
            }
            connection.respond(302, ["Location": locations[index]])
        }
        let configuration = CurlConfiguration(timeout: .seconds(2))
        let client = makeClient(server.url, configuration, limits: TransferLimits(maximumRedirects: 1, deadline: .seconds(5)))
        await withTaskGroup(of: Void.self) { group in
            for first in 0..<8 {
                group.addTask {
                    for index in stride(from: first, to: locations.count, by: 8) {
                        // Hosts of the net are not asked for.
                        guard !isForeign(locations[index], server.url) else { continue }
                        let failure = await error { try await client.request(Fetch(path: "\(index)")) }
                        let isTyped = failure is HTTPError || failure is URLError || failure is TransferError
                        #expect(isTyped, "\(locations[index]): \(String(describing: failure))")
                    }
                }
            }
        }
    }
}

/// How soon a request ends; measured while nothing else runs.
@Suite(.timeLimit(.minutes(30)), .serialized) struct CurlLatencyTests {
    @Test func timeoutIsTheTimeWithoutAnyData() async throws {
        let server = try HostileServer { _, connection in
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\n")
            for _ in 0..<20 {
                Thread.sleep(forTimeInterval: 0.1)
                guard connection.send("x") else { return }
            }
        }
        #expect(try await makeClient(server.url, CurlConfiguration(timeout: .seconds(1))).request(Fetch()).count == 20)
        let failure = await error {
            try await makeClient(server.url, CurlConfiguration(timeout: .seconds(0.05))).request(Fetch())
        }
        #expect((failure as? URLError)?.code == .timedOut)
    }

    @Test func cancellingEndsAtOnce() async throws {
        let server = try HostileServer { _, connection in
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\nx")
            Thread.sleep(forTimeInterval: 3)
        }
        let client = makeClient(server.url)
        for _ in 0..<5 {
            let task = Task { try await client.request(Fetch()) }
            try await Task.sleep(for: .milliseconds(50))
            let start = ContinuousClock.now
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
            #expect(ContinuousClock.now - start < .seconds(1))
        }
    }
}

private func isForeign(_ location: String, _ base: URL) -> Bool {
    guard let url = URL(string: location, relativeTo: base), let host = url.host else { return false }
    return !["127.0.0.1", "::1", "0x7f.1"].contains(host) && isUnderstoodAlike(url.absoluteURL)
}

/// A server that accepts connections, and receives nothing.
private final class StoppedServer: Sendable {
    let url: URL
    private let socket: Int32

    init() throws {
        #if canImport(Glibc)
            socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #else
            socket = Darwin.socket(AF_INET, SOCK_STREAM, 0)
        #endif
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = INADDR_LOOPBACK.bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let listener = socket
        let isListening = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, length) == 0 && listen(listener, 4) == 0 && getsockname(listener, $0, &length) == 0
            }
        }
        guard isListening, let url = URL(string: "http://127.0.0.1:\(UInt16(bigEndian: address.sin_port))/") else {
            throw CocoaError(.executableLoad)
        }
        self.url = url
    }

    deinit { close(socket) }
}
