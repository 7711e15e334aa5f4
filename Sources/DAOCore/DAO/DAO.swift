/// The data access object of an application: it stores and reads the application's values.
///
/// ```swift
/// struct Ledger {
///     let expenses: DAO<Expense>              // an Expense is stored as it is
///     let messages: DAO<MessageTranslator>    // a Message has a record of its own
///
///     init(_ database: any Database) throws {
///         expenses = DAO(storage: try database.storage(for: Expense.self))
///         messages = DAO(storage: try database.storage(for: MessageModel.self), translator: MessageTranslator())
///     }
/// }
/// ```
///
/// A DAO is of a model whose records are the application's values, or of a ``Translator`` between the two.
///
/// ```swift
/// try messages.persist(fetched)
/// let unread = try messages.read(orderedBy: .descending(\.date), limit: 50) { !$0.isRead && $0.date > cutoff }
/// ```
///
/// The type of a DAO does not contain the backend, so a property, a test or a configuration file can replace
/// the backend. A DAO is a small value that any thread or task can use. Each call is atomic. A call inside
/// `database.transaction { }` is part of that transaction. Every method has an asynchronous form with the
/// same name, which does not block the cooperative pool.
public struct DAO<Subject: TranslatorOrModel>: Sendable {
    /// The translator: the subject itself, or the ``IdentityTranslator`` of a model.
    public typealias Mapping = Subject.DAOMapping
    /// The application's value.
    public typealias Plain = Mapping.Plain
    /// The stored record.
    public typealias Record = Mapping.Model

    /// The storage of the rows.
    public let storage: any Storage<Record>
    /// The translator between records and values.
    public let translator: Mapping

    /// Creates a DAO.
    ///
    /// - Parameters:
    ///   - storage: The storage, from ``Database/storage(for:)``.
    ///   - translator: The translator between records and values.
    public init(storage: any Storage<Record>, translator: Subject) where Subject: Translator {
        self.storage = storage
        self.translator = translator
    }

    /// Creates a DAO of a model whose records are the application's values.
    ///
    /// - Parameter storage: The storage, from ``Database/storage(for:)``.
    public init(storage: any Storage<Subject>) where Subject: Model {
        self.storage = storage
        translator = Subject.daoMapping
    }

    /// The same mapping on another storage.
    init(_ dao: DAO, storage: any Storage<Record>) {
        self.storage = storage
        translator = dao.translator
    }

    /// Returns the stored form of an id, after checking it.
    @usableFromInline func key(_ id: any UniqueIDConvertible) throws -> Key {
        let entity = Record.schema.description
        return try id.key(as: Record.schema.keyKind, entity: entity.name)
    }
}

/// What a ``DAO`` is of: a ``Model`` whose records are the application's values, or a ``Translator``.
///
/// Every translator and every model conforms to it; do not conform other types. Code that takes a DAO of any kind names it:
///
/// ```swift
/// func isEmpty<Subject: TranslatorOrModel>(_ dao: DAO<Subject>) throws -> Bool { try dao.count() == 0 }
/// ```
public protocol TranslatorOrModel: Sendable {
    /// The application's value. The compiler infers it, as the other two; do not declare them.
    associatedtype DAOPlain: Plain
    /// The stored record.
    associatedtype DAORecord: Model
    /// The translator between both.
    associatedtype DAOMapping: Translator where DAOMapping.DAOPlain == DAOPlain, DAOMapping.DAORecord == DAORecord
}
