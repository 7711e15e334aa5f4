/// What is known of a field whatever the types of its model and its value are.
///
/// A schema is checked with these. Each loop over ``ErasedField``, and each of its copies, asks the run time for types that are
/// those of one model, and an application with many models pays for it when it starts.
struct FieldFacts: Sendable {
    let description: FieldDescription
    let keyPath: any AnyKeyPath & Sendable
    let offset: Int
    var earlierNames: [String] = []
    var writeDefault: (@Sendable (RowWriter) throws -> Void)?
    /// Whether the field has a reader of keys: its type can be that of a primary key.
    let isKey: Bool
    let isRelation: Bool
    /// Whether the field counts the writes of a row.
    var isRevision = false
    /// The fault of a field that has to do with revisions; nil when there is none.
    var revisionFault: String?
    /// The type of the elements of an array of values; nil when the field is no such array.
    var elementType: FieldType?
    /// Writes the JSON of an embedded value as the type encodes it; nil for other fields.
    var recoding: EmbeddedRecoding?
    /// The declared members of a `Codable` value.
    var members: [EmbeddedMember] = []
    /// What a search reads of the field; nil when it does not look into it.
    var searchable: SearchableField?
    /// The fault of a relationship whose options do not say what it means, or contradict each other; nil when there is
    /// none.
    var relationFault: RelationFault?
    /// Whether the field holds models in an unsupported form: neither `[SomeModel]` nor `SomeModel?` nor a Reference.
    var hasUnknownRelation = false
}

/// A ``Field`` with an erased value type. Only its closures know the type.
@usableFromInline struct ErasedField<Record: Model>: Sendable {
    let facts: FieldFacts
    let value: @Sendable (Record) -> Value
    let key: (@Sendable (UnsafePointer<Record>) -> Key)?
    /// Creates the relationship of the field from its position; nil when the field is not a relationship.
    let relation: (@Sendable (Int) -> any Relation<Record>)?
    /// The field itself when it counts the writes of a row; otherwise nil.
    let revision: Field<Record, Revision>?

    @usableFromInline init<Stored: FieldValue>(_ field: Field<Record, Stored>) {
        var isPrimaryKey = false
        var isIndexed = false
        var isUnique = false
        var cascades = false
        var (isOwned, isLinked, isRestricted) = (false, false, false)
        var earlierNames: [String] = []
        var writeDefault: (@Sendable (RowWriter) throws -> Void)?
        var defaultValue: Value?
        var members: [EmbeddedMember] = []
        var searchable: SearchableField?
        let related = Stored.relatedModel
        for option in field.options {
            switch option.meaning {
            case .primaryKey: isPrimaryKey = true
            case .indexed: isIndexed = true
            case .unique: isUnique = true
            case .owned: isOwned = true
            case .linked: isLinked = true
            case .cascade: cascades = true
            case .restricted: isRestricted = true
            case .renamed(let name): earlierNames.append(name)
            case .member(let member): members.append(member)
            case .searchable(let field): searchable = field
            case .default(let value):
                writeDefault = { try value.write(to: $0, at: 0) }
                // The value of a related model would read the schema of that model, which can be this schema.
                if related == nil { defaultValue = value.fieldValue }
            }
        }
        revision = field as? Field<Record, Revision>
        let revisionFault: String? =
            if revision != nil, writeDefault != nil {
                "has a default; remove it, because the database counts revisions from 1"
            } else if Stored.self is Revision?.Type || Stored.self is [Revision].Type {
                "contains a Revision; declare it as a Revision that is neither optional nor in a list"
            } else {
                nil
            }
        if revision != nil {
            writeDefault = { try Revision.first.write(to: $0, at: 0) }
            defaultValue = Revision.first.fieldValue
        }
        let type = Stored.fieldType
        // A value that cannot be encoded.
        if type.kind == .embedded, defaultValue == .string("") { defaultValue = nil }
        let description = FieldDescription(
            name: field.name, type: type, isPrimaryKey: isPrimaryKey, isIndexed: isIndexed, isUnique: isUnique,
            defaultValue: defaultValue, content: Stored.embeddedContent)
        value = { record in withUnsafePointer(to: record) { field.value(of: $0).fieldValue } }
        if isPrimaryKey, let keyType = Stored.self as? any PrimaryKeyValue.Type {
            key = Self.keyReader(keyType, field)
        } else {
            key = nil
        }
        let relationFault: RelationFault?
        if Stored.self is any ReferenceValue.Type {
            let erasure: TargetErasure = cascades ? .cascade : isRestricted ? .restrict : .unlink
            relationFault =
                if isOwned || isLinked {
                    .referenceWrites
                } else if cascades ? isRestricted : !isRestricted && !type.isOptional {
                    .erasureUnsaid
                } else {
                    nil
                }
            relation = related.flatMap { Self.reference($0, field, erasure) }
        } else {
            let isOwned = isOwned || cascades
            relationFault = isOwned == isLinked ? .writesUnsaid : nil
            relation = related.flatMap { Self.relation($0, field, isOwned: isOwned, cascades: cascades) }
        }
        facts = FieldFacts(
            description: description, keyPath: field.keyPath, offset: field.offset, earlierNames: earlierNames,
            writeDefault: writeDefault, isKey: key != nil, isRelation: relation != nil, isRevision: revision != nil,
            revisionFault: revisionFault, elementType: Stored.elementType,
            recoding: type.kind == .embedded ? EmbeddedRecoding(Stored.self) : nil, members: members,
            searchable: searchable, relationFault: relationFault,
            hasUnknownRelation: related != nil && relation == nil)
    }

