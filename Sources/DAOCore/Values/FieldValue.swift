import Foundation

/// A type that can be the type of a field, or the wrapped type or element type of a field.
///
/// Do not conform to this protocol directly. Conform a scalar to ``FieldValue`` and a stored record to
/// ``Model``. The requirements define how `Self?` and `[Self]` are stored: `[String]` is an embedded array,
/// `[SomeModel]` a relationship.
public protocol Storable: Sendable {
    /// The model that a field of this type refers to; nil for values.
    static var relatedModel: (any Model.Type)? { get }
    /// The type of a field declared as `Self?`.
    static var optionalType: FieldType { get }
    /// Reads a field declared as `Self?`.
    static func readOptional(from row: RowReader, at index: Int) throws -> Self?
    /// Writes a field declared as `Self?`.
    static func writeOptional(_ value: Self?, to row: RowWriter, at index: Int) throws
    /// The value of a field declared as `Self?`.
    static func value(ofOptional value: Self?) -> Value

    /// The type of a field declared as `[Self]`.
    static var arrayType: FieldType { get }
    /// Reads a field declared as `[Self]`.
    static func readArray(from row: RowReader, at index: Int) throws -> [Self]
    /// Writes a field declared as `[Self]`.
    static func writeArray(_ array: [Self], to row: RowWriter, at index: Int) throws
    /// The value of a field declared as `[Self]`.
    static func value(ofArray array: [Self]) -> Value

    /// The type of a field declared as `[Self]?`.
    static var optionalArrayType: FieldType { get }
    /// Reads a field declared as `[Self]?`.
    static func readOptionalArray(from row: RowReader, at index: Int) throws -> [Self]?
    /// Writes a field declared as `[Self]?`.
    static func writeOptionalArray(_ array: [Self]?, to row: RowWriter, at index: Int) throws
}

extension Storable {
    /// An optional array of scalars is embedded.
    @inlinable public static var optionalArrayType: FieldType { FieldType(arrayType.kind, isOptional: true) }

    /// Reads nil where nothing is stored; otherwise an embedded array.
    @inlinable public static func readOptionalArray(from row: RowReader, at index: Int) throws -> [Self]? {
        row.isNull(at: index) ? nil : try readArray(from: row, at: index)
    }

    /// Writes nil or an embedded array.
    @inlinable public static func writeOptionalArray(_ array: [Self]?, to row: RowWriter, at index: Int) throws {
        if let array { try writeArray(array, to: row, at: index) } else { try row.writeNull(at: index) }
    }
}

/// A type that a field of a ``Model`` can have.
///
/// All integers, `Bool`, `Double`, `Float`, `Decimal`, `String`, `Data`, `UUID`, `URL`, `Date`, `Duration`, and
/// their optionals and arrays are field values. An enumeration or a wrapper with a raw value needs only a
/// conformance, and so does a `Codable` type, which is stored as JSON:
///
/// ```swift
/// enum Status: String, FieldValue { case draft, sent }
/// struct Address: Codable, FieldValue { var street: String; var city: String }
/// ```
///
/// An enumeration that has a raw value and is also `Codable` is stored as its raw value. Declare it as an
/// ``OrderedFieldValue`` to sort and compare it by its raw value.
public protocol FieldValue: Storable, PredicateArgument {
    /// The type of a field declared as `Self`.
    static var fieldType: FieldType { get }
    /// Reads a field.
    ///
    /// - Throws: `StorageError` of kind `.corruptedValue` when the stored value is not a value of this type.
    static func read(from row: RowReader, at index: Int) throws -> Self
    /// Writes a field.
    ///
    /// - Throws: `EncodingError` when a `Codable` value cannot be encoded.
    func write(to row: RowWriter, at index: Int) throws
    /// The stored value as a ``Value``, for comparisons.
    var fieldValue: Value { get }
}

extension FieldValue {
    /// Nil: a value does not refer to a model.
    public static var relatedModel: (any Model.Type)? { nil }

    /// The same type, optional.
    @inlinable public static var optionalType: FieldType { FieldType(fieldType.kind, isOptional: true) }

    /// Reads nil where nothing is stored; otherwise the value.
    @inlinable public static func readOptional(from row: RowReader, at index: Int) throws -> Self? {
        row.isNull(at: index) ? nil : try read(from: row, at: index)
    }

