import DAOCore

/// Reads values from a DAO: the stored values of a chain, without a network or as a fallback.
///
/// ```swift
/// let everything = ReadNode<Json, DialogTranslator>(dialogs)
/// let unread = ReadNode(messages, orderedBy: .descending(\.date)) { message, folder in !message.isRead && message.folder == folder }
/// ```
///
/// All values are read from one snapshot, including the values that a translator reads through other DAOs of
/// the same database. A `StorageError` or the translator's error is emitted unchanged. A task that is
/// cancelled before the read begins reads nothing.
public struct ReadNode<Input: Sendable, Subject: TranslatorOrModel>: AsyncNode {
    private let dao: DAO<Subject>
    private let read: @Sendable (DAO<Subject>, Input) throws -> [DAO<Subject>.Plain]

    private init(_ dao: DAO<Subject>, reading read: @escaping @Sendable (DAO<Subject>, Input) throws -> [DAO<Subject>.Plain]) {
        self.dao = dao
        self.read = read
    }

    /// Creates a node that reads the results of a query made from the input.
    public init(_ dao: DAO<Subject>, query: @escaping @Sendable (Input) throws -> Query<DAO<Subject>.Record>) {
        self.init(dao) { dao, input in try dao.read(query(input)) }
    }

    /// Creates a node that reads all values, for any input.
    public init(_ dao: DAO<Subject>, orderedBy order: Sort<DAO<Subject>.Record>..., limit: Int? = nil) {
        self.init(dao, query: { _ in Query(orderedBy: order, limit: limit) })
    }

    /// Creates a node that reads the values that match a condition on the model's fields and the input.
    public init(
        _ dao: DAO<Subject>, orderedBy order: Sort<DAO<Subject>.Record>..., limit: Int? = nil,
        where condition: @escaping @Sendable (FieldProxy<DAO<Subject>.Record>, Input) -> Condition<DAO<Subject>.Record>
    ) {
        self.init(dao, query: { Query(where: condition(FieldProxy(), $0), orderedBy: order, limit: limit) })
    }

    /// Creates a node that reads by keys, in the order of the keys. Missing keys are skipped.
    public init(_ dao: DAO<Subject>, keys: @escaping @Sendable (Input) throws -> [UniqueID]) {
        self.init(dao) { dao, input in try dao.read(byPrimaryKeys: keys(input)) }
    }

    /// Reads from one snapshot, on a thread of the database.
    public func run(_ input: Input) async throws -> [DAO<Subject>.Plain] {
        try await dao.storage.database.snapshot { [dao, read] in try read(dao, input) }
    }
}
