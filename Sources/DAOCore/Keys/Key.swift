import Foundation

/// A primary key as backends store it: the typed counterpart of ``UniqueID``.
///
/// Keys of one model are all of one case, except that unsigned ones up to `Int64.max` are `.integer` and those beyond
/// are `.unsigned`; they order as numbers. Strings order by their UTF-8 bytes, UUIDs by their bytes.
public enum Key: Sendable, Hashable {
    /// An integer of any width that fits 64 signed bits.
    case integer(Int64)
    /// An unsigned integer beyond `Int64.max`.
    case unsigned(UInt64)
    /// A string of at most ``maximumLength`` UTF-8 bytes.
    case string(String)
    /// A UUID.
    case uuid(UUID)

    /// The longest string key, in UTF-8 bytes, the same on every backend (contract K3).
    public static let maximumLength = 256

    /// Whether two keys are equal; strings by bytes, not by canonical equivalence.
    public static func == (left: Key, right: Key) -> Bool {
        switch (left, right) {
        case (.integer(let left), .integer(let right)): left == right
        case (.unsigned(let left), .unsigned(let right)): left == right
        case (.string(let left), .string(let right)): left.hasSameBytes(as: right)
        case (.uuid(let left), .uuid(let right)): left == right
        default: false
        }
    }

    /// Hashes the key consistently with `==`.
    public func hash(into hasher: inout Hasher) {
        switch self {
        case .integer(let value): hasher.combine(value)
        case .unsigned(let value): hasher.combine(value)
        case .uuid(let value): hasher.combine(value)
        case .string(var value): value.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        }
    }

    /// The key as a value, to compare it with a field.
    public var value: Value {
        switch self {
        case .integer(let value): .integer(value)
        case .unsigned(let value): .unsigned(value)
        case .string(let value): .string(value)
        case .uuid(let value): .uuid(value)
        }
    }
}

extension Key: Comparable {
    /// The order of rows without a sort (contract K2).
    public static func < (left: Key, right: Key) -> Bool { Value.order(left.value, right.value) < 0 }
}

extension UniqueID {
    /// Creates the portable form of a stored key.
    ///
    /// - Parameter key: The stored key.
    public init(_ key: Key) {
        switch key {
        case .integer(let value): self.init(value: value)
        case .unsigned(let value): self.init(value: value)
        case .string(let value): self.init(rawValue: value)
        case .uuid(let value): self.init(value)
        }
    }

    /// The stored form of this id for a model whose key is of the given kind.
    ///
    /// - Parameters:
    ///   - kind: The kind of the model's key field.
    ///   - entity: The entity, for the error.
    /// - Throws: `.invalidKey` when the id is not of that kind, out of its range, or too long.
    @inlinable public func key(as kind: ValueKind, entity: String) throws -> Key {
        switch (form, kind) {
        case (.signed(let value), .int64): return .integer(value)
        case (.signed(let value), _) where kind.integerRange?.contains(value) == true: return .integer(value)
        case (.unsigned(let value), .uint64): return .unsigned(value)
        case (.uuid(let value), .uuid): return .uuid(value)
        case (_, .string):
            let text = rawValue
            guard text.utf8.count <= Key.maximumLength else { throw Key.tooLong(text.utf8.count, entity: entity) }
            return .string(text)
        default: throw notA(kind, entity: entity)
        }
    }

    @usableFromInline func notA(_ kind: ValueKind, entity: String) -> StorageError {
        StorageError(
            .invalidKey, "the keys of '\(entity)' are of type \(kind.rawValue), and this id is not one of them",
            entity: entity, key: self)
    }
}

extension Key {
    @usableFromInline static func tooLong(_ count: Int, entity: String) -> StorageError {
        StorageError(
            .invalidKey, "a string key has at most \(maximumLength) UTF-8 bytes, this one has \(count)", entity: entity)
    }
}
