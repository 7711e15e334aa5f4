import Foundation

extension UnsafeRawBufferPointer {
    /// Compares bytes as unsigned numbers, with a prefix first. It returns a negative number, zero or a
    /// positive number for less, equal or greater.
    @inlinable package func order(against other: UnsafeRawBufferPointer) -> Int {
        let common = Swift.min(count, other.count)
        if common > 0, let left = baseAddress, let right = other.baseAddress {
            let result = memcmp(left, right, common)
            if result != 0 { return Int(result) }
        }
        return count - other.count
    }
}

extension String {
    /// Returns whether two strings have the same UTF-8 bytes. Swift's `==` is canonical equivalence.
    @inlinable package func hasSameBytes(as other: String) -> Bool {
        utf8.count == other.utf8.count && orderOfBytes(against: other) == 0
    }

    /// Compares the string with another string by UTF-8 bytes. It returns a negative number, zero or a
    /// positive number for less, equal or greater.
    @inlinable package func orderOfBytes(against other: String) -> Int {
        var left = self
        var right = other
        return left.withUTF8 { left in
            right.withUTF8 { right in UnsafeRawBufferPointer(left).order(against: UnsafeRawBufferPointer(right)) }
        }
    }
}

extension Double {
    /// The stored form of the number: no negative zero, one NaN (contract V2).
    @inlinable package var normalized: Double { isNaN ? .nan : self + 0.0 }

    /// Compares two numbers. NaN equals itself and comes after all other numbers (contract P3).
    @inlinable package func totalOrder(against other: Double) -> Int {
        if self < other { return -1 }
        if self > other { return 1 }
        if self == other { return 0 }
        return isNaN ? (other.isNaN ? 0 : 1) : -1
    }
}

/// The exact comparison of numbers of different types. No value is rounded to the type of the other value.
enum NumericOrder {

    /// Returns a negative number, zero or a positive number for less, equal or greater. Both values are
    /// numbers.
    static func order(_ left: Value, _ right: Value) -> Int {
        switch (left, right) {
        case (.integer(let left), .unsigned(let right)): return order(left, right)
        case (.unsigned(let left), .integer(let right)): return -order(right, left)
        case (.integer(let left), .double(let right)): return order(left, right)
        case (.double(let left), .integer(let right)): return -order(right, left)
        case (.unsigned(let left), .double(let right)): return order(left, right)
        case (.double(let left), .unsigned(let right)): return -order(right, left)
        case (.decimal(let left), .decimal(let right)): return order(left, right)
        case (.decimal(let left), .integer(let right)): return order(left, Decimal(right))
        case (.integer(let left), .decimal(let right)): return order(Decimal(left), right)
        case (.decimal(let left), .unsigned(let right)): return order(left, Decimal(right))
        case (.unsigned(let left), .decimal(let right)): return order(Decimal(left), right)
        case (.decimal(let left), .double(let right)): return order(left, right)
        case (.double(let left), .decimal(let right)): return -order(right, left)
        default: return 0
        }
    }

    private static func order<Integer: FixedWidthInteger>(_ left: Integer, _ right: Double) -> Int {
        if right.isNaN { return -1 }
        // A value at or beyond the bounds is compared without conversion. Inside the bounds, truncation is
        // exact.
        if right >= Double(Integer.max) { return -1 }
        if right < Double(Integer.min) { return 1 }
        let whole = right.rounded(.towardZero)
        guard let integer = Integer(exactly: whole) else { return right > 0 ? -1 : 1 }
        if left != integer { return left < integer ? -1 : 1 }
        return right == whole ? 0 : (right > whole ? -1 : 1)
    }

    private static func order(_ left: Int64, _ right: UInt64) -> Int {
        guard let left = UInt64(exactly: left) else { return -1 }
        return left < right ? -1 : (left == right ? 0 : 1)
    }

    private static func order(_ left: Decimal, _ right: Decimal) -> Int {
        if left.isNaN || right.isNaN { return left.isNaN ? (right.isNaN ? 0 : 1) : -1 }
        return left < right ? -1 : (left == right ? 0 : 1)
    }

    private static func order(_ left: Decimal, _ right: Double) -> Int {
        if left.isNaN || right.isNaN { return left.isNaN ? (right.isNaN ? 0 : 1) : -1 }
        if right.isInfinite { return right > 0 ? -1 : 1 }
        guard let place = Decimal.place(of: right) else { return right > 0 ? -1 : 1 }
        let result = order(left, place.value)
        return result == 0 && !place.isExact ? -1 : result
    }
}

extension Decimal {
    /// Returns the position of a finite floating-point number among decimal numbers: equal to a decimal
    /// number, or between a decimal number and the next greater one.
    ///
    /// A floating-point number stands for the shortest decimal number that reads back as it, because that is
    /// the number a person wrote. Between 2⁵³ and 2⁶⁴ it stands for its exact value. It then has the same
    /// position among integers, whichever of the three types it is compared with.
    ///
    /// - Returns: The position; nil when the number is beyond all decimal numbers.
    static func place(of number: Double) -> (value: Decimal, isExact: Bool)? {
        let magnitude = number.magnitude
        if magnitude >= 0x1p53, magnitude < 0x1p64 {
            let whole = Decimal(UInt64(magnitude))
            return (number < 0 ? -whole : whole, true)
        }
        if let decimal = Decimal(string: number.description) { return (decimal, true) }
        if magnitude > 1 { return nil }
        // The number is too small to have all its digits. It is counted in units of the smallest decimal
        // number and rounded down.
        let parts = number.description.split(separator: "e")
        guard magnitude >= 1e-128, parts.count == 2, let exponent = Int(parts[1]),
            var units = Decimal(string: "\(parts[0])e\(exponent + 128)")
        else { return (number < 0 ? -leastNonzeroMagnitude : 0, false) }
        var whole = Decimal()
        NSDecimalRound(&whole, &units, 0, .down)
        if whole > units { whole -= 1 }
        return (Decimal(sign: .plus, exponent: -128, significand: 1) * whole, whole == units)
    }

    /// The nearest floating-point number. Foundation's conversion is off by one bit in half of all cases.
    var nearestDouble: Double { isNaN ? .nan : Double(description) ?? .nan }
}
