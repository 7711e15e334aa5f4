// The known names of the DAO pattern, with predicates as values or text and fields by name.

extension DAO {
    /// The values that meet a predicate, in key order.
    ///
    /// - Parameter predicate: Typed, or text such as `"age > 5"`.
    public func read(predicatedBy predicate: Condition<Record>) throws -> [Plain] { try read(Query(where: predicate)) }

    /// All values in the order of a field.
    ///
    /// - Parameters:
    ///   - field: The stored name.
    ///   - ascending: The direction.
    /// - Throws: `.invalidPredicate` for a name that is not a field's.
    public func read(orderedBy field: String, ascending: Bool) throws -> [Plain] {
        try read(Query(orderedBy: [.by(field, ascending: ascending)]))
    }

    /// The values that meet a predicate, in the order of a field.
    ///
    /// - Parameters:
    ///   - predicate: Typed, or text.
    ///   - field: The stored name.
    ///   - ascending: The direction.
    /// - Throws: `.invalidPredicate` for a name that is not a field's.
    public func read(predicatedBy predicate: Condition<Record>, orderedBy field: String, ascending: Bool) throws -> [Plain] {
        try read(Query(where: predicate, orderedBy: [.by(field, ascending: ascending)]))
    }

    /// How many values meet a predicate.
    ///
    /// - Parameter predicate: Typed, or text.
    public func count(predicatedBy predicate: Condition<Record>) throws -> Int { try count(Query(where: predicate)) }

    /// Removes the values that meet a predicate.
    ///
    /// - Parameter predicate: Typed, or text.
    /// - Returns: How many there were.
    @discardableResult
    public func erase(predicatedBy predicate: Condition<Record>) throws -> Int { try storage.erase(Query(where: predicate)) }
}
