/// The values of an `in`: none of them null, each once, in order.
public struct ValueSet: Sendable, Hashable {
    /// The values in ascending order.
    public let values: [Value]
    private let members: Set<Value>

    /// Sorts the values and drops repetitions.
    ///
    /// - Parameter values: Values of one type, none of them null.
    public init(_ values: [Value]) {
        members = Set(values)
        self.values = members.sorted { Value.order($0, $1) < 0 }
    }

    /// Whether a value is in the set; constant time.
    public func contains(_ value: Value) -> Bool { members.contains(value) }
}
