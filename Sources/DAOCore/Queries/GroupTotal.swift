/// A total of the rows of a group, for `DAO.groups(by:totals:orderedBy:limit:having:where:)` and `DAO.totals(_:_:where:)`. Nil
/// values are ignored, except by ``count``.
///
/// Totals are compared with values in the condition of `having`: `.all(.count > 3, .max(\.date) < cutoff)`.
public struct GroupTotal<Record: Model, Result: OrderedFieldValue>: Sendable {
    /// The total, without the type of its result.
    let erased: ErasedGroupTotal<Record>
    /// Begins the total of a group.
    private let make: @Sendable (PreparedTotal) -> RunningTotal<Result>

    private init(
        _ source: ErasedGroupTotal<Record>.Source, _ make: @escaping @Sendable (PreparedTotal) -> RunningTotal<Result>
    ) {
        erased = ErasedGroupTotal(source: source, begin: make)
        self.make = make
    }

    /// Creates the total of the values of a field, which is at a place in the rows.
    fileprivate init<Value: FieldValue>(
        _ field: KeyPath<Record, Value>, _ make: @escaping @Sendable (Int) -> RunningTotal<Result>
    ) {
        self.init(.values(Swift.Result { try Record.schema.position(of: field) })) { make($0.place) }
    }

    /// Begins the total of a group.
    func begin(_ prepared: PreparedTotal) -> RunningTotal<Result> { make(prepared) }
}

extension GroupTotal where Result == Int {
    private init(_ count: GroupCount<Record>, _ counts: @escaping @Sendable (PreparedTotal) -> (RowReader) throws -> Bool) {
        self.init(.count(count)) { RunningTotal(counting: counts($0)) { $0 } }
    }

    /// The number of rows.
    public static var count: GroupTotal { GroupTotal(.rows) { _ in { _ in true } } }

    /// The number of rows that meet a condition.
    ///
    /// ```swift
    /// let (open, flagged) = try reminders.totals(.count { !$0.isDone }, .count { $0.isFlagged })
    /// ```
    ///
    /// - Parameter condition: A closure that makes the condition from the fields of the model.
    public static func count(where condition: (FieldProxy<Record>) -> some ConditionConvertible<Record>) -> GroupTotal {
        count(where: Condition(condition))
    }

    /// The number of rows that meet a prepared condition.
    ///
    /// - Parameter condition: The condition.
    public static func count(where condition: Condition<Record>) -> GroupTotal {
        GroupTotal(.rowsMeeting(condition)) { prepared in
            { row in try prepared.filter.matches { try row.readValue(at: $0) } }
        }
    }

    /// The number of different values of a field. Two are the same when a condition finds them equal.
    ///
    /// - Parameter field: A key path to a stored field.
    public static func countDistinct<Value: OrderedFieldValue>(_ field: KeyPath<Record, Value>) -> GroupTotal {
        do {
            return GroupTotal(.values(field: try Record.schema.position(of: field))) { prepared in
                var seen: Set<DAOCore.Value> = []
                return { row in
                    let value = try row.readValue(at: prepared.place)
                    return !value.isNull && seen.insert(value).inserted
                }
            }
        } catch {
            return GroupTotal(.values(.failure(error))) { _ in
                RunningTotal { _ in
                } result: {
                    0
                }
            }
        }
    }
}

extension GroupTotal where Result: NumericFieldValue {
    /// The sum of a field; zero when there are no values. Floating-point numbers are added in key order.
    ///
    /// - Parameter field: A key path to a stored numeric field.
    public static func sum<Value: OrderedFieldValue>(_ field: KeyPath<Record, Value>) -> GroupTotal
    where Value.Present == Result {
        GroupTotal(field) { place in
            var total = NumericTotal()
            return RunningTotal {
                total.add(try Value.read(from: $0, at: place).fieldValue)
            } result: {
                let entity = Record.schema.description
                return try Result(total: total, entity: entity.name, field: entity.fields[place].name)
            }
        }
    }
}

