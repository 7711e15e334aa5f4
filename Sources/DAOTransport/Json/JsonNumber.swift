import Foundation

extension Json {
    /// A JSON number that keeps its text.
    ///
    /// Numbers compare by value: `1`, `1.0` and `1e0` are equal and have equal hashes. ``text`` is the
    /// original text.
    public struct Number: Sendable {
        private enum Storage {
            case signed(Int64)
            /// Only for integers that `Int64` cannot hold.
            case unsigned(UInt64)
            /// Fractions, exponents, `-0` and integers beyond 64 bits.
            case text(String)
        }

        private let storage: Storage

        /// Creates an integer of any width.
        public init<Integer: FixedWidthInteger>(_ value: Integer) {
            if let signed = Int64(exactly: value) {
                storage = .signed(signed)
            } else if let unsigned = UInt64(exactly: value) {
                storage = .unsigned(unsigned)
            } else {
                storage = .text(String(value))
            }
        }

        /// Creates a number with the shortest text that reads back as the same `Double`; nil for NaN and the
        /// infinities.
        public init?(_ value: Double) {
            guard value.isFinite else { return nil }
            storage = .text(value.description)
        }

        /// Creates a decimal number; nil for NaN.
        public init?(_ value: Decimal) {
            guard value.isFinite else { return nil }
            self.init(text: value.description)
        }

        /// Creates a number from JSON's notation; nil when the text is not a JSON number.
        public init?(text: String) {
            guard Self.isNumber(text.utf8) else { return nil }
            self.init(validated: text)
        }

        /// Creates a number whose text the parser has checked.
        init(validated text: String) {
            if text == "-0" {
                storage = .text(text)
            } else if let signed = Int64(text) {
                storage = .signed(signed)
            } else if let unsigned = UInt64(text) {
                storage = .unsigned(unsigned)
            } else {
                storage = .text(text)
            }
        }

        /// The number in JSON's notation.
        public var text: String {
            switch storage {
            case .signed(let value): String(value)
            case .unsigned(let value): String(value)
            case .text(let text): text
            }
        }

        /// The number as an integer of the given type; nil when it has a fraction or does not fit.
        public func integer<Integer: FixedWidthInteger>(as type: Integer.Type = Integer.self) -> Integer? {
            switch storage {
            case .signed(let value): return Integer(exactly: value)
            case .unsigned(let value): return Integer(exactly: value)
            case .text:
                let canonical = canonical
                guard canonical.exponent >= 0, canonical.digits.count + canonical.exponent <= 40 else { return nil }
                let digits = canonical.digits + String(repeating: "0", count: canonical.exponent)
                return Integer((canonical.isNegative ? "-" : "") + (digits.isEmpty ? "0" : digits))
            }
        }

        /// The nearest `Double`, 0 for a number that is closer to 0 than any other `Double`; nil when the number exceeds
        /// its range.
        public var double: Double? {
            Double(text).flatMap { $0.isFinite ? $0 : nil }
        }

        /// The same number as a `Decimal`; nil when a `Decimal` cannot hold it exactly.
        public var decimal: Decimal? {
            guard let decimal = roundedDecimal, Number(decimal) == self else { return nil }
            return decimal
        }

        /// The nearest `Decimal`; nil when the number exceeds its range.
        var roundedDecimal: Decimal? {
            var canonical = canonical
            guard !canonical.digits.isEmpty else { return 0 }
            // A `Decimal` has at most 39 digits, and an exponent of at most 127; what follows the 60th digit does not
            // change the nearest one.
            let omitted = max(0, canonical.digits.count - 60)
            canonical.digits.removeLast(omitted)
            canonical.exponent += omitted
            let shift = min(max(0, canonical.exponent - 127), 60)
            let digits = canonical.digits + String(repeating: "0", count: shift)
            let text = "\(canonical.isNegative ? "-" : "")\(digits)e\(canonical.exponent - shift)"
            guard let decimal = Decimal(string: text, locale: Locale(identifier: "en_US_POSIX")), decimal.isFinite else {
                return nil
            }
            return decimal
        }
    }
}

extension Json.Number: Hashable {
    /// Whether both numbers have the same value.
    public static func == (lhs: Self, rhs: Self) -> Bool {
        switch (lhs.storage, rhs.storage) {
        case (.signed(let left), .signed(let right)): left == right
        case (.unsigned(let left), .unsigned(let right)): left == right
        default: lhs.canonical == rhs.canonical
        }
    }

    /// Hashes the value, not the text.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(canonical)
    }
}

extension Json.Number {
    /// The value as digits without leading or trailing zeros, times a power of ten.
    struct Canonical: Hashable {
        var isNegative: Bool
        var digits: String
        var exponent: Int
    }

    var canonical: Canonical {
        var rest = text[...]
        let isNegative = rest.first == "-"
        if isNegative { rest.removeFirst() }

        var exponent = 0
        if let mark = rest.firstIndex(where: { $0 == "e" || $0 == "E" }) {
            let written = rest[rest.index(after: mark)...]
            // An exponent that does not fit in a machine word is replaced by the largest exponent.
            exponent = Int(written) ?? (written.hasPrefix("-") ? Int.min / 4 : Int.max / 4)
            exponent = min(max(exponent, Int.min / 4), Int.max / 4)
            rest = rest[..<mark]
        }

        var digits = Array(rest.utf8)
        if let point = digits.firstIndex(of: UInt8(ascii: ".")) {
            exponent -= digits.count - point - 1
            digits.remove(at: point)
        }
        let zero = UInt8(ascii: "0")
        digits.removeFirst(digits.prefix { $0 == zero }.count)
        while digits.last == zero {
            digits.removeLast()
            exponent += 1
        }
        guard !digits.isEmpty else { return Canonical(isNegative: false, digits: "", exponent: 0) }
        return Canonical(isNegative: isNegative, digits: String(decoding: digits, as: UTF8.self), exponent: exponent)
    }

    /// Whether the bytes are exactly one number by JSON's grammar.
    static func isNumber(_ bytes: some Collection<UInt8>) -> Bool {
        var rest = bytes[...]
        func isDigit(_ byte: UInt8) -> Bool { byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9") }

        if rest.first == UInt8(ascii: "-") { rest.removeFirst() }
        let whole = rest.prefix(while: isDigit)
        guard let first = whole.first, first != UInt8(ascii: "0") || whole.count == 1 else { return false }
        rest = rest.dropFirst(whole.count)

        if rest.first == UInt8(ascii: ".") {
            rest.removeFirst()
            let fraction = rest.prefix(while: isDigit)
            guard !fraction.isEmpty else { return false }
            rest = rest.dropFirst(fraction.count)
        }
        if rest.first == UInt8(ascii: "e") || rest.first == UInt8(ascii: "E") {
            rest.removeFirst()
            if rest.first == UInt8(ascii: "+") || rest.first == UInt8(ascii: "-") { rest.removeFirst() }
            let power = rest.prefix(while: isDigit)
            guard !power.isEmpty else { return false }
            rest = rest.dropFirst(power.count)
        }
        return rest.isEmpty
    }
}
