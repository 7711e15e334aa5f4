import DAOCore
import Foundation

/// The text operators as the contract states them (P2), with a table of foldings that has every letter that
/// scripts use.
enum ReferenceText {

    static func matches(_ text: String, _ match: TextMatch, _ pattern: String, _ options: TextOptions) -> Bool {
        if match == .matches {
            return glob(pieces(of: pattern, options)[...], characters(of: folded(text, options), options)[...])
        }
        if match == .equals { return folded(text, options) as [Unicode.Scalar] == folded(pattern, options) }
        // A text is matched character by character, and so is a pattern: what has half of one is found in none.
        let (text, pattern) = (characters(of: folded(text, options), options), characters(of: folded(pattern, options), options))
        return switch match {
        case .equals, .matches: false
        case .hasPrefix: text.starts(with: pattern)
        case .hasSuffix: text.reversed().starts(with: pattern.reversed())
        case .contains:
            pattern.isEmpty
                || (text.count >= pattern.count
                    && (0...text.count - pattern.count).contains { text[$0..<$0 + pattern.count].elementsEqual(pattern) })
        }
    }

    /// The scalars, those of one character together where an option says so.
    private static func characters(of scalars: [Unicode.Scalar], _ options: TextOptions) -> [[Unicode.Scalar]] {
        var characters: [[Unicode.Scalar]] = []
        for scalar in scalars {
            if !options.isEmpty, let last = characters.last?.last, isMarkOfAnyKind(scalar) || isOneSyllable(last, scalar) {
                characters[characters.count - 1].append(scalar)
            } else {
                characters.append([scalar])
            }
        }
        return characters
    }

    private static func isMarkOfAnyKind(_ scalar: Unicode.Scalar) -> Bool {
        isMark(scalar) || scalar.properties.generalCategory == .spacingMark
    }

    /// Whether two jamo of the modern script are in one syllable.
    private static func isOneSyllable(_ left: Unicode.Scalar, _ right: Unicode.Scalar) -> Bool {
        let (leading, vowels, trailing) = (0x1100...0x1112, 0x1161...0x1175, 0x11A8...0x11C2)
        let (left, right) = (Int(left.value), Int(right.value))
        return (leading ~= left && (leading ~= right || vowels ~= right))
            || (vowels ~= left && (vowels ~= right || trailing ~= right))
            || (trailing ~= left && trailing ~= right)
    }

    /// Letters whose case folding is not the ASCII one.
    private static let foldings: [Unicode.Scalar: [Unicode.Scalar]] = [
        "ß": ["s", "s"], "ẞ": ["s", "s"], "Σ": ["σ"], "ς": ["σ"], "ﬁ": ["f", "i"], "Ι": ["ι"], "Υ": ["υ"], "Φ": ["φ"], "Ο": ["ο"],

    ]

    /// The text without what the options ignore.
    static func folded(_ text: String, _ options: TextOptions) -> String {
        var view = String.UnicodeScalarView()
        view.append(contentsOf: folded(text, options) as [Unicode.Scalar])
        return String(view)
    }

    private static func folded(_ text: String, _ options: TextOptions) -> [Unicode.Scalar] {
        if options.isEmpty { return Array(text.unicodeScalars) }
        var scalars: [Unicode.Scalar] = []
        let (dropsMarks, foldsCase) = (options.contains(.diacriticInsensitive), options.contains(.caseInsensitive))
        // The canonical decomposition takes letters and marks apart: İ is I and a dot.
        for scalar in text.decomposedStringWithCanonicalMapping.unicodeScalars {
            if dropsMarks, isMark(scalar) { continue }
            if !foldsCase {
                scalars.append(scalar)
            } else if let folding = foldings[scalar] {
                scalars += folding
            } else if ("A"..."Z").contains(scalar) {
                scalars.append(Unicode.Scalar(UInt8(scalar.value + 32)))
            } else {
                scalars.append(scalar)
            }
        }
        return scalars
    }

    private static func isMark(_ scalar: Unicode.Scalar) -> Bool {
        let category = scalar.properties.generalCategory
        return category == .nonspacingMark || category == .enclosingMark
    }

    private enum Piece {
        /// Characters.
        case literal([[Unicode.Scalar]])
        case one
        case run
    }

    private static func pieces(of pattern: String, _ options: TextOptions) -> [Piece] {
        var pieces: [Piece] = []
        var scalars = Array(pattern.unicodeScalars)[...]
        var literal = String.UnicodeScalarView()
        func flush() {
            pieces.append(.literal(characters(of: folded(String(literal), options), options)))
            literal = String.UnicodeScalarView()
        }
        while let scalar = scalars.popFirst() {
            if scalar == "\\", let next = scalars.popFirst() {
                literal.append(next)
            } else if scalar == "*" || scalar == "?" {
                flush()
                pieces.append(scalar == "*" ? .run : .one)
            } else {
                literal.append(scalar)
            }
        }
        flush()
        return pieces
    }

    /// The first piece takes what it can, the rest must match the rest.
    private static func glob(_ pieces: ArraySlice<Piece>, _ text: ArraySlice<[Unicode.Scalar]>) -> Bool {
        guard let first = pieces.first else { return text.isEmpty }
        let rest = pieces.dropFirst()
        switch first {
        case .literal(let characters): return text.starts(with: characters) && glob(rest, text.dropFirst(characters.count))
        case .one: return !text.isEmpty && glob(rest, text.dropFirst())
        case .run: return (0...text.count).contains { glob(rest, text.dropFirst($0)) }
        }
    }
}
