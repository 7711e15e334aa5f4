import DAOCurl
import DAOLoopbackServer
import DAOTransport
import Foundation
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

private struct Dialogs: JsonEndpoint, URLRequestBuildable {
    struct List: Decodable { let dialogList: Json }
    let path: String
    func makeRequest() throws -> URLRequest { try get(path) }
    func content(from root: ResponseData<List>) -> Json { root.data.dialogList }
}

/// What the curl client makes of every answer: a value, or a typed error, and the process goes on.
@Suite(.timeLimit(.minutes(10))) struct AnswerTests {
    private func outcome(of index: Int, _ client: CurlClient) async -> Result<Json, any Error> {
        do {
            return .success(try await client.request(Dialogs(path: "\(index)")))
        } catch {
            return .failure(error)
        }
    }

    /// Asks for every answer, eight at a time.
    private func outcomes(of answers: [Answer]) async throws -> [(Answer, Result<Json, any Error>)] {
        let server = try HostileServer(answers)
        let client = CurlClient(
            baseURL: server.url, configuration: .patient, limits: TransferLimits(deadline: .seconds(60)))
        return await withTaskGroup(of: [(Answer, Result<Json, any Error>)].self) { group in
            for first in 0..<8 {
                group.addTask {
                    var results: [(Answer, Result<Json, any Error>)] = []
                    for index in stride(from: first, to: answers.count, by: 8) {
                        results.append((answers[index], await outcome(of: index, client)))
                    }
                    return results
                }
            }
            return await group.reduce(into: []) { $0 += $1 }
        }
    }

    @Test func everyStatusIsATypedError() async throws {
        let results = try await outcomes(of: Answers.statuses)
        #expect(results.count == 3000)
        for (answer, result) in results {
            guard case .failure(let error) = result else {
                Issue.record("\(answer) is a value")
                continue
            }
            let url = error as? URLError
            // After an informational response, a body is no response.
            let isNoResponse = url?.code == .badServerResponse && answer.description.hasPrefix("1")
            #expect(
                error is HTTPError || error is DecodingError || error is ContentError || url?.isConnectionFailure == true
                    || isNoResponse,
                "\(answer): \(error)")
        }
    }

    @Test func brokenOffAnswerIsAConnectionFailure() async throws {
        for (answer, result) in try await outcomes(of: Answers.brokenOff) {
            switch result {
            case .success(let content):
                #expect(answer.hasWholeBody && !answer.isPartial, "\(answer)")
                #expect(content.arrayValue?.count == 1, "\(answer)")
            case .failure(let error):
                let isPart = answer.hasWholeBody && answer.isPartial && error as? ContentError == .partial
                let isBrokenOff = !answer.isComplete && (error as? URLError)?.isConnectionFailure == true
                #expect(isPart || isBrokenOff, "\(answer): \(error)")
            }
        }
    }

    @Test func strangeAnswersAreValuesOrTypedErrors() async throws {
        let results = try await outcomes(of: Answers.strange)
        for (answer, result) in results {
            guard case .failure(let error) = result else {
                #expect(answer.description.hasPrefix("302"), "\(answer)")
                continue
            }
            #expect(
                error is HTTPError || error is DecodingError || error is ContentError || error is URLError
                    || error is TransferError, "\(answer): \(error)")
            if !answer.isComplete { #expect((error as? URLError)?.isConnectionFailure == true, "\(answer): \(error)") }
        }
        func error(_ name: String) -> (any Error)? {
            guard case .failure(let error) = results.first(where: { $0.0.description == name })?.1 else { return nil }
            return error
        }
        #expect((error("302 to '//%5B/'") as? HTTPError)?.statusCode == 302)
        #expect(error("302 and the end") == nil)
        #expect(error("a trailer") is DecodingError)
        #expect(error("an endless trailer") as? TransferError == .headersTooLarge(limit: 256 << 10))
        #expect((error("no gzip") as? URLError)?.code == .cannotDecodeContentData)
        #expect((error("no HTTP") as? URLError)?.code == .badServerResponse)
    }
}
