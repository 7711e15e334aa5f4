/// A field of a model: its stored name, its key path and its options.
///
/// ```swift
/// Field("date", \.date, .indexed)
/// ```
public struct Field<Record: Model, Value: FieldValue>: Sendable {
    /// The stored name, which is that of a table's column: letters, digits, spaces and most signs. A text predicate has a name with spaces
    /// or signs between backticks.
    public let name: String
    /// The key path of the property.
    public let keyPath: any KeyPath<Record, Value> & Sendable
    /// The options of the field.
    public let options: [FieldOption<Value>]
    /// The byte offset of a stored property; -1 for a computed property, which is read through its key path.
    @usableFromInline let offset: Int

    /// Creates a field.
    ///
    /// - Parameters:
    ///   - name: The stored name.
    ///   - keyPath: The key path of the property.
    ///   - options: The options of the field.
    @inlinable public init(_ name: String, _ keyPath: any KeyPath<Record, Value> & Sendable, _ options: FieldOption<Value>...) {
        self.name = name
        self.keyPath = keyPath
        self.options = options
        self.offset = MemoryLayout<Record>.offset(of: keyPath) ?? -1
    }

    /// Reads the field of a model.
    ///
    /// A read through the offset is a load. A read through the key path is a call into the runtime.
    @inlinable func value(of record: UnsafePointer<Record>) -> Value {
        // `offset(of:)` is nil unless the property is stored. The bytes of a stored property at that offset
        // are a `Value`.
        offset >= 0
            ? UnsafeRawPointer(record).advanced(by: offset).assumingMemoryBound(to: Value.self).pointee
            : record.pointee[keyPath: keyPath]
    }
}

extension Field {
    /// Assigns the field of all records in place.
    ///
    /// - Returns: False when the property is computed, or is in a class.
    func assign(_ value: Value, toAll records: inout [Record]) -> Bool {
        guard offset >= 0 else { return false }
        records.withUnsafeMutableBytes { bytes in
            guard let base = bytes.baseAddress else { return }
            for start in stride(from: offset, to: bytes.count, by: MemoryLayout<Record>.stride) {
                base.advanced(by: start).assumingMemoryBound(to: Value.self).pointee = value
            }
        }
        return true
    }

    /// Calls a closure with a function that assigns the field of the record at an index in place. The property is stored.
    func assigning(to records: inout [Record], _ body: ((Int, Value) -> Void) throws -> Void) rethrows {
        try records.withUnsafeMutableBytes { bytes in
            try body { index, value in
                guard let base = bytes.baseAddress else { return }
                let place = base.advanced(by: index * MemoryLayout<Record>.stride + offset)
                place.assumingMemoryBound(to: Value.self).pointee = value
            }
        }
    }

    /// Assigns the field of a record in place.
    ///
    /// - Returns: False when the property is computed, or is in a class.
    func assign(_ value: Value, to record: inout Record) -> Bool {
        guard offset >= 0 else { return false }
        // `offset(of:)` is nil unless the property is stored. The bytes of a stored property at that offset
        // are a `Value`.
        withUnsafeMutableBytes(of: &record) { bytes in
            guard let base = bytes.baseAddress else { return }
            base.advanced(by: offset).assumingMemoryBound(to: Value.self).pointee = value
        }
        return true
    }
}

/// An option of a field, such as an index or a default.
///
/// ```swift
/// Field("title", \.title, .renamed(from: "name"), .indexed, .default("untitled"))
/// ```
public struct FieldOption<Value: FieldValue>: Sendable {
    /// The meaning of an option.
    enum Meaning: Sendable {
        case primaryKey
        case indexed
        case unique
        case owned
        case linked
        case cascade
        case restricted
        case renamed(from: String)
        case `default`(Value)
        case member(EmbeddedMember)
        case searchable(SearchableField)
    }

    let meaning: Meaning

    /// Adds an index, which queries and sorts on the field use.
    public static var indexed: FieldOption { FieldOption(meaning: .indexed) }

    /// Refuses a row whose value is already stored in another row; nil is exempt. Adds an index.
    public static var unique: FieldOption { FieldOption(meaning: .unique) }

