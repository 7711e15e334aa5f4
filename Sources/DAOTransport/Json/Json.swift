/// A JSON value: the raw form in which entries travel.
///
/// `Json` is a value, safe to hand to any task. Numbers keep what was written: every `Int64`, every `UInt64` and the
/// text of any decimal fraction survive, and none of them passes through `Double` on the way.
///
/// ```swift
/// var user: Json = ["name": "Ann", "age": 30, "photos": [["id": "p1"]]]
/// user["age"] = 31
/// user["photos"]?[0]?["id"]?.stringValue     // "p1"
/// user.serialized()                          // {"age":31,"name":"Ann","photos":[{"id":"p1"}]}
/// ```
///
/// Two numbers are equal when their values are (`1 == 1.0`), strings when Swift's strings are, and objects whatever the
/// order of their keys.
public enum Json: Sendable, Hashable {
    /// `null`.
    case null
    /// `true` or `false`; never equal to a number.
    case bool(Bool)
    /// A number, exactly as it was written.
    case number(Number)
    /// A text.
    case string(String)
    /// A list of values.
    case array([Json])
    /// Values by key. The order of keys is not kept.
    case object([String: Json])

    /// An empty object, `{}`.
    public init() {
        self = .object([:])
    }
}

extension Json: CustomStringConvertible {
    /// The compact JSON text, with keys in order.
    public var description: String {
        serialized()
    }
}
