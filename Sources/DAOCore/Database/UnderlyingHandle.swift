/// A handle of an engine's own: a way past the DAO, for what only that engine can do.
///
/// Backends declare one each, such as `SQLiteHandle` for SQLite's connection and `LMDBHandle` for LMDB's transaction.
/// ``Database/underlying(as:touching:_:)`` gives it; ``Capabilities/underlyingTypes`` tells which types a database has.
public protocol UnderlyingHandle {}

/// A type of handle that a database gives, by its identity.
public struct UnderlyingType: Sendable, Hashable, CustomStringConvertible {
    private let identity: ObjectIdentifier
    /// The type's name, for people.
    public let description: String

    /// Describes a type.
    public init<Handle: UnderlyingHandle>(_ type: Handle.Type) {
        identity = ObjectIdentifier(type)
        description = String(describing: type)
    }
}

/// The entities whose rows somebody may have written past the DAO, so that their observations look again.
///
/// An observation that is woken for nothing reads its query once and yields nothing.
public struct TouchedEntities: Sendable, Hashable {
    /// The names of the entities; nil for all there are.
    let names: Set<String>?

    /// Any of them: all observations look again.
    public static let all = TouchedEntities(names: nil)

    /// None: nothing was written that anybody observes.
    public static let none = TouchedEntities(names: [])

    /// Those of models.
    public static func models(_ models: any Model.Type...) -> TouchedEntities {
        TouchedEntities(names: Set(models.map { $0.entityName }))
    }

    /// Those with names.
    public static func named(_ names: String...) -> TouchedEntities { TouchedEntities(names: Set(names)) }
}

extension Model {
    fileprivate static var entityName: String { schema.description.name }
}

extension Database {
    /// Gives the engine's own handle of the running transaction, or snapshot, to a body (contract T7).
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
    /// What the body writes belongs to the transaction: DAOs see it at once, others with the commit, and it is undone with the
    /// transaction, or by itself when the body throws. In a snapshot it can only read. The body may use DAOs in between.
    ///
    /// The handle is good for as long as the body runs, on its thread. The transaction is not the body's to begin, commit or undo, and
    /// what it leaves in the database has to be what the DAO would have stored: nothing checks that but the engine.
    ///
    /// - Parameters:
    ///   - type: The type of the handle, which names the engine.
    ///   - entities: Whose rows the body may write, for observations; all unless said. In a snapshot it means nothing.
    ///   - body: Gets the handle.
    /// - Returns: What the body returns.
    /// - Throws: `.unsupported` when this database has no handle of that type, wherever it is called; `.invalidTransaction` outside of
    ///   a transaction or snapshot of this database; `.closed`; what the body throws.
    public func underlying<Handle: UnderlyingHandle, Result>(
        as type: Handle.Type, touching entities: TouchedEntities = .all, _ body: (Handle) throws -> Result
    ) throws -> Result {
        guard capabilities.underlyingTypes.contains(UnderlyingType(type)) else { throw refusal(of: type) }
        return try runUnderlying(as: type, touching: entities, body)
    }

    /// Refuses: a database without handles of its own.
    public func runUnderlying<Handle: UnderlyingHandle, Result>(
        as type: Handle.Type, touching entities: TouchedEntities, _ body: (Handle) throws -> Result
    ) throws -> Result {
        throw refusal(of: type)
    }

    package func refusal<Handle>(of type: Handle.Type) -> StorageError {
        let known = capabilities.underlyingTypes.map(\.description).sorted().joined(separator: ", ")
        return StorageError(
            .unsupported,
            "a database of \(capabilities.engine) gives no \(type)"
                + (known.isEmpty ? ": there is nothing underneath to give" : "; it gives: \(known)"))
    }
}
