/// The key of a row of another model, as a field: a to-one relationship whose row is not read with it.
///
/// ```swift
/// struct Folder: Plain, Model {
///     var id: Int
///     var name: String
///     var parent: Reference<Folder>?
///     var owner: Reference<Writer>
///
///     static let schema = Schema(
///         "folder", Self.init,
///         Field("id", \.id, .primaryKey),
///         Field("name", \.name),
///         Field("parent", \.parent, .cascade),
///         Field("owner", \.owner, .restricted)
///     )
/// }
/// ```
///
/// ```swift
/// try folders.persist(Folder(id: 2, name: "Swift", parent: Reference(1), owner: Reference(ada)))
/// let found = try folders.read { $0.parent == Reference(1) && $0.owner.name == "Ada" }
/// let owner = try writers.read(byPrimaryKey: found[0].owner)
/// ```
///
/// Writing a Reference writes its key and never a row, not even the row that it was made of. A row with that key
/// must be stored when the call ends (contract R9). A field that is not optional says what erasing that row means:
/// ``FieldOption/restricted`` or ``FieldOption/cascade`` (contract R10).
///
/// Two References are equal when their keys are equal, and they are ordered as their keys: rows are sorted, compared and grouped
/// by them. A model can have References to itself.
///
/// ```swift
/// let sizes = try folders.groups(by: \.owner, totals: .count)
/// ```
public struct Reference<Target: Model>: Sendable {
    /// The key of the row.
    @usableFromInline let key: Key
    /// The row, when it is known. An array, because a model cannot contain itself.
    @usableFromInline let rows: [Target]

    /// Creates a Reference to a row. The row is not written with the Reference.
    ///
    /// - Parameter row: The row.
    public init(_ row: Target) {
        key = Target.schema.key(of: row)
        rows = [row]
    }

    /// Creates a Reference to the row with a key.
    ///
    /// - Parameter key: The key. When it has another type than the keys of the model, writing the Reference is
    ///   `.invalidKey`.
    public init(_ key: some PrimaryKeyValue) { self.init(key: key.key) }

    @inlinable init(key: Key) {
        self.key = key
        rows = []
    }

    /// The key of the row, in its portable form.
    public var uniqueId: UniqueID { UniqueID(key) }

    /// The row, when the Reference was made of it, or a read included it (``DAO/including(_:)``); otherwise nil.
    public var row: Target? { rows.first }

    /// Returns the key, after checking that it can be a key of the model.
    ///
    /// - Throws: `.invalidKey` when the key has another type, or is too long.
    func validKey() throws -> Key {
        let entity = Target.schema.description
        guard Key(key.value, of: entity.keyKind) != nil else {
            throw StorageError.keyOfAnotherType(entity.name, uniqueId, expected: entity.keyKind)
        }
        if case .string(let text) = key, text.utf8.count > Key.maximumLength {
            throw StorageError.keyTooLong(entity.name, length: text.utf8.count)
        }
        return key
    }
}

extension Reference: Hashable {
    /// Whether both lead to the same key.
    public static func == (left: Reference, right: Reference) -> Bool {
        guard left.key == right.key else { return false }
        if left.rows.isEmpty, right.rows.isEmpty { return true }
        return !ObservedReads.comparesRows || left.hasSameRow(as: right)
    }

    /// Whether both have the same row, or none. A row that cannot be compared has changed.
    private func hasSameRow(as other: Reference) -> Bool {
        guard let row, let otherRow = other.row else { return false }
        guard let mine = try? Fingerprint(of: row), let others = try? Fingerprint(of: otherRow) else { return false }
        return mine == others
    }

    /// Hashes the key.
    public func hash(into hasher: inout Hasher) { hasher.combine(key) }
}

/// The order is that of the keys.
extension Reference: OrderedFieldValue {}

extension Reference: CustomStringConvertible {
    /// The name of the model and the key.
    public var description: String { "Reference<\(String(describing: Target.self))>(\(uniqueId.rawValue))" }
}

extension Reference: UniqueIDConvertible {
    /// Returns the key, for `DAO.read(byPrimaryKey:)` of the model.
    public func key(as kind: ValueKind, entity: String) throws -> Key { try uniqueId.key(as: kind, entity: entity) }
}

extension Reference: FieldValue {
    /// The model of the row.
    public static var relatedModel: (any Model.Type)? { Target.self }

    /// `toOne`.
    public static var fieldType: FieldType { FieldType(.toOne) }

    /// Reads the key.
    @inlinable
    public static func read(from row: RowReader, at index: Int) throws -> Reference {
        guard let reference = try readOptional(from: row, at: index) else {
            throw row.corruptedValue(at: index, "no key is stored")
        }
        return reference
    }

    /// Writes the key.
    public func write(to row: RowWriter, at index: Int) throws { try row.writeReference(self, at: index) }

    /// The key.
    public var fieldValue: Value { key.value }

    /// Reads the key; nil where none is stored.
    @inlinable
    public static func readOptional(from row: RowReader, at index: Int) throws -> Reference? {
        // A generic method of a class is not compiled for the model, so only values that need one are read by it.
        if row.hasRelatedValues { return try row.readReference(Target.self, at: index) }
        return try row.readKey(at: index, of: Target.schema.keyKind).map { Reference(key: $0) }
    }

    /// Writes the key, or nil.
    public static func writeOptional(_ value: Reference?, to row: RowWriter, at index: Int) throws {
        try row.writeReference(value, at: index)
    }
}

/// A model, or a ``Reference`` to a model: what an optional of a to-one relationship contains.
public protocol RelatedElement: RelationElement {
    /// The model of the related row.
    associatedtype RelatedRow: Model
}

extension Reference: RelatedElement {
    /// The model of the row.
    public typealias RelatedRow = Target
}

/// The type of a to-one relationship field: `SomeModel?`, `Reference<SomeModel>` or `Reference<SomeModel>?`.
public protocol ToOneValue: RelationValue {
    /// The model of the related row.
    associatedtype RelatedRow: Model
}

extension Reference: ToOneValue {}
extension Optional: ToOneValue where Wrapped: RelatedElement {
    /// The model of the related row.
    public typealias RelatedRow = Wrapped.RelatedRow
}

/// The type of a Reference field: `Reference<SomeModel>` or `Reference<SomeModel>?`.
public protocol ReferenceValue: RelationValue {}
extension Reference: ReferenceValue {}
extension Optional: ReferenceValue where Wrapped: ReferenceValue, Wrapped: RelatedElement {}

extension FieldOption where Value: ReferenceValue {
    /// Refuses to erase the row that a ``Reference`` leads to: `.referenceViolation` (contract R10).
    ///
    /// Choose it when the row that refers means nothing without the other and must not disappear with it, such as an
    /// invoice of a customer.
    public static var restricted: FieldOption { FieldOption(meaning: .restricted) }
}