    /// Writes nil or the value.
    @inlinable public static func writeOptional(_ value: Self?, to row: RowWriter, at index: Int) throws {
        if let value { try value.write(to: row, at: index) } else { try row.writeNull(at: index) }
    }

    /// Null, or the value.
    @inlinable public static func value(ofOptional value: Self?) -> Value { value?.fieldValue ?? .null }

    /// An array of scalars is embedded.
    @inlinable public static var arrayType: FieldType { FieldType(.embedded) }

    /// Reads an embedded array.
    public static func readArray(from row: RowReader, at index: Int) throws -> [Self] {
        try EmbeddedArray.read(from: row, at: index)
    }

    /// Writes an embedded array.
    public static func writeArray(_ array: [Self], to row: RowWriter, at index: Int) throws {
        try row.writeString(EmbeddedArray.json(of: array), at: index)
    }

    /// The canonical JSON of the array. An array that cannot be encoded is the empty text, which is not JSON.
    public static func value(ofArray array: [Self]) -> Value {
        .string((try? EmbeddedArray.json(of: array)) ?? "")
    }
}

extension Optional: FieldValue, Storable, PredicateArgument where Wrapped: Storable {
    /// The related model of the wrapped type.
    public static var relatedModel: (any Model.Type)? { Wrapped.relatedModel }

    /// The optional type of the wrapped type.
    @inlinable public static var fieldType: FieldType { Wrapped.optionalType }

    /// Reads an optional of the wrapped type.
    @inlinable public static func read(from row: RowReader, at index: Int) throws -> Self {
        try Wrapped.readOptional(from: row, at: index)
    }

    /// Writes an optional of the wrapped type.
    @inlinable public func write(to row: RowWriter, at index: Int) throws {
        try Wrapped.writeOptional(self, to: row, at: index)
    }

    /// Null, or the wrapped value.
    @inlinable public var fieldValue: Value { Wrapped.value(ofOptional: self) }

    // An optional of an optional is stored as an optional field with an embedded array. The array has no
    // element or one element, so nil and a wrapped nil remain distinct.

    /// `embedded`, optional.
    @inlinable public static var optionalType: FieldType { FieldType(.embedded, isOptional: true) }

    /// Reads nil, or the only element of an embedded array.
    public static func readOptional(from row: RowReader, at index: Int) throws -> Self? {
        if row.isNull(at: index) { return nil }
        let array: [Self] = try EmbeddedArray.read(from: row, at: index)
        guard let value = array.first else { throw row.corruptedValue(at: index, "an empty array where one value belongs") }
        return .some(value)
    }

    /// Writes nil, or an embedded array with one element.
    public static func writeOptional(_ value: Self?, to row: RowWriter, at index: Int) throws {
        if let value { try writeArray([value], to: row, at: index) } else { try row.writeNull(at: index) }
    }

    /// Null, or the JSON of an array with the value.
    public static func value(ofOptional value: Self?) -> Value { value.map { Self.value(ofArray: [$0]) } ?? .null }
}

extension Array: FieldValue, Storable, PredicateArgument where Element: Storable {
    /// The related model of the element type.
    public static var relatedModel: (any Model.Type)? { Element.relatedModel }

    /// `embedded` for scalars, `toMany` for models.
    @inlinable public static var fieldType: FieldType { Element.arrayType }

    /// Reads an array of the element type.
    @inlinable public static func read(from row: RowReader, at index: Int) throws -> Self {
        try Element.readArray(from: row, at: index)
    }

    /// Writes an array of the element type.
    @inlinable public func write(to row: RowWriter, at index: Int) throws {
        try Element.writeArray(self, to: row, at: index)
    }

    /// The JSON of the array.
    @inlinable public var fieldValue: Value { Element.value(ofArray: self) }

    /// `embedded` and optional for scalars, `toMany` for models.
    @inlinable public static var optionalType: FieldType { Element.optionalArrayType }

    /// Reads an optional array of the element type.
    @inlinable public static func readOptional(from row: RowReader, at index: Int) throws -> Self? {
        try Element.readOptionalArray(from: row, at: index)
    }

    /// Writes an optional array of the element type.
    @inlinable public static func writeOptional(_ value: Self?, to row: RowWriter, at index: Int) throws {
        try Element.writeOptionalArray(value, to: row, at: index)
    }
}
