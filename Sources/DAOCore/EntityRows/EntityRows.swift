/// The rows of a stored entity, without the application's types (contract E8).
///
/// ```swift
/// let articles = try database.rows(of: "article")
/// let newest = try articles.read(where: "author == 5", orderedBy: .descending("date"), limit: 50)
/// for article in newest { print(article.key, article["title"] ?? .null) }
/// ```
///
/// Conditions, sorts, pages, plans and errors are those of a model with the stored fields. The rows are as they are
/// stored: the raw value of an enumeration, the JSON of an embedded value, the key of a related row. Lists of related
/// rows are not read; ``related(_:of:limit:offset:)`` reads one. A condition cannot name the elements of an array, whose type only
/// the application knows.
///
/// Every call sees the entity and its rows as one commit has them, and reads the description of the database first.
/// Reading changes nothing: it declares no entity, and the application's models can be opened before and after. Inside a
/// transaction or a snapshot it belongs to that. Inside `database.observe { }` its rows are observed, and
/// `await database.snapshot { }` reads them without blocking the cooperative pool.
///
/// Any thread or task can use it.
public final class EntityRows: Sendable {
    /// The database of the rows.
    public let database: any Database
    /// The name of the entity.
    public let name: String

    /// The storages of the last call, for an entity that has not changed since.
    private let last = Lock<OpenEntity?>(nil)

    fileprivate init(_ name: String, in database: any Database) throws {
        self.name = name
        self.database = database
        _ = try entity
    }

    /// The entity as it is stored now.
    ///
    /// - Throws: `.invalidQuery` when the database no longer has the entity, as every other call does.
    public var entity: EntityDescription { get throws { try reading { $0.entity } } }

    // MARK: Reading

    /// Returns the rows that meet a condition, in an order.
    ///
    /// - Parameters:
    ///   - predicate: The condition that rows must meet; nil for all rows.
    ///   - order: The sort terms. Without terms, the order is that of the primary key.
    ///   - limit: The maximum number of rows; nil for all.
    ///   - offset: The number of rows to skip.
    /// - Throws: `.invalidPredicate` with the position in the text; `.invalidQuery`.
    public func read(
        where predicate: TextPredicate? = nil, orderedBy order: RowQuery.Order..., limit: Int? = nil, offset: Int = 0
    ) throws -> [EntityRow] {
        try read(RowQuery(where: predicate, orderedBy: order, limit: limit, offset: offset))
    }

    /// Returns the rows of a query, in its order.
    public func read(_ query: RowQuery) throws -> [EntityRow] { try reading { try $0.read(query) } }

    /// Returns the row with a key; nil when the key is not stored.
    ///
    /// - Parameter id: A `UniqueID`, a string, an integer or a UUID.
    /// - Throws: `.invalidKey` for an id that cannot be a key of the entity.
    public func read(byPrimaryKey id: any UniqueIDConvertible) throws -> EntityRow? { try reading { try $0.read(id) } }

    /// Returns a page of a query.
    ///
    /// - Parameters:
    ///   - query: The query, without a limit and an offset. The page begins after the row of its `after` cursor.
    ///   - limit: The maximum number of rows on the page; at least 1.
    /// - Throws: `.invalidQuery` for a limit below 1, a query with a limit or an offset, or a cursor of another query.
    public func page(_ query: RowQuery = RowQuery(), limit: Int) throws -> Page<EntityRow> {
        try reading { try $0.page(query, limit) }
    }

    /// Calls a closure with each row of a query, in its order. All reads use one snapshot. The memory use is constant
    /// where the key or an index supplies the order (contract Q6).
    ///
    /// - Parameters:
    ///   - query: The query; by default all rows in key order.
    ///   - body: A closure that is called with each row. An error that it throws ends the read and is rethrown. A write
    ///     to this database in it throws `.invalidTransaction` outside a transaction.
    public func forEach(_ query: RowQuery = RowQuery(), _ body: (EntityRow) throws -> Void) throws {
        try reading { try $0.forEach(query, body) }
    }

