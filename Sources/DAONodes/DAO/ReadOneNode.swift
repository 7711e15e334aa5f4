import DAOCore

/// Reads one value from a DAO; that there is none is ``ReadError/notFound``.
///
/// ```swift
/// let dialog = ReadOneNode<Int, DialogTranslator>(dialogs)                              // by key
/// let person = ReadOneNode(people) { person, name in person.name == name }              // the first that meets a condition
/// ```
///
/// Snapshot, errors and cancellation are those of ``ReadNode``.
public struct ReadOneNode<Input: Sendable, T: Translator>: AsyncNode {
    private let rows: ReadNode<Input, T>

    /// A node that reads the first value of a query made of its input.
    public init(_ dao: DAO<T>, query: @escaping @Sendable (Input) throws -> Query<T.Model>) {
        rows = ReadNode(
            dao,
            query: { input in
                var query = try query(input)
                query.limit = min(query.limit ?? 1, 1)
                return query
            })
    }

    /// A node that reads the first value, in an order, that meets a condition on the model's fields and its input.
    public init(
        _ dao: DAO<T>, orderedBy order: Sort<T.Model>...,
        where condition: @escaping @Sendable (FieldProxy<T.Model>, Input) -> Condition<T.Model>
    ) {
        self.init(dao, query: { Query(where: condition(FieldProxy(), $0), orderedBy: order) })
    }

    /// A node that reads by the key its input has.
    public init(_ dao: DAO<T>, key: @escaping @Sendable (Input) throws -> UniqueID) {
        rows = ReadNode(dao, keys: { [try key($0)] })
    }

    /// Reads on one snapshot, on a thread of the database.
    ///
    /// - Throws: ``ReadError/notFound`` when there is no such value, and what ``ReadNode`` throws.
    public func run(_ input: Input) async throws -> T.Plain {
        guard let plain = try await rows.run(input).first else { throw ReadError.notFound }
        return plain
    }
}

extension ReadOneNode where Input == UniqueID {
    /// A node that reads by key.
    public init(_ dao: DAO<T>) {
        self.init(dao, key: { $0 })
    }
}

extension ReadOneNode where Input: FixedWidthInteger {
    /// A node that reads by key.
    public init(_ dao: DAO<T>) {
        self.init(dao, key: { UniqueID($0) })
    }
}

extension ReadOneNode where Input == String {
    /// A node that reads by key.
    public init(_ dao: DAO<T>) {
        self.init(dao, key: { UniqueID($0) })
    }
}
