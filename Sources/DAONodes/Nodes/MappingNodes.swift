import DAOTransport

/// Between the application and the entries: turns a model into its entry on the way down, and the entry that comes back into
/// a model on the way up.
///
/// `Json` is a model and an entry at once, so that either side can be left plain.
///
/// ```swift
/// let chain = ModelInputNode<Json, [Dialog]>(next: entries)      // entries: any Node<Json, [DialogEntry]>
/// ```
public struct ModelInputNode<Input: DTOEncodable & Sendable, Output: DTODecodable & Sendable>: Node
where Input.DTO: Sendable, Output.DTO: Sendable {
    private let next: any Node<Input.DTO, Output.DTO>

    /// A node above one that works with entries.
    public init(next: any Node<Input.DTO, Output.DTO>) {
        self.next = next
    }

    /// Maps, asks the next node, and maps what it gives. An error of either mapping becomes the result's; when the first one
    /// fails, the next node is not asked.
    public func process(_ input: Input) -> Observer<Output> {
        let dto: Input.DTO
        do {
            dto = try input.toDTO()
        } catch {
            return .emit(error: error)
        }
        return next.process(dto).map { (dto: Output.DTO) throws -> Output in try Output.from(dto: dto) }
    }
}

/// Between the entries and the wire: turns an entry into its raw form on the way down, and the raw form that comes back into an
/// entry on the way up.
///
/// ```swift
/// let entries = DTOMapperNode<Json, [DialogEntry]>(next: wire)   // wire: any Node<Json, Json>
/// ```
public struct DTOMapperNode<Input: RawEncodable & Sendable, Output: RawDecodable & Sendable>: Node
where Input.Raw: Sendable, Output.Raw: Sendable {
    private let next: any Node<Input.Raw, Output.Raw>
    private let log: @Sendable (any Error) -> Void

    /// A node above one that works with raw values.
    ///
    /// - Parameter log: told, beside the chain's ``ChainLog``, of every value that could not be mapped here, and of nothing else: an
    ///   error of the next node is that node's.
    public init(next: any Node<Input.Raw, Output.Raw>, log: @escaping @Sendable (any Error) -> Void = { _ in }) {
        self.next = next
        self.log = { error in
            log(error)
            ChainLog.record("DTOMapperNode", .mapping, "\(error)")
        }
    }

    /// Maps, asks the next node, and maps what it gives. An error of either mapping becomes the result's; when the first one
    /// fails, the next node is not asked.
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
