import DAOTransport

/// The top of a chain without input. It passes an empty JSON object to the next node.
public struct VoidInputNode<Output: Sendable>: Node {
    private let next: any Node<Json, Output>

    /// Creates a node above a node with JSON input.
    public init(next: any Node<Json, Output>) {
        self.next = next
    }

    /// Calls the next node with `{}`.
    public func process(_ input: Void) -> Observer<Output> {
        next.process(Json())
    }
}

/// The top of a chain without output. It sends a model and ignores the response, except for errors.
public struct VoidOutputNode<Input: DTOEncodable & Sendable>: Node where Input.DTO.Raw == Json {
    private let next: any Node<Json, Json>

    /// Creates a node above a node with JSON input and output.
    public init(next: any Node<Json, Json>) {
        self.next = next
    }

    /// Maps the input, calls the next node and ignores its output. An output that is not empty is recorded in
    /// the chain's ``ChainLog``. When the mapping fails, the next node is not called.
    public func process(_ input: Input) -> Observer<Void> {
        .trying { next.process(try input.toDTO().toRaw()).ignoringAnswer(of: "VoidOutputNode") }
    }
}

/// The top of a chain with neither input nor output. It sends an empty JSON object and ignores the response,
/// except for errors.
public struct VoidIONode: Node {
    private let next: any Node<Json, Json>

    /// Creates a node above a node with JSON input and output.
    public init(next: any Node<Json, Json>) {
        self.next = next
    }

    /// Calls the next node with `{}` and ignores its output. An output that is not empty is recorded in the
    /// chain's ``ChainLog``.
    public func process(_ input: Void) -> Observer<Void> {
        next.process(Json()).ignoringAnswer(of: "VoidIONode")
    }
}

extension Observer where Model == Json {
    fileprivate func ignoringAnswer(of node: String) -> Observer<Void> {
        map { (response: Json) -> Void in
            if response != Json() { ChainLog.record(node, .mapping, "a response that is not empty was ignored") }
        }
    }
}
