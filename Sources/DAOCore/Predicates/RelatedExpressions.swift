// Conditions on related rows: `$0.messages.contains { !$0.isRead }`, `$0.messages.count > 3`,
// `$0.author.name == "Ada"`.

extension FieldExpression {
    /// A field of the related row. It is nil when there is no related row, as in an optional chain.
    public subscript<Related: Model, Inner: FieldValue>(
        dynamicMember keyPath: KeyPath<Related, Inner>
    ) -> FieldExpression<Record, Inner?> where Value: ToOneValue, Value.RelatedRow == Related {
        FieldExpression<Record, Inner?>(self, keyPath)
    }

    /// An optional field of the related row.
    public subscript<Related: Model, Inner: FieldValue>(
        dynamicMember keyPath: KeyPath<Related, Inner?>
    ) -> FieldExpression<Record, Inner?> where Value: ToOneValue, Value.RelatedRow == Related {
        FieldExpression<Record, Inner?>(self, keyPath)
    }

    /// The row that the related row refers to; nil when there is neither.
    public subscript<Related: Model, Inner: Model>(
        dynamicMember keyPath: KeyPath<Related, Inner?>
    ) -> FieldExpression<Record, Inner?> where Value: ToOneValue, Value.RelatedRow == Related {
        FieldExpression<Record, Inner?>(self, keyPath)
    }

    /// A list of the related row. It is empty when there is no related row.
    public subscript<Related: Model, Inner: Model>(
        dynamicMember keyPath: KeyPath<Related, [Inner]>
    ) -> FieldExpression<Record, [Inner]> where Value: ToOneValue, Value.RelatedRow == Related {
        FieldExpression<Record, [Inner]>(self, keyPath)
    }
}

extension FieldExpression {
    /// Returns the condition that any related row meets a condition.
    ///
    /// ```swift
    /// try threads.read { $0.messages.contains { !$0.isRead } }
    /// ```
    ///
    /// - Parameter condition: A closure that makes the condition from the fields of the related model.
    public func contains<Related: Model>(
        _ condition: (FieldProxy<Related>) -> some ConditionConvertible<Related>
    ) -> Condition<Record> where Value: ToManyValue, Value.ListedRow == Related { related(.any, condition) }

    /// Returns the condition that all related rows meet a condition. It is true when there are no related
    /// rows.
    ///
    /// - Parameter condition: A closure that makes the condition from the fields of the related model.
    public func allSatisfy<Related: Model>(
        _ condition: (FieldProxy<Related>) -> some ConditionConvertible<Related>
    ) -> Condition<Record> where Value: ToManyValue, Value.ListedRow == Related { related(.all, condition) }

    /// The number of related rows that meet a condition, for a comparison with a number.
    ///
    /// ```swift
    /// try lists.read { $0.reminders.count { !$0.isDone } > 3 }
    /// ```
    ///
    /// - Parameter condition: A closure that makes the condition from the fields of the related model.
    public func count<Related: Model>(
        where condition: (FieldProxy<Related>) -> some ConditionConvertible<Related>
    ) -> FieldExpression<Record, Int> where Value: ToManyValue, Value.ListedRow == Related {
        FieldExpression<Record, Int>(countOf: self, where: condition(FieldProxy()).condition.node)
    }

    private func related<Related: Model>(
        _ match: RelatedMatch, _ condition: (FieldProxy<Related>) -> some ConditionConvertible<Related>
    ) -> Condition<Record> {
        let inner = condition(FieldProxy()).condition.node
        return node { .related(field: $0, match, inner) }
    }
}
