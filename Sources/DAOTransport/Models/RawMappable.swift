/// A model of the wire layer (an entry) that can be converted to its raw form.
///
/// `Raw` is the type that the transport sends, usually ``Json``. An `Encodable` type whose `Raw` is `Json`
/// needs no code:
///
/// ```swift
/// struct PhotoEntry: Codable, RawMappable {
///     typealias Raw = Json
///     let id: String
///     let ref: String
/// }
///
/// try PhotoEntry(id: "p1", ref: "a.png").toRaw()     // {"id":"p1","ref":"a.png"}
/// ```
public protocol RawEncodable {
    /// The form on the wire.
    associatedtype Raw

    /// The raw form of this value.
    func toRaw() throws -> Raw
}

/// A model of the wire layer (an entry) that can be made from its raw form. See ``RawEncodable``.
public protocol RawDecodable {
    /// The form on the wire.
    associatedtype Raw

    /// The value that a raw form represents.
    static func from(raw: Raw) throws -> Self
}

/// A model of the wire layer that maps both ways.
public typealias RawMappable = RawDecodable & RawEncodable
