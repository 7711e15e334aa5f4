/// A request that the client does not send, or a response that it does not accept. See ``TransferLimits``.
public enum TransferError: Error, Sendable, Hashable {
    /// The body of the response is larger than the limit in bytes.
    case bodyTooLarge(limit: Int)
    /// The headers of the response are larger than the limit in bytes.
    case headersTooLarge(limit: Int)
    /// The server redirects more often than the limit.
    case tooManyRedirects(limit: Int)
    /// The exchange took longer than the deadline. It counts as a connection failure, like a timeout.
    case deadlineExceeded(Duration)
    /// The URL of the request or of a redirect is neither `http` nor `https`, or has no scheme (an empty text);
    /// nothing was sent to it.
    case schemeNotAllowed(String)
    /// A redirect asks for the request's body at another origin, or a second time from a stream that can be
    /// read only once. The body was not sent to the host.
    case bodyNotForwarded(host: String)
    /// The method or a header of the request has characters that HTTP does not allow there, such as a line
    /// break; nothing was sent. The text is the name of the header, or `method`.
    case invalidHeader(String)
}

extension TransferError: CustomStringConvertible {
    /// What was refused, and the next step.
    public var description: String {
        switch self {
        case .bodyTooLarge(let limit):
            "the body of the response is larger than \(limit) bytes; raise TransferLimits.maximumBodySize to accept it"
        case .headersTooLarge(let limit):
            "the headers of the response are larger than \(limit) bytes; raise TransferLimits.maximumHeaderSize to accept them"
        case .tooManyRedirects(let limit):
            "the server redirects more than \(limit) times; raise TransferLimits.maximumRedirects to follow it"
        case .deadlineExceeded(let deadline):
            "the response was not complete after \(deadline); raise TransferLimits.deadline to wait longer"
        case .schemeNotAllowed(let scheme):
            "the URL has \(scheme.isEmpty ? "no scheme" : "the scheme '\(scheme)'"); use http or https"
        case .bodyNotForwarded(let host):
            "a redirect to '\(host)' asks for the body of the request again; send the request to that host if it may have it"
        case .invalidHeader(let name):
            "the request's header '\(name)' has characters that HTTP does not allow; remove line breaks from its value"
        }
    }
}