extension GroupTotal where Result == Double? {
    /// The average of a field; nil when there are no values.
    ///
    /// - Parameter field: A key path to a stored numeric field.
    public static func average<Value: OrderedFieldValue>(_ field: KeyPath<Record, Value>) -> GroupTotal
    where Value.Present: NumericFieldValue {
        GroupTotal(field) { place in
            var total = NumericTotal()
            return RunningTotal {
                total.add(try Value.read(from: $0, at: place).fieldValue)
            } result: {
                total.average
            }
        }
    }
}

extension GroupTotal {
    /// The smallest value of a field; nil when there are no values.
    ///
    /// - Parameter field: A key path to a stored field.
    public static func min<Value: OrderedFieldValue>(_ field: KeyPath<Record, Value>) -> GroupTotal
    where Result == Value.Present? { extreme(field) { $0 < 0 } }

    /// The greatest value of a field; nil when there are no values.
    ///
    /// - Parameter field: A key path to a stored field.
    public static func max<Value: OrderedFieldValue>(_ field: KeyPath<Record, Value>) -> GroupTotal
    where Result == Value.Present? { extreme(field) { $0 > 0 } }

    private static func extreme<Value: OrderedFieldValue>(
        _ field: KeyPath<Record, Value>, _ isBetter: @escaping @Sendable (Int) -> Bool
    ) -> GroupTotal where Result == Value.Present? {
        GroupTotal(field) { place in
            var found: Value.Present?
            return RunningTotal { row in
                guard let value = try Value.read(from: row, at: place).present else { return }
                if let best = found, !isBetter(DAOCore.Value.order(value.fieldValue, best.fieldValue)) { return }
                found = value
            } result: {
                found
            }
        }
    }
}

/// What a database counts in each group of rows, for ``Storage/groups(_:_:)``.
public enum GroupCount<Record: Model>: Sendable, Hashable {
    /// The rows.
    case rows
    /// The rows that meet a condition.
    case rowsMeeting(Condition<Record>)
    /// The different values of a field that are not nil. Two are the same when a condition finds them equal.
    case values(field: Int)
}

/// A total without the type of its result.
struct ErasedGroupTotal<Record: Model>: Sendable {
    /// What the total is computed from.
    enum Source: Sendable {
        /// A number, which a database can count by itself.
        case count(GroupCount<Record>)
        /// The values of a field. The error says that there is none.
        case values(Swift.Result<Int, any Error>)
    }

    let source: Source
    /// Begins the total of a group.
    let begin: @Sendable (PreparedTotal) -> RowCounter

    /// What a database counts for the total; nil where it is computed from the values of the rows.
    var count: GroupCount<Record>? { if case .count(let count) = source { count } else { nil } }
}

/// What the totals of all groups have in common in one call.
struct PreparedTotal {
    /// The position of the field; zero where the total has none.
    var place = 0
    /// The rows that are counted.
    var filter = Filter.all
    /// The fields that it reads.
    var fields: Set<Int> = []
    /// The number of its count among those that the database is asked for.
    var column = 0
}

/// The total of a group while its rows are read.
class RowCounter {
    /// The number of rows that count.
    final var count = 0

    func add(_ row: RowReader) throws { count += 1 }

    /// The total, for comparisons.
    func value() throws -> Value { .integer(Int64(count)) }
}

/// The total of a group, of a type.
final class RunningTotal<Result: OrderedFieldValue>: RowCounter {
    private let counts: (RowReader) throws -> Bool
    private let finish: (Int) throws -> Result

    /// Creates a number of rows.
    ///
    /// - Parameters:
    ///   - counts: Returns whether a row counts.
    ///   - finish: Returns the total from the number.
    init(counting counts: @escaping (RowReader) throws -> Bool, _ finish: @escaping (Int) -> Result) {
        self.counts = counts
        self.finish = finish
    }

    /// Creates a total of values.
    ///
    /// - Parameters:
    ///   - add: Adds the value of a row.
    ///   - result: Returns the total.
    init(_ add: @escaping (RowReader) throws -> Void, result: @escaping () throws -> Result) {
        counts = {
            try add($0)
            return true
        }
        finish = { _ in try result() }
    }

    override func add(_ row: RowReader) throws { if try counts(row) { count += 1 } }

    override func value() throws -> Value { try result().fieldValue }

    func result() throws -> Result { try finish(count) }
}
