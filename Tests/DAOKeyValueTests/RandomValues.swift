import DAOCore
import DAOTestSupport
import Foundation

extension SeededGenerator {
    mutating func int() -> Int {
        switch Int.random(in: 0..<4, using: &self) {
        case 0: pick([.min, .min + 1, -1, 0, 1, .max - 1, .max])
        case 1: Int.random(in: -10...10, using: &self)
        default: Int(bitPattern: UInt(next())) >> Int.random(in: 0..<64, using: &self)
        }
    }

    mutating func double() -> Double {
        switch Int.random(in: 0..<4, using: &self) {
        case 0:
            pick([
                .nan, .infinity, -.infinity, 0, -0.0, .greatestFiniteMagnitude, -.greatestFiniteMagnitude, .leastNonzeroMagnitude,
                -.leastNonzeroMagnitude, .leastNormalMagnitude, 0.1, 1,
            ])
        case 1: Double(Int.random(in: -10...10, using: &self))
        default: Double(bitPattern: next())
        }
    }

    mutating func text(upTo length: Int = 12) -> String {
        let alphabet: [Unicode.Scalar] = [
            "a", "a", "b", "\0", "\u{1}", "\u{2}", "\u{FF}", "é", "e", "\u{301}", "ß", "\u{FFFD}", "\u{10000}", "Z", "*", " ",
        ]
        var text = ""
        for _ in 0..<Int.random(in: 0...length, using: &self) { text.unicodeScalars.append(pick(alphabet)) }
        return text
    }

    /// Text around the length at which index entries are truncated, often with a long common prefix.
    mutating func longText() -> String {
        let filler = pick(["x", "x", "\0", "é"])
        let length = pick([100, 118, 119, 120, 121, 238, 239, 240, 241, 242, 300])
        return String(repeating: filler, count: length) + text(upTo: 4)
    }

    mutating func data() -> Data {
        Data(
            (0..<Int.random(in: 0...8, using: &self)).map { _ in pick([0, 1, 2, 0xFE, 0xFF, UInt8(truncatingIfNeeded: next())]) })
    }

    mutating func uuid() -> UUID {
        let words = (chance(20) ? 0 : next(), chance(20) ? UInt64.max : next())
        return withUnsafeBytes(of: words) { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
    }

    mutating func decimal() -> Decimal {
        if chance(10) { return pick([.nan, 0, Decimal.greatestFiniteMagnitude, -Decimal.greatestFiniteMagnitude]) }
        var digits = chance(50) ? "-" : ""
        digits += String(Int.random(in: 1...9, using: &self))
        for _ in 0..<Int.random(in: 0..<(chance(30) ? 30 : 4), using: &self) {
            digits += String(Int.random(in: 0...9, using: &self))
        }
        let number = Decimal(string: digits, locale: Locale(identifier: "en_US_POSIX")) ?? 0
        let scaled = number * pow(Decimal(10), Int.random(in: -6...6, using: &self))
        return scaled.isNaN ? number : scaled
    }
}
