/// The data access object of an application: it stores and reads the application's values.
///
/// ```swift
/// let messages = DAO(storage: try database.storage(for: MessageModel.self), translator: MessageTranslator())
/// try messages.persist(fetched)
/// let unread = try messages.read(orderedBy: .descending(\.date), limit: 50) { !$0.isRead && $0.date > cutoff }
/// ```
///
/// The type of a DAO does not contain the backend, so a property, a test or a configuration file can replace
/// the backend. A DAO is a small value that any thread or task can use. Each call is atomic. A call inside
/// `database.transaction { }` is part of that transaction. Every method has an asynchronous form with the
/// same name, which does not block the cooperative pool.
public struct DAO<Mapping: Translator>: Sendable {
    /// The application's value.
    public typealias Plain = Mapping.Plain
    /// The stored record.
    public typealias Record = Mapping.Model

    /// The storage of the rows.
    public let storage: any Storage<Mapping.Model>
    /// The translator between records and values.
    public let translator: Mapping

    /// Creates a DAO.
    ///
    /// - Parameters:
    ///   - storage: The storage, from ``Database/storage(for:)``.
    ///   - translator: The translator between records and values.
    public init(storage: any Storage<Mapping.Model>, translator: Mapping) {
        self.storage = storage
        self.translator = translator
    }

    /// Creates a DAO for a type that is both the value and the record. Its type is ``ModelDAO``.
    ///
    /// - Parameter storage: The storage, from ``Database/storage(for:)``.
    public init<Both>(storage: any Storage<Both>) where Mapping == IdentityTranslator<Both> {
        self.init(storage: storage, translator: IdentityTranslator())
    }

    /// Returns the stored form of an id, after checking it.
    @usableFromInline func key(_ id: any UniqueIDConvertible) throws -> Key {
        let entity = Record.schema.description
        return try id.key(as: Record.schema.keyKind, entity: entity.name)
    }
}

/// The DAO of a type that is both the value and the record.
///
/// ```swift
/// let tags: ModelDAO<Tag> = DAO(storage: try database.storage(for: Tag.self))
/// ```
public typealias ModelDAO<Record: Model & Plain> = DAO<IdentityTranslator<Record>>
