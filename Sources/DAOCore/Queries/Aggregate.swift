import Foundation

/// A numeric type: its values can be summed and averaged.
public protocol NumericFieldValue: OrderedFieldValue where Present == Self {
    /// Creates the number from a total.
    ///
    /// - Throws: `.arithmeticOverflow` when the type cannot hold it.
    init(total: NumericTotal, entity: String, field: String) throws
}

/// A sum that is computed in key order. Integers and decimals are added exactly, floating-point numbers with
/// rounding.
public struct NumericTotal: Sendable {
    // The sum of integers in two words, which no sum of fewer than 2⁶³ integers exceeds.
    private var high: Int64 = 0
    private var low: UInt64 = 0
    private(set) var floating: Double = 0
    private(set) var decimal: Decimal = 0
    /// Whether the decimal sum exceeded the range of `Decimal`. Foundation returns NaN in that case.
    private(set) var isDecimalTooLarge = false
    /// The number of added values.
    public private(set) var count = 0

    mutating func add(_ value: Value) {
        switch value {
        case .integer(let number): add(UInt64(bitPattern: number), high: number < 0 ? -1 : 0)
        case .unsigned(let number): add(number, high: 0)
        case .double(let number): floating += number
        case .decimal(let number):
            let sum = decimal + number
            isDecimalTooLarge = isDecimalTooLarge || (sum.isNaN && !decimal.isNaN && !number.isNaN)
            decimal = sum
        default: return
        }
        count += 1
    }

    private mutating func add(_ word: UInt64, high sign: Int64) {
        let (sum, isCarried) = low.addingReportingOverflow(word)
        low = sum
        high += sign + (isCarried ? 1 : 0)
    }

    /// The sum of integers; nil when the type cannot hold it.
    fileprivate func whole<Number: FixedWidthInteger>() -> Number? {
        if high == 0 { return Number(exactly: low) }
        let number = Int64(bitPattern: low)
        return high == -1 && number < 0 ? Number(exactly: number) : nil
    }

    /// The average; nil when no value was added.
    var average: Double? {
        if count == 0 { return nil }
        let whole: Int64? = whole()
        let sum = whole.map(Double.init) ?? Decimal(high: high, low: low).nearestDouble
        return (sum + floating + decimal.nearestDouble) / Double(count)
    }
}

extension NumericFieldValue where Self: FixedWidthInteger {
    /// Creates the number from the sum of integers.
    public init(total: NumericTotal, entity: String, field: String) throws {
        guard let value: Self = total.whole() else {
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
    /// Creates the number from the sum of floating-point numbers.
    public init(total: NumericTotal, entity: String, field: String) throws { self = total.floating }
}
extension Float: NumericFieldValue {
    /// Creates the number from the sum of floating-point numbers, rounded to this width.
    public init(total: NumericTotal, entity: String, field: String) throws { self = Float(total.floating) }
}
extension Decimal: NumericFieldValue {
    /// Creates the number from the sum of decimals.
    public init(total: NumericTotal, entity: String, field: String) throws {
        if total.isDecimalTooLarge {
            throw StorageError.arithmeticOverflow(entity, field: field, type: Self.self)
        }
        self = total.decimal
    }
}