    /// Creates a field without a type of the application.
    ///
    /// - Parameters:
    ///   - description: The field as it is stored.
    ///   - keyPath: A key path that no other field has.
    ///   - value: Reads the value of the field, in the form of ``RowReader/readValue(at:)``.
    ///   - relation: Creates the relationship of the field; nil when the field is not a relationship.
    init(
        _ description: FieldDescription, _ keyPath: any AnyKeyPath & Sendable, value: @escaping @Sendable (Record) -> Value,
        relation: (@Sendable (Int) -> any Relation<Record>)?
    ) {
        // As in a declaration, which does not know the target.
        var declared = description
        declared.relation = nil
        facts = FieldFacts(
            description: declared, keyPath: keyPath, offset: -1, isKey: description.isPrimaryKey, isRelation: relation != nil)
        self.value = value
        self.relation = relation
        let kind = description.type.kind
        if description.isPrimaryKey {
            key = { record in Key(value(record.pointee), of: kind) ?? .integer(0) }
        } else {
            key = nil
        }
        revision = nil
    }

    /// Creates the relationship of a field. `Child` is the related model of the field's type.
    private static func relation<Child: Model, Stored: FieldValue>(
        _ type: Child.Type, _ field: Field<Record, Stored>, isOwned: Bool, cascades: Bool
    ) -> (@Sendable (Int) -> any Relation<Record>)? {
        if let field = field as? Field<Record, [Child]> {
            return { TypedRelation(.toMany(field), at: $0, isOwned: isOwned, cascades: cascades) }
        }
        if let field = field as? Field<Record, [Child]?> {
            return { TypedRelation(.optionalToMany(field), at: $0, isOwned: isOwned, cascades: cascades) }
        }
        if let field = field as? Field<Record, Child?> {
            return { TypedRelation(.toOne(field), at: $0, isOwned: isOwned, cascades: cascades) }
        }
        return nil
    }

