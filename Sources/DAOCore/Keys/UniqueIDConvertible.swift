/// A value that identifies a row: a ``UniqueID``, a `String`, an integer, a `UUID`, or a wrapper of such a
/// value.
///
/// ```swift
/// try messages.read(byPrimaryKey: 42)
/// try messages.read(byPrimaryKey: message.uniqueId)
/// ```
public protocol UniqueIDConvertible: Sendable {
    /// Returns the stored key for a model whose key has the given kind.
    ///
    /// - Parameters:
    ///   - kind: The kind of the model's key field.
    ///   - entity: The name of the entity, for the error.
    /// - Throws: `.invalidKey` when the value is not a key of that kind.
    func key(as kind: ValueKind, entity: String) throws -> Key
}

extension UniqueID: UniqueIDConvertible {}

extension PrimaryKeyValue {
    /// Returns the key of the value when the kinds are the same; otherwise the key that its portable form
    /// has.
    @inlinable public func key(as kind: ValueKind, entity: String) throws -> Key {
        switch (key, kind) {
        case (.integer(let value), .int64): .integer(value)
        default: try UniqueID(key).key(as: kind, entity: entity)
        }
    }
}
