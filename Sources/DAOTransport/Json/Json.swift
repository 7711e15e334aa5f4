/// A JSON value: the raw form of entries on the wire.
///
/// `Json` is a value that can be passed to any task. Numbers keep their text: every `Int64`, every `UInt64`
/// and every decimal fraction is preserved and is never converted to `Double`.
///
/// ```swift
/// var user: Json = ["name": "Ann", "age": 30, "photos": [["id": "p1"]]]
/// user["age"] = 31
/// user["photos"]?[0]?["id"]?.stringValue     // "p1"
/// user.serialized()                          // {"age":31,"name":"Ann","photos":[{"id":"p1"}]}
/// ```
///
/// Numbers are equal when their values are equal (`1 == 1.0`). Strings compare as Swift strings. Objects
/// compare without regard to the order of their keys.
public enum Json: Sendable, Hashable {
    /// `null`.
    case null
    /// `true` or `false`; never equal to a number.
    case bool(Bool)
    /// A number, exactly as it was written.
    case number(Number)
    /// A string.
    case string(String)
    /// A list of values.
    case array([Json])
    /// Values by key. The order of keys is not preserved.
    case object([String: Json])

    /// Creates an empty object, `{}`.
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
