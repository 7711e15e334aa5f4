// Chains that are built and put together without an endpoint, as Docs/Transport.md shows them.

import DAONodes
import DAOTransport
import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Loads dialogs by means of the default chain.
func defaultChain(client: any Client, log: @escaping @Sendable (String) -> Void) -> any Node<Void, [Dialog]> {
    var builder = URLChainBuilder(client: client, .get, route: "dialogs/", query: ["pinned": true, "tags": ["new", "red"]])
    builder.endQueue = .global()
    builder.excludedFromLog = ["ResponseDataParserNode"]
    builder.writeLog = { entry in log("\(entry)") }
    let load: any Node<Void, [Dialog]> = builder.build()
    return load
}

/// Asks only for what is new, and gives what was kept when nothing is or the server cannot be reached.
func cachedChain(client: any Client) -> any Node<URLRequest, Json> {
    let cache = MemoryAnswerCache()
    let kept = URLCacheReaderNode(cache: cache)
    let parser = ResponseDataParserNode(next: URLCacheWriterNode(cache: cache))
    let answer = URLNotModifiedTriggerNode(next: ResponseHTTPErrorProcessorNode(next: parser), stored: kept)
    let sender = RequestSenderNode(next: ResponseProcessorNode(next: answer), client: client)
    return FallbackToStoreNode(network: URLETagReaderNode(next: sender, cache: cache), stored: kept)
}

/// Everything that a provider has, page by page.
func allPages(of provider: any Node<PageRequest, OffsetPage<[Dialog]>>) async throws -> [Dialog] {
    let pager = OffsetPager(provider: provider, pageSize: 20)
    var dialogs: [Dialog] = []
    while !pager.isAtEnd { dialogs += try await pager.next().value }
    return dialogs
}
