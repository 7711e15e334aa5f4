import DAOTransport
import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Keeps good answers to GET requests, with their versions: for the end of a ``ResponseDataParserNode``.
public struct URLCacheWriterNode: Node {
    private let cache: any AnswerCache

    /// A node that keeps answers in a cache.
    public init(cache: any AnswerCache) {
        self.cache = cache
    }

    /// Keeps the answer when its status is in 200..<300.
    public func process(_ input: ProcessedResponse) -> Observer<Void> {
        let (request, response) = (input.response.request, input.response.response)
        if request.httpMethod ?? "GET" == "GET", (200..<300).contains(response.statusCode) {
            let etag = response.value(forHTTPHeaderField: "ETag")
            cache.store(CachedAnswer(data: input.response.data, etag: etag), for: request)
        }
        return .emit(data: ())
    }
}

/// Gives the answer that was kept for a request.
///
/// With it ``FirstCacheNode`` and ``FallbackToStoreNode`` work on requests, without a database:
///
/// ```swift
/// FallbackToStoreNode(network: sender, stored: URLCacheReaderNode(cache: cache))     // in the place of the sender
/// ```
public struct URLCacheReaderNode: Node {
    private let cache: any AnswerCache

    /// A node that reads from a cache.
    public init(cache: any AnswerCache) {
        self.cache = cache
    }

    /// The kept answer, read as ``ResponseDataParserNode`` reads it; ``AnswerCacheError/cantLoadDataFromCache`` when there is none, and
    /// a `DecodingError` when it is no JSON, or neither object nor list.
    public func process(_ input: URLRequest) -> Observer<Json> {
        guard let answer = cache.answer(for: input) else { return .emit(error: AnswerCacheError.cantLoadDataFromCache) }
        do {
            return .emit(data: try ResponseDataParserNode.parse(answer.data))
        } catch {
            return .emit(error: error)
        }
    }
}

/// Asks for an answer only if it is another one than was kept: `If-None-Match`. An unchanged one comes as status 304, which is the work
/// of a ``URLNotModifiedTriggerNode``.
public struct URLETagReaderNode<Output: Sendable>: Node {
    private let next: any Node<URLRequest, Output>
    private let cache: any AnswerCache

    /// A node above one that sends.
    public init(next: any Node<URLRequest, Output>, cache: any AnswerCache) {
        self.next = next
        self.cache = cache
    }

    /// Passes the request on, with the version of the kept answer if there is one.
    public func process(_ input: URLRequest) -> Observer<Output> {
        guard let etag = cache.answer(for: input)?.etag else { return next.process(input) }
        var request = input
        request.setValue(etag, forHTTPHeaderField: "If-None-Match")
        return next.process(request)
    }
}

/// Answers status 304 with what was kept: above the nodes that read an answer.
public struct URLNotModifiedTriggerNode: Node {
    private let next: any Node<URLDataResponse, Json>
    private let stored: any Node<URLRequest, Json>

    /// A node above one that reads answers.
    ///
    /// - Parameter stored: asked instead when nothing has changed, most often a ``URLCacheReaderNode``.
    public init(next: any Node<URLDataResponse, Json>, stored: any Node<URLRequest, Json>) {
        self.next = next
        self.stored = stored
    }

    /// Asks the next node, or what was kept.
    public func process(_ input: URLDataResponse) -> Observer<Json> {
        guard input.response.statusCode == 304 else { return next.process(input) }
        ChainLog.record("URLNotModifiedTriggerNode", .status, "not modified")
        return stored.process(input.request)
    }
}
