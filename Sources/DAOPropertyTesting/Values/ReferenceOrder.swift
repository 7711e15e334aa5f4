import DAOCore
import Foundation

/// The order of values that the contract defines (K2, P2, P3), without the comparison of the library.
enum ReferenceOrder {

    /// Less than, equal to or greater than zero. Neither value is null, and they are of comparable types.
    static func compare(_ left: Value, _ right: Value) -> Int {
        switch (left, right) {
        case (.bool(let left), .bool(let right)): sign((left ? 1 : 0) - (right ? 1 : 0))
        case (.string(let left), .string(let right)): bytes(left.utf8, right.utf8)
        case (.data(let left), .data(let right)): bytes(left, right)
        case (.uuid(let left), .uuid(let right)):
            withUnsafeBytes(of: left.uuid) { left in withUnsafeBytes(of: right.uuid) { bytes(left, $0) } }
        case (.date(let left), .date(let right)):
            doubles(left.timeIntervalSinceReferenceDate, right.timeIntervalSinceReferenceDate)
        case (.uuid(let left), .string(let right)):
            UUID(uuidString: right).map { compare(.uuid(left), .uuid($0)) } ?? 1
        case (.bool(let left), .integer(let right)): sign((left ? 1 : 0) - Int(right))
        case (.double(let left), .double(let right)): doubles(left, right)
        case (.decimal, _), (_, .decimal): decimals(left, right)
        case (.double(let left), .unsigned(let right)): -whole(right, left)
        case (.double(let left), .integer(let right)): -whole(right, left)
        case (.unsigned(let left), .double(let right)): whole(left, right)
        case (.integer(let left), .double(let right)): whole(left, right)
        case (.integer(let left), .integer(let right)): whole(left, right)
        case (.integer(let left), .unsigned(let right)): whole(left, right)
        case (.unsigned(let left), .integer(let right)): whole(left, right)
        case (.unsigned(let left), .unsigned(let right)): whole(left, right)
        default: 0
        }
    }

    /// Whether two rows have the same values in the fields of a unique index; nil is the same as nothing.
    static func collide(_ left: [Value], _ right: [Value], in fields: [Int]) -> Bool {
        fields.allSatisfy { !left[$0].isNull && !right[$0].isNull && compare(left[$0], right[$0]) == 0 }
    }

    /// The order of a sort, with null first.
    static func compareWithNull(_ left: Value, _ right: Value) -> Int {
        if left.isNull || right.isNull { return (left.isNull ? 0 : 1) - (right.isNull ? 0 : 1) }
        return compare(left, right)
    }

    /// Numbers of one type. NaN is equal to itself and greater than every other number.
    static func doubles(_ left: Double, _ right: Double) -> Int {
        if left.isNaN || right.isNaN { return (left.isNaN ? 1 : 0) - (right.isNaN ? 1 : 0) }
        return left < right ? -1 : (left > right ? 1 : 0)
    }

    private static func sign(_ number: Int) -> Int { number < 0 ? -1 : (number > 0 ? 1 : 0) }

    private static func bytes(_ left: some Sequence<UInt8>, _ right: some Sequence<UInt8>) -> Int {
        var other = right.makeIterator()
        for byte in left {
            guard let next = other.next() else { return 1 }
            if byte != next { return byte < next ? -1 : 1 }
        }
        return other.next() == nil ? 0 : -1
    }

    private static func whole(_ left: some BinaryInteger, _ right: some BinaryInteger) -> Int {
        left < right ? -1 : (left == right ? 0 : 1)
    }

    /// A whole number of at most 64 bits against a floating-point one: by the whole part, which is exact,
    /// then by the rest.
    private static func whole(_ left: some BinaryInteger, _ right: Double) -> Int {
        if right.isNaN || right >= 0x1p64 { return -1 }
        if right < -0x1p63 { return 1 }
        let floor = right.rounded(.down)
        let order = floor < 0 ? whole(left, Int64(floor)) : whole(left, UInt64(floor))
        return order == 0 && right > floor ? -1 : order
    }

    /// Compares two numbers, at least one of them decimal, by their digits.
    ///
    /// Scripts compare decimal and floating-point numbers only where one of them is of few binary digits and
    /// below 2⁵³: there the decimal that is meant and the one that is stored are the same.
    private static func decimals(_ left: Value, _ right: Value) -> Int {
        if isNaN(left) || isNaN(right) { return (isNaN(left) ? 1 : 0) - (isNaN(right) ? 1 : 0) }
        if case .double(let double) = left { return -decimals(right, .double(double)) }
        if case .double(let double) = right, double.isInfinite || double.magnitude >= 0x1p53 || !hasFewDigits(double) {
            guard case .decimal(let decimal) = left else { return 0 }
            return doubles(Double(decimal.description) ?? .nan, double)
        }
        return Digits(left).compare(Digits(right))
    }

    private static func isNaN(_ value: Value) -> Bool {
        switch value {
        case .double(let number): number.isNaN
        case .decimal(let number): number.isNaN
        default: false
        }
    }

    private static func hasFewDigits(_ double: Double) -> Bool { (double * 1024).rounded() == double * 1024 }

    /// A number as it is written: sign, digits before the point, digits after it, neither with needless
    /// zeros.
    private struct Digits {
        var isNegative = false
        var whole: [UInt8] = []
        var fraction: [UInt8] = []

        init(_ value: Value) {
            let text: String
            switch value {
            case .integer(let number): text = String(number)
            case .unsigned(let number): text = String(number)
            case .decimal(let number): text = number.description
            case .double(let number):
                let rest = (number.magnitude - number.magnitude.rounded(.down)) * 1024
                // Of 1024ths: ten decimal places hold them exactly.
                let places = String(Int(rest) * 9_765_625)
                text =
                    (number < 0 ? "-" : "") + String(Int64(number.magnitude)) + "."
                    + String(repeating: "0", count: 10 - places.count) + places
            default: text = "0"
            }
            var digits = Substring(text)
            if digits.first == "-" { isNegative = digits.popFirst() != nil }
            let parts = digits.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
            whole = Array(parts[0].drop { $0 == UInt8(ascii: "0") })
            fraction = parts.count > 1 ? Array(parts[1]) : []
            while fraction.last == UInt8(ascii: "0") { fraction.removeLast() }
            if whole.isEmpty, fraction.isEmpty { isNegative = false }
        }

        func compare(_ other: Digits) -> Int {
            if isNegative != other.isNegative { return isNegative ? -1 : 1 }
            let magnitude =
                whole.count != other.whole.count
                ? (whole.count < other.whole.count ? -1 : 1)
                : (ReferenceOrder.bytes(whole, other.whole) != 0
                    ? ReferenceOrder.bytes(whole, other.whole) : ReferenceOrder.bytes(fraction, other.fraction))
            return isNegative ? -magnitude : magnitude
        }
    }
}
