import Foundation

/// The words of a doc comment after `- Stored:`, separated by commas.
///
/// ```swift
/// /// - Stored: indexed, renamed(from: "headline")
/// let title: String
/// ```
struct StoredOptions {
    /// A word with its arguments, such as `renamed(from: "headline")`.
    struct Word {
        /// The word before the parenthesis.
        var name: String
        /// The text between the parentheses; nil without them.
        var arguments: String?
        var line: Int?

        var text: String { name + (arguments.map { "(\($0))" } ?? "") }
    }

    private(set) var words: [Word] = []

    init(_ comment: SymbolGraph.Comment?) {
        var isInside = false
        for line in comment?.lines ?? [] {
            let text = line.text.trimmingCharacters(in: .whitespaces)
            var rest = Substring(text)
            if let match = text.prefixMatch(of: /[-*+]\s+stored:/.ignoresCase()) {
                isInside = true
                rest = text[match.range.upperBound...]
            } else if text.isEmpty || text.contains(/^[-*+]\s/) || !line.text.hasPrefix(" ") {
                isInside = false
            }
            guard isInside else { continue }
            let number = (line.range?.start.line).map { $0 + 1 }
            words += Self.split(rest).map { Self.word($0, line: number) }
        }
    }

    /// The words with a name.
    func all(_ name: String) -> [Word] { words.filter { $0.name == name } }

    /// Whether there is a word with a name.
    func has(_ name: String) -> Bool { words.contains { $0.name == name } }

    /// The text in quotes that follows a word, as in `named("post_code")`; nil when it is missing.
    func quoted(_ name: String) -> String? {
        all(name).compactMap { $0.arguments?.wholeMatch(of: /\s*"([^"\\]*)"\s*/).map { String($0.output.1) } }.first
    }

    private static func word(_ text: String, line: Int?) -> Word {
        let text = text.hasPrefix(".") ? String(text.dropFirst()) : text
        guard let open = text.firstIndex(of: "("), text.hasSuffix(")") else { return Word(name: text, line: line) }
        return Word(
            name: String(text[..<open]).trimmingCharacters(in: .whitespaces),
            arguments: String(text[text.index(after: open)...].dropLast()), line: line)
    }

    /// The parts between the commas that are not in parentheses, brackets or quotes.
    static func split(_ text: Substring) -> [String] {
        var parts = [""]
        var depth = 0
        var isQuoted = false
        var isEscaped = false
        for character in text {
            if character == "\"", !isEscaped { isQuoted.toggle() }
            isEscaped = isQuoted && character == "\\" && !isEscaped
            if !isQuoted, "([{".contains(character) { depth += 1 }
            if !isQuoted, ")]}".contains(character) { depth -= 1 }
            if character == ",", depth == 0, !isQuoted { parts.append("") } else { parts[parts.count - 1].append(character) }
        }
        return parts.map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
    }
}
