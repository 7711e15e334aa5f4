// The chains without endpoints in Docs/Transport.md.

import DAONodes
import DAOTransport
import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Loads dialogs with the default chain.
func defaultChain(client: any Client, log: @escaping @Sendable (String) -> Void) -> any Node<Void, [Dialog]> {
    var builder = URLChainBuilder(client: client, .get, route: "dialogs/", query: ["pinned": true, "tags": ["new", "red"]])
    builder.endQueue = .global()
    builder.excludedFromLog = ["ResponseDataParserNode"]
    builder.writeLog = { entry in log("\(entry)") }
    let load: any Node<Void, [Dialog]> = builder.build()
    return load
}

/// Sends `If-None-Match`, and returns the stored response when the resource is unchanged or the server cannot
/// be reached.
func cachedChain(client: any Client) -> any Node<URLRequest, Json> {
    let cache = MemoryResponseCache()
    let kept = URLCacheReaderNode(cache: cache)
    let parser = ResponseDataParserNode(next: URLCacheWriterNode(cache: cache))
    let content = ResponseDataPreprocessorNode(next: parser, acceptsMissingContent: false)
    let status = ResponseHTTPErrorProcessorNode(next: content, acceptsOtherStatuses: false)
    let response = URLNotModifiedTriggerNode(next: status, stored: kept)  // above the status: 304 is no error here
    let sender = RequestSenderNode(next: ResponseProcessorNode(next: response), client: client)
    return FallbackToStoreNode(network: URLETagReaderNode(next: sender, cache: cache), stored: kept)
}

/// Reads all pages of a provider.
func allPages(of provider: any Node<PageRequest, OffsetPage<[Dialog]>>) async throws -> [Dialog] {
    let pager = OffsetPager(provider: provider, pageSize: 20)
    var dialogs: [Dialog] = []
    while !pager.isAtEnd { dialogs += try await pager.next().value }
    return dialogs
}