    /// Returns the number of rows that meet a condition; of all rows without a condition.
    public func count(where predicate: TextPredicate? = nil) throws -> Int {
        try reading { try $0.count(RowQuery(where: predicate)) }
    }

    /// Returns the plan of a query: the index that it uses, and whether rows are filtered and sorted.
    public func explain(_ query: RowQuery) throws -> QueryPlan { try reading { try $0.explain(query) } }

    // MARK: Relationships

    /// Returns the rows that a relationship of a row leads to: those of a list in its order, repeated rows included, or
    /// the one related row. The rows that lead to a row are those that meet a condition, such as `"writer == 5"` or
    /// `"ANY comments.id == 7"`.
    ///
    /// ```swift
    /// let comments = try articles.related("comments", of: article.key)
    /// ```
    ///
    /// - Parameters:
    ///   - field: The name of the relationship.
    ///   - id: The key of the row. A row that is not stored leads to none.
    ///   - limit: The maximum number of rows; nil for all.
    ///   - offset: The number of rows to skip.
    /// - Throws: `.invalidQuery` when the field is not a relationship of the entity, or for a negative number.
    public func related(
        _ field: String, of id: any UniqueIDConvertible, limit: Int? = nil, offset: Int = 0
    ) throws -> [EntityRow] {
        try reading { try $0.related(field, id, limit, offset) }
    }

    /// Returns the number of rows that a relationship of a row leads to, without reading them; see ``related(_:of:limit:offset:)``.
    public func relatedCount(_ field: String, of id: any UniqueIDConvertible) throws -> Int {
        try reading { try $0.relatedCount(field, id) }
    }

    // MARK: Writing

    /// Inserts rows, and changes rows that are stored: the fields that are named get their values, all others keep
    /// theirs. In a new row these have their declared default, or nil. All rows are stored or none, with all that a write
    /// of a model means for indexes, unique fields, References and observations.
    ///
    /// ```swift
    /// try writers.persist([["id": .integer(7), "name": .string("Ada")]])
    /// ```
    ///
    /// A to-one relationship is the key of a row, which must be stored when the call ends; a list keeps its rows. A
    /// `Revision` is a number here, and is not counted.
    ///
    /// - Parameter rows: The values of each row by the names of its fields, the key among them. The last values of a
    ///   repeated key win.
    /// - Throws: `.invalidQuery` for an unknown field and for a list; `.invalidKey` for a row without a key;
    ///   `.corruptedValue` with the field for a value that it cannot hold, such as text that is not JSON of what an embedded
    ///   field contains; `.uniqueViolation`, `.referenceViolation`.
    public func persist(_ rows: [[String: Value]]) throws {
        try writing { try $0.persist(rows) }
    }

    /// Erases the rows that meet a condition, with all that erasing a row of a model means for links, related rows that
    /// cascade, References and observations.
    ///
    /// ```swift
    /// try drafts.erase(where: "date < '2024-01-01'")
    /// ```
    ///
    /// - Parameter predicate: The condition. `"TRUEPREDICATE"` erases all rows.
    /// - Returns: The number of erased rows of this entity, without those that are erased with them.
    /// - Throws: `.invalidPredicate`; `.referenceViolation` when a Reference that is restricted leads to one of the rows.
    @discardableResult public func erase(where predicate: TextPredicate) throws -> Int {
        try writing { try $0.erase(RowQuery(where: predicate)) }
    }

    /// Erases the row with a key; see ``erase(where:)``.
    ///
    /// - Returns: The number of erased rows: 0 or 1.
    @discardableResult public func erase(byPrimaryKey id: any UniqueIDConvertible) throws -> Int {
        try writing { try $0.erase(id) }
    }

