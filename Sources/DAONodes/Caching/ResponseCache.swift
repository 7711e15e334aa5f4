import DAOTransport
import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A response in a cache.
public struct CachedResponse: Sendable, Hashable {
    /// The body.
    public let data: Data
    /// The entity tag of this version; nil when the server sent none.
    public let etag: String?

    /// Creates a response to store.
    public init(data: Data, etag: String? = nil) {
        self.data = data
        self.etag = etag
    }
}

/// Stores responses by request. A body and its entity tag are stored together, so a tag is never sent without
/// a stored body.
public protocol ResponseCache: Sendable {
    /// Returns the stored response for a request; nil when there is none.
    func response(for request: URLRequest) -> CachedResponse?
    /// Stores a response. It replaces the previous response for the request.
    func store(_ response: CachedResponse, for request: URLRequest)
}

/// Stores the latest responses in memory until the process ends.
///
/// Requests are equal when their methods are equal and their URLs differ at most in the order of the query.
/// Headers are ignored: use a separate cache for each user.
public final class MemoryResponseCache: ResponseCache {
    private struct Key: Hashable {
        let method: String
        let url: URL?

        init(_ request: URLRequest) {
            method = request.httpMethod ?? "GET"
            url = request.url?.withSortedQuery
        }
    }

    private struct State {
        var responses: [Key: CachedResponse] = [:]
        var order: [Key] = []
    }

    private let capacity: Int
    private let state = Locked(State())

    /// Creates an empty cache.
    ///
    /// - Parameter capacity: the maximum number of responses. The oldest stored response is removed first.
    public init(capacity: Int = 100) {
        self.capacity = max(1, capacity)
    }

    /// Returns the stored response for a request.
    public func response(for request: URLRequest) -> CachedResponse? {
        state.withLock { $0.responses[Key(request)] }
    }

    /// Stores a response. O(capacity).
    public func store(_ response: CachedResponse, for request: URLRequest) {
        let key = Key(request)
        state.withLock { state in
            if state.responses.updateValue(response, forKey: key) != nil { state.order.removeAll { $0 == key } }
            state.order.append(key)
            if state.order.count > capacity { state.responses[state.order.removeFirst()] = nil }
        }
    }
}

/// The reason why the cache returned no response.
public enum ResponseCacheError: Error, Sendable, Hashable {
    /// The cache has no response for the request.
    case cantLoadDataFromCache
}
