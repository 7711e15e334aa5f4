import DAOCore
import DAOMemory
import DAONodes
import DAOTransport
import Foundation
import Testing

@testable import DAOExamples

/// The examples of Docs/Nodes.md do what the page says.
@Suite(.timeLimit(.minutes(30))) struct NodesTests {
    @Test func nodesOfOnesOwn() async throws {
        #expect(try await ownNodes() == [3, 300, 4])
    }

    @Test func observersEmit() async throws {
        #expect(try await observers() == ["Hello Ada!", "1", "2", "3", "6", "true"])
    }

    @Test func contextsDeliver() async {
        let (stream, shown) = AsyncStream.makeStream(of: String.self)
        contexts(DispatchQueue(label: "contexts")) { shown.yield($0) }
        var lines: Set<String> = []
        for await line in stream.prefix(3) { lines.insert(line) }
        #expect(lines == ["async", "first multicast", "second multicast"])
    }

    @Test func operatorsEmit() async throws {
        let two = Observer<Int>.emit(data: 2).multicast()
        let failed = Observer<Int>.emit(error: URLError(.timedOut)).multicast()
        #expect(
            try await operators(two, failed) == [
                "4", "3", "[1, 3]", "20", "0", "(2, \"a\")", "(2, \"2!\")", "2 -1", "offline", "offline",
            ])
    }

    @Test func flowShowsTheLastSearch() async throws {
        let (stream, shown) = AsyncStream.makeStream(of: String.self)
        let search = Context<String>()
        let result = flow(search) { shown.yield($0) }
        for text in ["t", "te", "tea"] { search.emit(data: text) }
        search.finish()
        for await line in stream.prefix(1) { #expect(line == "seen: tea") }
        #expect(try await result.value == "tea")
    }

    @Test func nodesAroundOthers() async throws {
        let (stream, shown) = AsyncStream.makeStream(of: String.self)
        let calls = MulticastContext<Int>()
        let load = ClosureNode<Json, [Dialog]>(async: { _ in
            guard calls.isCancelled else {
                calls.cancel()
                throw HTTPError(statusCode: 401, url: nil, body: Data())
            }
            ChainLog.record("Load", .request, "asked again")
            return []
        })
        let refresh = ClosureNode<Void, String> { .emit(data: "token") }
        let chain = aroundNodes(load, refresh) { shown.yield($0) }
        #expect(try await chain.value(for: Json()).isEmpty)
        var lines: [String] = []
        for await line in stream.prefix(3) { lines.append(line) }
        #expect(lines == ["1 running", "0 running", "Load: asked again"])
        #expect(try await AuditNode().value(for: 7) == 7)
    }

    @Test func daoNodesReadAndWrite() async throws {
        let database = try DatabaseDrivers(.memory).open("memory:")
        let messages = DAO(storage: try database.storage(for: MessageModel.self), translator: MessageTranslator())
        let noon = Date(timeIntervalSinceReferenceDate: 0)
        let fetched = (1...3).map {
            Message(id: $0, date: noon.addingTimeInterval(Double($0)), text: "text \($0)", isRead: false)
        }
        let ids = try await daoNodes(messages, fetched, noon.addingTimeInterval(2))
        #expect(ids == [[1, 2, 3], [3], [2, 1], [1], [1], [3, 2], [1, 2, 3]])
    }

    @Test func storedAndFetchedResults() async throws {
        let message = Message(id: 1, date: Date(), text: "", isRead: false)
        let stored = ClosureNode<String, [Message]> { _ in .emit(data: [message]) }
        let network = ClosureNode<String, [Message]> { _ in .emit(data: [message, message]) }
        #expect(try await storedAndFetched(stored, network) { Date(timeIntervalSince1970: 0) } == [1, 2, 2, 2, 1])
    }

    @Test func mappingsKeepTheValue() async throws {
        let dialog = Dialog(id: 7, isPinned: true, messages: [])
        let echo = ClosureNode<Json, Json> { .emit(data: $0) }
        #expect(try await mappings(echo, dialog) == [dialog, dialog, dialog])
    }

    @Test func requestsAreMadeNodeByNode() async throws {
        let client = StubClient(body: Data(#"[{"id": 1}]"#.utf8))
        #expect(try await requestChain(client).value(for: Json()) == ["_array": [["id": 1]]])
        await #expect(throws: HTTPError.self) { try await requestChain(StubClient(status: 404)).value(for: Json()) }
        let picture = MultipartFile.data(Data([1]), fileName: "a.png", contentType: "image/png")
        let form = MultipartModel(payloadModel: Json(), files: ["avatar": picture])
        #expect(try await formChain(client).value(for: form) == client.body)
    }

    /// Every node and every operator has an example in Docs/Nodes.md or Docs/Transport.md.
    @Test func everyNodeHasAnExample() throws {
        let folder = DocumentsTests.root.appendingPathComponent("Sources/DAONodes")
        let sources = try #require(FileManager.default.enumerator(atPath: folder.path)).compactMap { $0 as? String }
            .filter { $0.hasSuffix(".swift") }
            .map { try String(contentsOf: folder.appendingPathComponent($0), encoding: .utf8) }.joined()
        let code = try ["Nodes", "Transport"].flatMap { page in
            let file = DocumentsTests.root.appendingPathComponent("Docs/\(page).md")
            return try String(contentsOf: file, encoding: .utf8).components(separatedBy: "```swift\n").dropFirst()
                .compactMap { $0.components(separatedBy: "```").first }
        }.joined()
        let nodes = sources.matches(of: /public (?:struct|final class|protocol) (\w*Node)\b/).map { String($0.output.1) }
        let operators = sources.matches(of: /public final func `?(\w+)/).map { String($0.output.1) }
        #expect(Set(nodes).count > 40 && Set(operators).count > 15)
        for name in Set(nodes + operators) {
            let word = try Regex("\\b\(name)\\b").wordBoundaryKind(.simple)
            #expect(code.firstMatch(of: word) != nil, "no example in Docs/Nodes.md uses \(name)")
        }
    }
}
