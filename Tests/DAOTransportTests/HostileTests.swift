import DAOLoopbackServer
import DAOTransport
import Foundation
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

private struct Fetch: Endpoint, URLRequestBuildable {
    var path = "start"
    var method = "GET"
    var body: String?

    func makeRequest() throws -> URLRequest {
        var request = try get(path)
        request.httpMethod = method
        request.httpBody = body.map { Data($0.utf8) }
        return request
    }
    func validate(_ request: URLRequest, response: HTTPURLResponse, data: Data) throws {
        try ResponseValidator.validate(response, with: data)
    }
    func content(from response: URLResponse?, with body: Data) -> Data { body }
}

private struct Send: UploadEndpoint, URLRequestBuildable {
    let body: UploadEndpointBody

    func makeRequest() throws -> (URLRequest, UploadEndpointBody) {
        var request = try post("start", body: nil)
        request.setValue("text/plain", forHTTPHeaderField: "Content-Type")
        return (request, body)
    }
    func content(from response: URLResponse?, with body: Data) -> String { String(decoding: body, as: UTF8.self) }
}

private let credentials = [
    "Authorization": "Bearer s3cret", "X-Api-Key": "s3cret", "Cookie": "id=s3cret", "Accept": "text/plain",
]

private func client(
    _ kind: ClientKind,
    of server: HostileServer,
    headers: [String: String] = [:],
    limits: TransferLimits = TransferLimits()
) -> any Client {
    kind.make(baseURL: server.url, adapters: [HeaderRequestAdapter { credentials }], headers: headers, limits: limits)
}

