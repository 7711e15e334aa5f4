/// Finds contradictions in the declaration of a schema.
package enum SchemaCheck {

    /// The first contradiction; nil when there is none.
    ///
    /// - Parameter hasUnknownIndex: Whether an index has a key path that is not that of a field.
    static func problem(
        _ description: EntityDescription, fields: [FieldFacts], hasUnknownIndex: Bool
    ) -> StorageError? {
        let entity = description.name
        if hasUnknownIndex {
            return StorageError(
                .invalidSchema,
                "an index of '\(entity)' has a key path that is not a stored field; use the key paths of its fields",
                entity: entity)
        }
        if let fault = fault(in: description) { return fault }
        func problem(_ message: String, field: String? = nil) -> StorageError {
            StorageError(.invalidSchema, message, entity: entity, field: field)
        }
        if let field = fields.first(where: \.hasUnknownRelation)?.description {
            return problem(
                "the field '\(field.name)' of '\(entity)' nests models; declare a relationship as a list of models, an optional model or a "
                    + "Reference",
                field: field.name)
        }
        for field in fields where field.isRelation {
            guard let fault = field.relationFault else { continue }
            let name = field.description.name
            let message =
                switch fault {
                case .writesUnsaid:
                    "the relationship '\(name)' of '\(entity)' must be either .owned or .linked; choose .owned when its rows are parts "
                        + "of '\(entity)' and are written with it, and .linked when they exist on their own and are only referred to"
                case .referenceWrites:
                    "the Reference '\(name)' of '\(entity)' is .owned or .linked, and writing a Reference writes no row; remove the word"
                case .erasureUnsaid:
                    "the Reference '\(name)' of '\(entity)' must be either .restricted or .cascade; choose .restricted when the row that "
                        + "it leads to must not be erased, and .cascade when '\(entity)' is erased with it"
                }
            return problem(message, field: name)
        }
        for field in fields {
            var names: Set<[UInt8]> = []
            guard let twin = field.members.first(where: { !names.insert(Array($0.name.utf8)).inserted }) else { continue }
            return problem(
                "the field '\(field.description.name)' of '\(entity)' declares two members '\(twin.name)'; declare each member once",
                field: field.description.name)
        }
        for field in fields {
            guard let weight = field.searchable?.weight, !(1...SearchableField.maximumWeight ~= weight) else { continue }
            return problem(
                "the field '\(field.description.name)' of '\(entity)' is searchable with the weight \(weight); give it one from 1 to "
                    + "\(SearchableField.maximumWeight)",
                field: field.description.name)
        }
        for field in fields {
            guard let fault = field.revisionFault else { continue }
            return problem("the field '\(field.description.name)' of '\(entity)' \(fault)", field: field.description.name)
        }
        let revisions = fields.filter(\.isRevision).map(\.description.name)
        if revisions.count > 1 {
            return problem(
                "'\(entity)' has more than one Revision: \(revisions.map { "'\($0)'" }.joined(separator: " and ")); keep one of them",
                field: revisions[1])
        }
        if let key = fields.first(where: \.description.isPrimaryKey), !key.isKey {
            return problem(
                "the field '\(key.description.name)' of '\(entity)' cannot be the primary key; use an integer, a string or a UUID",
                field: key.description.name)
        }
        for (index, field) in fields.enumerated() {
            if let twin = fields[..<index].first(where: { $0.keyPath == field.keyPath }) {
                return problem(
                    "the fields '\(twin.description.name)' and '\(field.description.name)' of '\(entity)' have the same key path; give each field a different property",
                    field: field.description.name)
            }
        }
        return tradedNames(fields.map { ($0.description.name, $0.earlierNames) }, of: entity)
    }

    /// The contradiction of fields that trade names, directly or in a circle; nil when there is none.
    private static func tradedNames(_ fields: [(name: String, earlier: [String])], of entity: String) -> StorageError? {
        func successors(_ index: Int) -> [Int] {
            fields.indices.filter { other in
                other != index && fields[index].earlier.contains { $0.hasSameBytes(as: fields[other].name) }
            }
        }
        for start in fields.indices {
            var pending = successors(start)
            var seen: Set<Int> = []
            while let next = pending.popLast() {
                if next == start, let other = successors(start).first(where: { $0 != start }) {
                    return StorageError(
                        .invalidSchema,
                        "the fields '\(fields[start].name)' and '\(fields[other].name)' of '\(entity)' trade names through .renamed, and a "
                            + "file does not tell whether they have; rename them in a migration step instead",
                        entity: entity, field: fields[start].name)
                }
                if seen.insert(next).inserted { pending += successors(next) }
            }
        }
        return nil
    }

    /// The first contradiction in the names of dropped fields; nil when there is none.
    static func problem(dropping names: [String], of entity: EntityDescription) -> StorageError? {
        guard let name = names.first(where: { entity.index(of: $0) != nil }) else { return nil }
        return StorageError(
            .invalidSchema, "the field '\(name)' of '\(entity.name)' is declared and dropped; remove one of the two",
            entity: entity.name, field: name)
    }

    /// Checks a description that was created at run time.
    ///
    /// - Throws: `.invalidSchema` when the description contradicts itself.
    static func check(_ entity: EntityDescription) throws {
        if let fault = fault(in: entity) { throw fault }
        guard let kind = entity.fields.first(where: \.isPrimaryKey)?.type else { return }
        if kind.isOptional || !isKey(kind.kind) {
            throw StorageError(
                .invalidSchema,
                "the primary key of '\(entity.name)' is \(kind), which cannot be a key; use an integer, a string or a UUID",
                entity: entity.name)
        }
    }

    /// The names of the library's own entities.
    fileprivate static let ownEntities = [LinkRow.schema.description.name] + logEntities + EntityDescription.searchEntities

    /// Those of the log of changes.
    fileprivate static let logEntities = [
        ChangeRow.schema.description.name, ConsumerRow.schema.description.name, LogLimitRow.schema.description.name,
        OriginRow.schema.description.name,
    ]

    /// Checks a description that comes out of a catalog: nothing that a file says of an entity is used before.
    ///
    /// - Throws: `.invalidSchema` when no version of this library has stored it.
    static func check(stored entity: EntityDescription) throws {
        // The library's own entities have reserved names, and so has one that is being rewritten.
        var named = entity
        if ownEntities.contains(where: { $0.hasSameBytes(as: entity.name) }) { named.name = "own" }
        if entity.name.hasPrefix(EntityDescription.rewrittenPrefix) {
            named.name = String(entity.name.dropFirst(EntityDescription.rewrittenPrefix.count))
        }
        try check(named)
        func problem(_ field: FieldDescription, _ message: String) -> StorageError {
            StorageError(
                .invalidSchema, "the field '\(field.name)' of '\(entity.name)' \(message)", entity: entity.name, field: field.name
            )
        }
        for (position, field) in entity.fields.enumerated() {
            if let relation = field.relation {
                guard field.type.kind.isRelationship else { throw problem(field, "leads to rows and is no relationship") }
                guard isName(relation.entity), isKey(relation.keyKind) else {
                    throw problem(field, "leads to rows that cannot have keys")
                }
            }
            if let value = field.defaultValue {
                let row = ValueRowWriter(count: entity.fields.count)
                do {
                    try value.isNull ? () : entity.write(value, at: position, to: row)
                } catch {
                    throw problem(field, "has a default that it cannot hold")
                }
            }
        }
        for index in entity.indexes {
            guard let condition = index.condition, !condition.isComplete else { continue }
            throw StorageError(
                .invalidSchema, "the index on '\(index.fieldNames)' of '\(entity.name)' has a condition without parts",
                entity: entity.name, field: index.fieldNames)
        }
    }

    private static func isKey(_ kind: ValueKind) -> Bool { kind == .string || kind == .uuid || kind.integerRange != nil }

    /// The first contradiction in a description; nil when there is none.
    private static func fault(in description: EntityDescription) -> StorageError? {
        let entity = description.name
        let fields = description.fields
        func problem(_ message: String, field: String? = nil) -> StorageError {
            StorageError(.invalidSchema, message, entity: entity, field: field)
        }
        guard isName(entity) else {
            return problem(
                "the entity name '\(entity)' is not valid; \(nameRule)"
            )
        }
        if entity.lowercased().hasPrefix("dao_") || entity.lowercased().hasPrefix("sqlite_") {
            return problem("the entity name '\(entity)' begins with a prefix that is reserved for databases; choose another name")
        }
        var names: Set<String> = []
        for field in fields {
            guard isName(field.name) else {
                return problem(
                    "the field name '\(field.name)' is not valid; \(nameRule)",
                    field: field.name)
            }
            // SQL engines compare column names case-insensitively.
            guard names.insert(field.name.lowercased()).inserted else {
                return problem(
                    "two fields of '\(entity)' are named '\(field.name)' (ignoring case); rename one of them", field: field.name)
            }
            if field.isIndexed, !field.type.kind.isOrdered {
                return problem(
                    "the field '\(field.name)' of '\(entity)' is \(field.type), which cannot be indexed or unique; remove .indexed or .unique",
                    field: field.name)
            }
        }
        let keys = fields.filter(\.isPrimaryKey)
        guard !keys.isEmpty else {
            return problem("'\(entity)' has no primary key; add .primaryKey to one field")
        }
        if keys.count > 1 {
            let names = keys.map { "'\($0.name)'" }.joined(separator: " and ")
            return problem(
                "'\(entity)' has more than one primary key: \(names); keep .primaryKey on one field", field: keys[1].name)
        }
        return indexFault(in: description)
    }

    /// The first contradiction in the indexes over several fields; nil when there is none.
    static func indexFault(in description: EntityDescription) -> StorageError? {
        let entity = description.name
        for (position, index) in description.indexes.enumerated() {
            func problem(_ message: String, field: String? = nil) -> StorageError {
                StorageError(
                    .invalidSchema, "the index on '\(index)' of '\(entity)' \(message)", entity: entity,
                    field: field ?? index.fieldNames)
            }
            guard (1...IndexDescription.maximumFieldCount).contains(index.fields.count) else {
                return problem(
                    "has \(index.fields.count) fields; give it 1 to \(IndexDescription.maximumFieldCount) of them")
            }
            for (place, field) in index.fields.enumerated() {
                guard let type = description.index(of: field.name).map({ description.fields[$0].type }) else {
                    return problem("has a field '\(field.name)' that '\(entity)' does not have", field: field.name)
                }
                if let elements = field.elements {
                    guard type.kind == .embedded, elements.kind.isOrdered else {
                        return problem(
                            "is on the elements of '\(field.name)', which are \(elements) and cannot be indexed; use an array of scalars",
                            field: field.name)
                    }
                    guard index.fields.count == 1, field.isAscending, !index.isUnique, index.condition == nil else {
                        return problem(
                            "is on the elements of '\(field.name)' and on more; an index on elements has one field, ascends, is not "
                                + "unique and has no condition", field: field.name)
                    }
                    continue
                }
                guard type.kind.isOrdered || type.kind == .toOne else {
                    return problem(
                        "has the field '\(field.name)', which is \(type) and cannot be indexed; remove it", field: field.name)
                }
                if index.fields[..<place].contains(where: { $0.name.hasSameBytes(as: field.name) }) {
                    return problem("has the field '\(field.name)' twice; remove one of them", field: field.name)
                }
            }
            if let condition = index.condition {
                for name in condition.fields.sorted() {
                    guard let type = description.index(of: name).map({ description.fields[$0].type }) else {
                        return problem("has a condition on a field '\(name)' that '\(entity)' does not have", field: name)
                    }
                    guard !type.kind.isRelationship else {
                        return problem("has a condition on the relationship '\(name)'; use other fields", field: name)
                    }
                }
                guard condition.isTyped(in: description) else {
                    return problem("has a condition with a value that is not of the type of its field; use values of that type")
                }
                guard condition.size <= IndexCondition.maximumSize else {
                    return problem(IndexCondition.tooLarge(condition.size))
                }
                if let fault = condition.tooDeep { return problem(fault) }
            } else if index.fields.count == 1, index.fields[0].isAscending, index.elements == nil {
                let form = index.isUnique ? ".unique" : ".indexed"
                return problem("is that of one field; declare it as the option \(form) of the field")
            }
            if description.indexes[..<position].contains(where: { $0.hasSameFields(as: index) }) {
                return problem("is declared twice; remove one of them")
            }
        }
        return nil
    }

    /// What a name can have, as an error says it.
    package static let nameRule =
        "use letters, digits, signs other than . , : ; = / \\ quotes, brackets and braces, and spaces between them, at most 128 bytes"

    /// Whether a text can be the name of an entity or of a field. Tables of other programs have columns such as `Order Date` or
    /// `price (net)`; what ends or separates names in texts, paths and messages is not in any.
    package static func isName(_ text: String) -> Bool {
        let scalars = text.unicodeScalars
        guard let first = scalars.first, let last = scalars.last, first != " ", last != " ",
            !first.properties.generalCategory.isMark
        else { return false }
        return text.utf8.count <= 128
            && scalars.allSatisfy { scalar in
                switch scalar {
                case " ": true
                case ".", ",", ":", ";", "=", "/", "\\", "'", "\"", "`", "[", "]", "{", "}": false
                default: scalar.properties.generalCategory.isVisible
                }
            }
    }
}

