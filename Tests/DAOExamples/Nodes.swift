// swift-format-ignore-file
// The code of Docs/Nodes.md, compiled and run. `DAODocumentationTests` checks that both are the same.

import DAOCore
import DAONodes
import DAOTransport
import Dispatch
import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A client without a server: it answers every request in the same way.
struct StubClient: Client {
    var status = 200
    var body = Data("{}".utf8)

    func request<Request: Endpoint>(_ endpoint: Request, progress: Progress?) async throws -> Request.Content {
        let request = try endpoint.makeRequest()
        guard let url = request.url,
            let response = HTTPURLResponse(url: url, statusCode: status, httpVersion: nil, headerFields: nil)
        else { throw URLError(.badURL) }
        try endpoint.validate(request, response: response, data: body)
        return try endpoint.content(from: response, with: body)
    }
    func upload<Request: UploadEndpoint>(_ endpoint: Request, progress: Progress?) async throws -> Request.Content {
        try endpoint.content(from: nil, with: body)
    }
}

// MARK: Nodes

struct TrimNode<Output: Sendable>: Node {                 // changes the input
    let next: any Node<String, Output>

    func process(_ input: String) -> Observer<Output> {
        next.process(input.trimmingCharacters(in: .whitespaces))
    }
}

struct LengthNode: AsyncNode {                            // one output, written with await
    func run(_ input: String) async throws -> Int { input.count }
}

/// Runs both nodes, and replaces one in a test.
func ownNodes() async throws -> [Int] {
    let length = try await TrimNode(next: LengthNode()).value(for: "  tea ")

    let stub = ClosureNode<String, Int> { input in .emit(data: input.count * 100) }
    let slow = ClosureNode<String, Int>(async: { input in
        try await Task.sleep(for: .milliseconds(1))
        return input.count
    })
    let replaced = try await TrimNode(next: stub).value(for: " tea")
    let awaited = try await slow.value(for: "milk")
    return [length, replaced, awaited]
}

// MARK: Observers

struct GreetingNode: Node {
    func process(_ name: String) -> Observer<String> {
        let context = Context<String>()                       // the node emits, the caller listens
        DispatchQueue.global().async {
            context.emit(data: "Hello \(name)!").finish()
        }
        return context
    }
}

/// What the observers of the page emit.
func observers() async throws -> [String] {
    let greeting = try await GreetingNode().process("Ada").value                // the first outcome, or its error

    let counting = Observer<Int>.sequence(AsyncStream { stream in
        for number in 1...3 { stream.yield(number) }
        stream.finish()
    })
    var numbers: [String] = []
    for try await number in counting.values { numbers.append("\(number)") }     // every emission

    let work = Observer<Int>.task { try await LengthNode().run("coffee") }      // cancelling it cancels the task
    let length = try await work.value

    let failed = Observer<Int>.emit(error: URLError(.timedOut))                 // has emitted and finished
    failed.onCompleted { _ in }.onError { _ in }.onCancelled {}.defer {}        // code without await
    failed.unsubscribe()                                                        // removes these listeners
    let late = Observer<Int>.task { try await Task.sleep(for: .seconds(60)); return 0 }
    late.cancel()                                                               // stops the work; `late.isCancelled` is true

    return [greeting] + numbers + ["\(length)", "\(late.isCancelled)"]
}

/// What the contexts of the page deliver.
func contexts(_ queue: DispatchQueue, _ show: @escaping @Sendable (String) -> Void) {
    AsyncContext<String>().on(queue)                                            // listeners on a queue, the main queue unless said
        .emit(data: "async")
        .onCompleted { show($0) }

    let news = MulticastContext<String>()                                       // any number of listeners
    news.onCompleted { show("first \($0)") }
    news.onCompleted { show("second \($0)") }
    news.emit(data: "multicast")
}

// MARK: Operators

/// What the operators for data, errors and several observers emit, with multicasts of 2 and of an error as sources.
func operators(_ two: Observer<Int>, _ failed: Observer<Int>) async throws -> [String] {
    let four = two.map { $0 * 2 }                                               // transforms data
    let next = two.map { (number: Int) -> Observer<Int> in .emit(data: number + 1) }    // continues with another observer
    let odd = Observer<[Int]>.emit(data: [1, 2, 3]).filter { $0 % 2 == 1 }      // elements of a list
    let slow = two.mapInOrder { number in                                       // with await, one after the other
        try await Task.sleep(for: .milliseconds(1))
        return number * 10
    }

    let other = failed.mapError { (_: any Error) -> any Error in LoadError.offline }    // another error
    let saved = failed.mapError { (_: any Error) -> Observer<Int> in .emit(data: 0) }   // data instead of the error
    let same = failed.map { (_: any Error) -> any Error in LoadError.offline }          // as `mapError`

    let both = two.combine(Observer<String>.emit(data: "a"))                    // (2, "a"): both, or the first error
    let some = two.combineTolerance(failed)                                     // (2, nil): fails when both fail
    let pair = two.chain { number in Observer<String>.emit(data: "\(number)!") }    // (2, "2!"): made of the first

    let (left, right) = try await (both.value, pair.value)
    let tolerant = try await some.value
    return [
        "\(try await four.value)", "\(try await next.value)", "\(try await odd.value)", "\(try await slow.value)",
        "\(try await saved.value)", "\(left)", "\(right)", "\(tolerant.0 ?? 0) \(tolerant.1 ?? -1)",
        await error(of: other), await error(of: same),
    ]
}

