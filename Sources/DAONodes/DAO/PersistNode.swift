import DAOCore

/// Stores the output of the next node and emits the stored values.
///
/// Each emission is one transaction: its values are persisted, all or none, and read back by their keys in
/// the same order, a repeated key once. The output therefore equals the result of a later read, including
/// fields that only the store has. Emissions are stored one at a time, in their order.
///
/// ```swift
/// let sync = PersistNode(dialogs, next: fetched)                                        // merges with the stored values
/// let mirror = PersistNode(dialogs, next: fetched, replacing: .all)                     // keeps exactly the values of the server
/// let folder = PersistNode(messages, next: fetched) { message, folder in message.folder == folder }
/// ```
///
/// What a server does not send is erased with `replacing`, so an answer that is wrong can empty a database. A limit is a
/// guard against that:
///
/// ```swift
/// let guarded = PersistNode(dialogs, next: fetched, replacing: .all, erasingAtMost: .fraction(0.5))
/// ```
///
/// With `replacing`, rows that match the condition and are not among the values are erased in the same
/// transaction, before the values are stored, so that a unique value can move from one row to another. A
/// translator that stored rows of other models with them has to erase those rows.
///
/// A `StorageError` or the translator's error is emitted unchanged, and the database is unchanged. The
/// database is also unchanged after a cancellation before the commit begins; a commit that has begun is
/// completed.
public struct PersistNode<Input: Sendable, Subject: TranslatorOrModel>: Node {
    private let dao: DAO<Subject>
    private let next: any Node<Input, [DAO<Subject>.Plain]>
    private let limit: ErasureLimit?
    private let scope: @Sendable (Input) -> Condition<DAO<Subject>.Record>?

    private init(
        _ dao: DAO<Subject>, next: any Node<Input, [DAO<Subject>.Plain]>, limit: ErasureLimit?,
        scope: @escaping @Sendable (Input) -> Condition<DAO<Subject>.Record>?
    ) {
        self.dao = dao
        self.next = next
        self.limit = limit
        self.scope = scope
    }

    /// Creates a node that stores the output of another node.
    ///
    /// - Parameters:
    ///   - dao: the DAO that stores the values.
    ///   - next: the node that returns the values.
    ///   - condition: the rows to erase when they are not among the values; none by default.
    ///   - limit: how many of these rows one emission may erase; any number by default. When it would erase more, the
    ///     error is an ``ErasureLimitError``, and the database is unchanged.
    public init(
        _ dao: DAO<Subject>, next: any Node<Input, [DAO<Subject>.Plain]>,
        replacing condition: Condition<DAO<Subject>.Record>? = nil,
        erasingAtMost limit: ErasureLimit? = nil
    ) {
        self.init(dao, next: next, limit: limit, scope: { _ in condition })
    }

    /// Creates a node that stores the output of another node, and erases the rows that match a condition on
    /// the model's fields and the input and are not among the values, within a limit if there is one.
    public init(
        _ dao: DAO<Subject>, next: any Node<Input, [DAO<Subject>.Plain]>, erasingAtMost limit: ErasureLimit? = nil,
        replacing condition: @escaping @Sendable (FieldProxy<DAO<Subject>.Record>, Input) -> Condition<DAO<Subject>.Record>
    ) {
        self.init(dao, next: next, limit: limit, scope: { condition(FieldProxy(), $0) })
    }

    /// Calls the next node and stores each of its emissions on the database's writer thread.
    public func process(_ input: Input) -> Observer<[DAO<Subject>.Plain]> {
        next.process(input).mapInOrder { plains in try await store(plains, for: input) }
    }

    /// Calls the next node and stores its first emission, in the caller's task.
    public func value(for input: Input) async throws -> [DAO<Subject>.Plain] {
        try await store(next.value(for: input), for: input)
    }

    private func store(_ plains: [DAO<Subject>.Plain], for input: Input) async throws -> [DAO<Subject>.Plain] {
        let scope = scope(input)
        return try await dao.storage.database.transaction { [dao, limit] in
            let ids = plains.map(\.uniqueId)
            if let scope {
                let arrived = Set(try ids.map { try DAO<Subject>.Record.schema.key($0) })
                let stored = try dao.storage.keys(Query(where: scope))
                let missing = stored.filter { !arrived.contains($0) }
                if let limit, !limit.allows(missing.count, of: stored.count) {
                    throw ErasureLimitError(
                        entity: DAO<Subject>.Record.schema.description.name, erased: missing.count, stored: stored.count)
                }
                _ = try dao.storage.erase(keys: missing)
            }
            try dao.persist(plains)
            return try dao.read(byPrimaryKeys: ids)
        }
    }
}
