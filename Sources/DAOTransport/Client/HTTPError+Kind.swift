extension HTTPError {
    /// The statuses that most applications handle separately.
    public enum Kind: Int, Sendable, CaseIterable {
        /// The server does not understand the request.
        case badRequest = 400
        /// The request is not authenticated.
        case unauthorized = 401
        /// The request is authenticated but not permitted.
        case forbidden = 403
        /// The resource does not exist.
        case notFound = 404
        /// The server failed.
        case internalServerError = 500
    }

    /// The meaning of the status; nil for every status that ``Kind`` does not list.
    public var kind: Kind? {
        Kind(rawValue: statusCode)
    }
}
