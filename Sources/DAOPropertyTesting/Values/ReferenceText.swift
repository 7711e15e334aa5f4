import DAOCore
import Foundation

/// The text operators as the contract states them (P2), with a table of foldings that has every letter that
/// scripts use.
enum ReferenceText {

    static func matches(_ text: String, _ match: TextMatch, _ pattern: String, _ options: TextOptions) -> Bool {
        let text = characters(of: text, options)[...]
        if match == .matches { return glob(pieces(of: pattern, options)[...], text) }
        let pattern: [Unicode.Scalar] = folded(pattern, options)
        return switch match {
        case .equals, .matches: Array(text.joined()) == pattern
        case .hasPrefix: end(of: pattern, in: text) != nil
        case .hasSuffix: (0...text.count).contains { end(of: pattern, in: text.dropFirst($0)) == text.count }
        case .contains: (0...text.count).contains { end(of: pattern, in: text.dropFirst($0)) != nil }
        }
    }

    /// The position after the characters that a text begins with and that have these scalars; nil when it does not begin so.
    private static func end(of scalars: [Unicode.Scalar], in text: ArraySlice<[Unicode.Scalar]>) -> Int? {
        var rest = scalars[...]
        for (position, character) in zip(text.indices, text) {
            if rest.isEmpty { return position }
            guard rest.starts(with: character) else { return nil }
            rest = rest.dropFirst(character.count)
        }
        return rest.isEmpty ? text.endIndex : nil
    }

    /// The folded text, the scalars of one character together where an option says so: those that it became, and its marks.
    private static func characters(of text: String, _ options: TextOptions) -> [[Unicode.Scalar]] {
        var characters: [[Unicode.Scalar]] = []
        for (scalar, parts) in foldedScalars(of: text, options) {
            if !options.isEmpty, let last = characters.last?.last, let first = parts.first,
                isMarkOfAnyKind(first) || isMarkOfAnyKind(scalar) || isOneSyllable(last, first)
            {
                characters[characters.count - 1] += parts
            } else {
                characters.append(parts)
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
        foldedScalars(of: text, options).flatMap(\.parts)
    }

    /// The scalars that the options do not ignore, each with those that it becomes.
    private static func foldedScalars(
        of text: String, _ options: TextOptions
    ) -> [(scalar: Unicode.Scalar, parts: [Unicode.Scalar])] {
        if options.isEmpty { return text.unicodeScalars.map { ($0, [$0]) } }
        let (dropsMarks, foldsCase) = (options.contains(.diacriticInsensitive), options.contains(.caseInsensitive))
        // The canonical decomposition takes letters and marks apart: İ is I and a dot.
        return text.decomposedStringWithCanonicalMapping.unicodeScalars.compactMap { scalar in
            if dropsMarks, isMark(scalar) { return nil }
            if !foldsCase { return (scalar, [scalar]) }
            if let folding = foldings[scalar] { return (scalar, folding) }
            return (scalar, [("A"..."Z").contains(scalar) ? Unicode.Scalar(UInt8(scalar.value + 32)) : scalar])
        }
    }

    private static func isMark(_ scalar: Unicode.Scalar) -> Bool {
        let category = scalar.properties.generalCategory
        return category == .nonspacingMark || category == .enclosingMark
    }

    private enum Piece {
        case literal([Unicode.Scalar])
        case one
        case run
    }

    private static func pieces(of pattern: String, _ options: TextOptions) -> [Piece] {
        var pieces: [Piece] = []
        var scalars = Array(pattern.unicodeScalars)[...]
        var literal = String.UnicodeScalarView()
        func flush() {
            pieces.append(.literal(folded(String(literal), options)))
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
        case .literal(let scalars): return end(of: scalars, in: text).map { glob(rest, text[$0...]) } ?? false
        case .one: return !text.isEmpty && glob(rest, text.dropFirst())
        case .run: return (0...text.count).contains { glob(rest, text.dropFirst($0)) }
        }
    }
}
