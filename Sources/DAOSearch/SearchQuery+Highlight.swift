extension SearchQuery {
    /// Returns what the search finds in a text, for highlighting: the ranges of words and phrases, ascending.
    ///
    /// ```swift
    /// for range in query.ranges(in: article.text) { attributed[range].backgroundColor = .yellow }
    /// ```
    ///
    /// A phrase is one range, and so are letters of Chinese or Japanese that are found side by side. Words below `NOT` have none. The
    /// complexity is linear in the length of the text.
    public func ranges(in text: String) -> [Range<String.Index>] {
        let terms = Term.terms(of: text)
        return QueryMatcher(self).foundWords(in: terms).map { words in
            let utf8 = text.utf8
            return utf8.index(
                utf8.startIndex, offsetBy: terms[words.lowerBound].range.lowerBound)..<utf8.index(
                    utf8.startIndex, offsetBy: terms[words.upperBound - 1].range.upperBound)
        }
    }

    /// A part of a text with what was found.
    public struct Snippet: Sendable, Equatable {
        /// The part, with an ellipsis where the text goes on.
        public let text: String
        /// The ranges of what was found in it, ascending.
        public let ranges: [Range<String.Index>]
    }

    /// Returns the part of a text that has the most of what the search finds.
    ///
    /// - Parameters:
    ///   - text: A text of a searchable field.
    ///   - length: The number of characters of the part, at least 1.
    /// - Returns: The part; the beginning of the text where nothing is found in it.
    public func snippet(of text: String, length: Int) -> Snippet {
        let length = max(length, 1)
        let found = ranges(in: text)
        // The first of the parts that begin with something that is found and have the most of it.
        var (start, most) = (text.startIndex, 0)
        for (number, range) in found.enumerated() {
            let end = text.index(range.lowerBound, offsetBy: length, limitedBy: text.endIndex) ?? text.endIndex
            let count = found[number...].prefix { $0.upperBound <= end }.count
            if count > most { (start, most) = (range.lowerBound, count) }
        }
        let end = text.index(start, offsetBy: length, limitedBy: text.endIndex) ?? text.endIndex
        if start > text.startIndex {
            // Half of the length that is left goes before it, from the beginning of a word on.
            let last = found.last { $0.upperBound <= end }?.upperBound ?? end
            let rest = max(length - text.distance(from: start, to: last), 0)
            let first = text.index(start, offsetBy: -(rest / 2), limitedBy: text.startIndex) ?? text.startIndex
            let offset = text.utf8.distance(from: text.startIndex, to: first)
            let word = Term.terms(of: text).first { $0.range.lowerBound >= offset }?.range.lowerBound ?? offset
            start = first == text.startIndex ? first : text.utf8.index(text.startIndex, offsetBy: word)
        }
        let stop = text.index(start, offsetBy: length, limitedBy: text.endIndex) ?? text.endIndex
        let prefix = start > text.startIndex ? "…" : ""
        let part = prefix + text[start..<stop] + (stop < text.endIndex ? "…" : "")
        let utf8 = part.utf8
        func index(_ index: String.Index) -> String.Index {
            utf8.index(utf8.startIndex, offsetBy: prefix.utf8.count + text.utf8.distance(from: start, to: index))
        }
        let inside = found.filter { $0.lowerBound >= start && $0.upperBound <= stop }
        return Snippet(text: part, ranges: inside.map { index($0.lowerBound)..<index($0.upperBound) })
    }
}
