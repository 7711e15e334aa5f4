import DAOTransport
import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// An answer that was kept.
public struct CachedAnswer: Sendable, Hashable {
    /// The body.
    public let data: Data
    /// The server's word for this version of it; nil when it has none.
    public let etag: String?

    /// An answer to keep.
    public init(data: Data, etag: String? = nil) {
        self.data = data
        self.etag = etag
    }
}

/// Keeps answers by request. A body and its version are kept as one, so that a version is never asked about without its body.
public protocol AnswerCache: Sendable {
    /// What was kept for a request; nil when nothing was.
    func answer(for request: URLRequest) -> CachedAnswer?
    /// Keeps an answer in the place of the one before.
    func store(_ answer: CachedAnswer, for request: URLRequest)
}

/// Keeps the latest answers for as long as the process runs.
///
/// Requests are the same when their methods are, and their URLs but for the order of the query. Headers do not count: use one cache for each
/// user.
public final class MemoryAnswerCache: AnswerCache {
    private struct Key: Hashable {
        let method: String
        let url: URL?

        init(_ request: URLRequest) {
            method = request.httpMethod ?? "GET"
            url = request.url?.withSortedQuery
        }
    }

    private struct State {
        var answers: [Key: CachedAnswer] = [:]
        var order: [Key] = []
    }

    private let capacity: Int
    private let state = Locked(State())

    /// An empty cache.
    ///
    /// - Parameter capacity: how many answers it keeps; the one that was stored the longest ago goes first.
    public init(capacity: Int = 100) {
        self.capacity = max(1, capacity)
    }

    /// What was kept for a request.
    public func answer(for request: URLRequest) -> CachedAnswer? {
        state.withLock { $0.answers[Key(request)] }
    }

    /// Keeps an answer. O(capacity).
    public func store(_ answer: CachedAnswer, for request: URLRequest) {
        let key = Key(request)
        state.withLock { state in
            if state.answers.updateValue(answer, forKey: key) != nil { state.order.removeAll { $0 == key } }
            state.order.append(key)
            if state.order.count > capacity { state.answers[state.order.removeFirst()] = nil }
        }
    }
}

/// Why a kept answer could not be given.
public enum AnswerCacheError: Error, Sendable, Hashable {
    /// Nothing was kept for the request.
    case cantLoadDataFromCache
}
