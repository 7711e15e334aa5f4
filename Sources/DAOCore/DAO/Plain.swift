/// An immutable value of the application, identified by its ``uniqueId``.
///
/// It does not depend on databases. A ``Translator`` converts a stored ``Model`` to it and back. A type that
/// is also a model needs no translator.
///
/// ```swift
/// struct Message: Plain {
///     let id: Int
///     let text: String
///     var uniqueId: UniqueID { UniqueID(id) }
/// }
/// ```
public protocol Plain: Sendable {
    /// The id of the value: the primary key of its stored model in portable form.
    var uniqueId: UniqueID { get }
}

extension Plain {
    /// Whether another value has the same id. Its type is ignored.
    public func equals(_ other: some Plain) -> Bool { uniqueId == other.uniqueId }
}
