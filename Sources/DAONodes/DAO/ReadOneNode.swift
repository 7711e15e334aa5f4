import DAOCore

/// Reads a single value from a DAO. The error is ``ReadError/notFound`` when there is none.
///
/// ```swift
/// let dialog = ReadOneNode<Int, DialogTranslator>(dialogs)                              // by key
/// let person = ReadOneNode(people) { person, name in person.name == name }              // the first match of a condition
/// ```
///
/// Snapshot, errors and cancellation are the same as for ``ReadNode``.
public struct ReadOneNode<Input: Sendable, Subject: TranslatorOrModel>: AsyncNode {
    private let rows: ReadNode<Input, Subject>

    /// Creates a node that reads the first result of a query made from the input.
    public init(_ dao: DAO<Subject>, query: @escaping @Sendable (Input) throws -> Query<DAO<Subject>.Record>) {
        rows = ReadNode(
            dao,
            query: { input in
                var query = try query(input)
                query.limit = min(query.limit ?? 1, 1)
                return query
            })
    }

    /// Creates a node that reads the first value, in the given order, that matches a condition on the model's
    /// fields and the input.
    public init(
        _ dao: DAO<Subject>, orderedBy order: Sort<DAO<Subject>.Record>...,
        where condition: @escaping @Sendable (FieldProxy<DAO<Subject>.Record>, Input) -> Condition<DAO<Subject>.Record>
    ) {
        self.init(dao, query: { Query(where: condition(FieldProxy(), $0), orderedBy: order) })
    }

    /// Creates a node that reads by the key of the input.
    public init(_ dao: DAO<Subject>, key: @escaping @Sendable (Input) throws -> UniqueID) {
        rows = ReadNode(dao, keys: { [try key($0)] })
    }

    /// Reads from one snapshot, on a thread of the database.
    ///
    /// - Throws: ``ReadError/notFound`` when the value does not exist, and the errors of ``ReadNode``.
    public func run(_ input: Input) async throws -> DAO<Subject>.Plain {
        guard let plain = try await rows.run(input).first else { throw ReadError.notFound }
        return plain
    }
}

extension ReadOneNode where Input == UniqueID {
    /// Creates a node that reads by key.
    public init(_ dao: DAO<Subject>) {
        self.init(dao, key: { $0 })
    }
}

extension ReadOneNode where Input: FixedWidthInteger {
    /// Creates a node that reads by key.
    public init(_ dao: DAO<Subject>) {
        self.init(dao, key: { UniqueID($0) })
    }
}

extension ReadOneNode where Input == String {
    /// Creates a node that reads by key.
    public init(_ dao: DAO<Subject>) {
        self.init(dao, key: { UniqueID($0) })
    }
}