/// The error of an observer as text.
private func error(of observer: Observer<Int>) async -> String {
    do { return "\(try await observer.value)" } catch { return "\(error)" }
}

/// Puts the operators for listeners, threads and time together.
func flow(_ search: Observer<String>, _ show: @escaping @Sendable (String) -> Void) -> Observer<String> {
    let shown = search
        .debounce(after: .milliseconds(300))                                    // only the last letter of a fast typist
        .throttle(next: .seconds(1))                                            // at most one a second
        .catchError { (error: URLError) in show("offline: \(error.code)") }     // handles errors of one type
        .dispatch(on: .global())                                                // listeners from here on run on a queue; also `dispatchOn`
        .multicast()                                                            // several listeners
        .process { observer in observer.onCompleted { show("seen: \($0)") } }   // looks at the observer, changes nothing
    return shown
}


// MARK: Nodes around others

/// Stops a transfer that has no observer.
final class Download: Aborter {
    let stopped: @Sendable () -> Void
    init(stopped: @escaping @Sendable () -> Void) { self.stopped = stopped }
    func cancel() { stopped() }
}

/// Every node that changes the flow around a node for lists of dialogs.
func aroundNodes(
    _ load: any Node<Json, [Dialog]>, _ refresh: any Node<Void, String>, _ show: @escaping @Sendable (String) -> Void
) -> any Node<Json, [Dialog]> {
    let mapped = ErrorMapperNode(next: load) { LoadError($0) }                  // the application's errors
    let safe = AccessSafeNode(next: mapped, refresher: TokenRefresherNode(refresh: refresh)) { error in
        error as? LoadError == .server(status: 401)                             // 401 and 403 unless said
    }
    let stopped = AborterNode(next: safe, aborter: Download { show("stopped") })    // when the observer is cancelled
    let indicator = LoadIndicator { running in show("\(running) running") }
    let counted = LoadIndicatableNode(next: stopped, indicator: indicator)      // for a spinner
    let queued = DispatcherNode(next: counted, on: .global(), deliveringOn: .main)  // work on a queue, listeners on another
    let same = ChainConfiguratorNode(next: counted, beginQueue: .global(), endQueue: .main)     // usual at the top of a chain
    let logged = LoggerNode(next: queued, excluding: ["RequestSenderNode"]) { entry in show("\(entry)") }
    _ = same
    return logged
}

/// A node that writes into the log of its chain.
struct AuditNode: AsyncNode {
    func run(_ id: Int) async throws -> Int {
        ChainLog.record("AuditNode", .request, "asked for \(id)")               // written by the LoggerNode above, if there is one
        return id
    }
}

// MARK: DAOs in a chain

/// What the nodes of a DAO return.
func daoNodes(_ messages: DAO<MessageTranslator>, _ fetched: [Message], _ cutoff: Date) async throws -> [[Int]] {
    let network = ClosureNode<Json, [Message]> { _ in .emit(data: fetched) }

    let merge = PersistNode(messages, next: network)                            // merges, and returns what is stored
    let mirror = PersistNode(messages, next: network, replacing: .all)          // stores exactly the values of the server
    let guarded = PersistNode(messages, next: network, replacing: .all, erasingAtMost: .fraction(0.5))  // or is an error
    let all = ReadNode<Json, MessageTranslator>(messages, orderedBy: .descending(\.date))
    let newer = ReadNode<Date, MessageTranslator>(messages) { message, date in message.date > date }
    let some = ReadNode<[Int], MessageTranslator>(messages, keys: { $0.map { UniqueID($0) } })
    let one = ReadOneNode<Int, MessageTranslator>(messages)                     // `ReadError.notFound` when there is none
    let expire = EraseNode<Date, MessageTranslator>(messages) { message, date in message.date < date }

    let stored = try await merge.value(for: Json())
    let recent = try await newer.value(for: cutoff)
    let asked = try await some.value(for: [2, 1])
    let first = try await one.value(for: 1)
    let erased = try await expire.value(for: cutoff)
    let left = try await all.value(for: Json())
    let mirrored = try await mirror.value(for: Json())
    _ = try await guarded.value(for: Json())
    return [stored.map(\.id), recent.map(\.id), asked.map(\.id), [first.id], [erased], left.map(\.id), mirrored.map(\.id)]
}

