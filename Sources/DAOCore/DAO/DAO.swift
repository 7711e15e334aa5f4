/// What an application stores and reads its values through: plains in, plains out.
///
/// ```swift
/// let messages = DAO(storage: try database.storage(for: MessageModel.self), translator: MessageTranslator())
/// try messages.persist(fetched)
/// let unread = try messages.read(orderedBy: .descending(\.date), limit: 50) { !$0.isRead && $0.date > cutoff }
/// ```
///
/// The backend is not in its type, so a property, a test or a configuration file can swap it. A DAO is a small value that any thread or
/// task may use. Each call is atomic; calls inside `database.transaction { }` are part of it. Every method has an asynchronous form of the
/// same name, which does not block the cooperative pool.
public struct DAO<Mapping: Translator>: Sendable {
    /// The application's value.
    public typealias Plain = Mapping.Plain
    /// The stored record.
    public typealias Record = Mapping.Model

    /// The rows it stands on.
    public let storage: any Storage<Mapping.Model>
    /// What translates between rows and values.
    public let translator: Mapping

    /// Creates a DAO.
    ///
    /// - Parameters:
    ///   - storage: From ``Database/storage(for:)``.
    ///   - translator: What translates between rows and values.
    public init(storage: any Storage<Mapping.Model>, translator: Mapping) {
        self.storage = storage
        self.translator = translator
    }

    /// Creates a DAO for a type that is both value and record.
    ///
    /// - Parameter storage: From ``Database/storage(for:)``.
    public init<Both>(storage: any Storage<Both>) where Mapping == IdentityTranslator<Both> {
        self.init(storage: storage, translator: IdentityTranslator())
    }

    /// The stored form of an id, checked.
    func key(_ id: some UniqueIDConvertible) throws -> Key {
        let entity = Record.schema.description
        return try id.key(as: Record.schema.keyKind, entity: entity.name)
    }
}
