import DAOCore

/// Stores what the node below gives, and gives what is stored then.
///
/// Each emission is one transaction: its values are persisted, all of them or none, and read back by their keys in the same order, a
/// repeated key once. What comes out is therefore what every later read gives, fields included that only the store knows. Emissions are stored
/// one after the other, in their order.
///
/// ```swift
/// let sync = PersistNode(dialogs, next: fetched)                                        // merges into what is stored
/// let mirror = PersistNode(dialogs, next: fetched, replacing: .all)                     // the store holds what the server has, and nothing else
/// let folder = PersistNode(messages, next: fetched) { message, folder in message.folder == folder }
/// ```
///
/// With `replacing`, rows that meet the condition and are not among the values are erased in the same transaction, before the values are
/// stored, so that a unique value may pass from one row to another. Rows of other models that a translator stored along with them are that
/// translator's to erase.
///
/// A `StorageError`, or what the translator throws, comes out as it is, and the database is as it was. So it is after a
/// cancellation before the transaction began; one that runs is finished.
public struct PersistNode<Input: Sendable, T: Translator>: Node {
    private let dao: DAO<T>
    private let next: any Node<Input, [T.Plain]>
    private let scope: @Sendable (Input) -> Condition<T.Model>?

    private init(
        _ dao: DAO<T>, next: any Node<Input, [T.Plain]>, scope: @escaping @Sendable (Input) -> Condition<T.Model>?
    ) {
        self.dao = dao
        self.next = next
        self.scope = scope
    }

    /// A node that stores what another gives.
    ///
    /// - Parameters:
    ///   - dao: Where to.
    ///   - next: Gives the values.
    ///   - condition: Which rows to erase when they are not among the values; none unless said.
    public init(_ dao: DAO<T>, next: any Node<Input, [T.Plain]>, replacing condition: Condition<T.Model>? = nil) {
        self.init(dao, next: next, scope: { _ in condition })
    }

    /// A node that stores what another gives, and erases the rows that meet a condition on the model's fields and its input and are
    /// not among the values.
    public init(
        _ dao: DAO<T>, next: any Node<Input, [T.Plain]>,
        replacing condition: @escaping @Sendable (FieldProxy<T.Model>, Input) -> Condition<T.Model>
    ) {
        self.init(dao, next: next, scope: { condition(FieldProxy(), $0) })
    }

    /// Asks the next node, and stores each of its emissions on the database's writer thread.
    public func process(_ input: Input) -> Observer<[T.Plain]> {
        next.process(input).mapInOrder { plains in try await store(plains, for: input) }
    }

    /// Asks the next node, and stores its first emission, in the caller's task.
    public func value(for input: Input) async throws -> [T.Plain] {
        try await store(next.value(for: input), for: input)
    }

    private func store(_ plains: [T.Plain], for input: Input) async throws -> [T.Plain] {
        let scope = scope(input)
        return try await dao.storage.database.transaction { [dao] in
            let ids = plains.map(\.uniqueId)
            if let scope {
                let arrived = Set(try ids.map { try T.Model.schema.key($0) })
                _ = try dao.storage.erase(keys: dao.storage.keys(Query(where: scope)).filter { !arrived.contains($0) })
            }
            try dao.persist(plains)
            return try dao.read(byPrimaryKeys: ids)
        }
    }
}
