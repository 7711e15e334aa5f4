import Foundation

extension Date {
    /// Reads a date of ISO 8601, in predicates, conversions and imports alike: `2024-05-31`, `2024-05-31T18:30`, `2024-05-31 18:30:00.25Z`,
    /// `2024-05-31T18:30:00+02:00`. Without a time it is the beginning of the day; without a zone, UTC.
    ///
    /// The calendar is that of ISO 8601, of the years from 0001 to 9999; nil when the text is no such date.
    ///
    /// - Parameters:
    ///   - text: The text. It has nothing before or after the date.
    ///   - needsZone: Whether a date without a time and its zone is refused.
    package init?(isoText text: String, needsZone: Bool = false) {
        // A regular expression takes some 50 times as long, which imports notice.
        var words = ISOWords(rest: text.utf8[...])
        guard let year = words.number(4), words.take("-"), let month = words.number(2), words.take("-"), let day = words.number(2)
        else { return nil }
        var (hour, minute, second, fraction, offset) = (0, 0, 0, 0.0, Int?.none)
        if !words.isAtEnd {
            guard words.take("T") || words.take(" "), let hours = words.number(2), words.take(":"), let minutes = words.number(2)
            else { return nil }
            (hour, minute) = (hours, minutes)
            if words.take(":") {
                guard let seconds = words.number(2) else { return nil }
                second = seconds
                if words.take(".") {
                    guard let digits = words.digits(atMost: 9), let part = Double("0." + digits) else { return nil }
                    fraction = part
                }
            }
            if words.take("Z") {
                offset = 0
            } else if !words.isAtEnd {
                let isWest = words.take("-")
                guard isWest || words.take("+"), let hours = words.number(2), words.take(":"), let minutes = words.number(2),
                    hours < 24, minutes < 60
                else { return nil }
                offset = (isWest ? -60 : 60) * (60 * hours + minutes)
            }
        }
        let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        let lengths = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
        guard words.isAtEnd, !needsZone || offset != nil, year > 0, (1...12).contains(month),
            (1...lengths[month - 1]).contains(day), hour < 24, minute < 60, second < 60
        else { return nil }
        let earlier = year - 1
        let days = 365 * earlier + earlier / 4 - earlier / 100 + earlier / 400 + lengths[..<(month - 1)].reduce(0, +) + day - 1
        // 2001 begins this many days after the year 1.
        let seconds = 86_400 * (days - 730_485) + 3600 * hour + 60 * minute + second - (offset ?? 0)
        self.init(timeIntervalSinceReferenceDate: Double(seconds) + fraction)
    }
}

/// The characters of a date that are not read yet.
private struct ISOWords {
    var rest: Substring.UTF8View

    var isAtEnd: Bool { rest.isEmpty }

    /// Takes a character if it is the next.
    mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard let byte = rest.first, byte == UInt8(ascii: character) else { return false }
        rest.removeFirst()
        return true
    }

    /// Takes a number of a given number of digits; nil when there are fewer.
    mutating func number(_ count: Int) -> Int? {
        let digits = rest.prefix(count)
        guard digits.count == count, digits.allSatisfy({ (48...57).contains($0) }) else { return nil }
        rest = rest.dropFirst(count)
        return digits.reduce(0) { 10 * $0 + Int($1 - 48) }
    }

    /// Takes all digits that follow; nil when there is none, or too many.
    mutating func digits(atMost limit: Int) -> Substring? {
        let digits = rest.prefix { (48...57).contains($0) }
        guard (1...limit).contains(digits.count) else { return nil }
        rest = rest.dropFirst(digits.count)
        return Substring(digits)
    }
}
