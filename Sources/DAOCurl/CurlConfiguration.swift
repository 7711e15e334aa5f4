import DAORedaction
import Foundation

/// The settings of a ``CurlClient``.
///
/// ```swift
/// var configuration = CurlConfiguration()
/// configuration.headers["User-Agent"] = "Books/1.0"
/// configuration.proxy = .environment
/// let client = CurlClient(baseURL: server, configuration: configuration)
/// ```
public struct CurlConfiguration: Sendable, Hashable {
    /// How requests reach their servers.
    public enum Proxy: Sendable, Hashable {
        /// Directly.
        case none
        /// As the variables `http_proxy`, `https_proxy`, `all_proxy` and `no_proxy` of the environment say.
        case environment
        /// Through this proxy, such as `http://proxy.example:3128`.
        case url(URL)
    }

    /// The headers of every request. A header that the request already has stays unchanged. Empty by default.
    public var headers: [String: String]

    /// The longest time without any data, connecting and waiting for a free connection included; a minute by
    /// default. Then the error is `URLError(.timedOut)`. The `timeoutInterval` of a request counts instead
    /// where it was changed.
    public var timeout: Duration

    /// The proxy; by default none, whatever the environment says.
    public var proxy: Proxy

    /// A file of certificates in PEM format that are trusted instead of the system's; nil by default.
    public var trustedCertificates: URL?

    /// The maximum number of connections to one host at a time; 6 by default. Further requests wait, except
    /// that HTTP/2 sends many through one connection.
    public var maximumConnectionsPerHost: Int

    /// Whether the client keeps the cookies of responses, in memory, and sends them to the sites that set them;
    /// true by default. No cookie is sent after a redirect to another origin.
    public var keepsCookies: Bool

    /// Creates settings.
    public init(
        headers: [String: String] = [:],
        timeout: Duration = .seconds(60),
        proxy: Proxy = .none,
        trustedCertificates: URL? = nil,
        maximumConnectionsPerHost: Int = 6,
        keepsCookies: Bool = true
    ) {
        self.headers = headers
        self.timeout = timeout
        self.proxy = proxy
        self.trustedCertificates = trustedCertificates
        self.maximumConnectionsPerHost = maximumConnectionsPerHost
        self.keepsCookies = keepsCookies
    }
}

extension CurlConfiguration.Proxy: CustomStringConvertible, CustomReflectable {
    /// The proxy without its secrets.
    public var description: String {
        switch self {
        case .none: "none"
        case .environment: "environment"
        case .url(let url): redacted(url.absoluteString)
        }
    }

    /// The same text as ``description``.
    public var customMirror: Mirror { Mirror(self, children: ["proxy": description]) }
}

extension CurlConfiguration: CustomStringConvertible, CustomReflectable {
    /// The settings without their secrets: of the headers, only the names.
    public var description: String {
        "CurlConfiguration(headers: \(headers.keys.sorted()), timeout: \(timeout), proxy: \(proxy), "
            + "maximumConnectionsPerHost: \(maximumConnectionsPerHost), keepsCookies: \(keepsCookies))"
    }

    /// The same text as ``description``.
    public var customMirror: Mirror { Mirror(self, children: ["configuration": description]) }
}
