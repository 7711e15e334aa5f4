/// A condition on the totals of a group, for `having` of `DAO.groups(by:totals:orderedBy:limit:having:where:)`.
///
/// ```swift
/// let busy = try messages.groups(by: \.sender, totals: .count, having: .all(.count > 3, .max(\.date) < cutoff))
/// ```
///
/// A comparison means what it means in a condition on a field (contract P1, P2).
public struct GroupCondition<Record: Model>: Sendable {
    /// The totals, in the order of the leaves.
    let totals: [ErasedGroupTotal<Record>]
    private let node: GroupConditionNode

    private init(_ totals: [ErasedGroupTotal<Record>], _ node: GroupConditionNode) {
        self.totals = totals
        self.node = node
    }

    fileprivate init<Result>(_ total: GroupTotal<Record, Result>, _ comparison: Comparison, _ value: Result) {
        self.init([total.erased], .compare(comparison, value.fieldValue))
    }

    // Operators would be named like those of conditions on fields, and double the time in which the compiler finds a mistake in
    // a long one.

    /// The condition that all conditions hold.
    public static func all(_ first: GroupCondition, _ others: GroupCondition...) -> GroupCondition {
        others.reduce(first) { $0.joined(to: $1, isAnd: true) }
    }

    /// The condition that at least one of some conditions holds.
    public static func any(_ first: GroupCondition, _ others: GroupCondition...) -> GroupCondition {
        others.reduce(first) { $0.joined(to: $1, isAnd: false) }
    }

    /// The condition that a condition does not hold.
    public static func not(_ condition: GroupCondition) -> GroupCondition {
        GroupCondition(condition.totals, .not(condition.node))
    }

    private func joined(to other: GroupCondition, isAnd: Bool) -> GroupCondition {
        GroupCondition(totals + other.totals, .join(node, other.node, leftCount: totals.count, isAnd: isAnd))
    }

    /// Returns whether the condition holds for the values of its totals.
    func holds(for values: ArraySlice<Value>) -> Bool { node.holds(for: values) }
}

/// A condition on the values of totals, which its leaves compare in turn.
private indirect enum GroupConditionNode: Sendable {
    case compare(Comparison, Value)
    case not(GroupConditionNode)
    case join(GroupConditionNode, GroupConditionNode, leftCount: Int, isAnd: Bool)

    func holds(for values: ArraySlice<Value>) -> Bool {
        switch self {
        case .compare(let comparison, let value): values.first.map { comparison.holds($0, value) } ?? false
        case .not(let node): !node.holds(for: values)
        case .join(let left, let right, let leftCount, let isAnd):
            left.holds(for: values.prefix(leftCount)) == isAnd ? right.holds(for: values.dropFirst(leftCount)) : !isAnd
        }
    }
}

extension Comparison {
    /// Returns whether the comparison holds between two values (contract P1, P2).
    fileprivate func holds(_ left: Value, _ right: Value) -> Bool {
        if left.isNull || right.isNull {
            return (self == .equal || self == .notEqual) && holds(left.isNull && right.isNull ? 0 : 1)
        }
        return holds(Value.order(left, right))
    }
}

extension GroupTotal {
    /// The condition that the total equals a value. Nil equals nil.
    public static func == (total: GroupTotal, value: Result) -> GroupCondition<Record> { GroupCondition(total, .equal, value) }

    /// The condition that the total differs from a value. Nil differs from every value except nil.
    public static func != (total: GroupTotal, value: Result) -> GroupCondition<Record> { GroupCondition(total, .notEqual, value) }

    /// The condition that the total is less than a value. It is false when either is nil.
    public static func < (total: GroupTotal, value: Result) -> GroupCondition<Record> { GroupCondition(total, .less, value) }

    /// The condition that the total is less than or equal to a value. It is false when either is nil.
    public static func <= (total: GroupTotal, value: Result) -> GroupCondition<Record> {
        GroupCondition(total, .lessOrEqual, value)
    }

    /// The condition that the total is greater than a value. It is false when either is nil.
    public static func > (total: GroupTotal, value: Result) -> GroupCondition<Record> { GroupCondition(total, .greater, value) }

    /// The condition that the total is greater than or equal to a value. It is false when either is nil.
    public static func >= (total: GroupTotal, value: Result) -> GroupCondition<Record> {
        GroupCondition(total, .greaterOrEqual, value)
    }
}

/// A term of the order of groups: a total and a direction. Groups that are equal in all terms ascend by what they are grouped by.
///
/// ```swift
/// let busiest = try messages.groups(by: \.sender, totals: .count, orderedBy: .descending(.count), limit: 5)
/// ```
public struct GroupOrder<Record: Model>: Sendable {
    let total: ErasedGroupTotal<Record>
    let isAscending: Bool

    /// Orders from the smallest total to the greatest, with nil first.
    public static func ascending<Result>(_ total: GroupTotal<Record, Result>) -> GroupOrder {
        GroupOrder(total: total.erased, isAscending: true)
    }

    /// Orders from the greatest total to the smallest, with nil last.
    public static func descending<Result>(_ total: GroupTotal<Record, Result>) -> GroupOrder {
        GroupOrder(total: total.erased, isAscending: false)
    }
}
