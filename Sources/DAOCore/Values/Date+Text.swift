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
        let pattern = /(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(\.\d{1,9})?)?(Z|[+\-]\d\d:\d\d)?)?/.asciiOnlyDigits()
        guard let words = text.wholeMatch(of: pattern)?.output else { return nil }
        if needsZone, words.8 == nil { return nil }
        func number(_ word: Substring?) -> Int { word.flatMap { Int($0) } ?? 0 }
        let (year, month, day) = (number(words.1), number(words.2), number(words.3))
        let (hour, minute, second) = (number(words.4), number(words.5), number(words.6))
        let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        let lengths = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
        guard year > 0, (1...12).contains(month), (1...lengths[month - 1]).contains(day), hour < 24, minute < 60, second < 60
        else { return nil }
        var offset = 0
        if let zone = words.8, zone != "Z" {
            let (hours, minutes) = (number(zone.dropFirst().prefix(2)), number(zone.suffix(2)))
            guard hours < 24, minutes < 60 else { return nil }
            offset = (zone.hasPrefix("-") ? -60 : 60) * (60 * hours + minutes)
        }
        let earlier = year - 1
        let days = 365 * earlier + earlier / 4 - earlier / 100 + earlier / 400 + lengths[..<(month - 1)].reduce(0, +) + day - 1
        // 2001 begins this many days after the year 1.
        let seconds = 86_400 * (days - 730_485) + 3600 * hour + 60 * minute + second - offset
        let fraction = words.7.flatMap { Double("0" + $0) } ?? 0
        self.init(timeIntervalSinceReferenceDate: Double(seconds) + fraction)
    }
}
