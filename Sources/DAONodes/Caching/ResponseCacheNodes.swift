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

    /// Stores the response when its status is in 200..<300.
    public func process(_ input: ProcessedResponse) -> Observer<Void> {
        let (request, response) = (input.response.request, input.response.response)
        if request.httpMethod ?? "GET" == "GET", (200..<300).contains(response.statusCode) {
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
    /// ``ResponseCacheError/cantLoadDataFromCache`` when there is none, and a `DecodingError` when the body
    /// is not JSON, or neither an object nor a list.
    public func process(_ input: URLRequest) -> Observer<Json> {
        .trying {
            guard let response = cache.response(for: input) else { throw ResponseCacheError.cantLoadDataFromCache }
            return .emit(data: try ResponseDataParserNode.parse(response.data))
        }
    }
}

/// Adds `If-None-Match` with the entity tag of the stored response. The server responds to an unchanged
/// resource with status 304, which a ``URLNotModifiedTriggerNode`` handles.
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
        guard let etag = cache.response(for: input)?.etag else { return next.process(input) }
        var request = input
        request.setValue(etag, forHTTPHeaderField: "If-None-Match")
        return next.process(request)
    }
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