    /// The default of the field: its value in rows that were stored before the field was declared, and in
    /// models from `create`.
    ///
    /// - Parameter value: The value.
    public static func `default`(_ value: Value) -> FieldOption { FieldOption(meaning: .default(value)) }

    /// The name of the field in an earlier version of the schema. The values are kept.
    ///
    /// A field that was renamed several times has this option several times, with the newest name first. A
    /// file of any version can then be opened. Another field can take the old name. Two fields cannot trade
    /// names, because a file does not tell whether they have: `.invalidSchema`.
    ///
    /// - Parameter name: The earlier name.
    public static func renamed(from name: String) -> FieldOption { FieldOption(meaning: .renamed(from: name)) }
}

// An option that a type of field does not have is declared for all types, and not available: the compiler then says why.
extension FieldOption {
    /// Not available: the type cannot be a primary key.
    @_documentation(visibility: private)
    @available(
        *, unavailable,
        message: "a primary key is an Int, a String, a UUID, or a type with one of them as its raw value, and never nil"
    )
    public static var primaryKey: FieldOption { FieldOption(meaning: .primaryKey) }

    /// Not available: only a relationship owns rows.
    @_documentation(visibility: private)
    @available(*, unavailable, message: "only a relationship is owned: [SomeModel], SomeModel? or a Reference")
    public static var owned: FieldOption { FieldOption(meaning: .owned) }

    /// Not available: only a relationship links rows.
    @_documentation(visibility: private)
    @available(*, unavailable, message: "only a relationship is linked: [SomeModel], SomeModel? or a Reference")
    public static var linked: FieldOption { FieldOption(meaning: .linked) }

    /// Not available: only a relationship cascades.
    @_documentation(visibility: private)
    @available(*, unavailable, message: "only a relationship cascades: [SomeModel], SomeModel? or a Reference")
    public static var cascade: FieldOption { FieldOption(meaning: .cascade) }

    /// Not available: only a Reference is restricted.
    @_documentation(visibility: private) @available(*, unavailable, message: "only a Reference is restricted")
    public static var restricted: FieldOption { FieldOption(meaning: .restricted) }
}

/// The type of a relationship field: `[SomeModel]`, optional or not, `SomeModel?`, or a ``Reference``, optional or not.
public protocol RelationValue: FieldValue {}
extension Array: RelationValue, RelationElement where Element: Model {}
extension Optional: RelationValue where Wrapped: RelationElement {}

/// The type of a list of related rows: `[SomeModel]`, or `[SomeModel]?` for one that a read can leave out.
///
/// Do not conform to this protocol directly.
public protocol ToManyValue: RelationValue {
    /// The model of the related rows.
    associatedtype ListedRow: Model
}
extension Array: ToManyValue where Element: Model {
    /// The model of the related rows.
    public typealias ListedRow = Element
}
extension Optional: ToManyValue where Wrapped: ToManyValue, Wrapped: RelationElement {
    /// The model of the related rows.
    public typealias ListedRow = Wrapped.ListedRow
}

/// What an optional of a relationship contains: a model, a ``Reference``, or a list of models.
///
/// Do not conform to this protocol directly.
public protocol RelationElement: Storable {}

extension FieldOption where Value: RelationValue {
    /// Writes the related rows with their parent (contract R7).
    ///
    /// Choose it when the related rows are parts of the parent, such as the messages of a dialog. A stale copy
    /// of a related row in the parent overwrites the stored row.
    public static var owned: FieldOption { FieldOption(meaning: .owned) }

    /// Links related rows that are stored and never overwrites them; missing ones are inserted (contract R7).
    ///
    /// Choose it when the related rows exist on their own, such as the owner of a ticket. To change such a
    /// row, persist it through its own DAO.
    public static var linked: FieldOption { FieldOption(meaning: .linked) }

    /// Erases a related row together with the last row that refers to it (contract R3, R4). It implies
    /// ``owned``.
    ///
    /// On a ``Reference`` it means the reverse: the row that refers is erased together with the row that the Reference
    /// leads to (contract R10).
    public static var cascade: FieldOption { FieldOption(meaning: .cascade) }
}

extension FieldOption where Value: PrimaryKeyValue {
    /// Makes the field the primary key. A model has exactly one primary key.
    public static var primaryKey: FieldOption { FieldOption(meaning: .primaryKey) }
}
