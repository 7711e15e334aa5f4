import Foundation

/// A text to match with, prepared once: folded as the options say and, for `matches`, taken apart.
public struct TextPattern: Sendable, Hashable {
    /// How it matches.
    public let match: TextMatch
    /// The pattern as it was given.
    public let text: String
    /// What matching looks past.
    public let options: TextOptions

    private let folded: [UInt8]
    private let elements: [GlobElement]

    /// Prepares a pattern.
    ///
    /// - Parameters:
    ///   - match: How it matches.
    ///   - text: The pattern.
    ///   - options: What matching looks past.
    public init(_ match: TextMatch, _ text: String, _ options: TextOptions) {
        self.match = match
        self.text = text
        self.options = options
        if match == .matches {
            folded = []
            elements = GlobElement.elements(of: text, options)
        } else {
            folded = Array(text.folded(options).utf8)
            elements = []
        }
    }

    /// Whether a text matches: the one meaning of the text operators (contract P2).
    public func matches(_ candidate: String) -> Bool {
        if match == .matches {
            return GlobElement.match(elements, Array(candidate.folded(options).unicodeScalars), marksFollow: !options.isEmpty)
        }
        var subject = options.isEmpty ? candidate : candidate.folded(options)
        return subject.withUTF8 { subject in
            folded.withUnsafeBufferPointer { pattern in
                switch match {
                case .equals, .matches: subject.count == pattern.count && subject.elementsEqual(pattern)
                case .hasPrefix: subject.count >= pattern.count && subject.prefix(pattern.count).elementsEqual(pattern)
                case .hasSuffix: subject.count >= pattern.count && subject.suffix(pattern.count).elementsEqual(pattern)
                case .contains: subject.contains(run: pattern)
                }
            }
        }
    }
}

extension UnsafeBufferPointer<UInt8> {
    /// Whether the bytes have a run of bytes somewhere in them: finds the run's first byte, then compares.
    fileprivate func contains(run: UnsafeBufferPointer<UInt8>) -> Bool {
        guard let first = run.first, let pattern = run.baseAddress else { return true }
        guard let start = baseAddress, run.count <= count else { return false }
        var position = start
        let end = start + (count - run.count + 1)
        while position < end, let found = memchr(position, Int32(first), end - position) {
            if memcmp(found, pattern, run.count) == 0 { return true }
            position = UnsafePointer(found.assumingMemoryBound(to: UInt8.self)) + 1
        }
        return false
    }
}

extension String {
    /// The text with case and diacritics folded away, by Unicode's tables and in no locale.
    func folded(_ options: TextOptions) -> String {
        if options.isEmpty { return self }
        if utf8.allSatisfy({ $0 < 0x80 }) { return options.contains(.caseInsensitive) ? lowercased() : self }
        // Decomposed, so that a letter and its marks come apart and both spellings of "é" fold alike.
        var scalars = String.UnicodeScalarView()
        for scalar in decomposedStringWithCanonicalMapping.unicodeScalars {
            if options.contains(.diacriticInsensitive), scalar.isDiacritic { continue }
            if options.contains(.caseInsensitive) {
                scalars.append(contentsOf: scalar.caseFolded)
            } else {
                scalars.append(scalar)
            }
        }
        return String(scalars).decomposedStringWithCanonicalMapping
    }
}

extension Unicode.Scalar {
    /// Whether the scalar is a mark on the letter before it: general categories Mn and Me.
    fileprivate var isDiacritic: Bool {
        switch properties.generalCategory {
        case .nonspacingMark, .enclosingMark: true
        default: false
        }
    }

    /// Full case folding after Unicode's CaseFolding.txt, by way of the mappings that the standard library carries: lower case of
    /// upper case, with the letters whose folding is not that put right.
    fileprivate var caseFolded: String.UnicodeScalarView {
        switch value {
        case 0x03C2: return String("\u{03C3}").unicodeScalars  // final sigma
        case 0x1E9E: return String("ss").unicodeScalars  // capital sharp s
        case 0x0130: return String("i\u{0307}").unicodeScalars  // capital I with a dot
        case 0x0131: return String("\u{0131}").unicodeScalars  // dotless i folds to itself
        case 0x13A0...0x13F5: return String(self).unicodeScalars  // Cherokee folds to its capitals
        case 0x13F8...0x13FD, 0xAB70...0xABBF: return properties.uppercaseMapping.unicodeScalars
        default:
            return String(
                properties.uppercaseMapping.unicodeScalars.flatMap { Array($0.properties.lowercaseMapping.unicodeScalars) }
                    .reduce(into: String.UnicodeScalarView()) { $0.append($1 == "\u{03C2}" ? "\u{03C3}" : $1) }
            ).unicodeScalars
        }
    }
}

/// One piece of a `matches` pattern.
private enum GlobElement: Hashable, Sendable {
    case scalar(Unicode.Scalar)
    case anyOne
    case anyRun

    static func elements(of pattern: String, _ options: TextOptions) -> [GlobElement] {
        var elements: [GlobElement] = []
        var literal = ""
        func flush() {
            elements += literal.folded(options).unicodeScalars.map(GlobElement.scalar)
            literal = ""
        }
        var isEscaped = false
        for scalar in pattern.unicodeScalars {
            if isEscaped {
                literal.unicodeScalars.append(scalar)
                isEscaped = false
            } else if scalar == "\\" {
                isEscaped = true
            } else if scalar == "*" {
                flush()
                if elements.last != .anyRun { elements.append(.anyRun) }
            } else if scalar == "?" {
                flush()
                elements.append(.anyOne)
            } else {
                literal.unicodeScalars.append(scalar)
            }
        }
        if isEscaped { literal += "\\" }
        flush()
        return elements
    }

    /// Greedy matching with one point of return, the last run: linear in practice, at most the product of the lengths.
    ///
    /// - Parameter marksFollow: Whether `?` takes the marks after a letter along: folding has taken letters and marks apart.
    static func match(_ elements: [GlobElement], _ subject: [Unicode.Scalar], marksFollow: Bool) -> Bool {
        var element = 0
        var position = 0
        var retry: (element: Int, position: Int)?
        while position < subject.count {
            if element < elements.count {
                switch elements[element] {
                case .anyRun:
                    retry = (element, position)
                    element += 1
                    continue
                case .anyOne:
                    element += 1
                    position += 1
                    while marksFollow, position < subject.count, subject[position].isDiacritic { position += 1 }
                    continue
                case .scalar(let scalar) where scalar == subject[position]:
                    element += 1
                    position += 1
                    continue
                case .scalar: break
                }
            }
            guard let last = retry else { return false }
            retry = (last.element, last.position + 1)
            element = last.element + 1
            position = last.position + 1
        }
        return elements[element...].allSatisfy { $0 == .anyRun }
    }
}
