/// Where words begin and end, by Unicode's annex 29, section 4 ("UAX 29"), and what searching has to know of a character.
enum WordBreaks {
    /// The values of the property Word_Break, in the order of the table.
    enum Class: UInt32 {
        case other, cr, lf, newline, extend, zwj, format, katakana, singleQuote, doubleQuote, midNumLet, midLetter, midNum,
            numeric
        case extendNumLet, regionalIndicator, wSegSpace, hebrewLetter, aLetter
    }

    /// The properties of a character.
    struct Properties {
        let bits: UInt32

        var `class`: Class { Class(rawValue: bits & 31) ?? .other }
        /// Whether it is a picture, such as an emoji.
        var isPictograph: Bool { bits & 1 << 5 != 0 }
        /// Whether it is a word by itself: a letter of a script that is written without spaces, or a syllable of Hangul.
        var isSingle: Bool { bits & 1 << 6 != 0 }
        /// Whether it is a letter or a number.
        var isLetterOrNumber: Bool { bits & 1 << 7 != 0 }
        /// Whether it is a letter of a script whose marks do not count.
        var isBase: Bool { bits & 1 << 8 != 0 }
        /// Whether it is a mark: general categories Mn and Me.
        var isMark: Bool { bits & 1 << 9 != 0 }

        /// Whether it separates two letters for a search, although it is within a word for Unicode (rules WB6 and WB7): `wine` finds "wine's".
        var separatesLetters: Bool {
            switch self.class {
            case .midLetter, .midNumLet, .singleQuote: true
            default: false
            }
        }

        /// Whether it is never separated from what it follows (rule WB4).
        var isIgnored: Bool {
            switch self.class {
            case .extend, .zwj, .format: true
            default: false
            }
        }
    }

    private static let ascii: [Properties] = (0..<128).map { find($0) }

    /// Returns the properties of a character.
    static func properties(of scalar: Unicode.Scalar) -> Properties {
        scalar.value < 128 ? ascii[Int(scalar.value)] : find(scalar.value)
    }

    private static func find(_ value: UInt32) -> Properties {
        // The last range that begins at the character or before it.
        var (low, high) = (0, table.count)
        while high - low > 1 {
            let middle = (low + high) / 2
            if table[middle] >> 10 <= value { low = middle } else { high = middle }
        }
        return Properties(bits: table[low] & 1023)
    }

    /// Calls a closure with the range of each segment: of each word, and of what is between words.
    static func forEachSegment(of characters: [Properties], _ body: (Range<Int>) -> Void) {
        var state = State()
        var start = 0
        for index in characters.indices {
            if index > 0, state.breaks(before: index, characters) {
                body(start..<index)
                start = index
            }
            state.pass(characters[index])
        }
        if start < characters.count { body(start..<characters.count) }
    }

    /// What the rules look back at.
    private struct State {
        /// The character before, and whether it was a ZWJ.
        private var previous = Class.newline
        /// The last two characters that are not ignored.
        private var left = Class.newline
        private var beforeLeft = Class.newline
        /// The number of regional indicators that precede.
        private var indicators = 0

        /// Whether a boundary precedes a character.
        func breaks(before index: Int, _ characters: [Properties]) -> Bool {
            let character = characters[index]
            let right = character.class
            if previous == .cr, right == .lf { return false }
            if previous.isNewline || right.isNewline { return true }
            if previous == .zwj, character.isPictograph { return false }
            if previous == .wSegSpace, right == .wSegSpace { return false }
            if character.isIgnored { return false }
            switch (left, right) {
            case (let left, let right) where left.isLetter && right.isLetter: return false
            case (let left, let right) where left.isLetter && (right == .midLetter || right.isMidNumLet):
                if next(index, characters).isLetter { return false }
                return !(left == .hebrewLetter && right == .singleQuote)
            case (.midLetter, let right) where right.isLetter: return !beforeLeft.isLetter
            case (let left, let right) where left.isMidNumLet && right.isLetter: return !beforeLeft.isLetter
            case (.hebrewLetter, .doubleQuote): return next(index, characters) != .hebrewLetter
            case (.doubleQuote, .hebrewLetter): return beforeLeft != .hebrewLetter
            case (.numeric, .numeric): return false
            case (let left, .numeric) where left.isLetter: return false
            case (.numeric, let right) where right.isLetter: return false
            case (let left, .numeric) where left == .midNum || left.isMidNumLet: return beforeLeft != .numeric
            case (.numeric, let right) where right == .midNum || right.isMidNumLet: return next(index, characters) != .numeric
            case (.katakana, .katakana): return false
            case (let left, .extendNumLet) where left.isLetter || left == .numeric || left == .katakana || left == .extendNumLet:
                return false
            case (.extendNumLet, let right) where right.isLetter || right == .numeric || right == .katakana: return false
            case (.regionalIndicator, .regionalIndicator): return indicators % 2 == 0
            default: return true
            }
        }

        /// The class of the next character that is not ignored.
        private func next(_ index: Int, _ characters: [Properties]) -> Class {
            characters[(index + 1)...].first { !$0.isIgnored }?.class ?? .other
        }

        mutating func pass(_ character: Properties) {
            let new = character.class
            defer { previous = new }
            if character.isIgnored, !previous.isNewline { return }
            (beforeLeft, left) = (left, new)
            indicators = new == .regionalIndicator ? indicators + 1 : 0
        }
    }
}

extension WordBreaks.Class {
    fileprivate var isNewline: Bool { self == .newline || self == .cr || self == .lf }
    fileprivate var isLetter: Bool { self == .aLetter || self == .hebrewLetter }
    fileprivate var isMidNumLet: Bool { self == .midNumLet || self == .singleQuote }
}
