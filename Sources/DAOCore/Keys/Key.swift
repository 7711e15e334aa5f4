import Foundation

/// A primary key in its stored form. It is the typed counterpart of ``UniqueID``.
///
/// All keys of one model have the same case. Unsigned keys are the exception: they are `.integer` up to
/// `Int64.max` and `.unsigned` beyond. Both order as numbers. Strings order by their UTF-8 bytes, UUIDs by
/// their bytes.
///
/// Applications use ``UniqueID``, or the value of the key field itself, such as an `Int` or a `String`.
public enum Key: Sendable, Hashable {
    /// An integer of any width that fits into 64 signed bits.
    case integer(Int64)
    /// An unsigned integer beyond `Int64.max`.
    case unsigned(UInt64)
    /// A string of at most ``maximumLength`` UTF-8 bytes.
    case string(String)
    /// A UUID.
    case uuid(UUID)

    /// The maximum length of a string key, in UTF-8 bytes. It is the same on every backend (contract K3).
    public static let maximumLength = 256

    /// Whether two keys are equal. Strings are compared by bytes, not by canonical equivalence.
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

    /// The key as a value that can be compared with the value of a field.
    public var value: Value {
        switch self {
        case .integer(let value): .integer(value)
        case .unsigned(let value): .unsigned(value)
        case .string(let value): .string(value)
        case .uuid(let value): .uuid(value)
        }
    }
}

extension Key {
    /// Creates the key from a value; nil when the value is not a key of the kind.
    package init?(_ value: Value, of kind: ValueKind) {
        switch (value, kind) {
        case (.string(let text), .string): self = .string(text)
        case (.uuid(let id), .uuid): self = .uuid(id)
        case (.unsigned(let number), .uint64): self = .unsigned(number)
        case (.integer(let number), _) where kind.integerRange?.contains(number) == true: self = .integer(number)
        default: return nil
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

    /// Returns the stored form of this id for a model whose key has the given kind.
    ///
    /// - Parameters:
    ///   - kind: The kind of the model's key field.
    ///   - entity: The name of the entity, for the error.
    /// - Throws: `.invalidKey` when the id does not have that kind, is out of its range, or is too long.
    @inlinable public func key(as kind: ValueKind, entity: String) throws -> Key {
        switch (form, kind) {
        case (.signed(let value), .int64): return .integer(value)
        case (.signed(let value), _) where kind.integerRange?.contains(value) == true: return .integer(value)
        case (.unsigned(let value), .uint64): return .unsigned(value)
        case (.uuid(let value), .uuid): return .uuid(value)
        case (.text(let text), .uuid):
            // In lower case, or of both.
            guard text.utf8.count == 36, let value = UUID(uuidString: text) else { throw notA(kind, entity: entity) }
            return .uuid(value)
        case (_, .string):
            let text = rawValue
            guard text.utf8.count <= Key.maximumLength else { throw StorageError.keyTooLong(entity, length: text.utf8.count) }
            return .string(text)
        default: throw notA(kind, entity: entity)
        }
    }

    @usableFromInline func notA(_ kind: ValueKind, entity: String) -> StorageError {
        .keyOfAnotherType(entity, self, expected: kind)
    }
}
