import DAOCore

/// What the tests themselves need to know of a model.
protocol TestRecord: PropertyTestModel {
    /// The fields, in the schema's order.
    static var columns: [Column<Self>] { get }
    /// A model in which every field has the value that scripts leave out.
    static var blank: Self { get }
}

extension TestRecord {
    var values: [Value] { Self.columns.map { $0.get(self) } }

    init(values: [Value]) { self = Self.make(values) }

    static func make(_ values: [Value]) -> Self {
        var record = blank
        for (column, value) in zip(columns, values) { column.set(&record, value) }
        return record
    }
}

/// What totals there are.
enum Total: String, Sendable, CaseIterable {
    case min, max, sum, average
}

/// One field of a model: how to take it out, put it in, and total it.
struct Column<Record: TestRecord>: Sendable {
    typealias Totals = @Sendable (DAO<Record>, Total, Condition<Record>) throws -> Value

    let get: @Sendable (Record) -> Value
    let set: @Sendable (inout Record, Value) -> Void
    /// `dao.set` of the field.
    let setAll: @Sendable (DAO<Record>, Value, Condition<Record>) throws -> Int
    /// The type of its values.
    let type: any ExactlyStored.Type
    /// Whether it can be summed.
    let isNumeric: Bool
    /// The typed calls for totals; nil for a field that has none.
    let total: Totals?

    /// A field without an order.
    init<Stored: ExactlyStored & FieldValue>(_ path: any WritableKeyPath<Record, Stored> & Sendable) {
        self.init(stored: path)
    }

    /// A field with an order.
    init<Stored: ExactlyStored & OrderedFieldValue>(_ path: any WritableKeyPath<Record, Stored> & Sendable) {
        self.init(stored: path) { dao, total, condition in
            let extreme = try total == .min ? dao.min(path, where: condition) : dao.max(path, where: condition)
            return (extreme as? any ExactlyStored)?.exactValue ?? .null
        }
    }

    /// A number.
    init<Stored: ExactlyStored & NumericFieldValue>(_ path: any WritableKeyPath<Record, Stored> & Sendable) {
        self.init(stored: path, isNumeric: true) { dao, total, condition in
            switch total {
            case .min: try dao.min(path, where: condition).exactValue
            case .max: try dao.max(path, where: condition).exactValue
            case .sum: try dao.sum(path, where: condition).exactValue
            case .average: try dao.average(path, where: condition).exactValue
            }
        }
    }

    /// A number that may be nil.
    init<Stored: ExactlyStored & NumericFieldValue>(_ path: any WritableKeyPath<Record, Stored?> & Sendable) {
        self.init(stored: path, isNumeric: true) { dao, total, condition in
            switch total {
            case .min: try dao.min(path, where: condition).exactValue
            case .max: try dao.max(path, where: condition).exactValue
            case .sum: try dao.sum(path, where: condition).exactValue
            case .average: try dao.average(path, where: condition).exactValue
            }
        }
    }

    private init<Stored: ExactlyStored & FieldValue>(
        stored path: any WritableKeyPath<Record, Stored> & Sendable, isNumeric: Bool = false, total: Totals? = nil
    ) {
        get = { $0[keyPath: path].exactValue }
        set = { record, value in if let value = Stored.from(value) { record[keyPath: path] = value } }
        setAll = { dao, value, condition in
            guard let value = Stored.from(value) else { return 0 }
            return try dao.set(path, to: value, where: condition)
        }
        type = Stored.self
        (self.isNumeric, self.total) = (isNumeric, total)
    }
}
