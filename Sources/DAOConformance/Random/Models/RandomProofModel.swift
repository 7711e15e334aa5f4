import DAOCore
import Foundation

/// A model that the random proof stores: its fields can be taken out and put in as raw values, to the last bit and without the schema's
/// own encoding.
public protocol RandomProofModel: Model, Plain {
    /// The names of the fields that a merging translator does not carry.
    static var keptFields: Set<String> { get }
    /// The fields in the schema's order; a negative zero and the bits of a NaN stay what they are.
    var cells: [Value] { get }
    /// Makes a model of its fields.
    ///
    /// - Parameter cells: A value for each field, in the schema's order.
    /// - Throws: `.corruptedValue` for a value that its field cannot hold.
    init(cells: [Value]) throws
}

extension RandomProofModel {
    /// The stored properties, which are declared in the schema's order.
    public var cells: [Value] { Mirror(reflecting: self).children.map { ($0.value as? any Cell)?.cell ?? .null } }

    /// Reads the fields as from a database.
    public init(cells: [Value]) throws {
        let primitive = cells.map { cell -> Value in
            switch cell {
            case .bool(let flag): .integer(flag ? 1 : 0)
            case .decimal(let number): .string(number.storedText)
            case .date(let date): .double(date.timeIntervalSinceReferenceDate)
            default: cell
            }
        }
        self = try Self.schema.decode(ValueRowReader(entity: Self.schema.description, values: primitive))
    }
}

/// What the proof itself needs to know of a model.
protocol RandomRecord: RandomProofModel {
    /// The fields, in the schema's order.
    static var columns: [Column<Self>] { get }
    /// A model in which every field has the value that scripts leave out.
    static var blank: Self { get }
}

extension RandomRecord {
    var columnCells: [Value] { Self.columns.map { $0.get(self) } }

    static func make(_ cells: [Value]) -> Self {
        var record = blank
        for (column, cell) in zip(columns, cells) { column.set(&record, cell) }
        return record
    }
}

/// What totals there are.
enum Total: String, Sendable, CaseIterable {
    case min, max, sum, average
}

/// One field of a model: how to take it out, put it in, and total it.
struct Column<Record: RandomRecord>: Sendable {
    let get: @Sendable (Record) -> Value
    let set: @Sendable (inout Record, Value) -> Void
    /// The only values it can hold, nil aside; nil where they are too many.
    let choices: [Choice]?
    /// The name of the type that its scalar is wrapped in; nil for one that is not.
    let wrapper: String?
    /// Whether it can be summed.
    let isNumeric: Bool
    /// The typed calls for totals; nil for a field that has none.
    let total: (@Sendable (DAO<IdentityTranslator<Record>>, Total, Condition<Record>) throws -> Value)?

    /// A field without an order.
    init<Stored: Cell & FieldValue>(_ path: any WritableKeyPath<Record, Stored> & Sendable) {
        get = { $0[keyPath: path].cell }
        set = { record, cell in if let value = Stored.from(cell) { record[keyPath: path] = value } }
        (choices, wrapper, isNumeric) = (Choice.all(of: Stored.self), Choice.wrapper(of: Stored.self), false)
        total = nil
    }

    /// A field with an order.
    init<Stored: Cell & OrderedFieldValue>(_ path: any WritableKeyPath<Record, Stored> & Sendable) {
        get = { $0[keyPath: path].cell }
        set = { record, cell in if let value = Stored.from(cell) { record[keyPath: path] = value } }
        (choices, wrapper, isNumeric) = (Choice.all(of: Stored.self), Choice.wrapper(of: Stored.self), false)
        total = { dao, total, condition in
            switch total {
            case .min: try dao.min(path, predicatedBy: condition).cell
            default: try dao.max(path, predicatedBy: condition).cell
            }
        }
    }

    /// A number.
    init<Stored: Cell & NumericFieldValue>(_ path: any WritableKeyPath<Record, Stored> & Sendable) {
        get = { $0[keyPath: path].cell }
        set = { record, cell in if let value = Stored.from(cell) { record[keyPath: path] = value } }
        (choices, wrapper, isNumeric) = (nil, nil, true)
        total = { dao, total, condition in
            switch total {
            case .min: try dao.min(path, predicatedBy: condition).cell
            case .max: try dao.max(path, predicatedBy: condition).cell
            case .sum: try dao.sum(path, predicatedBy: condition).cell
            case .average: try dao.average(path, predicatedBy: condition).cell
            }
        }
    }

    /// A number that may be nil.
    init<Stored: Cell & NumericFieldValue>(_ path: any WritableKeyPath<Record, Stored?> & Sendable) {
        get = { $0[keyPath: path].cell }
        set = { record, cell in if let value = Stored?.from(cell) { record[keyPath: path] = value } }
        (choices, wrapper, isNumeric) = (nil, nil, true)
        total = { dao, total, condition in
            switch total {
            case .min: try dao.min(path, predicatedBy: condition).cell
            case .max: try dao.max(path, predicatedBy: condition).cell
            case .sum: try dao.sum(path, predicatedBy: condition).cell
            case .average: try dao.average(path, predicatedBy: condition).cell
            }
        }
    }
}
