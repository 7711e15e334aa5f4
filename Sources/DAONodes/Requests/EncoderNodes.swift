import DAOTransport

/// Maps the input model to its entry and leaves the output unchanged.
public struct DTOEncoderNode<Input: DTOEncodable & Sendable, Output: Sendable>: Node where Input.DTO: Sendable {
    private let next: any Node<Input.DTO, Output>

    /// Creates a node above a node with entry input.
    public init(next: any Node<Input.DTO, Output>) {
        self.next = next
    }

    /// Maps the input and calls the next node. When the mapping fails, the next node is not called.
    public func process(_ input: Input) -> Observer<Output> {
        .trying { next.process(try input.toDTO()) }
    }
}

/// Maps the input entry to its raw form and leaves the output unchanged.
public struct RawEncoderNode<Input: RawEncodable & Sendable, Output: Sendable>: Node where Input.Raw: Sendable {
    private let next: any Node<Input.Raw, Output>

    /// Creates a node above a node with raw input.
    public init(next: any Node<Input.Raw, Output>) {
        self.next = next
    }

    /// Maps the input and calls the next node. When the mapping fails, the next node is not called.
    public func process(_ input: Input) -> Observer<Output> {
        .trying { next.process(try input.toRaw()) }
    }
}

/// Maps the input entry to its raw form, and the raw form of the result to a model: for a request without a
/// model.
public struct EntryInputDTOOutputNode<Input: RawEncodable & Sendable, Output: DTODecodable & Sendable>: Node
where Input.Raw: Sendable, Output.DTO.Raw: Sendable {
    private let next: any Node<Input.Raw, Output.DTO.Raw>

    /// Creates a node above a node that works with raw values.
    public init(next: any Node<Input.Raw, Output.DTO.Raw>) {
        self.next = next
    }

    /// Maps the input, calls the next node, and maps its output through both layers.
    public func process(_ input: Input) -> Observer<Output> {
        RawEncoderNode<Input, Output.DTO.Raw>(next: next).process(input).map { (raw: Output.DTO.Raw) throws -> Output in
            try Output.from(dto: Output.DTO.from(raw: raw))
        }
    }
}
