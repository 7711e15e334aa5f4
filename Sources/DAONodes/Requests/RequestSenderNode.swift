import DAOTransport
import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// What became of a request: the answer, the error, or both.
public struct DataResponse: Sendable {
    /// The request that was sent.
    public var request: URLRequest
    /// The answer without its body; nil when there is none, or it did not come over HTTP.
    public var response: HTTPURLResponse?
    /// The body of the answer.
    public var data: Data
    /// What went wrong on the way.
    public var error: (any Error)?

    /// What became of a request.
    public init(request: URLRequest, response: HTTPURLResponse? = nil, data: Data = Data(), error: (any Error)? = nil) {
        self.request = request
        self.response = response
        self.data = data
        self.error = error
    }
}

/// Sends a request, and hands what became of it to the next node.
///
/// Canceling the observer stops the transfer. An answer that was cut off on the way is an error without a response: half of an answer
/// is none.
public struct RequestSenderNode<Output: Sendable>: Node {
    private struct AnyAnswer: Endpoint {
        let request: URLRequest

        func makeRequest() -> URLRequest { request }
        func content(from response: URLResponse?, with body: Data) -> DataResponse {
            DataResponse(request: request, response: response as? HTTPURLResponse, data: body)
        }
    }

    private let next: any Node<DataResponse, Output>
    private let client: any Client

    /// A node that sends by means of a client, whose base URL and adapters apply.
    public init(next: any Node<DataResponse, Output>, client: any Client) {
        self.next = next
        self.client = client
    }

    /// Sends the request and asks the next node, also after a failure.
    public func process(_ input: URLRequest) -> Observer<Output> {
        Observer<DataResponse>.task { [client] in
            do {
                let answer = try await client.request(AnyAnswer(request: input))
                ChainLog.record("RequestSenderNode", .sending, "\(answer.data.count) bytes arrived")
                return answer
            } catch {
                guard !(error is CancellationError), !Task.isCancelled else { throw error }
                ChainLog.record("RequestSenderNode", .sending, "failed: \(error)")
                return DataResponse(request: input, error: error)
            }
        }
        .map { [next] (answer: DataResponse) -> Observer<Output> in next.process(answer) }
    }
}

/// Makes a `TechnicalError` of the errors that mean the connection; other errors stay as they are.
public struct TechnicalErrorMapperNode<Input: Sendable, Output: Sendable>: Node {
    private let next: any Node<Input, Output>

    /// A node above one that sends.
    public init(next: any Node<Input, Output>) {
        self.next = next
    }

    /// Asks the next node.
    public func process(_ input: Input) -> Observer<Output> {
        ErrorMapperNode(next: next) { TechnicalError($0) ?? $0 }.process(input)
    }
}
