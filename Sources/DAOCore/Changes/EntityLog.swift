/// What the log of changes keeps of an entity's rows (contract D1).
public enum EntityLog: String, Sendable, Hashable, Codable {
    /// The key and the kind of each change, and the new values of the fields that an update has changed.
    case changes
    /// All values before and after each change.
    case values
}

extension Schema {
    /// Logs the changes of the rows, in the commit that makes them (contract D1).
    ///
    /// ```swift
    /// static let schema = Schema(
    ///     "order", Self.init, Field("id", \.id, .primaryKey), Field("total", \.total)
    /// ).logged()
    /// ```
    ///
    /// `database.changes(after:limit:)` reads them. An entity stays logged when a later build does not say so; ``unlogged()`` ends it.
    ///
    /// - Parameter values: Whether all values before and after each change are kept, and not only what an update has changed.
    public func logged(values: Bool = false) -> Schema { logging(values ? .values : .changes) }

    /// Ends the log of the entity's changes. The changes that were logged stay until they are trimmed.
    public func unlogged() -> Schema { logging(nil) }
}
