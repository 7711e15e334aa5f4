import DAOCurl
import DAOLoopbackServer
import DAORedaction
import DAOTransport
import Foundation
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite struct RedactionTests {
    @Test(arguments: [
        ("https://host/list?page=2&tags[]=new#top", "https://host/list?page=2&tags[]=new#top"),
        ("https://me:pw@host/list", "https://…@host/list"),
        ("https://me@host:80/list?email=a@b.c", "https://…@host:80/list?email=a@b.c"),
        ("https://host:80/@me?page=2", "https://host:80/@me?page=2"),
        ("https://host/?api_key=1&page=2&X-Amz-Signature=3", "https://host/?api_key=…&page=2&X-Amz-Signature=…"),
        ("https://host/#access_token=1&page=2", "https://host/#access_token=…&page=2"),
        ("list?code=1&country=2", "list?code=…&country=2"),
        ("https://host/list;password=1?page=2&a=b", "https://host/list;password=…&a=b"),
        ("https://host/?next=https://me:pw@other/", "https://host/?next=https://…@other/"),
        ("https://host/?next=https%3A%2F%2Fme%3Apw%40other%2F&page=2", "https://host/?next=…&page=2"),
        ("https://host/?page=2%26token=1", "https://host/?page=…"),
        ("https://host/?%2574oken=1", "https://host/?%2574oken=…"),
        ("https://host/%3Ftoken%3D1", "…"),
        ("https://me:\u{301}pw@host/", "https://…@host/"),
        ("https://host/?token=\u{301}1&\u{FE0F}page=2", "https://host/?token=…&%EF%B8%8Fpage=2"),
        ("//\u{20E3}me:pw@host/e\u{301}", "//…@host/e\u{301}"),
        ("", ""), ("?", "?"), ("&&", "&&"), ("%", "%"), ("://", "://"), ("a=b=c", "a=b=c"),
    ])
    func secretsOfAURLAreHidden(_ url: String, _ expected: String) {
        #expect(redacted(url) == expected)
        #expect(redacted(expected) == expected)
    }

    @Test func secretsOfATextAreHidden() {
        let text = #"failed: {URL=https://me:pw@host/?token=1&page=2, next="http://host/?key=1"} at https://host"#
        #expect(
            redactedURLs(in: text) == #"failed: {URL=https://…@host/?token=…&page=2, next="http://host/?key=…"} at https://host"#)
    }

    /// Any text is redacted, and no secret in it survives.
    @Test(arguments: 0..<20) func generatedTextsAreRedacted(_ seed: UInt64) {
        var state = seed &* 0x9E37_79B9_7F4A_7C15 | 1
        func next(_ bound: Int) -> Int {
            state ^= state << 13
            state ^= state >> 7
            state ^= state << 17
            return Int(state % UInt64(bound))
        }
        let parts = [
            "https:", "//", "/", "?", "&", "=", "#", ";", "@", ":", "%", "%25", "%40", "%3D", "%26", "key", "x", "é", " ", "80",
            "[", "…",
        ]
        for _ in 0..<500 {
            let before = (0..<next(8)).map { _ in parts[next(parts.count)] }.joined()
            let after = (0..<next(4)).map { _ in parts[next(parts.count)] }.joined()
            let name = String("toKEN".map { next(2) == 0 ? String($0) : "%" + String($0.asciiValue!, radix: 16) }.joined())
            let url = "\(before)\(next(2) == 0 ? "?" : "&")\(name)=s3cret\(after)"
            #expect(!redacted(url).contains("s3cret"), "\(url) is shown as \(redacted(url))")
        }
    }

    private struct Fetch: JsonEndpoint, URLRequestBuildable {
        typealias Content = Json
        func makeRequest() throws -> URLRequest { try get("start?%6bey=s3cret&page=2") }
    }

    @Test func noErrorOfAClientShowsASecret() async throws {
        let shown = Locked<[String]>([])
        let server = try HostileServer { request, connection in connection.respond(404) }
        // The last port has no listener.
        for port in [server.port, 1] {
            let base = try #require(URL(string: "http://me:s3cret@127.0.0.1:\(port)/"))
            let client = CurlClient(baseURL: base, configuration: .patient) { exchange in
                var text = "\(exchange) \(String(reflecting: exchange))"
                dump(exchange, to: &text)
                shown.withLock { $0.append(text) }
            }
            do {
                _ = try await client.request(Fetch())
            } catch {
                shown.withLock { $0.append("\(error) \(error.localizedDescription) \((error as NSError).userInfo)") }
            }
            shown.withLock { $0.append("\(BaseRequestAdapter(baseURL: base))") }
        }
        let texts = shown.withLock { $0 }
        #expect(texts.count == 6)
        #expect(texts[0].contains("/start?%6bey=…&page=2"))
        for text in texts { #expect(!text.contains("s3cret"), "\(text)") }
    }
}
