import DAOCore

/// Erases from a DAO, in one transaction, and gives how many values there were.
///
/// ```swift
/// let signOut = EraseNode<Void, DialogTranslator>(dialogs)
/// let expire = EraseNode(messages) { message, cutoff in message.date < cutoff }
/// ```
///
/// A `StorageError` comes out as it is. A task cancelled before the transaction began erases nothing; one that runs is finished.
public struct EraseNode<Input: Sendable, T: Translator>: AsyncNode {
    private let dao: DAO<T>
    private let erase: @Sendable (DAO<T>, Input) throws -> Int

    private init(_ dao: DAO<T>, erasing erase: @escaping @Sendable (DAO<T>, Input) throws -> Int) {
        self.dao = dao
        self.erase = erase
    }

    /// A node that erases what a query, made of its input, has.
    public init(_ dao: DAO<T>, query: @escaping @Sendable (Input) throws -> Query<T.Model>) {
        self.init(dao) { dao, input in try dao.storage.erase(query(input)) }
    }

    /// A node that erases everything, whatever its input.
    public init(_ dao: DAO<T>) {
        self.init(dao, query: { _ in Query() })
    }

    /// A node that erases what meets a condition on the model's fields and its input.
    public init(
        _ dao: DAO<T>,
        where condition: @escaping @Sendable (FieldProxy<T.Model>, Input) -> Condition<T.Model>
    ) {
        self.init(dao, query: { Query(where: condition(FieldProxy(), $0)) })
    }

    /// A node that erases by keys, as far as they are stored.
    public init(_ dao: DAO<T>, keys: @escaping @Sendable (Input) throws -> [UniqueID]) {
        self.init(dao) { dao, input in try dao.erase(byPrimaryKeys: keys(input)) }
    }

    /// Erases on the database's writer thread.
    ///
    /// - Returns: How many values there were.
    public func run(_ input: Input) async throws -> Int {
        try await dao.storage.database.transaction { [dao, erase] in try erase(dao, input) }
    }
}