extension Unicode.GeneralCategory {
    /// Whether a character joins the one before it.
    fileprivate var isMark: Bool {
        switch self {
        case .nonspacingMark, .spacingMark, .enclosingMark: true
        default: false
        }
    }

    /// Whether a character shows something, and does nothing else in a text.
    fileprivate var isVisible: Bool {
        switch self {
        case .control, .format, .surrogate, .privateUse, .unassigned, .spaceSeparator, .lineSeparator, .paragraphSeparator: false
        default: true
        }
    }
}

extension Schema {
    /// Checks with a model that is about to be stored that no two fields of the same type are swapped in the
    /// declaration.
    ///
    /// The compiler cannot detect swapped fields. The model is encoded, decoded and encoded again, and
    /// swapped fields change their values.
    ///
    /// - Throws: `.invalidSchema` that names both fields.
    public func checkOrder(with record: Record) throws {
        let first = ValueRowWriter(count: description.fields.count)
        try withUnsafePointer(to: record) { try encodeRow($0, first) }
        guard let copy = try? decodeWithoutCheck(ValueRowReader(entity: description, values: first.values)) else { return }
        let second = ValueRowWriter(count: description.fields.count)
        try withUnsafePointer(to: copy) { try encodeRow($0, second) }
        for left in first.values.indices where first.values[left] != second.values[left] {
            for right in first.values.indices
            where right > left && description.fields[left].type.kind == description.fields[right].type.kind {
                if first.values[left] == second.values[right], first.values[right] == second.values[left] {
                    let names = (description.fields[left].name, description.fields[right].name)
                    throw StorageError(
                        .invalidSchema,
                        "the fields '\(names.0)' and '\(names.1)' of '\(description.name)' are swapped; list them in the order "
                            + "of the initializer's parameters",
                        entity: description.name, field: names.0)
                }
            }
        }
    }

