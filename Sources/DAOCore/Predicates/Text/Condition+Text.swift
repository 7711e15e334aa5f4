extension Condition: ExpressibleByStringLiteral {
    /// Creates a condition from text in the common grammar of `NSPredicate`.
    ///
    /// ```swift
    /// Condition<MessageModel>("isRead == false AND date > %@", cutoff)
    /// Condition<MessageModel>("sender IN %@ OR text CONTAINS[cd] 'urgent'", senders)
    /// ```
    ///
    /// | element | syntax |
    /// |---|---|
    /// | comparisons | `==` or `=`, `!=` or `<>`, `<`, `<=`, `>`, `>=`, `BETWEEN {1, 5}`, `IN {1, 2}`, of a field with a value or a field |
    /// | text | `BEGINSWITH`, `ENDSWITH`, `CONTAINS`, `LIKE` with `*` and `?`; `[c]`, `[d]` or `[cd]` after these operators, `==`, `!=` and `IN` |
    /// | logic | `AND` or `&&`, `OR` or `||`, `NOT` or `!`, parentheses, `TRUEPREDICATE`, `FALSEPREDICATE` |
    /// | related rows | `author.name == 'Ada'`, `author == nil`, `author.name == title`, `ANY messages.isRead == false`, `ALL …`, `NONE …`, `messages.@count > 3`, `SUBQUERY(messages, $x, $x.isRead == false).@count > 3` |
    /// | arrays | `tags CONTAINS 'new'`, `'new' IN tags`, `ANY tags BEGINSWITH 'n'`, `ALL …`, `NONE …`, `tags.@count > 3` |
    /// | members of `Codable` values | `address.city == 'Berlin'`, by their coding keys |
    /// | values | `42`, `0x2A`, `-1.5e3`, `'text'`, `"text"`, `true` or `YES`, `false` or `NO`, `nil` or `NULL` |
    /// | dates | `'2024-05-31'`, `'2024-05-31T18:30:00Z'`, `'2024-05-31 18:30+02:00'`; without a zone, UTC |
    /// | placeholders | `%@`, `%d` and similar for a value or a list, `%K` for the name of a field |
    ///
    /// `NOT` binds tighter than `AND`, and `AND` tighter than `OR`. Keywords are case-insensitive. `#name` is
    /// a field whose name is a keyword. A field can be the left operand, the right operand, or both. In
    /// quotes only the backslash is special: `\'`, `\"`, `\\`, `\n`, `\r`, `\t`, `\0` and `\u00E9`.
    ///
    /// Arguments are bound and never spliced into the text: an argument with quotes or percent signs is only
    /// text. When the text is not valid, using the condition throws `.invalidPredicate` with the position and
    /// what was expected there.
    ///
    /// - Parameters:
    ///   - format: The text of the predicate.
    ///   - arguments: The values of the placeholders, in order. A nil argument is nil.
    public init(_ format: String, _ arguments: (any PredicateArgument)?...) {
        self.init(.parse(format, arguments, for: Record.schema.description, Record.self))
    }

    /// Creates a condition from text and the values of its placeholders in an array; see ``init(_:_:)``.
    package init(_ format: String, arguments: [(any PredicateArgument)?]) {
        self.init(.parse(format, arguments, for: Record.schema.description, Record.self))
    }

    /// Creates a condition from text without placeholders, so that a string literal can be used as a
    /// condition.
    ///
    /// - Parameter value: The text of the predicate.
    public init(stringLiteral value: String) {
        self.init(.parse(value, [], for: Record.schema.description, Record.self))
    }
}

extension PredicateNode {
    /// Parses a text predicate on an entity that does not need a Swift type. The text cannot name related
    /// rows or elements of arrays; see ``Condition/init(_:_:)`` for the grammar.
    ///
    /// - Parameters:
    ///   - format: The text of the predicate.
    ///   - arguments: The values of the placeholders, in order.
    ///   - entity: The entity with the fields that the text names.
    /// - Returns: The tree; ``invalid(_:)`` when the text is not valid.
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
