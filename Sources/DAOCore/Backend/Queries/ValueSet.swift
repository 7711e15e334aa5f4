/// The values of an `in`, without null and without duplicates, in order.
public struct ValueSet: Sendable, Hashable {
    /// The values in ascending order.
    public let values: [Value]
    private let members: Set<Value>

    /// Creates a set. It sorts the values, unless they ascend already, and removes duplicates.
    ///
    /// - Parameter values: Values of one type, without null.
    public init(_ values: [Value]) {
        members = Set(values)
        let ascends = zip(values, values.dropFirst()).allSatisfy { Value.order($0, $1) < 0 }
        self.values = ascends ? values : members.sorted { Value.order($0, $1) < 0 }
    }

    /// Returns whether a value is in the set, in constant time.
    public func contains(_ value: Value) -> Bool { members.contains(value) }
}
