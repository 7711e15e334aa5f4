/// The binary form of the type `numeric`: the number of digits to the base 10,000, the weight of the first one, the sign,
/// the number of decimal places, and the digits.
enum NumericForm {
    private static let (negative, notANumber): (UInt16, UInt16) = (0x4000, 0xC000)

    /// Appends the form of a number.
    ///
    /// - Parameter text: The number in decimal digits, with an optional minus sign and point, or `NaN`.
    static func append(_ text: String, to bytes: inout [UInt8]) {
        if text == "NaN" { return append([0, 0, notANumber, 0], to: &bytes) }
        var digits = Array(text.utf8)
        let isNegative = digits.first == UInt8(ascii: "-")
        if isNegative { digits.removeFirst() }
        let parts = digits.split(separator: UInt8(ascii: "."), maxSplits: 1, omittingEmptySubsequences: false)
        let whole = parts[0].drop { $0 == UInt8(ascii: "0") }
        let fraction = parts.count > 1 ? parts[1] : []
        // Groups of four digits on both sides of the point.
        let zero = UInt8(ascii: "0")
        let padded =
            Array(repeating: zero, count: (4 - whole.count % 4) % 4) + whole + fraction
            + Array(repeating: zero, count: (4 - fraction.count % 4) % 4)
        var groups = stride(from: 0, to: padded.count, by: 4).map { start in
            padded[start..<start + 4].reduce(0 as UInt16) { $0 * 10 + UInt16($1 - zero) }
        }
        var weight = (whole.count + 3) / 4 - 1
        while groups.first == 0 {
            groups.removeFirst()
            weight -= 1
        }
        while groups.last == 0 { groups.removeLast() }
        if groups.isEmpty { weight = 0 }
        append(
            [
                UInt16(groups.count), UInt16(bitPattern: Int16(weight)), isNegative && !groups.isEmpty ? negative : 0,
                UInt16(fraction.count),
            ] + groups, to: &bytes)
    }

    private static func append(_ words: [UInt16], to bytes: inout [UInt8]) {
        for word in words {
            bytes.append(UInt8(word >> 8))
            bytes.append(UInt8(truncatingIfNeeded: word))
        }
    }

    /// Returns the number in decimal digits without redundant zeros, or `NaN`; nil when it is infinite or no such form.
    static func text(of bytes: UnsafeRawBufferPointer) -> String? {
        func word(_ index: Int) -> UInt16 {
            UInt16(bigEndian: bytes.loadUnaligned(fromByteOffset: 2 * index, as: UInt16.self))
        }
        guard bytes.count >= 8, bytes.count == 8 + 2 * Int(word(0)) else { return nil }
        if word(2) == notANumber { return "NaN" }
        guard word(2) == 0 || word(2) == negative else { return nil }
        let count = Int(word(0))
        let weight = Int(Int16(bitPattern: word(1)))
        func group(_ place: Int) -> String {
            let index = weight - place
            let digits = String(0..<count ~= index ? word(4 + index) : 0)
            return String(repeating: "0", count: 4 - digits.count) + digits
        }
        var whole = Substring(weight < 0 ? "" : stride(from: weight, through: 0, by: -1).map(group).joined())
        whole = whole.drop { $0 == "0" }
        var fraction = Substring(count - 1 > weight ? (1...(count - 1 - weight)).map { group(-$0) }.joined() : "")
        while fraction.last == "0" { fraction.removeLast() }
        let text = (whole.isEmpty ? "0" : whole) + (fraction.isEmpty ? "" : "." + fraction)
        return word(2) == negative && text != "0" ? "-" + text : String(text)
    }
}