@Suite(.timeLimit(.minutes(30)), .serialized) struct HostileTests {
    /// A server that answers every request with a redirect to the location, `/end` with what it received, and `/login` with a cookie.
    private func redirecting(_ status: Int = 302, to location: @escaping @Sendable () -> String) throws -> HostileServer {
        try HostileServer { request, connection in
            if request.path == "/end" { return connection.respond(200, [:], "\(request.method) \(request.body)") }
            if request.path == "/login" { return connection.respond(200, ["Set-Cookie": "stored=s3cret; Path=/"]) }
            connection.respond(status, ["Location": location()], "moved")
        }
    }

    // MARK: Credentials

    @Test(arguments: [301, 302, 303, 307, 308], ClientKind.allCases)
    func headersFollowRedirectsInsideTheOrigin(_ status: Int, _ kind: ClientKind) async throws {
        let server = try redirecting(status) { "end" }
        #expect(try await client(kind, of: server).request(Fetch()) == Data("GET ".utf8))
        let sent = try #require(server.requests.last)
        #expect(sent.path == "/end")
        for (name, value) in credentials { #expect(sent.headers[name.lowercased()] == value) }
    }

    @Test(arguments: [301, 302, 303, 307, 308], ClientKind.allCases)
    func credentialsAreNotSentToAnotherOrigin(_ status: Int, _ kind: ClientKind) async throws {
        let target = try redirecting { "" }
        let port = target.port
        // Another port, another host, and the spelling that keeps the scheme.
        for location in ["http://127.0.0.1:\(port)/end", "http://localhost:\(port)/end", "//127.0.0.1:\(port)/end"] {
            let server = try redirecting(status) { location }
            let client = client(kind, of: server, headers: ["X-Session": "s3cret", "Accept-Language": "eo"])
            _ = try await client.request(Fetch(path: "login"))
            #expect(try await client.request(Fetch()) == Data("GET ".utf8))
            #expect(server.requests.last?.headers["x-session"] == "s3cret")
            #expect(server.requests.last?.headers["cookie"]?.contains("stored=s3cret") == true)
            let sent = try #require(target.requests.last)
            #expect(!"\(sent)".contains("s3cret"), "\(sent)")
            #expect(sent.headers["accept"] == "text/plain")
            #expect(sent.headers["accept-language"] == "eo")
        }
        #expect(target.requests.count == 3)
    }

    @Test(arguments: ClientKind.allCases)
    func whatAdaptersAddStaysAtTheOriginOfTheBaseURL(_ kind: ClientKind) async throws {
        struct Own: Endpoint, URLRequestBuildable {
            let path: String
            func makeRequest() throws -> URLRequest {
                var request = try get(path)
                request.setValue("mine", forHTTPHeaderField: "X-Own")
                request.setValue("mine", forHTTPHeaderField: "X-Api-Key")
                return request
            }
            func content(from response: URLResponse?, with body: Data) -> Data { body }
        }
        let target = try redirecting { "" }
        let server = try redirecting { "" }
        let headers = ["X-Session": "s3cret", "Accept-Language": "eo"]
        let base = try #require(URL(string: "\(server.url)?key=s3cret"))
        let clients = [
            kind.make(baseURL: base, adapters: [HeaderRequestAdapter { credentials }], headers: headers),
            kind.make(adapters: [HeaderRequestAdapter { credentials }, BaseRequestAdapter(baseURL: base)], headers: headers),
        ]
        for client in clients {
            for path in ["http://127.0.0.1:\(target.port)/end", "//localhost:\(target.port)/end"] {
                _ = try await client.request(Own(path: path))
                let sent = try #require(target.requests.last)
                #expect(!"\(sent)".contains("s3cret"), "\(sent)")
                #expect(sent.headers["x-own"] == "mine" && sent.headers["x-api-key"] == "mine")
                #expect(sent.headers["accept"] == "text/plain" && sent.headers["accept-language"] == "eo")
            }
            for path in ["end", "/end", "\(server.url)end", "//127.0.0.1:\(server.port)/end"] {
                _ = try await client.request(Own(path: path))
                let sent = try #require(server.requests.last)
                #expect(sent.headers["authorization"] == "Bearer s3cret" && sent.headers["x-session"] == "s3cret")
                #expect(sent.headers["x-api-key"] == "mine")
            }
        }
        #expect(target.requests.count == 4)
    }

    @Test(arguments: ClientKind.allCases)
    func userOfTheURLIsNotSentToAnotherOrigin(_ kind: ClientKind) async throws {
        let target = try redirecting { "" }
        let server = try redirecting { "//127.0.0.1:\(target.port)/end" }
        let url = try #require(URL(string: "http://me:s3cret@127.0.0.1:\(server.port)/"))
        _ = try await kind.make(baseURL: url).request(Fetch())
        #expect(server.requests.last?.headers["authorization"] != nil)
        #expect(target.requests.last.map { $0.headers["authorization"] == nil } == true)
    }

    @Test(arguments: ClientKind.allCases)
    func credentialsDoNotReturnWithARedirectBack(_ kind: ClientKind) async throws {
        let home = Locked("")
        let target = try redirecting { home.withLock { $0 } }
        let server = try redirecting { "http://127.0.0.1:\(target.port)/start" }
        home.withLock { $0 = "\(server.url)end" }
        let client = client(kind, of: server)
        // A cookie that the client keeps for the origin of the first request.
        _ = try await client.request(Fetch(path: "login"))
        _ = try await client.request(Fetch())
        #expect(server.requests.map(\.path) == ["/login", "/start", "/end"])
        #expect(server.requests[1].headers["cookie"]?.contains("stored=s3cret") == true)
        #expect(server.requests.last.map { !"\($0)".contains("s3cret") } == true)
    }

    // MARK: Redirects

    @Test(arguments: ClientKind.allCases)
    func redirectsAreLimited(_ kind: ClientKind) async throws {
        let server = try redirecting { "again" }
        let limits = TransferLimits(maximumRedirects: 3)
        let failure = await error { try await client(kind, of: server, limits: limits).request(Fetch()) }
        #expect(failure as? TransferError == .tooManyRedirects(limit: 3))
        #expect(server.requests.count == 4)
    }

    @Test(
        arguments: ["file:///etc/passwd", "ftp://127.0.0.1/x", "data:text/plain,x", "javascript:x", "ws://127.0.0.1/"],
        ClientKind.allCases)
    func otherSchemesAreRefused(_ location: String, _ kind: ClientKind) async throws {
        let scheme = String(location.prefix { $0 != ":" })
        let server = try redirecting { location }
        let redirected = await error { try await client(kind, of: server).request(Fetch()) }
        #expect(redirected as? TransferError == .schemeNotAllowed(scheme))
        let asked = await error { try await kind.make().request(Fetch(path: location)) }
        #expect(asked as? TransferError == .schemeNotAllowed(scheme))
        #expect(server.requests.count == 1)
    }

    @Test(arguments: ClientKind.allCases)
    func requestWithoutASchemeIsRefused(_ kind: ClientKind) async throws {
        let failure = await error { try await kind.make().request(Fetch()) }
        #expect(failure as? TransferError == .schemeNotAllowed(""))
    }

    @Test(arguments: ["", "http://", "//", "http://a b/", "//[::1/", "http:///end"], ClientKind.allCases)
    func redirectToNowhereIsTheResponse(_ location: String, _ kind: ClientKind) async throws {
        let server = try redirecting { location }
        let failure = await error { try await client(kind, of: server).request(Fetch()) }
        #expect((failure as? HTTPError)?.statusCode == 302, "\(String(describing: failure))")
    }

    @Test(
        arguments: [(301, "GET "), (302, "GET "), (303, "GET "), (307, "POST hello"), (308, "POST hello")], ClientKind.allCases)
    func bodyFollowsRedirectsInsideTheOrigin(_ redirect: (status: Int, expected: String), _ kind: ClientKind) async throws {
        let (status, expected) = redirect
        let server = try redirecting(status) { "/end" }
        let client = client(kind, of: server)
        #expect(try await client.request(Fetch(method: "POST", body: "hello")) == Data(expected.utf8))
        #expect(try await client.upload(Send(body: .data(Data("hello".utf8)))) == expected)
        #expect(
            try await client.upload(Send(body: .stream { InputStream(data: Data("hello".utf8)) })).hasPrefix(expected.prefix(4)))
        let type = server.requests.last { $0.path == "/end" }?.headers["content-type"]
        #expect((type == nil) == (status < 307))
    }

    @Test(arguments: [301, 302, 303, 307, 308], ClientKind.allCases)
    func headStaysHeadAfterARedirect(_ status: Int, _ kind: ClientKind) async throws {
        let server = try HostileServer { request, connection in
            // The length is that of the body that a GET would get.
            let location = request.path == "/start" ? "Location: /end\r\n" : ""
            connection.send("HTTP/1.1 \(location.isEmpty ? 200 : status) Status\r\n\(location)Content-Length: 9\r\n\r\n")
        }
        #expect(try await client(kind, of: server).request(Fetch(method: "HEAD")).isEmpty)
        #expect(server.requests.map { "\($0.method) \($0.path)" } == ["HEAD /start", "HEAD /end"])
    }

    @Test(arguments: [307, 308], ClientKind.allCases)
    func bodyIsNotSentToAnotherOrigin(_ status: Int, _ kind: ClientKind) async throws {
        let target = try redirecting { "" }
        let server = try redirecting(status) { "http://127.0.0.1:\(target.port)/end" }
        let client = client(kind, of: server)
        let inRequest = await error { try await client.request(Fetch(method: "POST", body: "password")) }
        #expect(inRequest as? TransferError == .bodyNotForwarded(host: "127.0.0.1"))
        let upload = await error { try await client.upload(Send(body: .data(Data("password".utf8)))) }
        #expect(upload as? TransferError == .bodyNotForwarded(host: "127.0.0.1"))
        #expect(target.requests.isEmpty)
    }

    // MARK: Size

    @Test(arguments: ClientKind.allCases)
    func bodyIsLimitedToTheByte(_ kind: ClientKind) async throws {
        let server = try HostileServer { request, connection in
            connection.respond(200, [:], String(repeating: "x", count: request.path == "/more" ? 1001 : 1000))
        }
        let client = client(kind, of: server, limits: TransferLimits(maximumBodySize: 1000))
        #expect(try await client.request(Fetch()).count == 1000)
        let failure = await error { try await client.request(Fetch(path: "more")) }
        #expect(failure as? TransferError == .bodyTooLarge(limit: 1000))
    }

    @Test(arguments: [200, 404, 500], ClientKind.allCases)
    func endlessBodyIsRefused(_ status: Int, _ kind: ClientKind) async throws {
        let server = try HostileServer { _, connection in
            guard connection.send("HTTP/1.1 \(status) Status\r\nConnection: close\r\n\r\n") else { return }
            let bytes = [UInt8](repeating: 0x78, count: 1 << 20)
            for _ in 0..<512 { guard connection.send(bytes) else { return } }
        }
        let failure = await error { try await client(kind, of: server).request(Fetch()) }
        #expect(failure as? TransferError == .bodyTooLarge(limit: 64 << 20))
    }

    /// Foundation on Linux collects the body of a redirect itself and shows none of it.
    @Test(arguments: ["/end", ""], ClientKind.allCases)
    func endlessBodyOfARedirectEndsAtTheDeadline(_ location: String, _ kind: ClientKind) async throws {
        let server = try HostileServer { _, connection in
            guard connection.send("HTTP/1.1 302 Found\r\nLocation: \(location)\r\nConnection: close\r\n\r\n") else { return }
            let bytes = [UInt8](repeating: 0x78, count: 10_000)
            for _ in 0..<500 {
                guard connection.send(bytes) else { return }
                Thread.sleep(forTimeInterval: 0.01)
            }
        }
        let limits = TransferLimits(maximumBodySize: 100_000, deadline: .seconds(1))
        let failure = try #require(
            await error { try await client(kind, of: server, limits: limits).request(Fetch()) } as? TransferError)
        let isAtOnce = failure == .bodyTooLarge(limit: 100_000)
        #expect(isAtOnce || (kind == .session && failure == .deadlineExceeded(.seconds(1))))
    }

    @Test(arguments: ClientKind.allCases)
    func sizeCountsAfterDecompression(_ kind: ClientKind) async throws {
        let bytes = gzip(pattern: [0], repetitions: 1_000_000)
        let server = try HostileServer { _, connection in
            connection.send("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: \(bytes.count)\r\n\r\n")
            connection.send(bytes)
        }
        #expect(bytes.count < 2_000_000)
        let failure = await error { try await client(kind, of: server).request(Fetch()) }
        #expect(failure as? TransferError == .bodyTooLarge(limit: 64 << 20))
    }

    /// 38 KB become 5 MB, and these 800 MB.
    @Test(arguments: ClientKind.allCases)
    func sizeCountsAfterTheLastDecompression(_ kind: ClientKind) async throws {
        let inner = gzip(pattern: [0], repetitions: 8 * 2 + 1)
        let (prefix, pattern) = (Array(inner[..<13]), Array(inner[13..<26]))
        #expect(Array(inner[26..<39]) == pattern)
        let outer = gzip(prefix: prefix, pattern: pattern, repetitions: 20_000)
        let server = try HostileServer { request, connection in
            guard request.path == "/start" else { return connection.respond(200, [:], "ok") }
            connection.send("HTTP/1.1 200 OK\r\nContent-Encoding: gzip, gzip\r\nContent-Length: \(outer.count)\r\n\r\n")
            connection.send(outer)
        }
        let client = client(kind, of: server)
        let failure = await error { try await client.request(Fetch()) }
        #expect(failure as? TransferError == .bodyTooLarge(limit: 64 << 20))
        #expect(try await client.request(Fetch(path: "next")) == Data("ok".utf8))
    }

    /// RFC 9110, section 8.6: the answer to HEAD and a 304 can have the length of the resource, and have no body.
    @Test(arguments: ["GET", "HEAD"], ClientKind.allCases)
    func theLengthOfABodyThatIsNotSentIsNoLostConnection(_ method: String, _ kind: ClientKind) async throws {
        let server = try HostileServer { _, connection in
            let status = method == "HEAD" ? "200 OK" : "304 Not Modified"
            connection.send("HTTP/1.1 \(status)\r\nETag: \"1\"\r\nContent-Length: 100\r\nConnection: close\r\n\r\n")
        }
        let client = client(kind, of: server)
        if method == "HEAD" {
            #expect(try await client.request(Fetch(method: method)) == Data())
        } else {
            let failure = await error { try await client.request(Fetch()) }
            #expect((failure as? HTTPError)?.statusCode == 304, "\(String(describing: failure))")
        }
    }

    // MARK: Time

    @Test func timeoutOfTheResourceIsADeadline() async throws {
        let server = try HostileServer { _, connection in
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
            for _ in 0..<200 where connection.send("x") { Thread.sleep(forTimeInterval: 0.05) }
        }
        let configuration = URLSessionConfiguration.ephemeral
        configuration.timeoutIntervalForResource = 1
        let client = URLSessionClient(baseURL: server.url, configuration: configuration)
        let failure = await error { try await client.request(Fetch()) }
        #expect(failure as? TransferError == .deadlineExceeded(.seconds(1)) || (failure as? URLError)?.code == .timedOut)
    }

    // MARK: What the errors say

    @Test(arguments: [
        (TransferError.bodyTooLarge(limit: 7), "maximumBodySize"), (.tooManyRedirects(limit: 7), "maximumRedirects"),
        (.headersTooLarge(limit: 7), "maximumHeaderSize"), (.deadlineExceeded(.seconds(7)), "deadline"),
        (.invalidHeader("A"), "'A'"),
        (.schemeNotAllowed("ftp"), "http or https"),
        (.schemeNotAllowed(""), "no scheme"), (.bodyNotForwarded(host: "h"), "'h'"),
    ])
    func errorsSayTheNextStep(_ error: TransferError, _ expected: String) {
        #expect("\(error)".contains(expected))
    }
}

