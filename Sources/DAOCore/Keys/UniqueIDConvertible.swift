/// What can say which row: a ``UniqueID``, a `String`, any integer, a `UUID`, or a wrapper around one of them.
public protocol UniqueIDConvertible: Sendable {
    /// The id as a key of a model whose keys are of the given kind.
    ///
    /// - Throws: `.invalidKey` when it is not one.
    func key(as kind: ValueKind, entity: String) throws -> Key
}

extension UniqueID: UniqueIDConvertible {}

extension PrimaryKeyValue {
    /// The value's own key where the kinds are the same, else what its portable form is as a key of that kind.
    @inlinable public func key(as kind: ValueKind, entity: String) throws -> Key {
        switch (key, kind) {
        case (.integer(let value), .int64): .integer(value)
        default: try UniqueID(key).key(as: kind, entity: entity)
        }
    }
}
