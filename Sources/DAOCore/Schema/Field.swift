/// One field of a model: its stored name, where it is in the model, and what it is for.
///
/// ```swift
/// Field("date", \.date, .indexed)
/// ```
public struct Field<Record: Model, Value: FieldValue>: Sendable {
    /// The name it is stored under: letters, digits and underscores, beginning with a letter or an underscore.
    public let name: String
    /// Where it is in the model.
    public let keyPath: any KeyPath<Record, Value> & Sendable
    /// What it is for.
    public let options: [FieldOption<Value>]
    /// How far into the model a stored property is; -1 for a computed one, which is read through its key path.
    @usableFromInline let offset: Int

    /// Creates a field.
    ///
    /// - Parameters:
    ///   - name: The name it is stored under.
    ///   - keyPath: Where it is in the model.
    ///   - options: What it is for.
    @inlinable public init(_ name: String, _ keyPath: any KeyPath<Record, Value> & Sendable, _ options: FieldOption<Value>...) {
        self.name = name
        self.keyPath = keyPath
        self.options = options
        self.offset = MemoryLayout<Record>.offset(of: keyPath) ?? -1
    }

    /// The field of a model.
    ///
    /// Reading through the offset takes a load where the key path takes a call into the runtime.
    @inlinable func value(of record: UnsafePointer<Record>) -> Value {
        // `offset(of:)` answers only for stored properties, whose bytes at that offset are a `Value`.
        offset >= 0
            ? UnsafeRawPointer(record).advanced(by: offset).assumingMemoryBound(to: Value.self).pointee
            : record.pointee[keyPath: keyPath]
    }
}

/// What a field is for, beside holding a value.
public struct FieldOption<Value: FieldValue>: Sendable {
    /// The options there are.
    enum Meaning: Sendable {
        case primaryKey
        case indexed
        case unique
        case cascade
        case renamed(from: String)
        case `default`(Value)
    }

    let meaning: Meaning

    /// An index serves queries and sorts on the field.
    public static var indexed: FieldOption { FieldOption(meaning: .indexed) }

    /// No two rows may have the same value, nil aside; also an index.
    public static var unique: FieldOption { FieldOption(meaning: .unique) }

    /// The value of the field in rows that were stored before the field was there, and in models made by `create`.
    ///
    /// - Parameter value: The value.
    public static func `default`(_ value: Value) -> FieldOption { FieldOption(meaning: .default(value)) }

    /// The name the field had in an earlier version of the schema; its values are kept.
    ///
    /// A field that was renamed more than once says so more than once, the newest name first, so that a file of any version is understood.
    /// The old name may be given to another field.
    ///
    /// - Parameter name: The earlier name.
    public static func renamed(from name: String) -> FieldOption { FieldOption(meaning: .renamed(from: name)) }
}

/// A type of field that is a relationship: `[SomeModel]` and `SomeModel?`.
public protocol RelationValue: FieldValue {}
extension Array: RelationValue where Element: Model {}
extension Optional: RelationValue where Wrapped: Model {}

extension FieldOption where Value: RelationValue {
    /// A related row that loses the last row that refers to it is erased with it (contract R3, R4).
    public static var cascade: FieldOption { FieldOption(meaning: .cascade) }
}

extension FieldOption where Value: PrimaryKeyValue {
    /// The primary key: exactly one field of a model.
    public static var primaryKey: FieldOption { FieldOption(meaning: .primaryKey) }
}
