import DAOTestSupport
import DAOTransport
import Foundation

@testable import DAONodes

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Requests through the documented chain of cached responses, and the server's answers to them, in an order.
struct CacheScript: CustomStringConvertible {
    enum Answer: CaseIterable {
        /// Status 200, or 304 when the request has the tag of this version.
        case current
        /// The version when the request was sent, which arrives after newer ones.
        case late
        case notModified, partial, noContent, unreadable, serverError, badGateway, lost
    }

    struct Asked {
        var path: String
        var method = "GET"
        var isPart = false
        /// Whether the query is written in another order.
        var isReordered = false
    }

    enum Step {
        /// The resource changes at the server.
        case change(String)
        case request(Asked)
        case answer(Int, Answer)
        case cancel(Int)
    }

    var capacity: Int
    /// Whether the nodes of statuses and of content accept all that they can.
    var isLenient: Bool
    var steps: [Step]

    /// The last one has no entity tags.
    static let paths = ["a", "b", "c"]

    init(using random: inout SeededGenerator) {
        capacity = 1 + random.below(3)
        isLenient = random.chance(40)
        steps = (0..<random.below(30)).map { _ in
            let path = random.pick(Self.paths)
            let request = random.chance(60) ? 0 : random.below(4)
            let asked = Asked(
                path: path, method: random.weighted([(8, "GET"), (1, "HEAD"), (1, "POST")]), isPart: random.chance(15),
                isReordered: random.chance(50))
            return random.weighted([
                (3, Step.change(path)), (8, .request(asked)), (6, .answer(request, .current)),
                (5, .answer(request, random.pick(Answer.allCases))), (1, .cancel(request)),
            ])
        }
    }

    var description: String { "capacity \(capacity)\(isLenient ? ", lenient" : ""): \(steps)" }

    /// Runs the script on the chain and on the model.
    ///
    /// - Returns: what differs; nil when nothing does.
    func difference(fault: CacheFault? = nil) -> String? {
        let log = Log()
        let sent = Locked<[(request: URLRequest, context: Context<DataResponse>, version: Int)]>([])
        let versions = Locked(Dictionary(uniqueKeysWithValues: Self.paths.map { ($0, 1) }))
        let chain = self.chain(fault) { request in
            let context = Context<DataResponse>()
            let name = String(request.url?.path.dropFirst() ?? "")
            let tag = request.value(forHTTPHeaderField: "If-None-Match") ?? "no tag"
            let isPart = request.value(forHTTPHeaderField: "Range") != nil
            log.add("sent \(request.httpMethod ?? "") \(name)\(isPart ? " part" : "") \(tag)")
            let version = versions.withLock { $0[name] ?? 0 }
            sent.withLock { $0.append((request, context, version)) }
            return context
        }
        var results: [Observer<Json>] = []
        var model = PlainCache(capacity: capacity, isLenient: isLenient)
        for (position, step) in steps.enumerated() {
            switch step {
            case .change(let path):
                versions.withLock { $0[path, default: 0] += 1 }
                model.versions[path, default: 0] += 1
            case .request(let asked):
                let number = results.count
                guard let request = Self.request(asked) else { continue }
                let result = chain.process(request)
                result.onCompleted { log.add("\(number) data \($0.serialized())") }
                    .onError { log.add("\(number) error \(Self.name(of: $0))") }.onCancelled { log.add("\(number) cancelled") }
                results.append(result)
                model.send(asked, for: number, allowsTag: true)
            case .answer(let back, let answer):
                let all = sent.withLock { $0 }
                guard all.count > back else { continue }
                let (request, context, version) = all[all.count - 1 - back]
                let now = versions.withLock { $0[String(request.url?.path.dropFirst() ?? "")] ?? 0 }
                context.emit(data: Self.response(answer, to: request, version: answer == .late ? version : now)).finish()
                model.answer(all.count - 1 - back, answer)
            case .cancel(let back):
                guard results.count > back else { continue }
                results[results.count - 1 - back].cancel()
                model.cancel(results.count - 1 - back)
            }
            guard log.all == model.log else {
                return "\(self)\nafter step \(position), \(step):\n  expected \(model.log)\n  was      \(log.all)"
            }
        }
        return nil
    }

    private static func request(_ asked: Asked) -> URLRequest? {
        let query = asked.isReordered ? "y=2&x=1" : "x=1&y=2"
        guard let url = URL(string: "http://host/\(asked.path)?\(query)") else { return nil }
        var request = URLRequest(url: url)
        request.httpMethod = asked.method
        if asked.isPart { request.setValue("bytes=0-1", forHTTPHeaderField: "Range") }
        return request
    }

