import Foundation

/// A type whose values can be summed and averaged.
public protocol NumericFieldValue: OrderedFieldValue {
    /// The number that a total stands for.
    ///
    /// - Throws: `.arithmeticOverflow` when the type cannot hold it.
    init(total: NumericTotal, entity: String, field: String) throws
}

/// A sum as it is built up, in key order: exact for integers and decimals, plain addition for floating-point numbers.
public struct NumericTotal: Sendable {
    private(set) var whole: Int128 = 0
    private(set) var floating: Double = 0
    private(set) var decimal: Decimal = 0
    /// Whether the decimal sum went beyond what a decimal holds, which Foundation answers with NaN.
    private(set) var isDecimalTooLarge = false
    /// How many values were added.
    public private(set) var count = 0

    mutating func add(_ value: Value) {
        switch value {
        case .integer(let number): whole += Int128(number)
        case .unsigned(let number): whole += Int128(number)
        case .double(let number): floating += number
        case .decimal(let number):
            let sum = decimal + number
            isDecimalTooLarge = isDecimalTooLarge || (sum.isNaN && !decimal.isNaN && !number.isNaN)
            decimal = sum
        default: return
        }
        count += 1
    }

    /// The mean, or nil of no values.
    var average: Double? {
        count == 0 ? nil : (Double(whole) + floating + decimal.nearestDouble) / Double(count)
    }
}

extension NumericFieldValue where Self: FixedWidthInteger {
    /// The whole number.
    public init(total: NumericTotal, entity: String, field: String) throws {
        guard let value = Self(exactly: total.whole) else {
            throw StorageError.arithmeticOverflow(entity, field: field, type: Self.self)
        }
        self = value
    }
}
extension Int: NumericFieldValue {}
extension Int8: NumericFieldValue {}
extension Int16: NumericFieldValue {}
extension Int32: NumericFieldValue {}
extension Int64: NumericFieldValue {}
extension UInt: NumericFieldValue {}
extension UInt8: NumericFieldValue {}
extension UInt16: NumericFieldValue {}
extension UInt32: NumericFieldValue {}
extension UInt64: NumericFieldValue {}
extension Double: NumericFieldValue {
    /// The floating-point number.
    public init(total: NumericTotal, entity: String, field: String) throws { self = total.floating }
}
extension Float: NumericFieldValue {
    /// The floating-point number, rounded to this width.
    public init(total: NumericTotal, entity: String, field: String) throws { self = Float(total.floating) }
}
extension Decimal: NumericFieldValue {
    /// The decimal number.
    public init(total: NumericTotal, entity: String, field: String) throws {
        if total.isDecimalTooLarge {
            throw StorageError.arithmeticOverflow(entity, field: field, type: Self.self)
        }
        self = total.decimal
    }
}
