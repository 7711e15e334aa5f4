import DAOCore
import Foundation

/// The order of decimal numbers stored as text, for SQLite's collation: numbers by value, then NaN, then any
/// other text by its bytes.
enum DecimalOrder {

    /// Negative, zero or positive.
    static func order(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Int {
        if let first = Digits(left), let second = Digits(right) { return Digits.order(first, second) }
        let ranks = (rank(left), rank(right))
        return ranks.0 == ranks.1 ? left.order(against: right) : ranks.0 - ranks.1
    }

    private static func rank(_ text: UnsafeRawBufferPointer) -> Int {
        if Digits(text) != nil { return 0 }
        return text.elementsEqual("NaN".utf8) ? 1 : 2
    }
}

/// A number in plain digits, split and not converted. It points into the text that it was created from.
private struct Digits {
    private var isNegative = false
    /// The digits before the point, without leading zeros.
    private var whole: UnsafeRawBufferPointer.SubSequence
    /// The digits after the point, without trailing zeros.
    private var fraction: UnsafeRawBufferPointer.SubSequence

    /// Nil when the text is not a number in plain digits.
    init?(_ text: UnsafeRawBufferPointer) {
        var rest = text[...]
        if rest.first == UInt8(ascii: "-") {
            isNegative = true
            rest = rest.dropFirst()
        }
        guard let first = rest.first, Self.isDigit(first) else { return nil }
        let end = rest.firstIndex { !Self.isDigit($0) } ?? rest.endIndex
        whole = rest[..<end].drop { $0 == UInt8(ascii: "0") }
        fraction = rest[end...]
        if let point = fraction.first {
            fraction = fraction.dropFirst()
            guard point == UInt8(ascii: "."), fraction.allSatisfy(Self.isDigit) else { return nil }
            while fraction.last == UInt8(ascii: "0") { fraction.removeLast() }
        }
        if whole.isEmpty, fraction.isEmpty { isNegative = false }
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

    static func order(_ left: Digits, _ right: Digits) -> Int {
        if left.isNegative != right.isNegative { return left.isNegative ? -1 : 1 }
        let result = magnitude(left, right)
        return left.isNegative ? -result : result
    }

    private static func magnitude(_ left: Digits, _ right: Digits) -> Int {
        if left.whole.count != right.whole.count { return left.whole.count - right.whole.count }
        let result = UnsafeRawBufferPointer(rebasing: left.whole).order(against: UnsafeRawBufferPointer(rebasing: right.whole))
        if result != 0 { return result }
        return UnsafeRawBufferPointer(rebasing: left.fraction).order(against: UnsafeRawBufferPointer(rebasing: right.fraction))
    }
}
