import DAOTransport

/// The bottom of a chain: makes an endpoint from its input and sends it.
///
/// ```swift
/// let wire = EndpointNode(client: client) { (search: Json) in DialogListEndpoint(search: search) }
/// ```
///
/// Cancelling the observer, or the task, stops the transfer.
public struct EndpointNode<Input: Sendable, Request: Endpoint>: AsyncNode {
    private let client: any Client
    private let makeEndpoint: @Sendable (Input) throws -> Request

    /// Creates a node that makes an endpoint for every input.
    public init(client: any Client, _ makeEndpoint: @escaping @Sendable (Input) throws -> Request) {
        self.client = client
        self.makeEndpoint = makeEndpoint
    }

    /// Sends the endpoint for an input and returns its content.
    public func run(_ input: Input) async throws -> Request.Content {
        try await client.request(makeEndpoint(input))
    }
}

extension EndpointNode where Input == Void {
    /// Creates a node that always sends the same endpoint.
    public init(client: any Client, endpoint: Request) {
        self.init(client: client) { (_: Void) in endpoint }
    }
}
