extension Schema {
    /// Declares a model of some fields of an entity, which another model declares as a whole.
    ///
    /// A part reads and writes its own fields only, and can be in use beside the whole model. Its fields have
    /// the names and types of the entity's fields. Their options, except `.primaryKey`, are those of the
    /// entity, and are not repeated. A part has no relationships. It has the entity's ``Revision``, when there is one.
    ///
    /// ```swift
    /// struct MessageTitle: Model {
    ///     var id: Int
    ///     var title: String
    ///
    ///     static let schema = Schema(
    ///         partOf: Message.self, Self.init,
    ///         Field("id", \.id, .primaryKey),
    ///         Field("title", \.title)
    ///     )
    /// }
    /// ```
    ///
    /// A row can be inserted through a part when each field that it lacks is optional or has a default.
    ///
    /// - Parameters:
    ///   - whole: The model of the whole entity.
    ///   - make: The initializer that takes the fields, usually `Self.init`.
    ///   - fields: The fields in the order of the initializer's parameters.
    @preconcurrency @inlinable public convenience init<Whole: Model, each Stored: FieldValue>(
        partOf whole: Whole.Type,
        _ make: @escaping @Sendable (repeat each Stored) -> Record,
        _ fields: repeat Field<Record, each Stored>
    ) {
        self.init(Schema(packing: PartOf.entity(Record.self, whole), make, repeat each fields), partOf: whole)
    }
}

/// The checks of a schema that declares a part of an entity.
@usableFromInline enum PartOf {
    /// The parts whose schemas are being made: a schema that needed itself would wait for itself.
    @TaskLocal private static var beingMade: [ObjectIdentifier] = []

    /// The name of the entity.
    @usableFromInline static func entity<Part: Model, Whole: Model>(_ part: Part.Type, _ whole: Whole.Type) -> String {
        if isCircular(part, whole) { return "part" }
        return $beingMade.withValue(beingMade + [ObjectIdentifier(part)]) { Whole.schema.description.name }
    }

    /// Whether a model is a part of itself, directly or through other parts.
    static func isCircular<Part: Model, Whole: Model>(_ part: Part.Type, _ whole: Whole.Type) -> Bool {
        part == whole || beingMade.contains(ObjectIdentifier(whole))
    }

    /// The first contradiction between a part and its entity; nil when there is none.
    static func problem<Part: Model, Whole: Model>(_ part: Schema<Part>, _ whole: Schema<Whole>) -> StorageError? {
        let entity = whole.description.name
        // Optimised interpolation of a private type shows where it is declared.
        let (partName, wholeName) = (String(describing: Part.self), String(describing: Whole.self))
        if whole.whole != nil { return nested(entity, Part.self, Whole.self) }
        for (index, field) in part.description.fields.enumerated() {
            func problem(_ message: String) -> StorageError {
                StorageError(
                    .invalidSchema, "the field '\(field.name)' of '\(partName)', a part of '\(entity)', \(message)",
                    entity: entity, field: field.name)
            }
            guard let position = whole.description.index(of: field.name) else {
                return problem("is not a field of '\(wholeName)'; use the name of one of its fields")
            }
            let declared = whole.description.fields[position]
            if field.type != declared.type {
                return problem("is \(field.type), and \(declared.type) in '\(wholeName)'; declare the same type")
            }
            if field.isPrimaryKey != declared.isPrimaryKey {
                return problem("is \(field.isPrimaryKey ? "not " : "")the primary key of '\(wholeName)'; declare the same key")
            }
            if field.type.kind.isRelationship {
                return problem("is a relationship, which a part cannot have; read it through '\(wholeName)'")
            }
            // A revision has a default that nobody declares.
            let hasDefault = part.defaults[index] != nil && part.revision?.index != index
            if field.isIndexed || hasDefault || !part.earlierNames[index].isEmpty {
                return problem("has options; declare them in '\(wholeName)' only")
            }
        }
        if let revision = whole.revision, part.revision == nil {
            let name = whole.description.fields[revision.index].name
            return StorageError(
                .invalidSchema,
                "'\(partName)', a part of '\(entity)', lacks the Revision '\(name)', so its writes would not be counted; declare the "
                    + "field in the part too", entity: entity, field: name)
        }
        return nil
    }

    /// The error of a part of a part.
    static func nested(_ entity: String, _ part: any Model.Type, _ whole: any Model.Type) -> StorageError {
        StorageError(
            .invalidSchema,
            "'\(part)' is declared as a part of '\(whole)', which is not the model of a whole entity; use the model of the whole entity",
            entity: entity)
    }

    /// The error of a part that drops a field.
    static func droppedField(_ name: String, _ entity: String) -> StorageError {
        StorageError(
            .invalidSchema,
            "a part of '\(entity)' drops the field '\(name)'; drop it in the model of the whole entity, or in a migration step",
            entity: entity, field: name)
    }
}
