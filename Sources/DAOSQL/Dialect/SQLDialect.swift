import DAOCore

/// What one SQL engine writes differently from another: names, placeholders, column types, and the few
/// conditions that standard SQL has no word for.
///
/// An engine's dialect only makes text. Statements are made by ``SQLTable``, and run on an ``SQLConnection``.
public protocol SQLDialect: Sendable {

    /// A table, column or index name as it stands in a statement.
    func quoted(_ name: String) -> String

    /// The placeholder of a bound value.
    ///
    /// - Parameter position: Counts from one.
    func placeholder(_ position: Int) -> String

    /// The declared type of a column, without constraints.
    func columnType(of field: FieldDescription) -> String

    /// What a declared type of a column comes to, so that columns that hold the same are told from others. By
    /// default the type itself.
    func storedType(_ type: String) -> String

    /// A value as it stands in a statement, in the form its column stores it in; nil where that would not be
    /// exactly it.
    func literal(_ value: Value) -> String?

    /// What follows the closing parenthesis of `CREATE TABLE`, with a leading space; empty for nothing.
    func tableOptions(for entity: EntityDescription) -> String

    /// What follows the closing parenthesis of `CREATE TABLE` for a table whose rows are kept in the order of
    /// a primary key of several columns, with a leading space; empty for nothing.
    var orderedTableOptions: String { get }

    /// A column as it stands in comparisons and sorts, so that they follow ``DAOCore/Value/order(_:_:)``.
    ///
    /// - Parameters:
    ///   - column: The quoted name.
    ///   - kind: What the column holds.
    func comparable(_ column: String, _ kind: ValueKind) -> String

    /// Whether the engine orders the values of two kinds among each other as ``DAOCore/Value/order(_:_:)``
    /// does.
    func canCompare(_ left: ValueKind, with right: ValueKind) -> Bool

    /// The condition that two operands are the same, null included; or that they are not.
    func isSame(_ left: String, _ right: String, isNegated: Bool) -> String

    /// A term of `ORDER BY`: nil first ascending, last descending.
    func sortTerm(_ column: String, isAscending: Bool) -> String

    /// The condition that a text has another in it, both compared by bytes.
    func contains(_ column: String, _ placeholder: String) -> String

    /// A condition that is true or false, never null, whether a column's text matches a bound
    /// ``DAOCore/TextPattern``.
    func matches(_ column: String, _ placeholder: String) -> String

    /// The condition that a column's value is in a bound ``DAOCore/ValueSet`` of any size; null for a null
    /// column.
    func isIn(_ column: String, _ placeholder: String) -> String

    /// What stands in `FROM` for bound values: rows with the columns `number`, from zero, and `value`, in the
    /// order of the list.
    ///
    /// - Parameter placeholder: Where the list is bound.
    func list(_ placeholder: String) -> String

    /// What ends a statement that joins ``list(_:)`` and then other tables by their keys, each with `CROSS
    /// JOIN`: the order in which nested loops over them would give the rows. Empty, or else with a leading
    /// space.
    ///
    /// - Parameter terms: The columns that say so.
    func nestedOrder(_ terms: [String]) -> String

    /// A condition that is true or false, never null, whether a row matches a bound ``DAOCore/Filter``.
    ///
    /// - Parameters:
    ///   - columns: The columns of ``DAOCore/Filter/fields``, in ascending order of position.
    ///   - placeholder: Where the filter is bound.
    func matchesFilter(_ columns: [String], _ placeholder: String) -> String
}

extension SQLDialect {
    /// The type itself.
    public func storedType(_ type: String) -> String { type }
}

/// A statement's text and what to bind to its placeholders, in order.
public struct SQLText: Sendable {
    /// The statement. It depends on the shape of a query only, never on its values.
    public var text: String
    /// What to bind.
    public var bindings: [SQLBinding]

    /// Creates a statement.
    ///
    /// - Parameters:
    ///   - text: The statement.
    ///   - bindings: What to bind.
    public init(_ text: String, _ bindings: [SQLBinding] = []) {
        self.text = text
        self.bindings = bindings
    }
}

/// What is bound to a placeholder.
public enum SQLBinding: Sendable {
    /// A value in the form its column stores it in.
    case value(Value)
    /// A count, for `LIMIT` and `OFFSET`; nil for no limit.
    case count(Int?)
    /// Text that may not be whole UTF-8: the upper end of a range of prefixes.
    case textBytes([UInt8])
    /// A pattern for ``SQLDialect/matches(_:_:)``.
    case pattern(TextPattern)
    /// Values for ``SQLDialect/isIn(_:_:)``.
    case set(ValueSet)
    /// Values for ``SQLDialect/list(_:)``, or for ``SQLDialect/isIn(_:_:)`` where repeated ones do no harm.
    case list([Value])
    /// A filter for ``SQLDialect/matchesFilter(_:_:)``, with the positions and kinds of the columns it is
    /// given.
    case filter(Filter, [(field: Int, kind: ValueKind)])
}
