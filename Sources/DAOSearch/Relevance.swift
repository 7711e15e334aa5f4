/// How well rows fit to a query: Okapi BM25 with k₁ = 1.2 and b = 0.75, where an occurrence counts as often as the weight of its
/// field says, and the length of a row is that of all its searchable fields (contract S4).
///
/// All of it is arithmetic of integers, in units of 2⁻³², rounded down: every machine gives the same scores, and so the same order.
///
/// Source: S. Robertson, H. Zaragoza: *The Probabilistic Relevance Framework: BM25 and Beyond*, 2009, sections 3.2 to 3.6. The weight of a
/// rare word is ln(1 + (N − n + ½) ÷ (n + ½)), which is never negative.
struct Relevance {
    /// The number of rows.
    var rows = 0
    /// The number of words of all rows.
    var words = 0

    /// Returns the weight of what occurs in a number of rows.
    func rarity(_ count: Int) -> UInt64 {
        // ln((2N + 2) ÷ (2n + 1))
        let difference = Self.logarithm(UInt64(2 * rows + 2)) - Self.logarithm(UInt64(2 * min(count, rows) + 1))
        return Self.product(difference, 2_977_044_472)
    }

    /// Returns what a number of weighted occurrences is worth in a row of a length.
    func score(_ occurrences: Int, rarity: UInt64, length: Int) -> UInt64 {
        // More of them, and longer rows, change nothing that can be seen. The products fit then.
        let occurrences = UInt64(min(occurrences, 100_000))
        let length = UInt64(min(length, 1 << 20))
        let (rows, words) = (UInt64(min(rows, 1 << 32)), UInt64(min(max(words, 1), 1 << 40)))
        let numerator = 88 * occurrences * words
        let denominator = 40 * occurrences * words + 12 * words + 36 * length * rows
        let part = denominator.dividingFullWidth(numerator.multipliedFullWidth(by: 1 << 32)).quotient
        return Self.product(rarity, part)
    }

    /// A score as a number.
    static func value(_ score: UInt64) -> Double { Double(score) / 4_294_967_296 }

    /// The product of two numbers in units of 2⁻³².
    private static func product(_ first: UInt64, _ second: UInt64) -> UInt64 {
        let (high, low) = first.multipliedFullWidth(by: second)
        return high << 32 | low >> 32
    }

    /// The logarithm of a positive number to the base 2, in units of 2⁻³², bit by bit.
    private static func logarithm(_ number: UInt64) -> UInt64 {
        let whole = UInt64(63 - number.leadingZeroBitCount)
        // In units of 2⁻⁶³, at least 1 and less than 2.
        var rest = number << UInt64(number.leadingZeroBitCount)
        var result = whole
        for _ in 0..<32 {
            // Its square is at least 1 and less than 4.
            let square = rest.multipliedFullWidth(by: rest).high
            result <<= 1
            if square >= 1 << 63 {
                result |= 1
                rest = square
            } else {
                rest = square << 1
            }
        }
        return result
    }
}
