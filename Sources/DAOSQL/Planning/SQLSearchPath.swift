import DAOCore

/// A way to the rows of a table: an index, or the table itself in the order of its key.
public struct SQLSearchPath: Sendable {
    /// The columns, in order, with their directions. Rows that are equal in them are in ascending order of the key.
    public var columns: [IndexedField]
    /// Whether no two rows have the same values in the columns, apart from nil.
    public var isUnique: Bool
    /// What follows the name of the table in a statement that has to use this path, with a leading space.
    public var hint: String
    /// The condition of the rows that the path leads to; nil for all rows.
    public var condition: IndexCondition?

    /// Creates a path.
    ///
    /// - Parameters:
    ///   - columns: The columns, in order, with their directions.
    ///   - isUnique: Whether no two rows have the same values in the columns, apart from nil.
    ///   - hint: What follows the name of the table in a statement that has to use this path, with a leading space.
    ///   - condition: The condition of the rows that the path leads to; nil for all rows.
    public init(columns: [IndexedField], isUnique: Bool, hint: String, condition: IndexCondition? = nil) {
        self.condition = condition
        self.columns = columns
        self.isUnique = isUnique
        self.hint = hint
    }
}
