// The traditional method names of the DAO pattern. Predicates are values or text, and fields are given by
// name.

extension DAO {
    /// Returns the values that meet a predicate, in key order.
    ///
    /// - Parameter predicate: A typed predicate, or text such as `"age > 5"`.
    public func read(predicatedBy predicate: Condition<Record>) throws -> [Plain] { try read(Query(where: predicate)) }

    /// Returns all values in the order of a field.
    ///
    /// - Parameters:
    ///   - field: The stored name of the field.
    ///   - ascending: Whether the order is ascending.
    /// - Throws: `.invalidPredicate` when no field has the name.
    public func read(orderedBy field: String, ascending: Bool) throws -> [Plain] {
        try read(Query(orderedBy: [.by(field, ascending: ascending)]))
    }

    /// Returns the values that meet a predicate, in the order of a field.
    ///
    /// - Parameters:
    ///   - predicate: A typed predicate, or text.
    ///   - field: The stored name of the field.
    ///   - ascending: Whether the order is ascending.
    /// - Throws: `.invalidPredicate` when no field has the name.
    public func read(predicatedBy predicate: Condition<Record>, orderedBy field: String, ascending: Bool) throws -> [Plain] {
        try read(Query(where: predicate, orderedBy: [.by(field, ascending: ascending)]))
    }

    /// Returns the number of values that meet a predicate.
    ///
    /// - Parameter predicate: A typed predicate, or text.
    public func count(predicatedBy predicate: Condition<Record>) throws -> Int { try count(Query(where: predicate)) }

    /// Erases the values that meet a predicate.
    ///
    /// - Parameter predicate: A typed predicate, or text.
    /// - Returns: The number of erased rows.
    @discardableResult
    public func erase(predicatedBy predicate: Condition<Record>) throws -> Int { try storage.erase(Query(where: predicate)) }
}
