/// An immutable value that the application works with, identified by its ``uniqueId``.
///
/// It knows nothing of databases. A ``Translator`` makes it from a stored ``Model`` and back; a type that is both needs none.
///
/// ```swift
/// struct Message: Plain {
///     let id: Int
///     let text: String
///     var uniqueId: UniqueID { UniqueID(id) }
/// }
/// ```
public protocol Plain: Sendable {
    /// What tells this value from the others of its type: the primary key of its stored model.
    var uniqueId: UniqueID { get }
}

extension Plain {
    /// Whether another value, of this type or any other, has the same id.
    public func equals(_ other: some Plain) -> Bool { uniqueId == other.uniqueId }
}
