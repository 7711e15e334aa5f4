import DAOCore

/// A model that property-based tests store: its fields can be taken out and put in as raw values, to the last
/// bit and without the schema's own encoding. Models of printed tests need only declare which fields are
/// kept.
public protocol PropertyTestModel: Model, Plain {
    /// The names of the fields that a merging translator does not carry.
    static var keptFields: Set<String> { get }
    /// The fields in the schema's order; a negative zero and the bits of a NaN stay what they are.
    var values: [Value] { get }
    /// Makes a model of its fields.
    ///
    /// - Parameter values: A value for each field, in the schema's order.
    /// - Throws: `.corruptedValue` for a value that its field cannot hold.
    init(values: [Value]) throws
}

extension PropertyTestModel {
    /// The stored properties, which are declared in the schema's order.
    public var values: [Value] { Mirror(reflecting: self).children.map { ($0.value as? any ExactlyStored)?.exactValue ?? .null } }

    /// Reads the fields as from a database.
    public init(values: [Value]) throws {
        let primitive = values.map { stored -> Value in
            switch stored {
            case .bool(let flag): .integer(flag ? 1 : 0)
            case .decimal(let number): .string(number.storedText)
            case .date(let date): .double(date.timeIntervalSinceReferenceDate)
            default: stored
            }
        }
        self = try Self.schema.decode(ValueRowReader(entity: Self.schema.description, values: primitive))
    }
}
