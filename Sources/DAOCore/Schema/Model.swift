/// A stored record: a value type with a declaration of its fields.
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
/// A field with an array of models is an ordered to-many relationship. An optional array is nil where a read has left the list out;
/// a list that is not optional is in every read (contract R6). A field with an optional model is a to-one relationship:
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
///         Field("author", \.author, .linked),
///         Field("messages", \.messages, .cascade)
///     )
/// }
/// ```
public protocol Model: Plain, RelatedElement, TranslatorOrModel where RelatedRow == Self, DAOPlain == Self, DAORecord == Self {
    /// The declaration of the model: its entity name, its initializer, and its fields in the order of the
    /// initializer's parameters.
    static var schema: Schema<Self> { get }

    /// The ``IdentityTranslator``; do not declare it.
    associatedtype DAOMapping = IdentityTranslator<Self>
    /// The translator of a ``DAO`` of the model. The default is the ``IdentityTranslator``; do not implement it.
    static var daoMapping: DAOMapping { get }
}

extension Model where DAOMapping == IdentityTranslator<Self> {
    /// The translator of a ``DAO`` of the model.
    public static var daoMapping: IdentityTranslator<Self> { IdentityTranslator() }
}

extension Model {
    /// A field of this model, and not of another: in the declaration of a schema the compiler knows the model before it looks at
    /// the fields, and says what is wrong with them.
    public typealias Field<Value: FieldValue> = DAOCore.Field<Self, Value>

    /// An index of this model.
    public typealias Index = DAOCore.Index<Self>

    /// The model's primary key in its portable form.
    public var uniqueId: UniqueID { UniqueID(Self.schema.key(of: self)) }
}

extension Model {
    /// The model itself.
    public static var relatedModel: (any Model.Type)? { self }

    /// `toOne`, optional.
    public static var optionalType: FieldType { FieldType(.toOne, isOptional: true) }

    /// Reads the related model; nil when there is none.
    @inlinable
    public static func readOptional(from row: RowReader, at index: Int) throws -> Self? {
        row.hasRelatedValues ? try row.readRelated(Self.self, at: index)?.first : nil
    }

    /// Writes the related model, or nil.
    public static func writeOptional(_ value: Self?, to row: RowWriter, at index: Int) throws {
        try row.writeReference(value, at: index)
    }

    /// The key of the related model; null when there is none.
    public static func value(ofOptional value: Self?) -> Value { value.map { schema.key(of: $0).value } ?? .null }

    /// `toMany`.
    public static var arrayType: FieldType { FieldType(.toMany) }

    /// Reads the related models, in order; none before they are read.
    @inlinable
    public static func readArray(from row: RowReader, at index: Int) throws -> [Self] {
        try readOptionalArray(from: row, at: index) ?? []
    }

    /// `toMany`, as that of a list that is always read: the type of the property is not stored.
    public static var optionalArrayType: FieldType { arrayType }

    /// Reads the related models, in order; nil where they were not read.
    @inlinable
    public static func readOptionalArray(from row: RowReader, at index: Int) throws -> [Self]? {
        row.hasRelatedValues ? try row.readRelated(Self.self, at: index) : nil
    }

    /// Writes the related models, in order, or nothing.
    public static func writeOptionalArray(_ array: [Self]?, to row: RowWriter, at index: Int) throws {
        try row.writeRelated(array, at: index)
    }

    /// Writes the related models, in order.
    public static func writeArray(_ array: [Self], to row: RowWriter, at index: Int) throws {
        try row.writeRelated(array, at: index)
    }

    /// Null: an ordered list of models has no value.
    public static func value(ofArray array: [Self]) -> Value { .null }
}
