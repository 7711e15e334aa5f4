/// A row of a stored entity, without the application's type. ``EntityRows`` reads it.
///
/// ```swift
/// for row in try articles.read(limit: 50) { print(row.key, row["title"] ?? .null) }
/// ```
public struct EntityRow: Sendable, Hashable {
    /// The entity as it was stored when the row was read.
    public let entity: EntityDescription
    /// The values of the fields, in the order of ``entity``, as they are stored: an enumeration is its raw value, an
    /// embedded value its JSON text. A to-one relationship is the key of the related row, a list of related rows
    /// ``Value/null``.
    public let values: [Value]

    /// The primary key.
    public var key: UniqueID {
        switch values[entity.keyIndex] {
        case .integer(let value): UniqueID(value)
        case .unsigned(let value): UniqueID(value)
        case .uuid(let value): UniqueID(value)
        case .string(let value): UniqueID(value)
        default: UniqueID("")
        }
    }

    /// The value of a field; nil when the entity has no field of that name.
    ///
    /// - Parameter field: The stored name.
    public subscript(field: String) -> Value? { entity.index(of: field).map { values[$0] } }

    init(entity: EntityDescription, values: [Value]) {
        self.entity = entity
        self.values = values
    }
}
