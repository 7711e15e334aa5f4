import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The scheme, host and port of a URL. What belongs to one origin is not sent to another.
struct Origin: Hashable {
    private let scheme: String
    private let host: String
    private let port: Int

    /// The headers that say what the caller wants, not who the caller is. Only these go to another origin: an
    /// API key can have any name.
    static let publicHeaders: Set = [
        "accept", "accept-charset", "accept-encoding", "accept-language", "cache-control", "pragma", "range", "user-agent",
    ]

    /// The origin of a URL; nil for a URL without a host.
    ///
    /// - Throws: ``TransferError/schemeNotAllowed(_:)`` for schemes other than `http` and `https`.
    init?(_ url: URL?) throws {
        let scheme = url?.scheme?.lowercased() ?? ""
        guard scheme == "http" || scheme == "https" else { throw TransferError.schemeNotAllowed(scheme) }
        guard let host = url?.host?.lowercased(), !host.isEmpty else { return nil }
        self.scheme = scheme
        self.host = host
        port = url?.port ?? (scheme == "https" ? 443 : 80)
    }
}

/// A request of an exchange and its redirects, as the Fetch standard rewrites them.
package struct RedirectableRequest: Sendable {
    /// The request to send.
    package private(set) var request: URLRequest
    /// The body of an upload; nil when the request itself has the body, or there is none.
    package private(set) var body: UploadEndpointBody?
    /// Whether a redirect has left the origin of the first request. Cookies and stored credentials are not
    /// used then, nor after a redirect back: another origin chose that URL.
    package private(set) var hasLeftOrigin = false

    init(_ request: URLRequest, body: UploadEndpointBody?) throws {
        _ = try Origin(request.url)
        try request.checkHeaders()
        self.request = request
        self.body = body
    }

    /// Turns the request into the one that a response redirects to.
    ///
    /// - Returns: false, without a change, for a response that is no redirect or names no usable place.
    /// - Throws: ``TransferError/schemeNotAllowed(_:)`` and ``TransferError/bodyNotForwarded(host:)``.
    mutating func follow(_ response: HTTPURLResponse) throws -> Bool {
        guard [301, 302, 303, 307, 308].contains(response.statusCode),
            let location = response.value(forHTTPHeaderField: "Location"), !location.isEmpty,
            let target = URL(string: location, relativeTo: request.url)?.absoluteURL,
            let origin = try Origin(target)
        else { return false }
        var next = request
        next.url = target
        let method = request.httpMethod ?? "GET"
        let becomesGet = response.statusCode == 303 ? method != "HEAD" : response.statusCode < 303 && method == "POST"
        if becomesGet {
            next.httpMethod = "GET"
            next.httpBody = nil
            next.httpBodyStream = nil
            next.keepHeaders { !$0.hasPrefix("content-") }
        }
        if try origin != Origin(request.url) {
            next.keepHeaders(Origin.publicHeaders.contains)
            guard becomesGet || (next.httpBody == nil && body == nil) else { throw Self.bodyNotForwarded(to: target) }
            hasLeftOrigin = true
        }
        guard next.httpBodyStream == nil else { throw Self.bodyNotForwarded(to: target) }
        request = next
        if becomesGet { body = nil }
        return true
    }

    private static func bodyNotForwarded(to url: URL) -> TransferError { .bodyNotForwarded(host: url.host ?? "") }
}

extension URLRequest {
    /// A line break in a header would begin a header, or a request, that nobody made.
    fileprivate func checkHeaders() throws {
        guard (httpMethod ?? "GET").isToken else { throw TransferError.invalidHeader("method") }
        for (name, value) in allHTTPHeaderFields ?? [:] {
            guard name.isToken, value.isHeaderValue else { throw TransferError.invalidHeader(name) }
        }
    }

    fileprivate mutating func keepHeaders(_ isKept: (String) -> Bool) {
        for name in (allHTTPHeaderFields ?? [:]).keys where !isKept(name.lowercased()) {
            setValue(nil, forHTTPHeaderField: name)
        }
    }
}

extension String {
    /// Whether the text can be the value of a header: it has no line break and no other control character.
    var isHeaderValue: Bool { utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 } }

    /// Whether the text is a token of HTTP: a method, or the name of a header.
    fileprivate var isToken: Bool {
        !isEmpty
            && utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"):
                    true
                default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
                }
            }
    }
}