    /// Throws `.invalidSchema` when a list of a model that was made without its lists is not nil.
    func checkLists(_ fields: [Int], of record: Record) throws {
        for relation in relations where fields.contains(relation.field) && !relation.isRequired {
            guard !relation.isUnread(in: record) else { continue }
            let (entity, name) = (description.name, relation.name)
            throw StorageError(
                .invalidSchema,
                "the list '\(name)' of '\(entity)' is computed, and not nil where it was not read: the row would be written back "
                    + "with another list; declare it as a stored property",
                entity: entity, field: name)
        }
    }
}

extension EntityDescription {
    /// Whether the entity is one of the library's own, with a reserved name.
    package var isOwn: Bool { Self.isOwn(name) }

    /// The names of the entities in which indexes for searches are stored: indexes, segments, blocks and the numbers of rows.
    package static let searchEntities = ["dao_search_indexes", "dao_search_segments", "dao_search_blocks", "dao_search_rows"]

    /// Whether a name is that of one of the library's own entities.
    static func isOwn(_ name: String) -> Bool { SchemaCheck.ownEntities.contains { $0.hasSameBytes(as: name) } }

    /// Whether a build that knows of no log of changes must not open a database with the entity.
    package var needsLog: Bool { log != nil || SchemaCheck.logEntities.contains { $0.hasSameBytes(as: name) } }

    /// Whether a build that knows of no index for searches must not write the rows.
    package var needsTextIndex: Bool { textIndex != nil || isOfTextIndex }

    /// Whether indexes for searches are stored in it.
    package var isOfTextIndex: Bool { Self.searchEntities.contains { $0.hasSameBytes(as: name) } }
}
