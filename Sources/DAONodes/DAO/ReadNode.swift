import DAOCore

/// Reads from a DAO: what a chain shows without a network, and what it falls back to.
///
/// ```swift
/// let everything = ReadNode<Json, DialogTranslator>(dialogs)
/// let unread = ReadNode(messages, orderedBy: .descending(\.date)) { message, folder in !message.isRead && message.folder == folder }
/// ```
///
/// Everything is read on one snapshot, also what a translator reads through other DAOs of the same database. A `StorageError`, or
/// what the translator throws, comes out as it is. A task cancelled before reading began reads nothing.
public struct ReadNode<Input: Sendable, T: Translator>: AsyncNode {
    private let dao: DAO<T>
    private let read: @Sendable (DAO<T>, Input) throws -> [T.Plain]

    private init(_ dao: DAO<T>, reading read: @escaping @Sendable (DAO<T>, Input) throws -> [T.Plain]) {
        self.dao = dao
        self.read = read
    }

    /// A node that reads what a query, made of its input, has.
    public init(_ dao: DAO<T>, query: @escaping @Sendable (Input) throws -> Query<T.Model>) {
        self.init(dao) { dao, input in try dao.read(query(input)) }
    }

    /// A node that reads everything, whatever its input.
    public init(_ dao: DAO<T>, orderedBy order: Sort<T.Model>..., limit: Int? = nil) {
        self.init(dao, query: { _ in Query(orderedBy: order, limit: limit) })
    }

    /// A node that reads what meets a condition on the model's fields and its input.
    public init(
        _ dao: DAO<T>, orderedBy order: Sort<T.Model>..., limit: Int? = nil,
        where condition: @escaping @Sendable (FieldProxy<T.Model>, Input) -> Condition<T.Model>
    ) {
        self.init(dao, query: { Query(where: condition(FieldProxy(), $0), orderedBy: order, limit: limit) })
    }

    /// A node that reads by keys, in the order of the keys; those that are not there are left out.
    public init(_ dao: DAO<T>, keys: @escaping @Sendable (Input) throws -> [UniqueID]) {
        self.init(dao) { dao, input in try dao.read(byPrimaryKeys: keys(input)) }
    }

    /// Reads on one snapshot, on a thread of the database.
    public func run(_ input: Input) async throws -> [T.Plain] {
        try await dao.storage.database.snapshot { [dao, read] in try read(dao, input) }
    }
}
