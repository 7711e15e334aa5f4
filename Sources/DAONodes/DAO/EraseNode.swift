import DAOCore

/// Erases values from a DAO in one transaction and returns the number of erased values.
///
/// ```swift
/// let signOut = EraseNode<Void, DialogTranslator>(dialogs)
/// let expire = EraseNode(messages) { message, cutoff in message.date < cutoff }
/// ```
///
/// A `StorageError` is emitted unchanged. A task that is cancelled before its transaction begins erases
/// nothing; a commit that has begun is completed.
public struct EraseNode<Input: Sendable, Subject: TranslatorOrModel>: AsyncNode {
    private let dao: DAO<Subject>
    private let erase: @Sendable (DAO<Subject>, Input) throws -> Int

    private init(_ dao: DAO<Subject>, erasing erase: @escaping @Sendable (DAO<Subject>, Input) throws -> Int) {
        self.dao = dao
        self.erase = erase
    }

    /// Creates a node that erases the results of a query made from the input.
    public init(_ dao: DAO<Subject>, query: @escaping @Sendable (Input) throws -> Query<DAO<Subject>.Record>) {
        self.init(dao) { dao, input in try dao.storage.erase(query(input)) }
    }

    /// Creates a node that erases all values, for any input.
    public init(_ dao: DAO<Subject>) {
        self.init(dao, query: { _ in Query() })
    }

    /// Creates a node that erases the values that match a condition on the model's fields and the input.
    public init(
        _ dao: DAO<Subject>,
        where condition: @escaping @Sendable (FieldProxy<DAO<Subject>.Record>, Input) -> Condition<DAO<Subject>.Record>
    ) {
        self.init(dao, query: { Query(where: condition(FieldProxy(), $0)) })
    }

    /// Creates a node that erases by keys. Keys that are not stored are ignored.
    public init(_ dao: DAO<Subject>, keys: @escaping @Sendable (Input) throws -> [UniqueID]) {
        self.init(dao) { dao, input in try dao.erase(byPrimaryKeys: keys(input)) }
    }

    /// Erases on the database's writer thread.
    ///
    /// - Returns: the number of erased values.
    public func run(_ input: Input) async throws -> Int {
        try await dao.storage.database.transaction { [dao, erase] in try erase(dao, input) }
    }
}
