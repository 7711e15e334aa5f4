/// A record as a database stores it: a value type with one declaration of its fields.
///
/// ```swift
/// struct Tag: Model {
///     var id: Int
///     var name: String
///     var note: String?
///
///     static let schema = Schema(
///         "tag", Self.init,
///         Field("id", \.id, .primaryKey),
///         Field("name", \.name, .unique),
///         Field("note", \.note)
///     )
/// }
/// ```
///
/// An array of models in a field is an ordered to-many relationship, an optional model a to-one:
///
/// ```swift
/// struct Thread: Model {
///     var id: Int
///     var author: User?
///     var messages: [Message]
///
///     static let schema = Schema(
///         "thread", Self.init,
///         Field("id", \.id, .primaryKey),
///         Field("author", \.author),
///         Field("messages", \.messages, .cascade)
///     )
/// }
/// ```
public protocol Model: Storable {
    /// The declaration of the model: its entity name, its initializer and its fields, in the initializer's order.
    static var schema: Schema<Self> { get }
}

extension Model {
    /// The model's primary key in its portable form.
    public var uniqueId: UniqueID { UniqueID(Self.schema.key(of: self)) }
}

extension Model {
    /// Itself.
    public static var relatedModel: (any Model.Type)? { self }

    /// A to-one relationship.
    public static var optionalType: FieldType { FieldType(.toOne, isOptional: true) }

    /// Reads the related model, if there is one.
    public static func readOptional(from row: RowReader, at index: Int) throws -> Self? {
        try row.readRelated(Self.self, at: index).first
    }

    /// Writes the related model, if there is one.
    public static func writeOptional(_ value: Self?, to row: RowWriter, at index: Int) throws {
        try row.writeRelated(value.map { [$0] } ?? [], at: index)
    }

    /// The related model's key.
    public static func value(ofOptional value: Self?) -> Value { value.map { schema.key(of: $0).value } ?? .null }

    /// A to-many relationship.
    public static var arrayType: FieldType { FieldType(.toMany) }

    /// Reads the related models, in order.
    public static func readArray(from row: RowReader, at index: Int) throws -> [Self] {
        try row.readRelated(Self.self, at: index)
    }

    /// Writes the related models, in order.
    public static func writeArray(_ array: [Self], to row: RowWriter, at index: Int) throws {
        try row.writeRelated(array, at: index)
    }

    /// An ordered list of models has no value of its own.
    public static func value(ofArray array: [Self]) -> Value { .null }
}
