import DAOCurl
import DAOLoopbackServer
import DAONodes
import DAOTransport
import Foundation
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

// A single chain from a real server to the application's values. A dictionary replaces the storage here.

private struct DialogsEndpoint: JsonEndpoint, URLRequestBuildable {
    struct List: Decodable { let dialogList: Json }
    var path = "dialogs"

    func makeRequest() throws -> URLRequest { try get(path) }
    func content(from root: ResponseData<List>) -> Json { root.data.dialogList }
}

private struct SecretEndpoint: JsonEndpoint, URLRequestBuildable {
    typealias Content = Json
    func makeRequest() throws -> URLRequest { try get("secret") }
}

private struct RefreshEndpoint: JsonEndpoint, URLRequestBuildable {
    func makeRequest() throws -> URLRequest { try post("refresh", body: nil) }
    func content(from root: [String: String]) -> String { root["token"] ?? "" }
}

private struct DialogEntry: Codable, RawMappable, JsonCodingSettings {
    typealias Raw = Json
    struct Message: Codable {
        let id: String
        let text: String
    }
    let id: String
    let isPinned: Bool
    let messages: [Message]

    static var jsonDecoder: JSONDecoder { .convertingFromSnakeCase() }
    static var jsonEncoder: JSONEncoder { .convertingToSnakeCase() }
}

private struct Dialog: DTODecodable, Equatable, Sendable {
    let id: Int
    let isPinned: Bool
    let texts: [String]

    static func from(dto: DialogEntry) throws(MappingError) -> Dialog {
        guard let id = Int(dto.id) else { throw .badValue(field: "id") }
        return Dialog(id: id, isPinned: dto.isPinned, texts: dto.messages.map(\.text))
    }
}

private enum AppError: Error, Equatable {
    case offline
    case server(Int)
    case unreadable
    case other

    init(_ error: any Error) {
        switch error {
        case let error as URLError where error.isConnectionFailure: self = .offline
        case let error as HTTPError: self = .server(error.statusCode)
        case is DecodingError, is MappingError: self = .unreadable
        default: self = .other
        }
    }
}

@Suite(.timeLimit(.minutes(30))) struct WireChainTests {
    private func client(_ server: LoopbackServer, adapters: [any RequestAdapter] = []) -> CurlClient {
        CurlClient(baseURL: server.url, adapters: adapters, configuration: .patient)
    }

    private func chain(_ client: any Client, path: String = "dialogs") -> any Node<Void, [Dialog]> {
        VoidInputNode(
            next: ErrorMapperNode(
                next: ModelInputNode<Json, [Dialog]>(
                    next: DTOMapperNode<Json, [DialogEntry]>(
                        next: EndpointNode(client: client) { (_: Json) in DialogsEndpoint(path: path) }
                    )
                )
            ) { AppError($0) }
        )
    }

    @Test func chainReturnsTheApplicationsValues() async throws {
        let server = try LoopbackServer()
        #expect(try await chain(client(server)).value() == [Dialog(id: 7, isPinned: true, texts: ["hi"])])
    }

    @Test func errorsOfEveryStageAreMapped() async throws {
        let server = try LoopbackServer()
        let client = client(server)
        func error(_ path: String) async -> AppError? {
            do {
                _ = try await chain(client, path: path).value()
                return nil
            } catch {
                return error as? AppError
            }
        }
        #expect(await error("status/503") == .server(503))
        #expect(await error("body?is=<html>") == .unreadable)
        #expect(await error("body?is=%7B%22data%22:%7B%22dialog_list%22:%5B%7B%7D%5D%7D%7D") == .unreadable)
        let badID = #"{"data":{"dialog_list":[{"id":"x","is_pinned":true,"messages":[]}]}}"#
        let query = badID.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
        #expect(await error("body?is=\(query)") == .unreadable)
        server.stop()
        #expect(await error("dialogs") == .offline)
    }

    @Test func storedDialogsAreUsedWithoutTheServer() async throws {
        let server = try LoopbackServer()
        let stored = Locked<[Dialog]>([])
        let read = ClosureNode<Void, [Dialog]> { .emit(data: stored.withLock { $0 }) }
        let wire = chain(client(server))
        let sync = ClosureNode<Void, [Dialog]> {
            wire.process().map { (dialogs: [Dialog]) -> [Dialog] in
                stored.withLock { $0 = dialogs }
                return dialogs
            }
        }
        let offlineFirst = FirstCacheNode(stored: read, network: sync, isUsable: { !$0.isEmpty })
        let fallback = FallbackToStoreNode(
            network: sync, stored: read, when: { $0 as? AppError == .offline }, isUsable: { !$0.isEmpty })

        server.stop()
        await #expect(throws: AppError.offline) { try await fallback.value() }

        let second = try LoopbackServer()
        let working = chain(client(second))
        let secondSync = ClosureNode<Void, [Dialog]> {
            working.process().map { (dialogs: [Dialog]) -> [Dialog] in
                stored.withLock { $0 = dialogs }
                return dialogs
            }
        }
        let dialogs = [Dialog(id: 7, isPinned: true, texts: ["hi"])]
        #expect(try await secondSync.value() == dialogs)
        #expect(try await secondSync.value() == dialogs)
        second.stop()
        #expect(try await fallback.value() == dialogs)
        var seen: [[Dialog]] = []
        await #expect(throws: AppError.offline) { for try await page in offlineFirst.values() { seen.append(page) } }
        #expect(seen == [dialogs])
    }

    @Test func cancellingTheChainStopsTheTransferWithoutAnError() async throws {
        let server = try LoopbackServer()
        let log = Log()
        let observer = chain(client(server), path: "slow").process()
        observer.onCompleted { _ in log.add("data") }.onError { log.add("\($0)") }.onCancelled { log.add("cancelled") }
            .defer { log.add("defer") }
        try await Task.sleep(for: .milliseconds(100))
        observer.cancel()
        #expect(log.all == ["cancelled", "defer"])

        let task = Task { try await chain(client(server), path: "slow").value() }
        try await Task.sleep(for: .milliseconds(100))
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test func tenRefusedCallsShareOneRefreshAndSucceed() async throws {
        let server = try LoopbackServer()
        let token = Locked<String?>(nil)
        let client = client(
            server,
            adapters: [
                HeaderRequestAdapter {
                    token.withLock { $0 }.map { ["Authorization": "Bearer \($0)"] } ?? [:]
                }
            ])
        let refresh = EndpointNode(client: client, endpoint: RefreshEndpoint())
        let storing = ClosureNode<Void, String> {
            refresh.process().map { (fresh: String) -> String in
                token.withLock { $0 = fresh }
                return fresh
            }
        }
        let secret = AccessSafeNode(
            next: EndpointNode(client: client, endpoint: SecretEndpoint()),
            refresher: TokenRefresherNode(refresh: storing)
        )
        let responses = try await withThrowingTaskGroup(of: Json.self) { group in
            for _ in 0..<10 { group.addTask { try await secret.value() } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(responses == Array(repeating: ["secret": 42], count: 10))
        struct Hits: JsonEndpoint, URLRequestBuildable {
            typealias Content = Json
            let path: String
            func makeRequest() throws -> URLRequest { try get("hits?path=/\(path)") }
        }
        #expect(try await client.request(Hits(path: "refresh"))["hits"] == 1)
        #expect(try await client.request(Hits(path: "secret"))["hits"] == 20)
    }
}