    private static func response(_ answer: Answer, to request: URLRequest, version: Int) -> DataResponse {
        let name = String(request.url?.path.dropFirst() ?? "")
        let tag = name == "c" ? nil : "\"\(version)\""
        let isUnchanged = tag != nil && request.value(forHTTPHeaderField: "If-None-Match") == tag
        let whole = request.httpMethod == "HEAD" ? "" : #"{"\#(name)":\#(version)}"#
        let (status, body) =
            switch answer {
            case .current, .late: isUnchanged ? (304, "") : (200, whole)
            case .notModified: (304, "")
            case .partial: (206, #"{"part":\#(version)}"#)
            case .noContent: (204, "")
            case .unreadable: (200, "{")
            case .serverError: (500, "{}")
            case .badGateway: (502, #"{"error":\#(version)}"#)
            case .lost: (0, "")
            }
        guard answer != .lost, let url = request.url,
            let response = HTTPURLResponse(
                url: url, statusCode: status, httpVersion: nil, headerFields: tag.map { ["ETag": $0] } ?? [:])
        else { return DataResponse(request: request, error: URLError(.networkConnectionLost)) }
        return DataResponse(request: request, response: response, data: Data(body.utf8))
    }

    private static func name(of error: any Error) -> String {
        switch error {
        case let error as HTTPError: "status \(error.statusCode)"
        case is ContentError: "content"
        case is DecodingError: "unreadable"
        case is URLError: "lost"
        case is ResponseCacheError: "nothing is stored"
        default: "\(error)"
        }
    }

    /// The chain of the guide.
    private func chain(
        _ fault: CacheFault?, _ send: @escaping @Sendable (URLRequest) -> Observer<DataResponse>
    ) -> any Node<URLRequest, Json> {
        let cache: any ResponseCache
        if let fault, fault.isOfTheCache {
            cache = DoubledCache(capacity, fault)
        } else {
            cache = MemoryResponseCache(capacity: capacity)
        }
        let kept = URLCacheReaderNode(cache: cache)
        let writer: any Node<ProcessedResponse, Void> =
            switch fault {
            case .storesEveryStatus: ClosureNode { Self.store($0, in: cache) { _ in true } }
            case .storesParts: ClosureNode { Self.store($0, in: cache) { (200..<300).contains($0.response.statusCode) } }
            case .storesEveryMethod:
                ClosureNode { Self.store($0, in: cache, ofEveryMethod: true) { $0.response.statusCode == 200 } }
            case .storesNothing: ClosureNode { _ in .emit(data: ()) }
            default: URLCacheWriterNode(cache: cache)
            }
        let parser = ResponseDataParserNode(next: writer)
        let content = ResponseDataPreprocessorNode(next: parser, acceptsMissingContent: isLenient)
        let status = ResponseHTTPErrorProcessorNode(next: content, acceptsOtherStatuses: isLenient)
        let response: any Node<URLDataResponse, Json> =
            fault == .unchangedIsAStatus ? status : URLNotModifiedTriggerNode(next: status, stored: kept)
        let processor = ResponseProcessorNode(next: response)
        let sender = ClosureNode<URLRequest, Json> { request in
            send(request).map { (response: DataResponse) -> Observer<Json> in processor.process(response) }
        }
        let tagged: any Node<URLRequest, Json> =
            switch fault {
            case .sendsNoTag: sender
            case .goneIsAnError, .partsHaveTags:
                ClosureNode { request in
                    var request = request
                    let isPart = request.value(forHTTPHeaderField: "Range") != nil
                    if !isPart || fault == .partsHaveTags, let tag = cache.response(for: request)?.etag {
                        request.setValue(tag, forHTTPHeaderField: "If-None-Match")
                    }
                    return sender.process(request)
                }
            default: URLETagReaderNode(next: sender, cache: cache)
            }
        guard fault == .everyErrorFallsBack else { return FallbackToStoreNode(network: tagged, stored: kept) }
        return FallbackToStoreNode(network: tagged, stored: kept, when: { _ in true })
    }

    private static func store(
        _ input: ProcessedResponse, in cache: any ResponseCache, ofEveryMethod: Bool = false,
        _ isStored: (URLDataResponse) -> Bool
    ) -> Observer<Void> {
        let request = input.response.request
        if ofEveryMethod || request.httpMethod == "GET", isStored(input.response) {
            let tag = input.response.response.value(forHTTPHeaderField: "ETag")
            cache.store(CachedResponse(data: input.response.data, etag: tag), for: request)
        }
        return .emit(data: ())
    }
}

/// What a chain with a cache does: whole answers to GET are kept, the latest ones; an unchanged one, and a lost connection,
/// give the kept answer.
struct PlainCache {
    private struct Sent {
        var asked: CacheScript.Asked
        var result: Int
        var tag: String?
        var version: Int
        var isOpen = true
    }

    let capacity: Int
    let isLenient: Bool
    var versions = Dictionary(uniqueKeysWithValues: CacheScript.paths.map { ($0, 1) })
    private(set) var log: [String] = []
    private var sent: [Sent] = []
    /// The oldest first.
    private var kept: [(path: String, body: String, tag: String?)] = []
    private var hasCancelled: Set<Int> = []

    init(capacity: Int, isLenient: Bool) {
        (self.capacity, self.isLenient) = (capacity, isLenient)
    }

    private func stored(_ asked: CacheScript.Asked) -> (path: String, body: String, tag: String?)? {
        asked.method == "GET" && !asked.isPart ? kept.first { $0.path == asked.path } : nil
    }

    mutating func send(_ asked: CacheScript.Asked, for result: Int, allowsTag: Bool) {
        let tag = allowsTag ? stored(asked)?.tag : nil
        log.append("sent \(asked.method) \(asked.path)\(asked.isPart ? " part" : "") \(tag ?? "no tag")")
        sent.append(Sent(asked: asked, result: result, tag: tag, version: versions[asked.path] ?? 0))
    }

    mutating func answer(_ number: Int, _ answer: CacheScript.Answer) {
        guard sent[number].isOpen else { return }
        sent[number].isOpen = false
        let (asked, result) = (sent[number].asked, sent[number].result)
        let version = answer == .late ? sent[number].version : versions[asked.path] ?? 0
        let tag = asked.path == "c" ? nil : "\"\(version)\""
        func data(_ text: String) { log.append("\(result) data \(text)") }
        func error(_ text: String) { log.append("\(result) error \(text)") }
        switch answer {
        case .current where sent[number].tag != nil && sent[number].tag == tag,
            .late where sent[number].tag != nil && sent[number].tag == tag, .notModified:
            if let stored = self.stored(asked) {
                data(stored.body)
            } else if sent[number].tag != nil {
                // It has gone meanwhile.
                send(asked, for: result, allowsTag: false)
            } else {
                error("nothing is stored")
            }
        case .current, .late:
            if asked.method == "HEAD" { return isLenient ? data("{}") : error("content") }
            let body = #"{"\#(asked.path)":\#(version)}"#
            if asked.method == "GET" {
                kept.removeAll { $0.path == asked.path }
                kept.append((asked.path, body, tag))
                if kept.count > capacity { kept.removeFirst() }
            }
            data(body)
        case .partial: if isLenient { data(#"{"part":\#(version)}"#) } else { error("content") }
        case .noContent: if isLenient { data("{}") } else { error("content") }
        case .unreadable: error("unreadable")
        case .serverError: error("status 500")
        case .badGateway: if isLenient { data(#"{"error":\#(version)}"#) } else { error("status 502") }
        case .lost: if let stored = self.stored(asked) { data(stored.body) } else { error("lost") }
        }
    }

    mutating func cancel(_ result: Int) {
        guard hasCancelled.insert(result).inserted else { return }
        log.append("\(result) cancelled")
        for index in sent.indices where sent[index].result == result { sent[index].isOpen = false }
    }
}

/// Mistakes in a cache and its nodes that generated scripts have to detect.
enum CacheFault: CaseIterable, Sendable {
    case storesEveryStatus, storesParts, storesEveryMethod, storesNothing, sendsNoTag, partsHaveTags, unchangedIsAStatus
    case goneIsAnError, everyErrorFallsBack
    case removesTheNewest, removesNothing, orderOfTheQueryCounts, queryAndPathAreIgnored, methodIsIgnored, mixesTagsAndBodies
    case keepsTheFirstAnswer, readingMakesNewer

    var isOfTheCache: Bool {
        switch self {
        case .removesTheNewest, .removesNothing, .orderOfTheQueryCounts, .queryAndPathAreIgnored, .methodIsIgnored,
            .mixesTagsAndBodies, .keepsTheFirstAnswer, .readingMakesNewer:
            true
        default: false
        }
    }
}

/// A cache that is written once more, so that it can have a fault.
private final class DoubledCache: ResponseCache {
    private let capacity: Int
    private let fault: CacheFault
    private let kept = Locked<[(key: String, response: CachedResponse)]>([])

    init(_ capacity: Int, _ fault: CacheFault) {
        (self.capacity, self.fault) = (capacity, fault)
    }

    private func key(_ request: URLRequest) -> String {
        let method = fault == .methodIsIgnored ? "" : request.httpMethod ?? ""
        if fault == .queryAndPathAreIgnored { return method }
        return method + ((fault == .orderOfTheQueryCounts ? request.url : request.url?.withSortedQuery)?.absoluteString ?? "")
    }

    func response(for request: URLRequest) -> CachedResponse? {
        let key = self.key(request)
        return kept.withLock { kept in
            guard let index = kept.firstIndex(where: { $0.key == key }) else { return nil }
            defer { if fault == .readingMakesNewer { kept.append(kept.remove(at: index)) } }
            return kept[index].response
        }
    }

    func store(_ response: CachedResponse, for request: URLRequest) {
        let key = self.key(request)
        kept.withLock { kept in
            var response = response
            if let index = kept.firstIndex(where: { $0.key == key }) {
                let old = kept.remove(at: index).response
                if fault == .mixesTagsAndBodies { response = CachedResponse(data: old.data, etag: response.etag) }
                if fault == .keepsTheFirstAnswer { response = old }
            }
            kept.append((key, response))
            guard kept.count > capacity, fault != .removesNothing else { return }
            kept.remove(at: fault == .removesTheNewest ? kept.count - 1 : 0)
        }
    }
}
