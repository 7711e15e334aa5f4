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
    init(cells: [Value])
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
    /// The typed calls for totals; nil for a field that has none.
    let total: (@Sendable (DAO<IdentityTranslator<Record>>, Total, Condition<Record>) throws -> Value)?

    /// A field without an order.
    init<Stored: Cell & FieldValue>(_ path: any WritableKeyPath<Record, Stored> & Sendable) {
        get = { $0[keyPath: path].cell }
        set = { record, cell in if let value = Stored.from(cell) { record[keyPath: path] = value } }
        total = nil
    }

    /// A field with an order.
    init<Stored: Cell & OrderedFieldValue>(_ path: any WritableKeyPath<Record, Stored> & Sendable) {
        get = { $0[keyPath: path].cell }
        set = { record, cell in if let value = Stored.from(cell) { record[keyPath: path] = value } }
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
