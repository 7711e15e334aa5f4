extension HTTPError {
    /// The statuses that have a meaning of their own to most applications.
    public enum Kind: Int, Sendable, CaseIterable {
        /// The request makes no sense to the server.
        case badRequest = 400
        /// The server does not know who asks.
        case unauthorized = 401
        /// Who asks may not.
        case forbidden = 403
        /// There is no such thing.
        case notFound = 404
        /// The server failed.
        case internalServerError = 500
    }

    /// What the status means; nil for every status that is not listed in ``Kind``.
    public var kind: Kind? {
        Kind(rawValue: statusCode)
    }
}
