import Foundation

extension BinaryFloatingPoint where Self: LosslessStringConvertible {
    /// Reads a number in decimal notation, in predicates, conversions and imports alike: `12`, `-0.5`, `1.5e-3`, and `nan`, `inf` and
    /// `-inf`, also as `NaN` and `Infinity`.
    ///
    /// It is the number that is nearest to the text; nil when the text is no number, or one that this type would make zero or
    /// infinite.
    ///
    /// - Parameter text: The text. It has nothing before or after the number.
    package init?(strictText text: String) {
        switch text {
        case "nan", "NaN": self = .nan
        case "inf", "Infinity": self = .infinity
        case "-inf", "-Infinity": self = -.infinity
        default:
            let pattern = /-?(\d+(?:\.\d+)?)(?:[eE][+\-]?\d+)?/.asciiOnlyDigits()
            guard let words = text.wholeMatch(of: pattern)?.output, let number = Self(text), number.isFinite,
                number != 0 || words.1.allSatisfy({ $0 == "0" || $0 == "." })
            else { return nil }
            self = number
        }
    }
}

extension Decimal {
    /// Reads a number without an exponent, or `NaN`; nil when the text is none, or has more digits than a decimal number.
    package init?(strictText text: String) {
        guard let number = Decimal(storedText: text) else { return nil }
        let digits = text.utf8.filter { (48...57).contains($0) }.drop { $0 == 48 }
        guard digits.count - digits.reversed().prefix(while: { $0 == 48 }).count <= 38 else { return nil }
        self = number
    }
}
