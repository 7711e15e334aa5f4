import DAOTransport

/// Maps between models and entries: the input model to its entry, and the entry of the result to a model.
///
/// `Json` is both a model and an entry, so either side can be plain JSON.
///
/// ```swift
/// let chain = ModelInputNode<Json, [Dialog]>(next: entries)      // entries: any Node<Json, [DialogEntry]>
/// ```
public struct ModelInputNode<Input: DTOEncodable & Sendable, Output: DTODecodable & Sendable>: Node
where Input.DTO: Sendable, Output.DTO: Sendable {
    private let next: any Node<Input.DTO, Output.DTO>

    /// Creates a node above a node that works with entries.
    public init(next: any Node<Input.DTO, Output.DTO>) {
        self.next = next
    }

    /// Maps the input, calls the next node, and maps its output. An error of either mapping is the error of
    /// the result. When the first mapping fails, the next node is not called.
    public func process(_ input: Input) -> Observer<Output> {
        .trying { next.process(try input.toDTO()).map { (dto: Output.DTO) throws -> Output in try Output.from(dto: dto) } }
    }
}

/// Maps between entries and raw values: the input entry to its raw form, and the raw form of the result to an
/// entry.
///
/// ```swift
/// let entries = DTOMapperNode<Json, [DialogEntry]>(next: wire)   // wire: any Node<Json, Json>
/// ```
public struct DTOMapperNode<Input: RawEncodable & Sendable, Output: RawDecodable & Sendable>: Node
where Input.Raw: Sendable, Output.Raw: Sendable {
    private let next: any Node<Input.Raw, Output.Raw>
    private let log: @Sendable (any Error) -> Void

    /// Creates a node above a node that works with raw values.
    ///
    /// - Parameters:
    ///   - next: the node that works with raw values.
    ///   - log: called, in addition to the chain's ``ChainLog``, for every value that this node could not map. It
    ///     is not called for errors of the next node.
    public init(next: any Node<Input.Raw, Output.Raw>, log: @escaping @Sendable (any Error) -> Void = { _ in }) {
        self.next = next
        self.log = { error in
            log(error)
            ChainLog.record("DTOMapperNode", .mapping, "\(error)")
        }
    }

    /// Maps the input, calls the next node, and maps its output. An error of either mapping is the error of
    /// the result. When the first mapping fails, the next node is not called.
    public func process(_ input: Input) -> Observer<Output> {
        let raw: Input.Raw
        do {
            raw = try input.toRaw()
        } catch {
            log(error)
            return .emit(error: error)
        }
        return next.process(raw).map { [log] (raw: Output.Raw) throws -> Output in
            do {
                return try Output.from(raw: raw)
            } catch {
                log(error)
                throw error
            }
        }
    }
}
