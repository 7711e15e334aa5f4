import DAOLoopbackServer
import DAOTransport
import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

// dao-answer-child KIND URL FIRST END: asks a server for its answers with one client, and writes a line for each. Some end this
// process.

private struct Fetch: Endpoint, URLRequestBuildable {
    let path: String
    func makeRequest() throws -> URLRequest { try get(path) }
    func content(from response: URLResponse?, with body: Data) -> Int { (response as? HTTPURLResponse)?.statusCode ?? 0 }
}

let arguments = CommandLine.arguments
guard arguments.count == 5, let url = URL(string: arguments[2]), let first = Int(arguments[3]), let end = Int(arguments[4]) else {
    exit(2)
}
let kind: ClientKind = arguments[1] == "curl" ? .curl : .session
let client = kind.make(baseURL: url, limits: TransferLimits(deadline: .seconds(2)))
// At once: the next answer can be the last one.
func report(_ line: String) { FileHandle.standardOutput.write(Data("\(line)\n".utf8)) }
for index in first..<end {
    do {
        report("\(index) status \(try await client.request(Fetch(path: "\(index)")))")
    } catch {
        let kind = TechnicalError.isConnectionFailure(error) ? "connection" : "error"
        report("\(index) \(kind) \("\(error)".prefix { !$0.isNewline }.prefix(120))")
    }
}