    /// Drops the entity with its rows, and the links of these.
    ///
    /// - Returns: The number of its rows.
    /// - Throws: `.referenceViolation` when a field of another entity leads to it, whatever that does when rows are erased.
    @discardableResult package func drop() throws -> Int {
        try database.withEntityStore(.write) { store in
            let entities = try store.entities()
            guard let entity = entities.first(where: { $0.name == name }) else { throw unknown(entities) }
            try checkWritable()
            for other in entities where other.name != name {
                guard let field = other.fields.first(where: { $0.relation?.entity == name }) else { continue }
                throw StorageError(
                    .referenceViolation,
                    "'\(field.name)' of '\(other.name)' leads to '\(name)', which stays; drop '\(other.name)' first, or the field in a migration",
                    entity: other.name, field: field.name)
            }
            let count = try store.count(name)
            try store.removeLinks(ofAllRowsOf: entity)
            try store.drop(name)
            return count
        }
    }

    private func unknown(_ entities: [EntityDescription]) -> StorageError {
        StorageError(
            .invalidQuery,
            entities.isEmpty
                ? "the database has no entity '\(name)', and no other; open a model of the application first"
                : "the database has no entity '\(name)'; use one that it has: \(entities.map(\.name).joined(separator: ", "))",
            entity: name)
    }

    private func writing<Result>(_ body: (any OpenRows) throws -> Result) throws -> Result {
        try checkWritable()
        return try database.transaction { try using(body) }
    }

    /// Refuses to write what the library keeps for itself, such as the log of changes.
    private func checkWritable() throws {
        guard EntityDescription.isOwn(name) else { return }
        throw StorageError(
            .unsupported, "'\(name)' is the library's own; its rows can be read and not written here", entity: name)
    }

    /// Calls a visitor with the rows, where their type is known.
    package func visit<Visitor: EntityRowsVisitor>(_ visitor: Visitor) throws -> Visitor.Result {
        try reading { try $0.visit(visitor) }
    }

    private func reading<Result>(_ body: (any OpenRows) throws -> Result) throws -> Result {
        // What observes an entity that is not there hears of it when it comes.
        ObservedReads.current?.willRead(TouchedEntities(names: [name]), in: database.engineState)
        // In a snapshot or a transaction the entity is stored, so that opening it makes nothing.
        return try database.runSnapshot { try using(body) }
    }

    private func using<Result>(_ body: (any OpenRows) throws -> Result) throws -> Result {
        let entities = try database.entities()
        let open = try last.withLock { $0.flatMap { $0.models.entities == entities ? $0 : nil } } ?? open(entities)
        return try withExtendedLifetime(open) { try body(open.rows) }
    }

    private func open(_ entities: [EntityDescription]) throws -> OpenEntity {
        let models = UntypedModels(entities)
        guard let slot = models.slot(of: name) else { throw unknown(entities) }
        func rows<Slot: ModelSlot>(_ slot: Slot.Type) throws -> any OpenRows { try TypedRows<UntypedRecord<Slot>>(database) }
        let opened = OpenEntity(models: models, rows: try rows(slot))
        last.withLock { $0 = opened }
        return opened
    }
}

extension Database {
    /// Returns the rows of a stored entity, which are read without the application's types (contract E8).
    ///
    /// ```swift
    /// for entity in try database.entities() {
    ///     print(entity, try database.rows(of: entity.name).count())
    /// }
    /// ```
    ///
    /// - Parameter entity: The name of the entity.
    /// - Throws: `.invalidQuery` when the database has no such entity. Its message names those that it has.
    public func rows(of entity: String) throws -> EntityRows { try EntityRows(entity, in: self) }
}

/// An entity with the models that its storages need.
private struct OpenEntity: Sendable {
    let models: UntypedModels
    let rows: any OpenRows
}

/// What reads the rows of an entity in another way than ``EntityRows`` has.
package protocol EntityRowsVisitor {
    associatedtype Result

    /// Reads rows, in one state of the database.
    ///
    /// - Parameters:
    ///   - rows: The rows as records.
    ///   - entity: The entity as it is stored.
    ///   - condition: Returns the condition of a text.
    ///   - row: Returns the row of a record.
    func visit<Record: Model>(
        _ rows: any Storage<Record>, _ entity: EntityDescription, condition: (TextPredicate) -> Condition<Record>,
        row: (Record) -> EntityRow
    ) throws -> Result
}

