/// The entities and rows of a database without the application's types, in one running transaction. It is the
/// layer below the storages.
///
/// Migrations, changes at open and copies use it, so they are implemented only once. A backend supplies it
/// through ``Database/withEntityStore(_:_:)``. A row is an array of values, one for each field in the order
/// of the entity's description. The values have the form of ``RowReader/readValue(at:)``: a date is
/// ``Value/date(_:)``, a decimal number ``Value/decimal(_:)``.
///
/// A store belongs to one call on one thread. When it was opened for reading, every method that writes
/// throws.
public protocol EntityStore: AnyObject {

    /// Returns the stored entities, ordered by name.
    func entities() throws -> [EntityDescription]

    /// Returns the text of a property that the database stores for this library, such as its version; nil
    /// when there is none.
    func property(_ name: String) throws -> String?

    /// Sets the text of a property; nil removes it.
    func setProperty(_ name: String, to value: String?) throws

    /// Creates an entity without rows.
    func create(_ entity: EntityDescription) throws

    /// Drops an entity with its rows and indexes.
    func drop(_ entity: String) throws

    /// Renames an entity. No entity has the new name.
    func rename(_ entity: String, to name: String) throws

    /// Changes a stored entity to its wanted description in place.
    ///
    /// The change must have no obstacles.
    ///
    /// - Returns: False when the rows must be rewritten instead. Nothing is changed in that case.
    /// - Throws: `.uniqueViolation` with the field and both keys when rows have the same value in a field
    ///   that becomes unique.
    func alter(_ change: EntityChange) throws -> Bool

    /// Whether the indexes of a new entity are better created after its rows than filled row by row. By default false.
    var fillsIndexesLater: Bool { get }

    /// Returns the number of rows of an entity.
    func count(_ entity: String) throws -> Int

    /// Calls a closure with the rows of an entity, in key order.
    ///
    /// - Parameters:
    ///   - entity: The name of the entity.
    ///   - key: The key after which the rows begin; nil to begin at the first row.
    ///   - body: A closure that gets the key and the values of a row and returns whether to continue. It must
    ///     not write.
    func forEachRow(of entity: String, after key: Key?, _ body: (Key, [Value]) throws -> Bool) throws

    /// Stores rows.
    ///
    /// - Parameters:
    ///   - rows: The rows.
    ///   - entity: The name of the entity.
    ///   - replaces: Whether a row replaces a stored row with the same key. Otherwise such a row is
    ///     `.duplicateKey`.
    /// - Throws: `.uniqueViolation`, `.duplicateKey`, `.invalidKey`; `.corruptedValue` for a value that its
    ///   field cannot hold.
    func store(_ rows: [[Value]], in entity: String, replaces: Bool) throws

    /// Erases the stored rows with the given keys.
    func erase(_ keys: [Key], from entity: String) throws

    /// Returns the links of a relationship in this transaction. They are the links of the database's
    /// `makeLinks(for:)`.
    func links(of relation: RelationDescription) throws -> any LinkStorage

    /// Renames or removes links, all at the same time. The default changes the rows of the hidden entity.
    func moveLinks(_ moves: [LinkMove]) throws

    /// Returns those of some keys that no row of an entity has, in the given order. The default reads all rows.
    func missing(_ keys: [Key], from entity: String) throws -> [Key]

    /// Checks the structure of what is stored, such as the pages of a file. The default does nothing.
    ///
    /// - Parameter report: A closure that gets each problem.
    /// - Throws: `.corrupted` when rows cannot be found.
    func verifyStructure(_ report: (StorageError) throws -> Void) throws

    /// Decodes every row of an entity and compares its indexes with the rows. The default decodes the rows, up to the
    /// first damage.
    ///
    /// - Parameters:
    ///   - entity: The name of the entity.
    ///   - onRow: A closure that is called after each row.
    ///   - report: A closure that gets each problem.
    /// - Throws: `.corrupted` when the other rows cannot be found; any error of a closure.
    func verify(_ entity: String, onRow: () throws -> Void, _ report: (StorageError) throws -> Void) throws
}

extension EntityStore {
    /// By default false.
    public var fillsIndexesLater: Bool { false }

    /// Reads all rows.
    public func missing(_ keys: [Key], from entity: String) throws -> [Key] {
        if keys.isEmpty { return [] }
        var missing = Set(keys)
        try forEachRow(of: entity, after: nil) { key, _ in
            missing.remove(key)
            return !missing.isEmpty
        }
        return keys.filter(missing.contains)
    }

    /// Does nothing.
    public func verifyStructure(_ report: (StorageError) throws -> Void) throws {}

    /// Decodes the rows, up to the first damage.
    public func verify(_ entity: String, onRow: () throws -> Void, _ report: (StorageError) throws -> Void) throws {
        try forEachRow(of: entity, after: nil) { _, _ in
            try onRow()
            return true
        }
    }
}

/// The access of an ``EntityStore``.
public enum EntityStoreAccess: Sendable {
    /// Reads one snapshot.
    case read
    /// Reads and writes in a separate transaction.
    case write
    /// Reads and writes rows in the running transaction, or in a separate one. Entities are not changed.
    case rows
}

extension Database {
    /// Throws `.unsupported`: the database does not offer an entity store.
    public func withEntityStore<Result>(_ access: EntityStoreAccess, _ body: (any EntityStore) throws -> Result) throws -> Result
    {
        throw StorageError(
            .unsupported,
            "\(capabilities.engine) databases have no rows without types, which migrations and copies need; use another database",
            path: configuration.path)
    }
}
