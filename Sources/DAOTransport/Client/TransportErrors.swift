import Foundation

/// A status that is not a success.
public struct HTTPError: Error, Sendable, Hashable {
    /// The status of the answer.
    public let statusCode: Int

    /// The URL that answered.
    public let url: URL?

    /// What the server sent with it.
    public let body: Data

    /// An error for an answer.
    public init(statusCode: Int, url: URL?, body: Data = Data()) {
        self.statusCode = statusCode
        self.url = url
        self.body = body
    }
}

extension HTTPError: CustomStringConvertible {
    /// The status and the URL.
    public var description: String {
        "HTTP status \(statusCode) from \(url?.absoluteString ?? "an unknown URL")."
    }
}

/// An error that the server explains: `{"error": {"code": …, "title": …}}`.
public struct APIError: Error, Sendable, Hashable {
    /// What kind of error it is, in the server's own words. Declare the codes that the application knows as constants:
    ///
    /// ```swift
    /// extension APIError.Code { static let tokenInvalid = Self(rawValue: "token_invalid") }
    /// ```
    public struct Code: RawRepresentable, Sendable, Hashable, Decodable {
        /// The server's word for it; a numeric code as its digits.
        public let rawValue: String

        /// A code.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// Reads a text or a whole number.
        public init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let number = try? container.decode(Int.self) {
                rawValue = String(number)
            } else {
                rawValue = try container.decode(String.self)
            }
        }
    }

    /// What kind of error it is.
    public let code: Code

    /// What to tell a person: the server's `title`, or its `description` where there is no title.
    public let title: String?

    /// The status of the answer, which may well be 200; nil when the error did not come over HTTP.
    public let statusCode: Int?

    /// An error with a code.
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

extension URLError {
    /// Whether there was no connection, or it was lost: the errors after which a stored result may stand in.
    public var isConnectionFailure: Bool {
        switch code {
        case .notConnectedToInternet, .dataNotAllowed, .timedOut, .cannotConnectToHost, .cannotFindHost, .dnsLookupFailed,
            .networkConnectionLost, .internationalRoamingOff, .callIsActive:
            true
        default: false
        }
    }
}
