import Foundation

/// The day, month or year of a field with a date, for `DAO.groups(per:by:totals:orderedBy:limit:having:where:)`.
///
/// ```swift
/// let perDay = try reminders.groups(per: .day(\.completedAt, in: .current), totals: .count) { $0.completedAt >= lastMonth }
/// ```
///
/// Days are those of the Gregorian calendar in a time zone, whose offsets are Foundation's on every database. The value of a
/// group is the first moment of its day, month or year there.
public struct DatePart<Record: Model, Value: OrderedFieldValue>: Sendable {
    let key: GroupKey<Record, Value>

}

extension DatePart where Value.Present == Date {
    private init(_ field: KeyPath<Record, Value>, _ unit: DateUnit, _ zone: TimeZone) {
        let calendar = ZoneCalendar(zone, unit)
        key = GroupKey(field) { value in
            guard case .date(let date) = value else { return value }
            return .date(calendar.start(of: date))
        } typed: { value in
            // A date, or an optional one.
            value.present.flatMap { calendar.start(of: $0) as? Value } ?? value
        }
    }

    /// The days of a field in a time zone. Rows without a date are a group.
    ///
    /// - Parameters:
    ///   - field: A key path to a stored field with a date, or with an optional one.
    ///   - zone: The time zone.
    public static func day(_ field: KeyPath<Record, Value>, in zone: TimeZone) -> DatePart { DatePart(field, .day, zone) }

    /// The months of a field in a time zone. Rows without a date are a group.
    ///
    /// - Parameters:
    ///   - field: A key path to a stored field with a date, or with an optional one.
    ///   - zone: The time zone.
    public static func month(_ field: KeyPath<Record, Value>, in zone: TimeZone) -> DatePart { DatePart(field, .month, zone) }

    /// The years of a field in a time zone. Rows without a date are a group.
    ///
    /// - Parameters:
    ///   - field: A key path to a stored field with a date, or with an optional one.
    ///   - zone: The time zone.
    public static func year(_ field: KeyPath<Record, Value>, in zone: TimeZone) -> DatePart { DatePart(field, .year, zone) }
}

/// What rows are grouped by: a field, or a part of it.
struct GroupKey<Record: Model, Value: OrderedFieldValue>: Sendable {
    /// The position of the field. The error says that there is none.
    let place: Swift.Result<Int, any Error>
    /// Returns the part of a stored value; nil for the value itself.
    let part: (@Sendable (DAOCore.Value) -> DAOCore.Value)?
    private let typedPart: (@Sendable (Value) -> Value)?

    /// Creates the key of the values of a field.
    init(_ field: KeyPath<Record, Value>) {
        place = Swift.Result { try Record.schema.position(of: field) }
        (part, typedPart) = (nil, nil)
    }

    /// Creates the key of a part of the values of a field.
    init(
        _ field: KeyPath<Record, Value>, part: @escaping @Sendable (DAOCore.Value) -> DAOCore.Value,
        typed: @escaping @Sendable (Value) -> Value
    ) {
        place = Swift.Result { try Record.schema.position(of: field) }
        (self.part, typedPart) = (part, typed)
    }

    /// Reads the key of the group that a row belongs to.
    func read(from row: RowReader, at place: Int) throws -> Value {
        let value = try Value.read(from: row, at: place)
        return typedPart?(value) ?? value
    }
}

/// A part of a date.
enum DateUnit { case day, month, year }

/// The days, months or years of a time zone, in the Gregorian calendar of ISO 8601.
final class ZoneCalendar: Sendable {
    private static let secondsOfDay = 86_400
    /// The greatest distance from 2001 that is counted in days, in seconds: some 100,000 years. A date beyond it, infinity and NaN
    /// are in no day of a calendar.
    private static let range = 0x1p41

    private let zone: TimeZone
    private let unit: DateUnit
    private let known = Lock<(starts: [Int: Double], offsets: [Int: Int?])>(([:], [:]))

    init(_ zone: TimeZone, _ unit: DateUnit) {
        self.zone = zone
        self.unit = unit
    }

    /// Returns the first moment of the day, month or year of a date; the date itself where it is in none.
    func start(of date: Date) -> Date {
        let seconds = date.timeIntervalSinceReferenceDate.rounded(.down)
        guard abs(seconds) <= Self.range else { return date }
        let moment = Int(seconds)
        return known.withLock { known in
            let offset = offset(at: moment, &known.offsets)
            let first = firstDay(of: Self.quotient(moment + offset, Self.secondsOfDay))
            if let start = known.starts[first] { return Date(timeIntervalSinceReferenceDate: start) }
            let start = Double(start(ofDay: first))
            known.starts[first] = start
            return Date(timeIntervalSinceReferenceDate: start)
        }
    }

    /// Returns the first day of the unit that has a day. Days are counted from 2001.
    private func firstDay(of day: Int) -> Int {
        if unit == .day { return day }
        let (year, dayOfYear) = Self.year(of: day)
        if unit == .year { return day - dayOfYear }
        let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        var first = 0
        for length in [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] {
            if first + length > dayOfYear { break }
            first += length
        }
        return day - dayOfYear + first
    }

    /// Returns the year of a day, and how many days of the year are before it.
    private static func year(of day: Int) -> (year: Int, dayOfYear: Int) {
        // 2001 begins a cycle of 400 years, of centuries but for the last day, and of four years but for the last day.
        let (cycle, dayOfCycle) = (quotient(day, 146_097), remainder(day, 146_097))
        let century = min(dayOfCycle / 36_524, 3)
        let dayOfCentury = dayOfCycle - century * 36_524
        let fourYears = min(dayOfCentury / 1_461, 24)
        let dayOfFour = dayOfCentury - fourYears * 1_461
        let year = min(dayOfFour / 365, 3)
        return (2001 + cycle * 400 + century * 100 + fourYears * 4 + year, dayOfFour - year * 365)
    }

    /// Returns the first second of a day in the time zone: of what follows, where the zone has left the day out.
    private func start(ofDay day: Int) -> Int {
        let midnight = day * Self.secondsOfDay
        let around = [offset(at: midnight - Self.secondsOfDay), offset(at: midnight + Self.secondsOfDay)]
        // No earlier second can be in the day.
        var before = midnight - around.reduce(around[0], max)
        if before + offset(at: before) >= midnight { return before }
        var start = midnight - around.reduce(around[0], min)
        while start - before > 1 {
            let middle = before + (start - before) / 2
            if middle + offset(at: middle) >= midnight { start = middle } else { before = middle }
        }
        return start
    }

    /// Returns the offset of the zone from UTC at a second. Most days of UTC have one offset.
    private func offset(at second: Int, _ known: inout [Int: Int?]) -> Int {
        let day = Self.quotient(second, Self.secondsOfDay)
        if let offset = known[day] { return offset ?? self.offset(at: second) }
        let (first, last) = (offset(at: day * Self.secondsOfDay), offset(at: (day + 1) * Self.secondsOfDay - 1))
        known[day] = .some(first == last ? first : nil)
        return first == last ? first : offset(at: second)
    }

    private func offset(at second: Int) -> Int {
        zone.secondsFromGMT(for: Date(timeIntervalSinceReferenceDate: Double(second)))
    }

    private static func quotient(_ number: Int, _ divisor: Int) -> Int {
        number / divisor - (number % divisor < 0 ? 1 : 0)
    }

    private static func remainder(_ number: Int, _ divisor: Int) -> Int { number - quotient(number, divisor) * divisor }
}
