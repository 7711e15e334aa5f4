import DAOCore
import Foundation

/// The maximum number of digits of an encoded decimal number. Foundation's decimals have at most 39.
private let maximumDigits = 80
private let exponentBias = 0x4000

extension KeyBuilder {
    /// Appends a decimal number from its stored text.
    ///
    /// - Returns: False, with nothing appended, when the text is not a decimal number.
    mutating func append(decimal text: UnsafeRawBufferPointer) -> Bool {
        if text.elementsEqual("NaN".utf8) {
            append(byte: 4)
            return true
        }
        return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: maximumDigits) { digits in
            guard let number = PlainDecimal(text, digits: digits) else { return false }
            if number.digitCount == 0 {
                append(byte: 2)
                return true
            }
            append(byte: number.isNegative ? 1 : 3)
            let start = count
            let exponent = UInt16(truncatingIfNeeded: number.exponent + exponentBias)
            append(byte: UInt8(exponent >> 8))
            append(byte: UInt8(exponent & 0xFF))
            var index = 0
            while index <= number.digitCount {
                let high = index < number.digitCount ? digits[index] + 1 : 0
                let low = index + 1 < number.digitCount ? digits[index + 1] + 1 : 0
                append(byte: high << 4 | low)
                index += 2
            }
            if number.isNegative { invert(from: start) }
            return true
        }
    }
}

/// A decimal number as `0.digits × 10^exponent`, without zeros at either end of the digits.
private struct PlainDecimal {
    var isNegative = false
    var digitCount = 0
    var exponent = 0

    /// Parses plain digits with at most one decimal point; nil for any other text.
    ///
    /// - Parameter digits: The buffer for the significant digits.
    init?(_ text: UnsafeRawBufferPointer, digits: UnsafeMutableBufferPointer<UInt8>) {
        var rest = text[...]
        if rest.first == UInt8(ascii: "-") {
            isNegative = true
            rest = rest.dropFirst()
        }
        var sawDigit = false
        var sawPoint = false
        var pendingZeros = 0
        for byte in rest {
            if byte == UInt8(ascii: "."), !sawPoint {
                sawPoint = true
                continue
            }
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
            sawDigit = true
            if byte == UInt8(ascii: "0") {
                if digitCount == 0 {
                    if sawPoint { exponent -= 1 }
                } else {
                    pendingZeros += 1
                    if !sawPoint { exponent += 1 }
                }
            } else {
                guard digitCount + pendingZeros < digits.count else { return nil }
                for _ in 0..<pendingZeros {
                    digits[digitCount] = 0
                    digitCount += 1
                }
                pendingZeros = 0
                digits[digitCount] = byte - UInt8(ascii: "0")
                digitCount += 1
                if !sawPoint { exponent += 1 }
            }
        }
        guard sawDigit, abs(exponent) < exponentBias else { return nil }
    }
}
