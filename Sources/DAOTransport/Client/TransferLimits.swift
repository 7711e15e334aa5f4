/// The limits of what a client accepts from a server, for one request with all its redirects.
///
/// ```swift
/// let client = URLSessionClient(baseURL: server, limits: TransferLimits(maximumBodySize: 1 << 30, deadline: .seconds(3600)))
/// ```
public struct TransferLimits: Sendable, Hashable {
    /// The maximum number of bytes of a response's body, after decompression; 64 MiB by default. A larger body
    /// is ``TransferError/bodyTooLarge(limit:)``, also when the server only announces it.
    public var maximumBodySize: Int

    /// The maximum number of bytes of the response's headers, 256 KiB by default. More are
    /// ``TransferError/headersTooLarge(limit:)``.
    public var maximumHeaderSize: Int

    /// The maximum number of redirects that are followed; 20 by default. One more is
    /// ``TransferError/tooManyRedirects(limit:)``. With 0, every redirect is this error.
    public var maximumRedirects: Int

    /// The maximum time from sending the request to the last byte of the response; five minutes by default. A
    /// longer exchange is ``TransferError/deadlineExceeded(_:)``.
    ///
    /// The session's `timeoutIntervalForRequest` limits the time without any data, and
    /// `timeoutIntervalForResource` is a deadline too: the shorter one counts.
    public var deadline: Duration

    /// Creates limits.
    public init(
        maximumBodySize: Int = 64 << 20,
        maximumHeaderSize: Int = 256 << 10,
        maximumRedirects: Int = 20,
        deadline: Duration = .seconds(300)
    ) {
        self.maximumBodySize = maximumBodySize
        self.maximumHeaderSize = maximumHeaderSize
        self.maximumRedirects = maximumRedirects
        self.deadline = deadline
    }
}
