/// A total of the rows of a group, for `DAO.groups(by:_:_:where:)`. Nil values are ignored, except by ``count``.
public struct GroupTotal<Record: Model, Result: Sendable>: Sendable {
    /// The field; nil for the number of rows.
    private let field: (any PartialKeyPath<Record> & Sendable)?
    /// Begins the total of a field at a position.
    private let make: @Sendable (Int) -> RunningTotal<Result>

    private init(_ field: (any PartialKeyPath<Record> & Sendable)?, _ make: @escaping @Sendable (Int) -> RunningTotal<Result>) {
        self.field = field
        self.make = make
    }

    /// Returns the position of the field; nil for the number of rows.
    ///
    /// - Throws: `.invalidQuery` when the field is not stored.
    func place() throws -> Int? { try field.map(Record.schema.position(of:)) }

    /// Begins the total of a group.
    func begin() throws -> RunningTotal<Result> { make(try place() ?? 0) }
}

extension GroupTotal where Result == Int {
    /// The number of rows.
    public static var count: GroupTotal { GroupTotal(nil) { _ in RunningTotal({ _ in }, { $0 }) } }
}

extension GroupTotal where Result: NumericFieldValue {
    /// The sum of a field; zero when there are no values. Floating-point numbers are added in key order.
    ///
    /// - Parameter field: A key path to a stored numeric field.
    public static func sum<Value: OrderedFieldValue>(_ field: any KeyPath<Record, Value> & Sendable) -> GroupTotal
    where Value.Present == Result {
        GroupTotal(field) { place in
            var total = NumericTotal()
            return RunningTotal(
                { total.add(try Value.read(from: $0, at: place).fieldValue) },
                { _ in
                    let entity = Record.schema.description
                    return try Result(total: total, entity: entity.name, field: entity.fields[place].name)
                })
        }
    }
}

extension GroupTotal where Result == Double? {
    /// The average of a field; nil when there are no values.
    ///
    /// - Parameter field: A key path to a stored numeric field.
    public static func average<Value: OrderedFieldValue>(_ field: any KeyPath<Record, Value> & Sendable) -> GroupTotal
    where Value.Present: NumericFieldValue {
        GroupTotal(field) { place in
            var total = NumericTotal()
            return RunningTotal({ total.add(try Value.read(from: $0, at: place).fieldValue) }, { _ in total.average })
        }
    }
}

extension GroupTotal {
    /// The smallest value of a field; nil when there are no values.
    ///
    /// - Parameter field: A key path to a stored field.
    public static func min<Value: OrderedFieldValue>(_ field: any KeyPath<Record, Value> & Sendable) -> GroupTotal
    where Result == Value.Present? { extreme(field) { $0 < 0 } }

    /// The greatest value of a field; nil when there are no values.
    ///
    /// - Parameter field: A key path to a stored field.
    public static func max<Value: OrderedFieldValue>(_ field: any KeyPath<Record, Value> & Sendable) -> GroupTotal
    where Result == Value.Present? { extreme(field) { $0 > 0 } }

    private static func extreme<Value: OrderedFieldValue>(
        _ field: any KeyPath<Record, Value> & Sendable, _ isBetter: @escaping @Sendable (Int) -> Bool
    ) -> GroupTotal where Result == Value.Present? {
        GroupTotal(field) { place in
            var found: Value.Present?
            return RunningTotal(
                { row in
                    guard let value = try Value.read(from: row, at: place).present else { return }
                    if let best = found, !isBetter(DAOCore.Value.order(value.fieldValue, best.fieldValue)) { return }
                    found = value
                },
                { _ in found })
        }
    }
}

/// Counts the rows of a group, and adds them to its total.
class RowCounter {
    /// The number of rows.
    final var count = 0

    func add(_ row: RowReader) throws { count += 1 }
}

/// The total of a group while its rows are read.
final class RunningTotal<Result>: RowCounter {
    private let addRow: (RowReader) throws -> Void
    private let finish: (Int) throws -> Result

    /// - Parameters:
    ///   - addRow: Adds a row.
    ///   - finish: Returns the total from the number of rows.
    init(_ addRow: @escaping (RowReader) throws -> Void, _ finish: @escaping (Int) throws -> Result) {
        self.addRow = addRow
        self.finish = finish
    }

    override func add(_ row: RowReader) throws {
        try super.add(row)
        try addRow(row)
    }

    func result() throws -> Result { try finish(count) }
}
