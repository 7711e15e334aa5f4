/// The kind of value that a field contains, without its optionality.
public enum ValueKind: String, Sendable, Hashable, Codable, CaseIterable {
    /// True or false.
    case bool
    /// An integer of 8 bits.
    case int8
    /// An integer of 16 bits.
    case int16
    /// An integer of 32 bits.
    case int32
    /// An integer of 64 bits.
    case int64
    /// An unsigned integer of 8 bits.
    case uint8
    /// An unsigned integer of 16 bits.
    case uint16
    /// An unsigned integer of 32 bits.
    case uint32
    /// An unsigned integer of 64 bits.
    case uint64
    /// A floating-point number of 32 bits.
    case float
    /// A floating-point number of 64 bits.
    case double
    /// A decimal number of up to 38 digits.
    case decimal
    /// Text, compared by its UTF-8 bytes.
    case string
    /// Bytes.
    case data
    /// A UUID, compared by its bytes.
    case uuid
    /// A URL, compared as its absolute text.
    case url
    /// A point in time, in seconds since 2001-01-01 00:00:00 UTC as a 64-bit floating-point number.
    case date
    /// An array of scalars or a `Codable` value, stored as JSON text. It can be compared only for equality.
    case embedded
    /// A related model, stored as its key.
    case toOne
    /// An ordered list of related models, stored as their keys.
    case toMany

    /// The range of an integer kind, limited to 64 signed bits; nil for a kind that is not an integer.
    public var integerRange: ClosedRange<Int64>? {
        switch self {
        case .int8: Int64(Int8.min)...Int64(Int8.max)
        case .int16: Int64(Int16.min)...Int64(Int16.max)
        case .int32: Int64(Int32.min)...Int64(Int32.max)
        case .int64: Int64.min...Int64.max
        case .uint8: 0...Int64(UInt8.max)
        case .uint16: 0...Int64(UInt16.max)
        case .uint32: 0...Int64(UInt32.max)
        case .uint64: 0...Int64.max
        default: nil
        }
    }

    /// Whether the operators of text apply to the kind: `.string` and `.url`.
    public var isText: Bool { self == .string || self == .url }

    /// Whether the kind is a relationship.
    public var isRelationship: Bool { self == .toOne || self == .toMany }

    /// Whether `<` and sorts are defined for the kind.
    public var isOrdered: Bool { self != .embedded && !isRelationship }

    /// Whether sums and averages are defined for the kind.
    public var isNumeric: Bool { integerRange != nil || self == .float || self == .double || self == .decimal }
}

/// The type of a stored field.
public struct FieldType: Sendable, Hashable, Codable {
    /// The kind of value.
    public var kind: ValueKind
    /// Whether the value can be nil.
    public var isOptional: Bool

    /// Creates a field type.
    ///
    /// - Parameters:
    ///   - kind: The kind of value.
    ///   - isOptional: Whether the value can be nil.
    public init(_ kind: ValueKind, isOptional: Bool = false) {
        self.kind = kind
        self.isOptional = isOptional
    }
}

extension FieldType: CustomStringConvertible {
    /// The name of the kind, with a question mark when the value can be nil.
    public var description: String { kind.rawValue + (isOptional ? "?" : "") }
}
