import Foundation

/// What may stand in a field: a scalar, or something that makes a field when it is optional or in an array.
///
/// Nobody conforms to it directly: conform a scalar to ``FieldValue`` and a stored record to ``Model``. The requirements
/// say how `Self?` and `[Self]` are kept, which is what makes `[String]` an embedded array and `[SomeModel]` a relationship.
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
}

/// A type that a field of a ``Model`` can have.
///
/// All the integers, `Bool`, `Double`, `Float`, `Decimal`, `String`, `Data`, `UUID`, `URL`, `Date`, their optionals and arrays
/// are field values. An enumeration or a wrapper with a raw value becomes one by saying so, and so does a `Codable` type,
/// which is then kept as JSON:
///
/// ```swift
/// enum Status: String, FieldValue { case draft, sent }
/// struct Address: Codable, FieldValue { var street: String; var city: String }
/// ```
///
/// An enumeration that has a raw value and is `Codable` too is kept as its raw value.
public protocol FieldValue: Storable, PredicateArgument {
    /// The type of a field declared as `Self`.
    static var fieldType: FieldType { get }
    /// Reads a field.
    ///
    /// - Throws: `StorageError` of kind `.corruptedValue` when what is stored is not one of these.
    static func read(from row: RowReader, at index: Int) throws -> Self
    /// Writes a field.
    ///
    /// - Throws: `EncodingError` from a `Codable` value that cannot be encoded.
    func write(to row: RowWriter, at index: Int) throws
    /// The value for comparisons: what is stored, as a ``Value``.
    var fieldValue: Value { get }
}

extension FieldValue {
    /// Values refer to nothing.
    public static var relatedModel: (any Model.Type)? { nil }

    /// The type of the field as an optional one.
    @inlinable public static var optionalType: FieldType { FieldType(fieldType.kind, isOptional: true) }

    /// Reads nil where nothing is stored, else the value.
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

    /// The JSON of the array.
    public static func value(ofArray array: [Self]) -> Value {
        (try? EmbeddedArray.json(of: array)).map(Value.string) ?? .null
    }
}

extension Optional: FieldValue, Storable, PredicateArgument where Wrapped: Storable {
    /// What the wrapped type refers to.
    public static var relatedModel: (any Model.Type)? { Wrapped.relatedModel }

    /// The wrapped type, optional.
    @inlinable public static var fieldType: FieldType { Wrapped.optionalType }

    /// Reads what the wrapped type reads as an optional.
    @inlinable public static func read(from row: RowReader, at index: Int) throws -> Self {
        try Wrapped.readOptional(from: row, at: index)
    }

    /// Writes what the wrapped type writes as an optional.
    @inlinable public func write(to row: RowWriter, at index: Int) throws {
        try Wrapped.writeOptional(self, to: row, at: index)
    }

    /// Null, or the wrapped value.
    @inlinable public var fieldValue: Value { Wrapped.value(ofOptional: self) }

    // An optional of an optional is kept as an embedded array of no or one element inside an optional field, so that nil
    // and a wrapped nil stay two things.

    /// An embedded value that may be nil.
    @inlinable public static var optionalType: FieldType { FieldType(.embedded, isOptional: true) }

    /// Reads nil, or the only element of an embedded array.
    public static func readOptional(from row: RowReader, at index: Int) throws -> Self? {
        if row.isNull(at: index) { return nil }
        let array: [Self] = try EmbeddedArray.read(from: row, at: index)
        guard let value = array.first else { throw row.corruptedValue(at: index, "an empty array where one value belongs") }
        return .some(value)
    }

    /// Writes nil, or an embedded array of the one value.
    public static func writeOptional(_ value: Self?, to row: RowWriter, at index: Int) throws {
        if let value { try writeArray([value], to: row, at: index) } else { try row.writeNull(at: index) }
    }

    /// Null, or the JSON of the value in an array.
    public static func value(ofOptional value: Self?) -> Value { value.map { Self.value(ofArray: [$0]) } ?? .null }
}

extension Array: FieldValue, Storable, PredicateArgument where Element: Storable {
    /// What the element type refers to.
    public static var relatedModel: (any Model.Type)? { Element.relatedModel }

    /// Embedded for scalars, to-many for models.
    @inlinable public static var fieldType: FieldType { Element.arrayType }

    /// Reads what the element type reads as an array.
    @inlinable public static func read(from row: RowReader, at index: Int) throws -> Self {
        try Element.readArray(from: row, at: index)
    }

    /// Writes what the element type writes as an array.
    @inlinable public func write(to row: RowWriter, at index: Int) throws {
        try Element.writeArray(self, to: row, at: index)
    }

    /// The JSON of the array.
    @inlinable public var fieldValue: Value { Element.value(ofArray: self) }
}
