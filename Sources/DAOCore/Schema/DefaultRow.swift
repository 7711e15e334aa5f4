import Foundation

/// A row with the declared defaults. A field without a declared default has the empty value of its type.
enum DefaultRow {

    /// Returns a reader of the row.
    static func reader(
        of entity: EntityDescription, defaults: [(@Sendable (RowWriter) throws -> Void)?]
    ) throws -> ValueRowReader {
        let writer = ValueRowWriter(count: entity.fields.count)
        for (index, field) in entity.fields.enumerated() {
            writer.offset = index
            if let write = defaults[index] {
                try write(writer)
            } else if !field.type.isOptional {
                writer.values[index] = emptyValue(of: field.type.kind)
            }
        }
        return ValueRowReader(entity: entity, values: writer.values)
    }

    /// The empty value of a kind in primitive form; null when the kind has no empty value.
    static func emptyValue(of kind: ValueKind) -> Value {
        switch kind {
        case .bool, .int8, .int16, .int32, .int64, .uint8, .uint16, .uint32, .uint64: .integer(0)
        case .float, .double, .date: .double(0)
        case .decimal: .string("0")
        case .string: .string("")
        case .embedded: .string("[]")
        case .data: .data(Data())
        case .uuid: .uuid(UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)))
        case .url, .toOne, .toMany: .null
        }
    }
}
