import DAORedaction
import Foundation

/// An HTTP status that is not a success.
public struct HTTPError: Error, Sendable, Hashable {
    /// The status of the response.
    public let statusCode: Int

    /// The URL of the response.
    public let url: URL?

    /// The body of the response.
    public let body: Data

    /// Creates an error for a response.
    public init(statusCode: Int, url: URL?, body: Data = Data()) {
        self.statusCode = statusCode
        self.url = url
        self.body = body
    }
}

extension HTTPError: CustomStringConvertible {
    /// The status, and the URL without its secrets.
    public var description: String {
        "HTTP status \(statusCode) from \(url.map { redacted($0.absoluteString) } ?? "an unknown URL")."
    }
}

/// An error that the server describes in the body: `{"error": {"code": …, "title": …}}`.
public struct APIError: Error, Sendable, Hashable {
    /// The server's code for the kind of error. Declare the codes that the application knows as constants:
    ///
    /// ```swift
    /// extension APIError.Code { static let tokenInvalid = Self(rawValue: "token_invalid") }
    /// ```
    public struct Code: RawRepresentable, Sendable, Hashable, Decodable {
        /// The code as the server sends it; a numeric code as its digits.
        public let rawValue: String

        /// Creates a code.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// Decodes a string or an integer.
        public init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let number = try? container.decode(Int.self) {
                rawValue = String(number)
            } else {
                rawValue = try container.decode(String.self)
            }
        }
    }

    /// The kind of error.
    public let code: Code

    /// The message for the user: the server's `title`, or its `description` when there is no title.
    public let title: String?

    /// The status of the response, which can be 200; nil when the error did not come over HTTP.
    public let statusCode: Int?

    /// Creates an error with a code.
    public init(code: Code, title: String? = nil, statusCode: Int? = nil) {
        self.code = code
        self.title = title
        self.statusCode = statusCode
    }
}

extension APIError: CustomStringConvertible {
    /// The code, the title and the status.
    public var description: String {
        "API error \(code.rawValue)" + (title.map { ": \($0)" } ?? "") + (statusCode.map { " (HTTP status \($0))" } ?? "")
    }
}

/// A response that is a success, and yet no answer.
public enum ContentError: Error, Sendable, Hashable {
    /// The response has no content: its status is 204 or 205, or the body is empty, `null`, or an empty object where
    /// the endpoint does not say what an object means. The status is nil when it is not known.
    ///
    /// An endpoint whose empty response is the empty value says so with
    /// ``JsonResponseReading/acceptsMissingContent``.
    case missing(statusCode: Int?)
    /// The response has only a part of the content: its status is 206.
    case partial
}

extension ContentError: CustomStringConvertible {
    /// What is missing, and the next step.
    public var description: String {
        switch self {
        case .missing(let status):
            "the response\(status.map { " with status \($0)" } ?? "") has no content; "
                + "set acceptsMissingContent if that is the empty value"
        case .partial: "the response has only a part of the content (status 206); ask for all of it, without a range"
        }
    }
}

extension URLError {
    /// The same error; when its URL has secrets, without them, and without the underlying errors.
    package var withoutSecrets: URLError {
        let shown = userInfo.compactMapValues { value -> Any? in
            switch value {
            case let url as URL: URL(string: redacted(url.absoluteString))
            case let text as String: redactedURLs(in: text)
            default: nil
            }
        }
        let hasSecrets = userInfo.values.contains { value in
            let text = (value as? URL)?.absoluteString ?? value as? String ?? ""
            return redactedURLs(in: text) != text
        }
        return hasSecrets ? URLError(code, userInfo: shown) : self
    }

    /// Whether there was no connection, or the connection was lost. After such an error a stored result can
    /// be used instead.
    public var isConnectionFailure: Bool {
        switch code {
        case .notConnectedToInternet, .dataNotAllowed, .timedOut, .cannotConnectToHost, .cannotFindHost, .dnsLookupFailed,
            .networkConnectionLost, .internationalRoamingOff, .callIsActive:
            true
        default: false
        }
    }
}
