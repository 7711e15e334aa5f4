import DAOCore
import Foundation

/// The text operators as the contract states them (P2), with a table of foldings that has every letter that
/// scripts use.
enum ReferenceText {

    static func matches(_ text: String, _ match: TextMatch, _ pattern: String, _ options: TextOptions) -> Bool {
        if match == .matches {
            return glob(pieces(of: pattern, options)[...], folded(text, options)[...], marksFollow: !options.isEmpty)
        }
        let (text, pattern) = (folded(text, options), folded(pattern, options))
        return switch match {
        case .equals, .matches: text == pattern
        case .hasPrefix: text.starts(with: pattern)
        case .hasSuffix: text.reversed().starts(with: pattern.reversed())
        case .contains:
            pattern.isEmpty
                || (text.count >= pattern.count
                    && (0...text.count - pattern.count).contains { text[$0..<$0 + pattern.count].elementsEqual(pattern) })
        }
    }

    /// Letters whose case folding is not the ASCII one.
    private static let foldings: [Unicode.Scalar: [Unicode.Scalar]] = [
        "ß": ["s", "s"], "ẞ": ["s", "s"], "Σ": ["σ"], "ς": ["σ"], "ﬁ": ["f", "i"], "Ι": ["ι"], "Υ": ["υ"], "Φ": ["φ"], "Ο": ["ο"],

    ]

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
        case literal(Unicode.Scalar)
        case one
        case run
    }

    private static func pieces(of pattern: String, _ options: TextOptions) -> [Piece] {
        var pieces: [Piece] = []
        var scalars = Array(pattern.unicodeScalars)[...]
        var literal = String.UnicodeScalarView()
        func flush() {
            pieces += folded(String(literal), options).map(Piece.literal)
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
    private static func glob(_ pieces: ArraySlice<Piece>, _ text: ArraySlice<Unicode.Scalar>, marksFollow: Bool) -> Bool {
        guard let first = pieces.first else { return text.isEmpty }
        let rest = pieces.dropFirst()
        switch first {
        case .literal(let scalar): return text.first == scalar && glob(rest, text.dropFirst(), marksFollow: marksFollow)
        case .one:
            if text.isEmpty { return false }
            let after = text.dropFirst()
            return glob(rest, marksFollow ? after.drop { isMark($0) } : after, marksFollow: marksFollow)
        case .run: return (0...text.count).contains { glob(rest, text.dropFirst($0), marksFollow: marksFollow) }
        }
    }
}
