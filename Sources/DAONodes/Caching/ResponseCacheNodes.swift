import DAOTransport
import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Stores successful responses to GET requests with their entity tags. Use it as the `next` node of a
/// ``ResponseDataParserNode``.
public struct URLCacheWriterNode: Node {
    private let cache: any ResponseCache

    /// Creates a node that stores responses in a cache.
    public init(cache: any ResponseCache) {
        self.cache = cache
    }

    /// Stores the response when its status is in 200..<300 and it is whole: a part (206) is not what a later request
    /// without a `Range` asks for.
    public func process(_ input: ProcessedResponse) -> Observer<Void> {
        let (request, response) = (input.response.request, input.response.response)
        let isWhole = (200..<300).contains(response.statusCode) && response.statusCode != 206
        if request.httpMethod ?? "GET" == "GET", isWhole {
            let etag = response.value(forHTTPHeaderField: "ETag")
            cache.store(CachedResponse(data: input.response.data, etag: etag), for: request)
        }
        return .emit(data: ())
    }
}

/// Returns the stored response for a request.
///
/// With it, ``FirstCacheNode`` and ``FallbackToStoreNode`` work on requests without a database:
///
/// ```swift
/// FallbackToStoreNode(network: sender, stored: URLCacheReaderNode(cache: cache))     // instead of the sender
/// ```
public struct URLCacheReaderNode: Node {
    private let cache: any ResponseCache

    /// Creates a node that reads from a cache.
    public init(cache: any ResponseCache) {
        self.cache = cache
    }

    /// Emits the stored response, parsed as ``ResponseDataParserNode`` does. The error is
    /// ``ResponseCacheError/cantLoadDataFromCache`` when there is none, or the request asks for a part (`Range`), and a
    /// `DecodingError` when the body is not JSON, or neither an object nor a list.
    public func process(_ input: URLRequest) -> Observer<Json> {
        .trying {
            guard !input.asksForAPart, let response = cache.response(for: input) else {
                throw ResponseCacheError.cantLoadDataFromCache
            }
            return .emit(data: try ResponseDataParserNode.parse(response.data))
        }
    }
}

/// Adds `If-None-Match` with the entity tag of the stored response. The server responds to an unchanged
/// resource with status 304, which a ``URLNotModifiedTriggerNode`` handles.
///
/// The cache can lose the stored response while the request is under way. Then the request is sent once more, without the
/// tag. A request for a part (`Range`) is passed on unchanged.
public struct URLETagReaderNode<Output: Sendable>: Node {
    private let next: any Node<URLRequest, Output>
    private let cache: any ResponseCache

    /// Creates a node above a node that sends requests.
    public init(next: any Node<URLRequest, Output>, cache: any ResponseCache) {
        self.next = next
        self.cache = cache
    }

    /// Passes the request on, with the entity tag of the stored response if there is one.
    public func process(_ input: URLRequest) -> Observer<Output> {
        guard !input.asksForAPart, let etag = cache.response(for: input)?.etag else { return next.process(input) }
        var request = input
        request.setValue(etag, forHTTPHeaderField: "If-None-Match")
        return next.process(request).mapError { [next] (error: any Error) throws -> Observer<Output> in
            guard error as? ResponseCacheError == .cantLoadDataFromCache else { throw error }
            ChainLog.record("URLETagReaderNode", .request, "the stored response has gone")
            return next.process(input)
        }
    }
}

extension URLRequest {
    /// Whether the request asks for a part of the resource. The cache has whole ones.
    fileprivate var asksForAPart: Bool { value(forHTTPHeaderField: "Range") != nil }
}

/// Replaces a response with status 304 by the stored response. Place it above the nodes that read a response.
public struct URLNotModifiedTriggerNode: Node {
    private let next: any Node<URLDataResponse, Json>
    private let stored: any Node<URLRequest, Json>

    /// Creates a node above a node that reads responses.
    ///
    /// - Parameters:
    ///   - next: reads every other response.
    ///   - stored: called instead when the resource has not changed, usually a ``URLCacheReaderNode``.
    public init(next: any Node<URLDataResponse, Json>, stored: any Node<URLRequest, Json>) {
        self.next = next
        self.stored = stored
    }

    /// Calls the next node, or the stored node for status 304.
    public func process(_ input: URLDataResponse) -> Observer<Json> {
        guard input.response.statusCode == 304 else { return next.process(input) }
        ChainLog.record("URLNotModifiedTriggerNode", .status, "not modified")
        return stored.process(input.request)
    }
}
