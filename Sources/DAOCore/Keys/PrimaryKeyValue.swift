import Foundation

/// A type that can be the primary key of a model: any integer of the standard library up to 64 bits, `String`, `UUID`,
/// or a `RawRepresentable` around one of them.
///
/// ```swift
/// struct UserID: RawRepresentable, PrimaryKeyValue { let rawValue: Int }
/// ```
public protocol PrimaryKeyValue: FieldValue, UniqueIDConvertible {
    /// The value as a stored key.
    var key: Key { get }
}

extension PrimaryKeyValue where Self: FixedWidthInteger {
    /// The integer as a stored key.
    @inlinable public var key: Key {
        if let value = Int64(exactly: self) { .integer(value) } else { .unsigned(UInt64(truncatingIfNeeded: self)) }
    }
}

extension PrimaryKeyValue where Self: RawRepresentable, RawValue: PrimaryKeyValue {
    /// The raw value as a stored key.
    @inlinable public var key: Key { rawValue.key }
}

extension Int: PrimaryKeyValue {}
extension Int8: PrimaryKeyValue {}
extension Int16: PrimaryKeyValue {}
extension Int32: PrimaryKeyValue {}
extension Int64: PrimaryKeyValue {}
extension UInt: PrimaryKeyValue {}
extension UInt8: PrimaryKeyValue {}
extension UInt16: PrimaryKeyValue {}
extension UInt32: PrimaryKeyValue {}
extension UInt64: PrimaryKeyValue {}

extension String: PrimaryKeyValue {
    /// The string as a stored key.
    @inlinable public var key: Key { .string(self) }
}

extension UUID: PrimaryKeyValue {
    /// The UUID as a stored key.
    @inlinable public var key: Key { .uuid(self) }
}
