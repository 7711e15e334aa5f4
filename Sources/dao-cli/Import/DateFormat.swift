import DAOCore
import DAOSQLite
import Foundation

/// How dates are written in a file: a pattern by Unicode's Technical Standard 35, as in `dd.MM.yyyy HH:mm`, or numbers since a day.
struct DateFormat: Sendable {
    private enum Part: Sendable, Equatable {
        /// A letter of a pattern, and how often it stands there.
        case field(Character, Int)
        case text(String)
    }

    private let parts: [Part]
    private let numbers: StoredForm?

    /// Whether dates are numbers.
    var isOfNumbers: Bool { numbers != nil }

    /// The forms that are numbers.
    private static let forms = StoredForm.allCases.filter { $0.seconds(of: 0.0) != nil }
    private static let months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]

    /// Reads the word of an option.
    init(_ word: String) throws(UsageError) {
        if let form = Self.forms.first(where: { $0.rawValue == word }) {
            (parts, numbers) = ([], form)
            return
        }
        (parts, numbers) = (try Self.parts(of: word), nil)
        func has(_ letters: String) -> Bool {
            parts.contains { if case .field(let letter, _) = $0 { letters.contains(letter) } else { false } }
        }
        guard has("y"), has("M"), has("d"), has("h") == has("a") else {
            throw UsageError(
                "--date-format needs a year, a month and a day, and 'a' beside 'h', as in 'dd.MM.yyyy HH:mm' or 'M/d/yyyy h:mm a', "
                    + "or one of these: \(Self.forms.map(\.rawValue).joined(separator: ", "))")
        }
    }

    private static func parts(of pattern: String) throws(UsageError) -> [Part] {
        var parts: [Part] = []
        var rest = pattern[...]
        while let first = rest.first {
            if first == "'" {
                // Letters in quotes are text, and two quotes are one.
                let quoted = rest.dropFirst().prefix { $0 != "'" }
                rest = rest.dropFirst(quoted.count + 2)
                parts.append(.text(quoted.isEmpty ? "'" : String(quoted)))
                continue
            }
            let run = rest.prefix { $0 == first }
            rest = rest.dropFirst(run.count)
            guard first.isLetter else {
                parts.append(.text(String(run)))
                continue
            }
            let isKnown =
                switch first {
                case "y": run.count == 4
                case "M": run.count <= 3
                case "d", "H", "h", "m", "s": run.count <= 2
                case "S": run.count <= 9
                case "a": run.count == 1
                case "X", "x", "Z": true
                default: false
                }
            guard isKnown, !parts.contains(where: { if case .field(first, _) = $0 { true } else { false } }) else {
                throw UsageError(
                    "--date-format has no '\(run)' there; it has yyyy, M, MM or MMM, d, H or h and a, m, s, S and X, each once, "
                        + "and other letters in quotes")
            }
            parts.append(.field(first, run.count))
        }
        return parts
    }

    /// Reads a date; nil when the text is none, or has more than the date.
    ///
    /// - Parameters:
    ///   - text: The text.
    ///   - zone: The zone of a date without one; nil for UTC.
    func date(of text: String, in zone: TimeZone?) -> Date? {
        if let numbers {
            let seconds = Int64(text).map { numbers.seconds(of: $0) } ?? Double(strictText: text).map { numbers.seconds(of: $0) }
            return seconds?.flatMap { $0.isFinite ? Date(timeIntervalSinceReferenceDate: $0) : nil }
        }
        var rest = text[...]
        var found: [Character: String] = [:]
        for part in parts {
            switch part {
            case .text(let literal):
                guard rest.hasPrefix(literal) else { return nil }
                rest = rest.dropFirst(literal.count)
            case .field(let letter, let count):
                guard let word = Self.word(of: letter, count, rest) else { return nil }
                found[letter] = String(word)
                rest = rest.dropFirst(word.count)
            }
        }
        return rest.isEmpty ? Self.date(of: found, in: zone) : nil
    }

    /// The characters at the beginning of a text that are a field; nil when there is none.
    private static func word(of letter: Character, _ count: Int, _ text: Substring) -> Substring? {
        let digits = text.prefix { $0.isASCII && $0.isWholeNumber }
        switch letter {
        case "M" where count == 3: return months.contains(text.prefix(3).lowercased()) ? text.prefix(3) : nil
        case "a": return ["am", "pm"].contains(text.prefix(2).lowercased()) ? text.prefix(2) : nil
        case "X", "x", "Z": return text.prefixMatch(of: /Z|[+\-]\d\d(?::?\d\d)?/.asciiOnlyDigits())?.output
        case "y", "S": return digits.count >= count ? digits.prefix(count) : nil
        default: return digits.count >= count ? digits.prefix(2) : nil
        }
    }

    private static func date(of words: [Character: String], in zone: TimeZone?) -> Date? {
        func number(_ letter: Character) -> Int { words[letter].flatMap { Int($0) } ?? 0 }
        func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let month = words["M"].flatMap { word in months.firstIndex(of: word.lowercased()).map { $0 + 1 } ?? Int(word) } ?? 0
        var hour = number("H")
        if let half = words["a"] {
            guard (1...12).contains(number("h")) else { return nil }
            hour = number("h") % 12 + (half.lowercased() == "pm" ? 12 : 0)
        }
        var text = "\(words["y"] ?? "")-\(two(month))-\(two(number("d")))T\(two(hour)):\(two(number("m"))):\(two(number("s")))"
        if let fraction = words["S"] { text += ".\(fraction)" }
        if let offset = ["X", "x", "Z"].lazy.compactMap({ words[$0] }).first {
            let digits = offset.filter(\.isWholeNumber)
            text += offset == "Z" ? "Z" : "\(offset.prefix(1))\(digits.prefix(2)):\(digits.count == 4 ? digits.suffix(2) : "00")"
        }
        return StoredForm.date(of: text, in: zone)
    }
}
