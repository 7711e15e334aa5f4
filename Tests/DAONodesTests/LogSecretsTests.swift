import DAONodes
import DAOTransport
import Foundation
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite struct LogSecretsTests {
    /// A client whose errors say all they know.
    private struct Talkative: Client {
        struct Failure: Error {
            let url: String
        }

        func request<Request: Endpoint>(_ endpoint: Request, progress: Progress?) async throws -> Request.Content {
            throw Failure(url: try endpoint.makeRequest().url?.absoluteString ?? "")
        }
        func upload<Request: UploadEndpoint>(_ endpoint: Request, progress: Progress?) async throws -> Request.Content {
            throw Failure(url: try endpoint.makeRequest().0.url?.absoluteString ?? "")
        }
    }

    @Test func noLogEntryShowsASecret() async throws {
        let url = try #require(URL(string: "https://me:s3cret@host/list?page=2"))
        let values: Json = ["%6bey": "s3cret", "apiToken": "s3cret", "sort": "name"]
        let input = TransportURLRequest(method: .get, url: url, raw: values)
        let response = Locked<[DataResponse]>([])
        let last = ClosureNode<DataResponse, Bool> { answer in
            response.withLock { $0.append(answer) }
            return .emit(data: true)
        }
        let entries = Locked<[String]>([])
        let node = LoggerNode(next: RequestCreatorNode(next: RequestSenderNode(next: last, client: Talkative()))) { entry in
            entries.withLock { $0.append(entry.message) }
        }
        _ = try await node.process(input).value
        var texts = entries.withLock { $0 }
        #expect(texts.count == 2)
        #expect(texts.first?.hasPrefix("GET https://…@host/list?page=2&") == true)
        #expect(texts.first?.contains("apiToken=…") == true)
        #expect(texts.first?.contains("sort=name") == true)
        var dumped = ""
        dump(input, to: &dumped)
        let answer = DataResponse(request: URLRequest(url: url))
        dump(answer, to: &dumped)
        texts += ["\(input)", "\(answer)", dumped]
        for text in texts { #expect(!text.contains("s3cret"), "\(text)") }
    }
}