/// The calls of ``EntityRows``, where the type of the records is known.
private protocol OpenRows: Sendable {
    var entity: EntityDescription { get }
    func read(_ query: RowQuery) throws -> [EntityRow]
    func read(_ id: any UniqueIDConvertible) throws -> EntityRow?
    func page(_ query: RowQuery, _ limit: Int) throws -> Page<EntityRow>
    func forEach(_ query: RowQuery, _ body: (EntityRow) throws -> Void) throws
    func count(_ query: RowQuery) throws -> Int
    func explain(_ query: RowQuery) throws -> QueryPlan
    func related(_ field: String, _ id: any UniqueIDConvertible, _ limit: Int?, _ offset: Int) throws -> [EntityRow]
    func relatedCount(_ field: String, _ id: any UniqueIDConvertible) throws -> Int
    func erase(_ query: RowQuery) throws -> Int
    func erase(_ id: any UniqueIDConvertible) throws -> Int
    func persist(_ rows: [[String: Value]]) throws
    func visit<Visitor: EntityRowsVisitor>(_ visitor: Visitor) throws -> Visitor.Result
}

private struct TypedRows<Record: UntypedModel>: OpenRows {
    let entity: EntityDescription
    private let database: any Database
    private let graph: StorageGraph
    private let storage: any Storage<Record>

    init(_ database: any Database) throws {
        entity = Record.schema.storedDescription
        self.database = database
        graph = try StorageGraph(database, from: Record.self)
        let storage = try GraphStorage<Record>(graph: graph)
        self.storage = ReportingStorage(storage, database.configuration.listeners) ?? storage
    }

    private func row(_ record: Record) -> EntityRow { EntityRow(entity: entity, values: record.values) }

    func read(_ query: RowQuery) throws -> [EntityRow] { try storage.read(query.query(of: Record.self)).map(row) }

    func read(_ id: any UniqueIDConvertible) throws -> EntityRow? {
        try storage.read(keys: [key(id)], includesSubentities: false).first.map(row)
    }

    func page(_ query: RowQuery, _ limit: Int) throws -> Page<EntityRow> {
        let page = try storage.page(query.query(of: Record.self), limit: limit)
        return Page(elements: page.elements.map(row), next: page.next)
    }

    func forEach(_ query: RowQuery, _ body: (EntityRow) throws -> Void) throws {
        let cursor = try storage.cursor(query.query(of: Record.self))
        defer { cursor.close() }
        while case let records = try cursor.next(256), !records.isEmpty {
            for record in records { try body(row(record)) }
        }
    }

    func count(_ query: RowQuery) throws -> Int { try storage.count(query.query(of: Record.self)) }

    func explain(_ query: RowQuery) throws -> QueryPlan { try storage.explain(query.query(of: Record.self)) }

    func related(_ field: String, _ id: any UniqueIDConvertible, _ limit: Int?, _ offset: Int) throws -> [EntityRow] {
        if let limit, limit < 0 { throw StorageError.negative("limit", limit, entity.name) }
        if offset < 0 { throw StorageError.negative("offset", offset, entity.name) }
        return try rows(of: relation(field), key(id), limit ?? .max, offset)
    }

    func relatedCount(_ field: String, _ id: any UniqueIDConvertible) throws -> Int {
        try keys(of: relation(field), key(id)).count
    }

    private func relation(_ field: String) throws -> any Relation<Record> {
        let relations = Record.schema.relations
        if let relation = relations.first(where: { entity.fields[$0.field].name.hasSameBytes(as: field) }) { return relation }
        let names = relations.map { entity.fields[$0.field].name }.joined(separator: ", ")
        throw StorageError(
            .invalidQuery,
            "'\(field)' is not a relationship of '\(entity.name)'"
                + (names.isEmpty ? ", which has none; use the key of the related row" : "; use one that it has: \(names)"),
            entity: entity.name, field: field)
    }

