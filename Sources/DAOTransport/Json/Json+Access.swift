import Foundation

extension Json {
    /// The value of a key; nil when the key is absent or this is not an object.
    ///
    /// A key with `null` returns `.null`. Assigning nil removes the key. Assigning to a value that is not an
    /// object replaces the value with an object that has only this key.
    public subscript(key: String) -> Json? {
        get {
            guard case .object(let members) = self else { return nil }
            return members[key]
        }
        set {
            var members = objectValue ?? [:]
            members[key] = newValue
            self = .object(members)
        }
    }

    /// The element at an index; nil when the index is out of range or this is not an array.
    public subscript(index: Int) -> Json? {
        guard case .array(let elements) = self, elements.indices.contains(index) else { return nil }
        return elements[index]
    }

    /// Whether this is `null`.
    public var isNull: Bool {
        self == .null
    }

    /// The value of a boolean; nil for any other value, numbers included.
    public var boolValue: Bool? {
        guard case .bool(let value) = self else { return nil }
        return value
    }

    /// The text of a string; nil for any other value.
    public var stringValue: String? {
        guard case .string(let value) = self else { return nil }
        return value
    }

    /// The elements of an array; nil for any other value.
    public var arrayValue: [Json]? {
        guard case .array(let elements) = self else { return nil }
        return elements
    }

    /// The members of an object; nil for any other value.
    public var objectValue: [String: Json]? {
        guard case .object(let members) = self else { return nil }
        return members
    }

    /// The number; nil for any other value.
    public var numberValue: Number? {
        guard case .number(let number) = self else { return nil }
        return number
    }

    /// The number as an `Int`; nil when this is not a number, has a fraction or does not fit.
    public var intValue: Int? {
        numberValue?.integer(as: Int.self)
    }

    /// The number as the nearest `Double`; nil when this is not a number or exceeds the range of `Double`.
    public var doubleValue: Double? {
        numberValue?.double
    }

    /// The number as a `Decimal`; nil when this is not a number or a `Decimal` cannot hold it exactly.
    public var decimalValue: Decimal? {
        numberValue?.decimal
    }
}
