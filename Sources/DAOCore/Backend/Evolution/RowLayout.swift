/// The fields of a stored entity as a model without some of them uses it: the declared fields in the order of
/// the model, then the retired fields, which the model does not declare.
///
/// The positions of the declared fields are those of the model, so the model's schema reads and writes them.
/// A backend keeps the retired fields: a row that replaces a stored row keeps their values, and a new row has
/// their defaults.
///
/// ```swift
/// guard let layout = RowLayout(of: stored, for: Record.schema.declaration) else {
///     throw StorageError.outdated(stored.name, path: nil)
/// }
/// ```
public struct RowLayout: Sendable, Equatable {
    /// The entity with all stored fields in ``EntityDescription/rowForm``: the declared fields, then the retired
    /// fields.
    public let entity: EntityDescription
    /// The position of every field in the stored entity.
    public let positions: [Int]
    /// The positions of the retired fields in ``entity``.
    public let retired: Range<Int>
    /// Whether rows are stored in the order of ``entity``.
    private let isInOrder: Bool

    /// Lays out a stored entity for a model.
    ///
    /// - Parameters:
    ///   - stored: The stored description of the entity.
    ///   - declaration: The declaration of the model.
    /// - Returns: Nil when the model cannot use the entity as it is stored: a declared field is missing or
    ///   has another type, or a retired field is required and has no default. A part may lack required fields of
    ///   its entity; nothing is inserted through it then.
    public init?(of stored: EntityDescription, for declaration: EntityDeclaration) {
        let declared = declaration.description
        var positions: [Int] = []
        positions.reserveCapacity(stored.fields.count)
        for field in declared.fields {
            guard let position = stored.index(of: field.name), stored.fields[position].canHold(field) else { return nil }
            positions.append(position)
        }
        let declaredPositions = Set(positions)
        for (position, field) in stored.fields.enumerated() where !declaredPositions.contains(position) {
            guard field.canRetire || declaration.lacks(field) else { return nil }
            positions.append(position)
        }
        self.positions = positions
        isInOrder = positions.elementsEqual(stored.fields.indices)
        retired = declared.fields.count..<positions.count
        var ordered = stored
        ordered.fields = positions.map { stored.fields[$0] }
        entity = ordered.rowForm
    }

    /// The positions of the declared fields in ``entity``, which are those of the model.
    public var declared: Range<Int> { 0..<retired.lowerBound }

    /// The entity with its fields in the order of the stored rows.
    var storedEntity: EntityDescription {
        var fields = entity.fields
        for (field, position) in positions.enumerated() { fields[position] = entity.fields[field] }
        var stored = entity
        stored.fields = fields
        return stored
    }

    /// Returns a reader at a stored row, for the model.
    ///
    /// - Parameter values: The values of the row, in the order of the stored entity and in the form of ``ValueRowWriter``.
    public func reader(of values: [Value]) -> ValueRowReader {
        // The reader says what a row lacks that is too short.
        ValueRowReader(
            entity: entity, values: isInOrder || values.count < positions.count ? values : positions.map { values[$0] })
    }

    /// Returns the values of a row as it is stored, in the order of the stored entity: those of the model, and in the fields that it
    /// does not declare those of the row that is replaced, or their defaults.
    ///
    /// - Parameters:
    ///   - declared: The values of the model, as ``Schema/encode(_:to:)`` writes them into a ``ValueRowWriter``.
    ///   - stored: The row that is replaced; nil for a new row.
    public func values(of declared: [Value], replacing stored: [Value]?) throws -> [Value] {
        let writer = ValueRowWriter(count: positions.count)
        if let stored, stored.count == positions.count {
            writer.values = stored
        } else {
            for (field, value) in zip(retired, retiredDefaults) {
                writer.offset = positions[field] - field
                try entity.write(value, at: field, to: writer)
            }
        }
        for (field, value) in zip(self.declared, declared) { writer.values[positions[field]] = value }
        return writer.values
    }

    /// The defaults of the retired fields, in order; null for a field without a default.
    public var retiredDefaults: [Value] { retired.map { entity.fields[$0].defaultValue ?? .null } }
}

extension EntityDeclaration {
    /// Whether the model is a part of its entity, and lacks a required field of it.
    func lacks(_ field: FieldDescription) -> Bool { requiredElsewhere.contains { $0.hasSameBytes(as: field.name) } }
}

extension FieldDescription {
    /// Whether rows can be inserted without a value of the field: it is optional, a list of models, or has a
    /// default.
    var canRetire: Bool {
        !isPrimaryKey && (type.isOptional || type.kind == .toMany || defaultValue.map { !$0.isNull } ?? false)
    }

    /// Whether a stored field holds the values of a declared field.
    fileprivate func canHold(_ declared: FieldDescription) -> Bool {
        type == declared.type && isPrimaryKey == declared.isPrimaryKey && relation?.entity == declared.relation?.entity
    }
}
