import DAOTransport

/// Turns a model into its entry on the way down, and leaves the answer as it is.
public struct DTOEncoderNode<Input: DTOEncodable & Sendable, Output: Sendable>: Node where Input.DTO: Sendable {
    private let next: any Node<Input.DTO, Output>

    /// A node above one that takes entries.
    public init(next: any Node<Input.DTO, Output>) {
        self.next = next
    }

    /// Maps and asks the next node, which is not asked when the mapping fails.
    public func process(_ input: Input) -> Observer<Output> {
        do {
            return next.process(try input.toDTO())
        } catch {
            return .emit(error: error)
        }
    }
}

/// Turns an entry into its raw form on the way down, and leaves the answer as it is.
public struct RawEncoderNode<Input: RawEncodable & Sendable, Output: Sendable>: Node where Input.Raw: Sendable {
    private let next: any Node<Input.Raw, Output>

    /// A node above one that takes raw values.
    public init(next: any Node<Input.Raw, Output>) {
        self.next = next
    }

    /// Maps and asks the next node, which is not asked when the mapping fails.
    public func process(_ input: Input) -> Observer<Output> {
        do {
            return next.process(try input.toRaw())
        } catch {
            return .emit(error: error)
        }
    }
}

/// Between an entry and the wire on the way down, and between the wire and a model on the way up: for a request that has no model of its
/// own.
public struct EntryInputDTOOutputNode<Input: RawEncodable & Sendable, Output: DTODecodable & Sendable>: Node
where Input.Raw: Sendable, Output.DTO.Raw: Sendable {
    private let next: any Node<Input.Raw, Output.DTO.Raw>

    /// A node above one that works with raw values.
    public init(next: any Node<Input.Raw, Output.DTO.Raw>) {
        self.next = next
    }

    /// Maps, asks the next node, and maps what it gives through both layers.
    public func process(_ input: Input) -> Observer<Output> {
        RawEncoderNode<Input, Output.DTO.Raw>(next: next).process(input).map { (raw: Output.DTO.Raw) throws -> Output in
            try Output.from(dto: Output.DTO.from(raw: raw))
        }
    }
}
