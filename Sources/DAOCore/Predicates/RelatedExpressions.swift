// Conditions on related rows: `$0.messages.contains { !$0.isRead }`, `$0.messages.count > 3`, `$0.author.name == "Ada"`.

extension FieldExpression {
    /// A field of the one related row. Where there is no such row it is nil, as in an optional chain.
    public subscript<Related: Model, Inner: FieldValue>(
        dynamicMember keyPath: KeyPath<Related, Inner>
    ) -> FieldExpression<Record, Inner?> where Value == Related? { FieldExpression<Record, Inner?>(self, keyPath) }

    /// An optional field of the one related row.
    public subscript<Related: Model, Inner: FieldValue>(
        dynamicMember keyPath: KeyPath<Related, Inner?>
    ) -> FieldExpression<Record, Inner?> where Value == Related? { FieldExpression<Record, Inner?>(self, keyPath) }

    /// A list of the one related row. Where there is no such row it is empty.
    public subscript<Related: Model, Inner: Model>(
        dynamicMember keyPath: KeyPath<Related, [Inner]>
    ) -> FieldExpression<Record, [Inner]> where Value == Related? { FieldExpression<Record, [Inner]>(self, keyPath) }
}

extension FieldExpression {
    /// Whether any of the related rows meets a condition.
    ///
    /// ```swift
    /// try threads.read { $0.messages.contains { !$0.isRead } }
    /// ```
    ///
    /// - Parameter condition: Makes the condition from the related model's fields.
    public func contains<Related: Model>(
        _ condition: (FieldProxy<Related>) -> some ConditionConvertible<Related>
    ) -> Condition<Record> where Value == [Related] { related(.any, condition) }

    /// Whether all of the related rows meet a condition; true of none.
    ///
    /// - Parameter condition: Makes the condition from the related model's fields.
    public func allSatisfy<Related: Model>(
        _ condition: (FieldProxy<Related>) -> some ConditionConvertible<Related>
    ) -> Condition<Record> where Value == [Related] { related(.all, condition) }

    private func related<Related: Model>(
        _ match: RelatedMatch, _ condition: (FieldProxy<Related>) -> some ConditionConvertible<Related>
    ) -> Condition<Record> {
        let inner = condition(FieldProxy()).condition.node
        return node { .related(field: $0, match, inner) }
    }
}

extension FieldExpression where Value: RelatedList {
    /// Whether there are no related rows.
    public var isEmpty: Condition<Record> { count == 0 }

    /// How many related rows there are, to compare with a number.
    public var count: RelatedCount<Record> {
        RelatedCount { comparison, number in node { .relatedCount(field: $0, comparison, number) } }
    }
}

/// A type of field that is a list of related models: `[SomeModel]`.
public protocol RelatedList: RelationValue {}
extension Array: RelatedList where Element: Model {}

/// How many rows are related to a row; compares with an `Int`.
public struct RelatedCount<Record: Model> {
    let compare: (Comparison, Int) -> Condition<Record>

    /// Whether there are exactly as many.
    public static func == (count: RelatedCount, number: Int) -> Condition<Record> { count.compare(.equal, number) }
    /// Whether there are more or fewer.
    public static func != (count: RelatedCount, number: Int) -> Condition<Record> { count.compare(.notEqual, number) }
    /// Whether there are fewer.
    public static func < (count: RelatedCount, number: Int) -> Condition<Record> { count.compare(.less, number) }
    /// Whether there are at most as many.
    public static func <= (count: RelatedCount, number: Int) -> Condition<Record> { count.compare(.lessOrEqual, number) }
    /// Whether there are more.
    public static func > (count: RelatedCount, number: Int) -> Condition<Record> { count.compare(.greater, number) }
    /// Whether there are at least as many.
    public static func >= (count: RelatedCount, number: Int) -> Condition<Record> { count.compare(.greaterOrEqual, number) }
}
