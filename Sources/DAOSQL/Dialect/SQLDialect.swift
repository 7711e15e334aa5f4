import DAOCore

/// The SQL dialect of an engine: names, placeholders, column types, and the few conditions that are not in
/// standard SQL.
///
/// A dialect only writes text. ``SQLTable`` composes the statements, and an ``SQLConnection`` runs them.
public protocol SQLDialect: Sendable {

    /// Returns the name of a table, column or index as it is written in a statement.
    func quoted(_ name: String) -> String

    /// Returns the name that the engine stores for a table, column or index. By default it is the name itself.
    ///
    /// An engine with shorter or reserved names changes such names, each always into the same name. A stored name stays as
    /// it is.
    func storedName(_ name: String) -> String

    /// Returns the placeholder of a bound value.
    ///
    /// - Parameter position: The position, from one.
    func placeholder(_ position: Int) -> String

    /// Returns the declared type of a column, without constraints.
    func columnType(of field: FieldDescription) -> String

    /// Returns a canonical form of a column's declared type. Columns that store the same values have the same
    /// canonical form. By default the form is the type itself.
    func storedType(_ type: String) -> String

    /// Returns a value as a literal in the form that its column stores; nil when no literal is exactly the
    /// value.
    func literal(_ value: Value) -> String?

    /// Returns a value as an expression without parameters, in the form that its column stores: exactly the value that is
    /// compared when it is bound. By default it is ``literal(_:)``. A partial index with a value that has none is
    /// `.unsupported`.
    func constant(_ value: Value) -> String?

    /// Returns the text after the closing parenthesis of `CREATE TABLE`, with a leading space; may be empty.
    func tableOptions(for entity: EntityDescription) -> String

    /// The text after the closing parenthesis of `CREATE TABLE` for a table that stores its rows in the order
    /// of a primary key of several columns, with a leading space; may be empty.
    var orderedTableOptions: String { get }

    /// Returns a column as it is written in comparisons and sorts, so that they follow
    /// ``/DAOCore/Value/order(_:_:)``.
    ///
    /// - Parameters:
    ///   - column: The quoted name.
    ///   - field: The field of the column. What other programs wrote in an embedded one may be JSON in another form.
    func comparable(_ column: String, _ field: FieldDescription) -> String

    /// Returns a text column as it is written in comparisons and sorts where the table declares another order than that of bytes.
    /// By default it is the column.
    func comparedByBytes(_ column: String) -> String

    /// How a statement begins that inserts rows, before the name of the table: `INSERT INTO`, by default. Whatever the table
    /// declares, a row that cannot be stored has to be an error.
    var insertHead: String { get }

    /// How a statement begins that changes rows, before the name of the table: `UPDATE`, by default.
    var updateHead: String { get }

    /// Whether the engine orders the values of two kinds relative to each other as
    /// ``/DAOCore/Value/order(_:_:)`` does.
    func canCompare(_ left: ValueKind, with right: ValueKind) -> Bool

    /// Returns the condition that two operands are the same, null included, or its negation.
    func isSame(_ left: String, _ right: String, isNegated: Bool) -> String

    /// Returns the beginning of a value when indexes contain only the beginnings of values of a kind, which can be long;
    /// nil, the default, when they contain the values. Conditions and sorts are then written for both.
    ///
    /// - Parameters:
    ///   - expression: The column, or another expression.
    ///   - kind: The kind of the values.
    func prefix(_ expression: String, _ kind: ValueKind) -> String?

    /// Returns the terms of an index of a table, without parentheses. By default they are the columns.
    func terms(of index: IndexDescription, in table: SQLTable) -> String

    /// Returns a term of `ORDER BY`.
    ///
    /// - Parameters:
    ///   - column: The column, as comparisons write it, or another expression.
    ///   - isAscending: Whether the order is ascending.
    ///   - nilsFirst: Whether null comes first; nil when there can be no null.
    func sortTerm(_ column: String, isAscending: Bool, nilsFirst: Bool?) -> String

    /// Returns the text of a column without what the options ignore, as ``/DAOCore/SortTerm/Subject/folded(_:_:)`` says; nil, the
    /// default, when the engine cannot: the suite then sorts the rows.
    func folded(_ column: String, _ options: TextOptions) -> String?

    /// Returns the statements that make a table of elements and its triggers, and fill it. A row of the table has an element
    /// that is not null, and the key of a row. Texts are as they are, UUIDs in capital letters, Booleans 0 and 1. There may be
    /// more elements than an array has, and none may be missing.
    ///
    /// - Returns: Nil, the default, when the engine cannot keep elements of this kind.
    func create(_ elements: ElementTable) -> [String]?

    /// Returns the statement that reads the keys of rows, and an element of each that is not in the table of elements.
    func missing(in elements: ElementTable) -> String

    /// Returns the condition that a text contains a bound text, compared by bytes.
    func contains(_ column: String, _ placeholder: String) -> String

    /// Returns a condition that is true or false, never null: whether the text of a column matches a bound
    /// ``/DAOCore/TextPattern``.
    func matches(_ column: String, _ placeholder: String) -> String

    /// Returns the condition that the value of a column is in a bound ``/DAOCore/ValueSet`` of any size; it is
    /// null for a null column.
    func isIn(_ column: String, _ placeholder: String) -> String

