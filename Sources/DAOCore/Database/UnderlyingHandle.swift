/// An engine's handle for direct engine access. It gives access to features that only that engine has.
///
/// Backends declare the types, such as `SQLiteHandle` for SQLite's connection and `LMDBHandle` for LMDB's
/// transaction. ``Database/underlying(as:touching:_:)`` passes the handle to a closure.
/// ``Capabilities/underlyingTypes`` contains the types that a database supports.
public protocol UnderlyingHandle {}

/// The identity of a type of handle.
public struct UnderlyingType: Sendable, Hashable, CustomStringConvertible {
    private let identity: ObjectIdentifier
    /// The name of the type.
    public let description: String

    /// Creates the identity of a type.
    public init<Handle: UnderlyingHandle>(_ type: Handle.Type) {
        identity = ObjectIdentifier(type)
        description = String(describing: type)
    }
}

/// The entities whose rows may have been written by direct engine access. Their observations read again.
///
/// An observation whose result did not change reads its query once and yields nothing.
///
/// ```swift
/// try database.underlying(as: SQLiteHandle.self, touching: .models(MessageModel.self)) { handle in … }
/// ```
public struct TouchedEntities: Sendable, Hashable {
    /// The names of the entities; nil for all entities.
    let names: Set<String>?

    /// All entities: all observations read again.
    public static let all = TouchedEntities(names: nil)

    /// No entity: no observation reads again.
    public static let none = TouchedEntities(names: [])

    /// Returns the entities of models.
    public static func models(_ models: any Model.Type...) -> TouchedEntities {
        TouchedEntities(names: Set(models.map { $0.entityName }))
    }

    /// Returns the entities with names.
    public static func named(_ names: String...) -> TouchedEntities { TouchedEntities(names: Set(names)) }

    /// Adds entities.
    mutating func formUnion(_ other: TouchedEntities) {
        self = TouchedEntities(names: names.flatMap { names in other.names.map(names.union) })
    }
}

extension Model {
    fileprivate static var entityName: String { schema.description.name }
}

extension Database {
    /// Passes the engine's handle of the running transaction or snapshot to a closure (contract T7).
    ///
    /// ```swift
    /// try database.transaction {
    ///     try messages.persist(fetched)
    ///     try database.underlying(as: SQLiteHandle.self, touching: .models(MessageModel.self)) { handle in
    ///         try handle.execute("UPDATE message SET text = upper(text)")
    ///     }
    /// }
    /// ```
    ///
    /// Writes of the closure belong to the transaction. DAOs inside the transaction see them immediately,
    /// other readers after the commit. They are undone with the transaction, or when the closure throws. In a
    /// snapshot, the closure can only read. The closure can also use DAOs.
    ///
    /// The handle is valid while the closure runs, on its thread. The closure must not begin, commit or roll
    /// back the transaction. It must leave the database in a form that the DAO itself would have stored; only
    /// the engine checks this.
    ///
    /// - Parameters:
    ///   - type: The type of the handle, which identifies the engine.
    ///   - entities: The entities whose rows the closure may write, for observations; by default all
    ///     entities. In the closure of an observation, the entities that it reads.
    ///   - body: A closure that gets the handle.
    /// - Returns: The result of the closure.
    /// - Throws: `.unsupported` when this database does not support the type, wherever it is called;
    ///   `.invalidTransaction` outside a transaction or snapshot of this database; `.closed`; any error of
    ///   the closure.
    public func underlying<Handle: UnderlyingHandle, Result>(
        as type: Handle.Type, touching entities: TouchedEntities = .all, _ body: (Handle) throws -> Result
    ) throws -> Result {
        guard capabilities.underlyingTypes.contains(UnderlyingType(type)) else { throw refusal(of: type) }
        ObservedReads.current?.willRead(entities, in: engineState)
        return try runUnderlying(as: type, touching: entities, body)
    }

    /// Throws `.unsupported`: the database has no handles.
    public func runUnderlying<Handle: UnderlyingHandle, Result>(
        as type: Handle.Type, touching entities: TouchedEntities, _ body: (Handle) throws -> Result
    ) throws -> Result {
        throw refusal(of: type)
    }

    package func refusal<Handle>(of type: Handle.Type) -> StorageError {
        .unsupportedHandle(type, of: capabilities.engine, known: capabilities.underlyingTypes.map(\.description))
    }
}
