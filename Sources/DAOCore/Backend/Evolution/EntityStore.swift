/// What a database offers below its storages: entities and rows without the application's types, in one running transaction.
///
/// Migrations, changes at open, and copies are written once, on this; a backend supplies it through ``Database/withEntityStore(_:_:)``.
/// Rows are arrays of values, one for each field of the entity's description in its order, in the form that
/// ``RowReader/readValue(at:)`` gives: a date is ``Value/date(_:)``, a decimal number ``Value/decimal(_:)``.
///
/// It belongs to one call on one thread. In a reading one every method that writes throws.
public protocol EntityStore: AnyObject {

    /// The entities that are stored, by name.
    func entities() throws -> [EntityDescription]

    /// A text that the database keeps for the suite, such as its version; nil when it keeps none of that name.
    func property(_ name: String) throws -> String?

    /// Keeps a text, or with nil removes it.
    func setProperty(_ name: String, to value: String?) throws

    /// Makes an entity without rows.
    func create(_ entity: EntityDescription) throws

    /// Removes an entity with its rows and indexes.
    func drop(_ entity: String) throws

    /// Gives an entity another name, which no entity has.
    func rename(_ entity: String, to name: String) throws

    /// Makes a stored entity what it is to be, where it is.
    ///
    /// The change has no obstacles.
    ///
    /// - Returns: False, with nothing changed, when the rows have to be written anew instead.
    /// - Throws: `.uniqueViolation` naming field and both keys when rows have the same value in a field that becomes unique.
    func alter(_ change: EntityChange) throws -> Bool

    /// How many rows an entity has.
    func count(_ entity: String) throws -> Int

    /// Gives the rows of an entity to a body, in the order of their keys.
    ///
    /// - Parameters:
    ///   - entity: The entity.
    ///   - key: Begins behind this key; nil for the first row.
    ///   - body: Gets the key and the values of a row and says whether to go on. It writes nothing.
    func forEachRow(of entity: String, after key: Key?, _ body: (Key, [Value]) throws -> Bool) throws

    /// Stores rows.
    ///
    /// - Parameters:
    ///   - rows: The rows.
    ///   - entity: The entity.
    ///   - replaces: Whether a row takes the place of one with its key; else that is `.duplicateKey`.
    /// - Throws: `.uniqueViolation`, `.duplicateKey`, `.invalidKey`, and `.corruptedValue` for a value that its field cannot hold.
    func store(_ rows: [[Value]], in entity: String, replaces: Bool) throws

    /// Removes the rows with keys, those that are there.
    func erase(_ keys: [Key], from entity: String) throws

    /// The links of a relationship, in this transaction: what the database's `makeLinks(for:)` gives, used inside of it.
    func links(of relation: RelationDescription) throws -> any LinkStorage

    /// Gives links other names, all at once, or removes them. By default those are rows of the hidden entity.
    func moveLinks(_ moves: [LinkMove]) throws
}

/// What an ``EntityStore`` is for.
public enum EntityStoreAccess: Sendable {
    /// Reading one snapshot.
    case read
    /// Reading and writing, in one transaction of its own.
    case write
}

extension Database {
    /// A database that does not offer it refuses.
    public func withEntityStore<Result>(_ access: EntityStoreAccess, _ body: (any EntityStore) throws -> Result) throws -> Result
    {
        throw StorageError(
            .unsupported, "\(capabilities.engine) databases do not offer rows without types, which migrations and copies need",
            path: configuration.path)
    }
}