    /// Creates the relationship of a Reference. `Child` is the related model of the field's type.
    private static func reference<Child: Model, Stored: FieldValue>(
        _ type: Child.Type, _ field: Field<Record, Stored>, _ erasure: TargetErasure
    ) -> (@Sendable (Int) -> any Relation<Record>)? {
        if let field = field as? Field<Record, Reference<Child>> {
            return { ReferenceRelation(.required(field), at: $0, targetErasure: erasure) }
        }
        if let field = field as? Field<Record, Reference<Child>?> {
            return { ReferenceRelation(.optional(field), at: $0, targetErasure: erasure) }
        }
        return nil
    }

    /// Returns a closure that reads the key of a model. `KeyValue` is the type of the field, which is known
    /// here to be a key type.
    private static func keyReader<KeyValue: PrimaryKeyValue, Stored: FieldValue>(
        _ type: KeyValue.Type, _ field: Field<Record, Stored>
    ) -> (@Sendable (UnsafePointer<Record>) -> Key)? {
        guard let field = field as? Field<Record, KeyValue> else { return nil }
        // A load costs a tenth of a call of a method of a type that is known at run time.
        let offset = field.offset
        if offset >= 0, KeyValue.self == Int64.self || KeyValue.self == Int.self && Int.bitWidth == Int64.bitWidth {
            return { .integer(UnsafeRawPointer($0).load(fromByteOffset: offset, as: Int64.self)) }
        }
        return { field.value(of: $0).key }
    }
}

/// A fault in the options of a relationship.
enum RelationFault {
    /// A list or an optional model is neither owned nor linked, or both (contract R7).
    case writesUnsaid
    /// A Reference is owned or linked.
    case referenceWrites
    /// A required Reference is neither restricted nor cascades, or a Reference is both (contract R10).
    case erasureUnsaid
}

/// The places of the fields in a model, without their types.
///
/// A closure that captured the fields would ask the runtime for the type of every field on every call.
@usableFromInline struct FieldPlaces<Record: Model>: Sendable {
    /// The byte offset of a stored property; -1 for a computed property.
    @usableFromInline let offsets: [Int]
    @usableFromInline let keyPaths: [any AnyKeyPath & Sendable]

    @usableFromInline init(_ fields: [ErasedField<Record>]) {
        var offsets: [Int] = []
        var keyPaths: [any AnyKeyPath & Sendable] = []
        for index in 0..<fields.count {
            offsets.append(fields[index].facts.offset)
            keyPaths.append(fields[index].facts.keyPath)
        }
        (self.offsets, self.keyPaths) = (offsets, keyPaths)
    }

    /// Writes the field of a model to a row.
    ///
    /// - Parameter type: The declared type of the field at this position.
    @inlinable @inline(__always) func write<Value: FieldValue>(
        _ type: Value.Type, at index: Int, of record: UnsafePointer<Record>, to row: RowWriter
    ) throws {
        let offset = offsets[index]
        guard offset >= 0 else { return try computed(type, at: index, of: record).write(to: row, at: index) }
        // `offset(of:)` is nil unless the property is stored. The bytes of a stored property at that offset
        // are a `Value`. They are borrowed as bytes, since the record keeps what they refer to: nothing counts references.
        try withUnsafeTemporaryAllocation(of: Value.self, capacity: 1) { slot in
            guard let slot = slot.baseAddress else { return }
            let size = MemoryLayout<Value>.size
            UnsafeMutableRawPointer(slot).copyMemory(from: UnsafeRawPointer(record).advanced(by: offset), byteCount: size)
            let value = slot.move()
            do {
                try value.write(to: row, at: index)
            } catch {
                slot.initialize(to: value)
                throw error
            }
            // Not destroyed.
            slot.initialize(to: value)
        }
    }

    /// Reads the field of a model through its key path.
    @inline(never) @usableFromInline func computed<Value>(
        _ type: Value.Type, at index: Int, of record: UnsafePointer<Record>
    ) -> Value {
        // The key path at this position was declared with this type.
        record.pointee[keyPath: unsafeDowncast(keyPaths[index] as AnyKeyPath, to: KeyPath<Record, Value>.self)]
    }
}
