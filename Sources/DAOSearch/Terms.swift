import DAOCore
import Foundation

/// A word of a text, as it is looked for.
struct Term: Equatable {
    /// The folded word.
    let text: String
    /// Where the word is, in bytes of UTF-8.
    let range: Range<Int>

    /// The maximum length of a term in bytes. Of a longer word the beginning counts.
    static let maximumLength = 256

    /// Returns the words of a text, in order (contract S1).
    static func terms(of text: String) -> [Term] {
        var text = text
        text.makeContiguousUTF8()
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
            for index in segment where index >= done && characters[index].isSingle {
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
