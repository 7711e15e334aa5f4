/// A model of the wire layer (an entry) that can be written in its raw form.
///
/// `Raw` is whatever the transport carries, most often ``Json``. A type that is `Encodable` and whose `Raw` is `Json`
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
    /// The form that travels.
    associatedtype Raw

    /// The raw form of this value.
    func toRaw() throws -> Raw
}

/// A model of the wire layer (an entry) that can be made from its raw form. See ``RawEncodable``.
public protocol RawDecodable {
    /// The form that travels.
    associatedtype Raw

    /// The value that a raw form stands for.
    static func from(raw: Raw) throws -> Self
}

/// A model of the wire layer that maps both ways.
public typealias RawMappable = RawDecodable & RawEncodable
