import Foundation

/// The value of a field whose type is known only at run time: in predicates, sort keys and cursors.
///
/// Floating-point values are always normalised: `-0.0` is `0.0`, and all NaNs are the same NaN.
public enum Value: Sendable {
    /// No value.
    case null
    /// True or false.
    case bool(Bool)
    /// An integer that fits into 64 signed bits.
    case integer(Int64)
    /// An unsigned integer beyond `Int64.max`.
    case unsigned(UInt64)
    /// A floating-point number.
    case double(Double)
    /// A decimal number.
    case decimal(Decimal)
    /// Text, a URL, or the JSON of an embedded value.
    case string(String)
    /// Bytes.
    case data(Data)
    /// A UUID.
    case uuid(UUID)
    /// A point in time.
    case date(Date)

    /// Whether the value is ``null``.
    @inlinable public var isNull: Bool { if case .null = self { true } else { false } }

    /// The name of the value's type in error messages.
    public var typeName: String {
        switch self {
        case .null: "nil"
        case .bool: "bool"
        case .integer, .unsigned: "integer"
        case .double: "double"
        case .decimal: "decimal"
        case .string: "string"
        case .data: "data"
        case .uuid: "uuid"
        case .date: "date"
        }
    }
}

extension Value {
    /// Compares two values in the total order of values: nil first, then by type. Numbers are compared as
    /// numbers, with NaN last; strings and data by bytes.
    ///
    /// Sorts, ordering comparisons and index keys use this order (contract P2, P3, Q2).
    ///
    /// - Returns: A negative number, zero or a positive number when the left value is less than, equal to or
    ///   greater than the right value.
    public static func order(_ left: Value, _ right: Value) -> Int {
        switch (left, right) {
        case (.integer(let left), .integer(let right)): return left < right ? -1 : (left == right ? 0 : 1)
        case (.string(let left), .string(let right)): return left.orderOfBytes(against: right)
        case (.double(let left), .double(let right)): return left.totalOrder(against: right)
        case (.date(let left), .date(let right)):
            return left.timeIntervalSinceReferenceDate.totalOrder(against: right.timeIntervalSinceReferenceDate)
        case (.bool(let left), .bool(let right)): return left == right ? 0 : (right ? -1 : 1)
        case (.uuid(let left), .uuid(let right)):
            return withUnsafeBytes(of: left.uuid) { left in
                withUnsafeBytes(of: right.uuid) { right in left.order(against: right) }
            }
        case (.data(let left), .data(let right)):
            return left.withUnsafeBytes { left in right.withUnsafeBytes { right in left.order(against: right) } }
        case (.unsigned(let left), .unsigned(let right)): return left < right ? -1 : (left == right ? 0 : 1)
        default:
            if left.isNumber, right.isNumber { return NumericOrder.order(left, right) }
            return left.rank < right.rank ? -1 : (left.rank == right.rank ? 0 : 1)
        }
    }

    private var isNumber: Bool {
        switch self {
        case .integer, .unsigned, .double, .decimal: true
        default: false
        }
    }

    private var rank: Int {
        switch self {
        case .null: 0
        case .bool: 1
        case .integer, .unsigned, .double, .decimal: 2
        case .date: 3
        case .string: 4
        case .uuid: 5
        case .data: 6
        }
    }
}

extension Value: Hashable {
    /// Whether two values are equal: numbers by number, NaN equals NaN, strings by bytes, nil equals nil.
    public static func == (left: Value, right: Value) -> Bool { order(left, right) == 0 }

    /// Hashes the value consistently with `==`.
    public func hash(into hasher: inout Hasher) {
        switch self {
        case .null: hasher.combine(0)
        case .bool(let value): hasher.combine(value)
        case .integer(let value): hasher.combine(Double(value))
        case .unsigned(let value): hasher.combine(Double(value))
        case .double(let value): hasher.combine(value.normalized)
        case .decimal(let value): hasher.combine(value.nearestDouble.normalized)
        case .string(var value): value.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        case .data(let value): hasher.combine(value)
        case .uuid(let value): hasher.combine(value)
        case .date(let value): hasher.combine(value.timeIntervalSinceReferenceDate.normalized)
        }
    }
}
