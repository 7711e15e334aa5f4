import Foundation

/// A prepared pattern of a text operator. It is folded according to the options and, for `matches`, parsed.
public struct TextPattern: Sendable, Hashable {
    /// The text operator.
    public let match: TextMatch
    /// The original pattern.
    public let text: String
    /// The differences that the operator ignores.
    public let options: TextOptions

    private let folded: [UInt8]
    private let elements: [GlobElement]

    /// Prepares a pattern.
    ///
    /// - Parameters:
    ///   - match: The text operator.
    ///   - text: The pattern.
    ///   - options: The differences that the operator ignores.
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

    /// Returns whether a text matches. This method defines the meaning of the text operators (contract P2).
    public func matches(_ candidate: String) -> Bool {
        var inside: Set<Int> = []
        var subject = options.isEmpty ? candidate : candidate.folded(options) { inside.insert($0) }
        let isWhole = !options.isEmpty
        if match == .matches {
            var (scalars, insideScalars, offset): ([Unicode.Scalar], Set<Int>, Int) = ([], [], 0)
            for scalar in subject.unicodeScalars {
                if !inside.isEmpty, inside.contains(offset) { insideScalars.insert(scalars.count) }
                scalars.append(scalar)
                offset += UTF8.width(scalar)
            }
            return GlobElement.match(elements, scalars, endsBetweenCharacters: isWhole, inside: insideScalars)
        }
        return subject.withUTF8 { subject in
            func isBetweenCharacters(_ position: Int) -> Bool {
                (inside.isEmpty || !inside.contains(position)) && subject.isBetweenCharacters(position)
            }
            return folded.withUnsafeBufferPointer { pattern in
                guard subject.count >= pattern.count else { return false }
                let rest = subject.count - pattern.count
                switch match {
                case .equals, .matches: return rest == 0 && subject.elementsEqual(pattern)
                case .hasPrefix:
                    return subject.prefix(pattern.count).elementsEqual(pattern)
                        && (!isWhole || isBetweenCharacters(pattern.count))
                case .hasSuffix:
                    return subject.suffix(pattern.count).elementsEqual(pattern) && (!isWhole || isBetweenCharacters(rest))
                case .contains:
                    return subject.contains(run: pattern) { !isWhole || (isBetweenCharacters($0) && isBetweenCharacters($1)) }
                }
            }
        }
    }
}

extension UnsafeBufferPointer<UInt8> {
    /// Returns whether the bytes contain a sequence of bytes. It finds the first byte of the sequence, then
    /// compares.
    ///
    /// - Parameter counts: Returns whether the sequence counts that is at a position, and ends before another.
    fileprivate func contains(run: UnsafeBufferPointer<UInt8>, where counts: (Int, Int) -> Bool) -> Bool {
        guard let first = run.first, let pattern = run.baseAddress else { return true }
        guard let start = baseAddress, run.count <= count else { return false }
        var position = start
        let end = start + (count - run.count + 1)
        while position < end, let found = memchr(position, Int32(first), end - position) {
            let hit = UnsafePointer(found.assumingMemoryBound(to: UInt8.self))
            if memcmp(hit, pattern, run.count) == 0, counts(hit - start, hit - start + run.count) { return true }
            position = hit + 1
        }
        return false
    }

    /// Returns whether a position of a decomposed text is between two characters, or at one of its ends. It is where a scalar
    /// begins.
    fileprivate func isBetweenCharacters(_ position: Int) -> Bool {
        if position == 0 || position >= count || self[position] < 0xCC { return true }
        // The last scalar before the position, and the first one after it.
        guard let before = String(decoding: self[Swift.max(0, position - 4)..<position], as: UTF8.self).unicodeScalars.last,
            let after = String(decoding: self[position..<Swift.min(position + 4, count)], as: UTF8.self).unicodeScalars.first
        else { return true }
        return !after.continues(before)
    }
}

extension String {
    /// Returns the text with case and diacritics folded according to the options, by Unicode's tables and
    /// without a locale.
    package func folded(_ options: TextOptions) -> String { folded(options) { _ in } }

    /// Returns the folded text, and calls a closure with each of its positions that are inside of what one character became: `ß`
    /// becomes `ss`, and the iota below a Greek letter becomes a letter. Such a scalar does not tell by itself that it belongs to
    /// the one before it.
    fileprivate func folded(_ options: TextOptions, inside: (Int) -> Void) -> String {
        if options.isEmpty { return self }
        if utf8.allSatisfy({ $0 < 0x80 }) { return options.contains(.caseInsensitive) ? lowercased() : self }
        // Decomposition separates a letter from its marks, so that both spellings of "é" have the same folded
        // form.
        var folded = ""
        folded.reserveCapacity(utf8.count)
        // One by one: to append several scalars at once copies the text.
        func append(_ scalar: Unicode.Scalar) { folded.unicodeScalars.append(scalar) }
        for scalar in decomposed.unicodeScalars {
            if options.contains(.diacriticInsensitive), scalar.isDiacritic { continue }
            guard options.contains(.caseInsensitive) else {
                append(scalar)
                continue
            }
            var isFirst = scalar != "\u{0345}" || folded.isEmpty
            scalar.forEachFolded { part in
                if !isFirst { inside(folded.utf8.count) }
                isFirst = false
                append(part)
            }
        }
        return folded.decomposed
    }

