import DAOCore
import Foundation

/// A word of a text, as it is looked for.
struct Term: Equatable {
    /// The folded word.
    let text: String
    /// Where the word is, in bytes of UTF-8.
    let range: Range<Int>

    /// The maximum length of a term in bytes. Of a longer word the beginning counts.
    static let maximumLength = 128

    /// Returns the words of a text, in order (contract S1).
    static func terms(of text: String) -> [Term] {
        var text = text
        // Speed trick: 0.8 µs a word become 0.1 in texts of ASCII alone. `asciiTextsHaveTheSameWords` compares both ways.
        if let terms = text.withUTF8({ $0.allSatisfy { $0 < 0x80 } ? asciiTerms(of: $0) : nil }) { return terms }
        let scalars = Array(text.unicodeScalars)
        let characters = scalars.map(WordBreaks.properties)
        var offsets: [Int] = [0]
        offsets.reserveCapacity(scalars.count + 1)
        for scalar in scalars { offsets.append(offsets[offsets.count - 1] + UTF8.width(scalar)) }
        var terms: [Term] = []
        var done = 0
        func add(_ range: Range<Int>) {
            done = range.upperBound
            guard range.contains(where: { characters[$0].isLetterOrNumber }) else { return }
            var word = String.UnicodeScalarView()
            word.append(contentsOf: scalars[range])
            terms.append(Term(text: String(word).foldedTerm, range: offsets[range.lowerBound]..<offsets[range.upperBound]))
        }
        WordBreaks.forEachSegment(of: characters) { segment in
            // A vowel of the letter before can have been a part of its word.
            var start = max(segment.lowerBound, done)
            // The last character that is no mark of another one.
            var last = WordBreaks.Class.other
            for index in segment where index >= done {
                if characters[index].class == .extendNumLet || last == .aLetter && characters[index].separatesLetters {
                    add(start..<index)
                    // With what belongs to it.
                    start = characters[(index + 1)..<segment.upperBound].firstIndex { !$0.isIgnored } ?? segment.upperBound
                }
                if !characters[index].isIgnored { last = characters[index].class }
                guard characters[index].isSingle else { continue }
                if start < index { add(start..<index) }
                var end = index + 1
                while end < scalars.count, scalars[end].continues(scalars[end - 1], characters[end]) { end += 1 }
                add(index..<end)
                start = end
            }
            if start < segment.upperBound { add(start..<segment.upperBound) }
        }
        return terms
    }

    /// The words of a text of ASCII: the rules WB5 and WB8 to WB13b for its letters, digits, and marks between these.
    private static func asciiTerms(of bytes: UnsafeBufferPointer<UInt8>) -> [Term] {
        var terms: [Term] = []
        var index = 0
        while index < bytes.count {
            let start = index
            while index < bytes.count {
                let kind = ASCIIKind(bytes[index])
                if kind == .between {
                    // A point between digits is within a word.
                    guard index > start, index + 1 < bytes.count, ASCIIKind(bytes[index - 1]) == .digit,
                        ASCIIKind(bytes[index + 1]) == .digit
                    else { break }
                } else if kind == .other {
                    break
                }
                index += 1
            }
            if index > start {
                let word = bytes[start..<min(index, start + maximumLength)]
                let text = String(unsafeUninitializedCapacity: word.count) { lowercased in
                    _ = lowercased.initialize(from: word.lazy.map { ASCIIKind.isUppercase($0) ? $0 | 0x20 : $0 })
                    return word.count
                }
                terms.append(Term(text: text, range: start..<index))
            }
            if index == start { index += 1 }
        }
        return terms
    }

    /// What a character of ASCII is in a word.
    private enum ASCIIKind {
        case letter, digit, between, other

        init(_ byte: UInt8) {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): self = .letter
            case UInt8(ascii: "0")...UInt8(ascii: "9"): self = .digit
            case UInt8(ascii: "."), UInt8(ascii: "'"), UInt8(ascii: ","), UInt8(ascii: ";"): self = .between
            default: self = .other
            }
        }

        static func isUppercase(_ byte: UInt8) -> Bool { byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "Z") }
    }
}

extension Unicode.Scalar {
    /// Whether the character belongs to the single letter before it: it is a mark, a vowel that Unicode does not count as one (in Thai and
    /// Lao), or a jamo of the same syllable.
    fileprivate func continues(_ previous: Unicode.Scalar, _ properties: WordBreaks.Properties) -> Bool {
        if properties.isIgnored || value == 0x0E33 || value == 0x0EB3 { return true }
        switch (previous.jamo, jamo) {
        case (.leading, .leading), (.leading, .vowel), (.vowel, .vowel), (.vowel, .trailing), (.trailing, .trailing): return true
        case (.syllable, .trailing): return true
        // A syllable without a last consonant can get one, or another vowel.
        case (.syllable, .vowel): return (previous.value - 0xAC00) % 28 == 0
        default: return false
        }
    }

    private enum Jamo { case leading, vowel, trailing, syllable }

    private var jamo: Jamo? {
        switch value {
        case 0x1100...0x115F, 0xA960...0xA97C: .leading
        case 0x1160...0x11A7, 0xD7B0...0xD7C6: .vowel
        case 0x11A8...0x11FF, 0xD7CB...0xD7FB: .trailing
        case 0xAC00...0xD7A3: .syllable
        default: nil
        }
    }
}

extension String {
    /// The form in which words are compared (contract S2): without case, and in Latin, Greek, Cyrillic, Hebrew and Arabic without marks.
    var foldedTerm: String {
        let folded: String
        if utf8.allSatisfy({ $0 < 0x80 }) {
            folded = lowercased()
        } else {
            var scalars = String.UnicodeScalarView()
            var hasBase = false
            for scalar in decomposedStringWithCanonicalMapping.unicodeScalars {
                let properties = WordBreaks.properties(of: scalar)
                if properties.isMark {
                    if hasBase { continue }
                } else {
                    hasBase = properties.isBase
                }
                scalar.forEachFolded { scalars.append($0) }
            }
            folded = String(scalars).precomposedStringWithCanonicalMapping
        }
        guard folded.utf8.count > Term.maximumLength else { return folded }
        var cut = String.UnicodeScalarView()
        var length = 0
        for scalar in folded.unicodeScalars {
            length += UTF8.width(scalar)
            if length > Term.maximumLength { break }
            cut.append(scalar)
        }
        return String(cut)
    }
}