    /// Returns the table expression in `FROM` for bound values: rows with the columns `number`, from zero,
    /// and `value`, in the order of the list.
    ///
    /// - Parameters:
    ///   - placeholder: The placeholder of the list.
    ///   - kind: The kind of the values.
    func list(_ placeholder: String, of kind: ValueKind) -> String

    /// Returns the last clause of a statement that joins ``list(_:of:)`` and then further tables by their keys,
    /// each with `CROSS JOIN`. The clause has to give the order of nested loops over these tables. It may be
    /// empty; otherwise it has a leading space.
    ///
    /// - Parameter terms: The columns that express this order.
    func nestedOrder(_ terms: [String]) -> String

    /// Whether the engine can call the suite for ``matches(_:_:)`` and ``matchesFilter(_:_:)``. By default true. Otherwise
    /// neither is used: the suite evaluates these conditions on the rows that meet all others.
    var callsFunctions: Bool { get }

    /// Whether ``contains(_:_:)`` finds exactly the texts that contain a text. By default true.
    func canContain(_ text: String) -> Bool

    /// Returns a condition that is true or false, never null: whether a row matches a bound
    /// ``/DAOCore/Filter``.
    ///
    /// - Parameters:
    ///   - columns: The columns of ``/DAOCore/Filter/fields``, in ascending order of position.
    ///   - placeholder: The placeholder of the filter.
    func matchesFilter(_ columns: [String], _ placeholder: String) -> String

    /// A value on which a row is put that gives up its unique value for a moment, where its column cannot be null. No other row has
    /// it: each call gives another value, and one that a row has is refused by the engine, so that the next is tried. It need not be
    /// a value of the field, only one that the column takes. Nil where there is none. By default there is none.
    func parkedValue(of field: FieldDescription) -> Value?
}

extension SQLDialect {
    /// By default there is none.
    public func parkedValue(of field: FieldDescription) -> Value? { nil }

    /// Returns the name itself.
    public func storedName(_ name: String) -> String { name }

    /// Returns the type itself.
    public func storedType(_ type: String) -> String { type }

    /// By default the literal.
    public func constant(_ value: Value) -> String? { literal(value) }

    /// Returns the column itself.
    public func comparedByBytes(_ column: String) -> String { column }

    /// `INSERT INTO`.
    public var insertHead: String { "INSERT INTO" }

    /// `UPDATE`.
    public var updateHead: String { "UPDATE" }

    /// By default nil.
    public func prefix(_ expression: String, _ kind: ValueKind) -> String? { nil }

    /// Returns the quoted columns with their directions.
    public func terms(of index: IndexDescription, in table: SQLTable) -> String {
        index.fields.map { quoted($0.name) + ($0.isAscending ? "" : " DESC") }.joined(separator: ", ")
    }

    /// By default nil.
    public func folded(_ column: String, _ options: TextOptions) -> String? { nil }

    /// By default nil.
    public func create(_ elements: ElementTable) -> [String]? { nil }

    /// Reads nothing.
    public func missing(in elements: ElementTable) -> String { "SELECT 1 WHERE 1=0" }

    /// By default true.
    public var callsFunctions: Bool { true }

    /// By default true.
    public func canContain(_ text: String) -> Bool { true }

    /// The columns of an index as the engine stores their names.
    func stored(_ fields: [IndexedField]) -> [IndexedField] {
        fields.map { IndexedField(storedName($0.name), isAscending: $0.isAscending) }
    }
}

/// The text of a statement and the values of its placeholders, in order.
public struct SQLText: Sendable {
    /// The statement. It depends only on the shape of a query, never on its values.
    public var text: String
    /// The values of the placeholders.
    public var bindings: [SQLBinding]

    /// Creates a statement.
    ///
    /// - Parameters:
    ///   - text: The statement.
    ///   - bindings: The values of the placeholders.
    public init(_ text: String, _ bindings: [SQLBinding] = []) {
        self.text = text
        self.bindings = bindings
    }
}

extension String {
    /// The name in the quotation marks of standard SQL.
    package var quotedIdentifier: String {
        utf8.contains(UInt8(ascii: "\"")) ? "\"\(escaping("\"", with: "\""))\"" : "\"" + self + "\""
    }

    /// The text as a literal of standard SQL.
    package var quotedLiteral: String { "'\(escaping("'", with: "'"))'" }
}

/// The value of a placeholder.
public enum SQLBinding: Sendable {
    /// A value in the form that its column stores.
    case value(Value)
    /// A count, for `LIMIT` and `OFFSET`; nil for no limit.
    case count(Int?)
    /// A pattern for ``SQLDialect/matches(_:_:)``.
    case pattern(TextPattern)
    /// Values for ``SQLDialect/isIn(_:_:)``.
    case set(ValueSet)
    /// Values for ``SQLDialect/list(_:of:)``, or for ``SQLDialect/isIn(_:_:)`` when repeated values are
    /// harmless.
    case list([Value])
    /// A filter for ``SQLDialect/matchesFilter(_:_:)``, with the positions and kinds of its columns, and what those contain that
    /// are compared as embedded values.
    case filter(Filter, [(field: Int, kind: ValueKind, content: EmbeddedContent?)])
}
