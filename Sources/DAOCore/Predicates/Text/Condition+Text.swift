extension Condition: ExpressibleByStringLiteral {
    /// Makes a predicate from text in the grammar that `NSPredicate` made common.
    ///
    /// ```swift
    /// Condition<MessageModel>("isRead == false AND date > %@", cutoff)
    /// Condition<MessageModel>("sender IN %@ OR text CONTAINS[cd] 'urgent'", senders)
    /// ```
    ///
    /// | what | how it is written |
    /// |---|---|
    /// | comparisons | `==` or `=`, `!=` or `<>`, `<`, `<=`, `>`, `>=`, `BETWEEN {1, 5}`, `IN {1, 2}` |
    /// | text | `BEGINSWITH`, `ENDSWITH`, `CONTAINS`, `LIKE` with `*` and `?`; `[c]`, `[d]` or `[cd]` behind these, `==` and `!=` |
    /// | logic | `AND` or `&&`, `OR` or `||`, `NOT` or `!`, parentheses, `TRUEPREDICATE`, `FALSEPREDICATE` |
    /// | related rows | `author.name == 'Ada'`, `author == nil`, `ANY messages.isRead == false`, `ALL …`, `NONE …`, `messages.@count > 3` |
    /// | values | `42`, `0x2A`, `-1.5e3`, `'text'`, `"text"`, `true` or `YES`, `false` or `NO`, `nil` or `NULL` |
    /// | placeholders | `%@` and the likes of `%d` for a value or a list, `%K` for the name of a field |
    ///
    /// `NOT` binds tighter than `AND`, and that tighter than `OR`. Keywords are understood in any case; `#name` is a field whose name is a
    /// keyword. A field may stand on either side, or on both. In quotes only the backslash is special: `\'`, `\"`, `\\`, `\n`, `\r`, `\t`, `\0`
    /// and `\u00E9`.
    ///
    /// Values are bound, never spliced: an argument with quotes or percent signs in it is just that text. Text that cannot be understood
    /// throws `.invalidPredicate` when the predicate is used, with the position and what was expected there.
    ///
    /// - Parameters:
    ///   - format: The text.
    ///   - arguments: What the placeholders stand for, in their order; nil is nil.
    public init(_ format: String, _ arguments: (any PredicateArgument)?...) {
        node = .parse(format, arguments, for: Record.schema.description, Record.self)
    }

    /// Makes a predicate from text without placeholders, so that a literal can stand where a predicate is wanted.
    ///
    /// - Parameter value: The text.
    public init(stringLiteral value: String) {
        node = .parse(value, [], for: Record.schema.description, Record.self)
    }
}

extension PredicateNode {
    /// Reads a text predicate about an entity that need not have a Swift type, and whose related rows it cannot name; see ``Condition/init(_:_:)`` for the grammar.
    ///
    /// - Parameters:
    ///   - format: The text.
    ///   - arguments: What the placeholders stand for, in their order.
    ///   - entity: The entity whose fields the text names.
    /// - Returns: The tree; ``invalid(_:)`` when the text cannot be understood.
    public static func parse(
        _ format: String, _ arguments: [(any PredicateArgument)?] = [], for entity: EntityDescription
    ) -> PredicateNode { parse(format, arguments, for: entity, nil) }

    fileprivate static func parse(
        _ format: String, _ arguments: [(any PredicateArgument)?], for entity: EntityDescription, _ model: (any Model.Type)?
    ) -> PredicateNode {
        var parser = PredicateParser(format, arguments, entity, model)
        do {
            return try parser.parse()
        } catch {
            return .invalid(error.problem(in: format))
        }
    }
}
