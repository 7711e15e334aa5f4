import DAOTransport
import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The result of a request: the response, the error, or both.
public struct DataResponse: Sendable {
    /// The request that was sent.
    public var request: URLRequest
    /// The response without its body; nil when there is none, or it did not come over HTTP.
    public var response: HTTPURLResponse?
    /// The body of the response.
    public var data: Data
    /// The transport error.
    public var error: (any Error)?

    /// Creates the result of a request.
    public init(request: URLRequest, response: HTTPURLResponse? = nil, data: Data = Data(), error: (any Error)? = nil) {
        self.request = request
        self.response = response
        self.data = data
        self.error = error
    }
}

extension DataResponse: CustomStringConvertible, CustomReflectable {
    /// The method, the URL without its secrets, and the status or the error.
    public var description: String {
        let status = response.map { "status \($0.statusCode), \(data.count) bytes" } ?? "no response"
        return "\(request.summary): \(error.map { "\($0)" } ?? status)"
    }

    /// The same text as ``description``.
    public var customMirror: Mirror { Mirror(self, children: ["response": description]) }
}

/// Sends a request and passes the result to the next node.
///
/// Cancelling the observer stops the transfer. An incomplete response is an error without a response.
public struct RequestSenderNode<Output: Sendable>: Node {
    private struct AnyResponse: Endpoint {
        let request: URLRequest

        func makeRequest() -> URLRequest { request }
        func content(from response: URLResponse?, with body: Data) -> DataResponse {
            DataResponse(request: request, response: response as? HTTPURLResponse, data: body)
        }
    }

    private let next: any Node<DataResponse, Output>
    private let client: any Client

    /// Creates a node that sends with a client, whose base URL and adapters apply.
    public init(next: any Node<DataResponse, Output>, client: any Client) {
        self.next = next
        self.client = client
    }

    /// Sends the request and calls the next node, after a failure too.
    public func process(_ input: URLRequest) -> Observer<Output> {
        Observer<DataResponse>.task { [client] in
            do {
                let response = try await client.request(AnyResponse(request: input))
                ChainLog.record("RequestSenderNode", .sending, "\(response.data.count) bytes arrived")
                return response
            } catch {
                guard !(error is CancellationError), !Task.isCancelled else { throw error }
                ChainLog.record("RequestSenderNode", .sending, "failed: \(error)")
                return DataResponse(request: input, error: error)
            }
        }
        .map { [next] (response: DataResponse) -> Observer<Output> in next.process(response) }
    }
}

/// Maps connection errors to `TechnicalError`. Other errors stay unchanged.
public struct TechnicalErrorMapperNode<Input: Sendable, Output: Sendable>: Node {
    private let next: any Node<Input, Output>

    /// Creates a node above a node that sends requests.
    public init(next: any Node<Input, Output>) {
        self.next = next
    }

    /// Calls the next node.
    public func process(_ input: Input) -> Observer<Output> {
        ErrorMapperNode(next: next) { TechnicalError($0) ?? $0 }.process(input)
    }
}