    /// The keys of the rows that a relationship of a row leads to, in its order.
    private func keys<Field: Relation>(of relation: Field, _ key: Key) throws -> [Key] where Field.Parent == Record {
        // It also tells a running observation what is read.
        guard try storage.contains(key: key) else { return [] }
        return try relation.links(in: graph).children(of: [key]).keys
    }

    private func rows<Field: Relation>(
        of relation: Field, _ key: Key, _ limit: Int, _ offset: Int
    ) throws -> [EntityRow] where Field.Parent == Record {
        let keys = try keys(of: relation, key).dropFirst(offset).prefix(limit)
        let (schema, related) = (Field.Child.schema, Field.Child.schema.storedDescription)
        let rows = try GraphStorage<Field.Child>(graph: graph).read(keys: Array(keys), includesSubentities: false)
        let byKey = Dictionary(
            rows.map { row in
                let values = related.fields.indices.map { schema.value(at: $0, of: row) }
                return (schema.key(of: row), EntityRow(entity: related, values: values))
            }, uniquingKeysWith: { $1 })
        return keys.compactMap { byKey[$0] }
    }

    func visit<Visitor: EntityRowsVisitor>(_ visitor: Visitor) throws -> Visitor.Result {
        try visitor.visit(
            storage, database.entities().first { $0.name.hasSameBytes(as: entity.name) } ?? entity,
            condition: { Condition($0.format, arguments: $0.arguments) }, row: row)
    }

    func erase(_ query: RowQuery) throws -> Int { try storage.erase(query.query(of: Record.self)) }

    func erase(_ id: any UniqueIDConvertible) throws -> Int { try storage.erase(keys: [key(id)]) }

    func persist(_ rows: [[String: Value]]) throws {
        let keyField = entity.fields[entity.keyIndex].name
        let changes = try rows.map { row in
            let key = Key(row[keyField] ?? .null, of: entity.keyKind)
            return try row.map { name, value in
                let position = try position(of: name)
                return (position, try naming(key) { try entity.canonical(value, at: position) })
            }
        }
        let keys = try rows.map { row in
            guard let key = Key(row[keyField] ?? .null, of: entity.keyKind) else {
                throw StorageError(
                    .invalidKey, "a row of '\(entity.name)' has no key; give it one in the field '\(keyField)'",
                    entity: entity.name)
            }
            if case .string(let text) = key, text.utf8.count > Key.maximumLength {
                throw StorageError.keyTooLong(entity.name, length: text.utf8.count)
            }
            return key
        }
        var last = keys.first
        do {
            _ = try storage.merge(keys: keys) { index, record in
                last = keys[index]
                var values = record?.values ?? entity.fields.map { $0.defaultValue ?? .null }
                for (position, value) in changes[index] { values[position] = value }
                record = Record(values: values)
            }
        } catch var error as StorageError where error.kind == .corruptedValue && error.entity == entity.name && error.key == nil {
            // A row is encoded when its closure has run. What encodes it knows the value alone.
            error.key = last.map { UniqueID($0) }
            throw error
        }
    }

    /// The position of a field that can be set.
    private func position(of name: String) throws -> Int {
        guard let position = entity.index(of: name) else {
            throw StorageError(
                .invalidQuery,
                "'\(entity.name)' has no field '\(name)'; it has: \(entity.fields.map(\.name).joined(separator: ", "))",
                entity: entity.name, field: name)
        }
        if entity.fields[position].type.kind == .toMany {
            throw StorageError(
                .invalidQuery, "'\(name)' of '\(entity.name)' is a list of rows, which cannot be set; leave it out",
                entity: entity.name, field: name)
        }
        return position
    }

    private func key(_ id: any UniqueIDConvertible) throws -> Key {
        try id.key(as: Record.schema.keyKind, entity: entity.name)
    }
}