/// How soon a request ends; measured while nothing else runs.
@Suite(.timeLimit(.minutes(30)), .serialized) struct HostileLatencyTests {
    @Test(arguments: ClientKind.allCases)
    func announcedLengthIsRefusedBeforeTheBody(_ kind: ClientKind) async throws {
        let server = try HostileServer { request, connection in
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: 4000000000\r\n\r\n")
            if request.method != "HEAD" { Thread.sleep(forTimeInterval: 5) }
        }
        let start = ContinuousClock.now
        let failure = await error { try await client(kind, of: server).request(Fetch()) }
        #expect(failure as? TransferError == .bodyTooLarge(limit: 64 << 20))
        #expect(ContinuousClock.now - start < .seconds(4))
        #expect(try await client(kind, of: server).request(Fetch(method: "HEAD")).isEmpty)
    }

    @Test(arguments: ["body", "headers", "redirects"], ClientKind.allCases)
    func dripEndsAtTheDeadline(_ part: String, _ kind: ClientKind) async throws {
        let server = try HostileServer { request, connection in
            if part == "redirects" {
                Thread.sleep(forTimeInterval: 0.1)
                return connection.respond(302, ["Location": "/again"])
            }
            connection.send("HTTP/1.1 200 OK\r\n" + (part == "body" ? "Content-Length: 100000\r\n\r\n" : ""))
            for _ in 0..<200 where connection.send(part == "body" ? "x" : "X-Drip: y\r\n") { Thread.sleep(forTimeInterval: 0.05) }
        }
        let limits = TransferLimits(maximumRedirects: 1000, deadline: .seconds(1))
        let start = ContinuousClock.now
        let failure = try #require(
            await error { try await client(kind, of: server, limits: limits).request(Fetch()) })
        #expect(failure as? TransferError == .deadlineExceeded(.seconds(1)))
        #expect(TechnicalError.isConnectionFailure(failure))
        #expect(TechnicalError(failure) == .timeout)
        #expect(ContinuousClock.now - start < .seconds(5))
    }
}