    /// The text in canonical decomposition, made of pieces: the time that Foundation takes grows with the square of the length.
    ///
    /// A piece ends before a scalar that is no mark. Decomposition reorders nothing but marks.
    private var decomposed: String {
        let scalars = unicodeScalars
        var (result, start, count) = ("", scalars.startIndex, 0)
        for index in scalars.indices {
            if count >= 1_000, !scalars[index].isMark {
                result += String(scalars[start..<index]).decomposedStringWithCanonicalMapping
                (start, count) = (index, 0)
            }
            count += 1
        }
        let last = start == scalars.startIndex ? self : String(scalars[start...])
        return result + last.decomposedStringWithCanonicalMapping
    }
}

extension Unicode.Scalar {
    /// Whether the scalar is of one character with the preceding one, in canonical decomposition: it is a mark, or a jamo of the
    /// same syllable.
    fileprivate func continues(_ previous: Unicode.Scalar) -> Bool {
        // The first mark is U+0300.
        if value < 0x300 { return false }
        switch (previous.jamo, jamo) {
        case (.leading, .leading), (.leading, .vowel), (.vowel, .vowel), (.vowel, .trailing), (.trailing, .trailing): return true
        default: return isMark
        }
    }

    /// The place of a jamo in a syllable of Hangul.
    private enum Jamo { case leading, vowel, trailing }

    private var jamo: Jamo? {
        switch value {
        case 0x1100...0x115F, 0xA960...0xA97C: .leading
        case 0x1160...0x11A7, 0xD7B0...0xD7C6: .vowel
        case 0x11A8...0x11FF, 0xD7CB...0xD7FB: .trailing
        default: nil
        }
    }

    /// Whether the scalar is a mark: general categories Mn, Mc and Me.
    fileprivate var isMark: Bool {
        switch properties.generalCategory {
        case .nonspacingMark, .spacingMark, .enclosingMark: true
        default: false
        }
    }

    /// Whether the scalar is a mark on the preceding letter: general categories Mn and Me.
    fileprivate var isDiacritic: Bool {
        switch properties.generalCategory {
        case .nonspacingMark, .enclosingMark: true
        default: false
        }
    }

    /// Calls a closure with each scalar of the full case folding as in Unicode's CaseFolding.txt, derived from the mappings of the
    /// standard library: the lower case of the upper case. Letters with a different folding are handled separately.
    package func forEachFolded(_ body: (Unicode.Scalar) -> Void) {
        switch value {
        case 0..<0x80: body(0x41...0x5A ~= value ? Unicode.Scalar(UInt8(value) | 0x20) : self)
        case 0x03C2: body("\u{03C3}")  // final sigma
        case 0x1E9E: "ss".unicodeScalars.forEach(body)  // capital sharp s
        case 0x0130: "i\u{0307}".unicodeScalars.forEach(body)  // capital I with a dot
        case 0x0131, 0x13A0...0x13F5: body(self)  // dotless i folds to itself, Cherokee to its capitals
        case 0x13F8...0x13FD, 0xAB70...0xABBF: properties.uppercaseMapping.unicodeScalars.forEach(body)
        default:
            for upper in properties.uppercaseMapping.unicodeScalars {
                for lower in upper.properties.lowercaseMapping.unicodeScalars { body(lower == "\u{03C2}" ? "\u{03C3}" : lower) }
            }
        }
    }
}

/// An element of a `matches` pattern.
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

    /// Greedy matching with a single backtracking point, the last `*`. It is linear in practice; the worst
    /// case is the product of the lengths.
    ///
    /// - Parameters:
    ///   - endsBetweenCharacters: Whether what a wildcard or a text between two of them matches begins and ends between
    ///     characters. Folding has separated letters and marks.
    ///   - inside: The positions that are inside of what one character became.
    static func match(
        _ elements: [GlobElement], _ subject: [Unicode.Scalar], endsBetweenCharacters: Bool, inside: Set<Int>
    ) -> Bool {
        var element = 0
        var position = 0
        var retry: (element: Int, position: Int)?
        func isInsideCharacter(_ position: Int) -> Bool {
            endsBetweenCharacters && position > 0 && position < subject.count
                && (subject[position].continues(subject[position - 1]) || (!inside.isEmpty && inside.contains(position)))
        }
        func characterEnd(after position: Int) -> Int {
            var end = position + 1
            while isInsideCharacter(end) { end += 1 }
            return end
        }
        while position < subject.count {
            if element < elements.count {
                switch elements[element] {
                case .anyRun:
                    retry = (element, position)
                    element += 1
                    continue
                case .anyOne:
                    element += 1
                    position = characterEnd(after: position)
                    continue
                case .scalar(let scalar) where scalar == subject[position]:
                    let isLast = if element + 1 < elements.count, case .scalar = elements[element + 1] { false } else { true }
                    if isLast, isInsideCharacter(position + 1) { break }
                    element += 1
                    position += 1
                    continue
                case .scalar: break
                }
            }
            guard let last = retry else { return false }
            let next = characterEnd(after: last.position)
            retry = (last.element, next)
            element = last.element + 1
            position = next
        }
        return elements[element...].allSatisfy { $0 == .anyRun }
    }
}
