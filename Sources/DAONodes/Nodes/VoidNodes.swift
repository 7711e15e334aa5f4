import DAOTransport

/// The top of a chain that takes no input: gives the next node an empty JSON object.
public struct VoidInputNode<Output: Sendable>: Node {
    private let next: any Node<Json, Output>

    /// A node above one that takes JSON.
    public init(next: any Node<Json, Output>) {
        self.next = next
    }

    /// Asks the next node with `{}`.
    public func process(_ input: Void) -> Observer<Output> {
        next.process(Json())
    }
}

/// The top of a chain whose answer does not matter: sends a model and ignores what comes back, but for errors.
public struct VoidOutputNode<Input: DTOEncodable & Sendable>: Node where Input.DTO.Raw == Json {
    private let next: any Node<Json, Json>

    /// A node above one that takes and gives JSON.
    public init(next: any Node<Json, Json>) {
        self.next = next
    }

    /// Maps, asks the next node and ignores its answer. One that is not empty is told to the chain's ``ChainLog``. When the mapping
    /// fails, the next node is not asked.
    public func process(_ input: Input) -> Observer<Void> {
        let raw: Json
        do {
            raw = try input.toDTO().toRaw()
        } catch {
            return .emit(error: error)
        }
        return next.process(raw).ignoringAnswer(of: "VoidOutputNode")
    }
}

/// The top of a chain with neither input nor output: sends an empty JSON object and ignores what comes back, but for errors.
public struct VoidIONode: Node {
    private let next: any Node<Json, Json>

    /// A node above one that takes and gives JSON.
    public init(next: any Node<Json, Json>) {
        self.next = next
    }

    /// Asks the next node with `{}` and ignores its answer. One that is not empty is told to the chain's ``ChainLog``.
    public func process(_ input: Void) -> Observer<Void> {
        next.process(Json()).ignoringAnswer(of: "VoidIONode")
    }
}

extension Observer where Model == Json {
    fileprivate func ignoringAnswer(of node: String) -> Observer<Void> {
        map { (answer: Json) -> Void in
            if answer != Json() { ChainLog.record(node, .mapping, "an answer that is not empty was ignored") }
        }
    }
}
