import Foundation

/// A `Codable` type whose members conditions can use, when a field declares them with ``FieldOption/member(_:_:)``.
///
/// ```swift
/// struct Address: CompositeFieldValue {
///     var street: String
///     var city: String
/// }
///
/// Field("address", \.address, .member("city", \.city))
///
/// try people.read { $0.address.city == "Berlin" }
/// ```
public protocol CompositeFieldValue: FieldValue, Codable {
    /// The type of the values that are not nil: the wrapped type of an optional, otherwise the type itself.
    associatedtype Composite: CompositeFieldValue = Self
}

extension Optional: CompositeFieldValue where Wrapped: CompositeFieldValue, Wrapped.Composite == Wrapped {
    /// The wrapped type.
    public typealias Composite = Wrapped
}

/// A member of a `Codable` value, for conditions: its coding key, and how it is read from the stored JSON.
public struct EmbeddedMember: Sendable, Hashable {
    /// The coding key.
    public let name: String
    /// The type. It is optional: the stored JSON can lack the member.
    public let type: FieldType
    /// The type of the elements when the member is an array of values; otherwise nil.
    let elementType: FieldType?
    let keyPath: any AnyKeyPath & Sendable
    private let read: @Sendable (String) throws -> Value

    /// Describes a member.
    ///
    /// - Parameters:
    ///   - name: The coding key.
    ///   - keyPath: The key path of the property.
    package init<Whole, Member: FieldValue & Decodable>(_ name: String, _ keyPath: any KeyPath<Whole, Member> & Sendable) {
        self.name = name
        self.keyPath = keyPath
        type = FieldType(Member.fieldType.kind, isOptional: true)
        elementType = Member.elementType
        read = { json in
            try EmbeddedJSON.decoder.decode(OneMember<Member>.self, from: json.withBytes(NestedJSON.data), configuration: name)
                .value?
                .fieldValue ?? .null
        }
    }

    /// Returns the member of a stored value; null when it is missing, null, or cannot be decoded.
    func value(in json: String) -> Value { (try? read(json)) ?? .null }

    /// Returns whether both are the same property with the same coding key.
    public static func == (left: EmbeddedMember, right: EmbeddedMember) -> Bool {
        left.name == right.name && left.keyPath == right.keyPath
    }

    /// Hashes the coding key.
    public func hash(into hasher: inout Hasher) { hasher.combine(name) }
}

extension FieldOption where Value: CompositeFieldValue {
    /// Declares a member of the `Codable` value, so that conditions can use it (contract P9).
    ///
    /// A key path does not know the coding key under which its property is stored, so the field says both:
    ///
    /// ```swift
    /// Field("address", \.address, .member("city", \.city), .member("post_code", \.postCode))
    /// ```
    ///
    /// The database does not store the declaration: it can be added and removed at any time.
    ///
    /// - Parameters:
    ///   - name: The coding key of the property, by which text predicates name it too. Two members of a field cannot have
    ///     the same one: `.invalidSchema`.
    ///   - keyPath: The key path of the property.
    public static func member<Member: FieldValue & Decodable>(
        _ name: String, _ keyPath: any KeyPath<Value.Composite, Member> & Sendable
    ) -> FieldOption { FieldOption(meaning: .member(EmbeddedMember(name, keyPath))) }
}

// Disfavoured, so that the compiler's messages on a field without members stay those on related rows: it knows of two sets of
// members otherwise, and says only that none matches.
extension FieldExpression where Value: CompositeFieldValue {
    /// A declared member of the value. It is nil when the value is nil, or the stored JSON does not have it.
    @_disfavoredOverload
    public subscript<Inner: FieldValue>(
        dynamicMember keyPath: KeyPath<Value.Composite, Inner>
    ) -> FieldExpression<Record, Inner?> { FieldExpression<Record, Inner?>(self, member: keyPath) }

    /// A declared optional member of the value.
    @_disfavoredOverload
    public subscript<Inner: FieldValue>(
        dynamicMember keyPath: KeyPath<Value.Composite, Inner?>
    ) -> FieldExpression<Record, Inner?> { FieldExpression<Record, Inner?>(self, member: keyPath) }
}

/// Decodes the member of a value with a coding key, and none of the others.
private struct OneMember<Member: Decodable>: DecodableWithConfiguration {
    let value: Member?

    init(from decoder: any Decoder, configuration name: String) throws {
        value = try decoder.container(keyedBy: MemberKey.self).decodeIfPresent(Member.self, forKey: MemberKey(stringValue: name))
    }
}

private struct MemberKey: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }
    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
}