/// What is shown when something is stored already.
func storedAndFetched(
    _ stored: any Node<String, [Message]>, _ network: any Node<String, [Message]>, _ clock: @escaping @Sendable () -> Date
) async throws -> [Int] {
    let both = FirstCacheNode(stored: stored, network: network) { !$0.isEmpty } // two emissions
    let offline = FallbackToStoreNode(network: network, stored: stored)         // the stored result when there is no connection
    let times = FetchTimes<String>(now: clock)                                  // when each input was fetched last
    let seldom = StaleAfterNode(                                                // fetches when that is longer ago than five minutes
        stored: stored, network: times.recording(network), after: .seconds(300), now: clock
    ) { folder, _ in times.date(for: folder) }

    var counts: [Int] = []
    for try await messages in both.values(for: "inbox") { counts.append(messages.count) }
    counts.append(try await offline.value(for: "inbox").count)
    for _ in 1...2 { counts.append(try await seldom.value(for: "inbox").count) }
    return counts
}

// MARK: Mapping

/// Maps a dialog both ways around a node that works with JSON, in every form.
func mappings(_ wire: any Node<Json, Json>, _ dialog: Dialog) async throws -> [Dialog] {
    let entries = DTOMapperNode<DialogEntry, DialogEntry>(next: wire)           // entry → JSON, and JSON → entry
    let models = ModelInputNode<Dialog, Dialog>(next: entries)                  // value → entry, and entry → value
    let request = EntryInputDTOOutputNode<DialogEntry, Dialog>(next: wire)      // entry → JSON, and JSON → value
    let raw = RawEncoderNode<DialogEntry, Json>(next: wire)                     // entry → JSON, the output unchanged
    let encoded = DTOEncoderNode<Dialog, Json>(next: raw)                       // value → entry, the output unchanged
    let sent = VoidOutputNode<Dialog>(next: wire)                               // value → JSON, ignores the output
    let ping = VoidIONode(next: wire)                                           // sends {}, ignores the output
    let load = VoidInputNode(next: ModelInputNode<Json, Json>(next: DTOMapperNode<Json, Json>(next: wire)))   // sends {}

    let echoed = try await models.value(for: dialog)
    let asked = try await request.value(for: dialog.toDTO())
    let json = try await encoded.value(for: dialog)
    try await sent.value(for: dialog)
    try await ping.value()
    _ = try await load.value()
    return [echoed, asked, try Dialog.from(dto: DialogEntry.from(raw: json))]
}

// MARK: The parts of a request

/// A whole request, node by node: what `URLChainBuilder` builds.
func requestChain(_ client: any Client) -> any Node<Json, Json> {
    let parser = ResponseDataParserNode()                                       // JSON; a list as {"_array": […]}
    let content = ResponseDataPreprocessorNode(next: parser, acceptsMissingContent: false)      // no content is an error
    let status = ResponseHTTPErrorProcessorNode(next: content, acceptsOtherStatuses: false)     // only 2xx continues
    let response = ResponseProcessorNode(next: status)                          // no response: the error of the transport

    let sender = RequestSenderNode(next: response, client: client)              // sends
    let technical = TechnicalErrorMapperNode(next: sender)                      // no connection is a TechnicalError
    let creator = RequestCreatorNode(next: technical, providers: [])            // the URLRequest, with its body

    let headers = HeaderInjectorNode(next: creator, headers: ["Accept": "application/json"])    // where they are missing
    let method = URLRequestTransformerNode(next: headers, method: .get)         // the URL and the method
    let encoding = RequestEncoderNode(next: method, encoding: .urlQuery)        // where the values go
    let query = URLQueryInjectorNode(next: encoding, query: ["pinned": true])   // the query of the route
    let route = RequestRouterNode(next: query, route: "dialogs/")               // the address
    return MetadataConnectorNode(next: route, metadata: ["X-App": "reader"])    // headers of every request
}

/// A form with a file, whose answer is bytes.
func formChain(_ client: any Client) -> any Node<MultipartModel<Json>, Data> {
    let response = ResponseProcessorNode(next: DataLoadingResponseProcessorNode())      // the body, unchanged
    let sender = RequestSenderNode(next: response, client: client)
    let method = URLRequestTransformerNode(next: RequestCreatorNode(next: sender), method: .post)
    let route = RequestRouterNode(next: RequestEncoderNode(next: method, encoding: .multipart), route: "avatar")
    return MultipartMetadataConnectorNode(next: route, metadata: [:])
}
