/// A model of the application that can be converted to an entry of the wire layer.
///
/// The application works with plain values, and the wire with entries. Differences in names and missing
/// fields are resolved only here.
///
/// ```swift
/// struct Photo: DTOConvertible {
///     let id: String
///     let image: String
///
///     func toDTO() -> PhotoEntry { PhotoEntry(id: id, ref: image) }
///     static func from(dto: PhotoEntry) -> Photo { Photo(id: dto.id, image: dto.ref) }
/// }
/// ```
public protocol DTOEncodable {
    /// The entry of the wire layer.
    associatedtype DTO: RawEncodable

    /// The entry of this value.
    func toDTO() throws -> DTO
}

/// A model of the application that can be made from an entry of the wire layer. See ``DTOEncodable``.
public protocol DTODecodable {
    /// The entry of the wire layer.
    associatedtype DTO: RawDecodable

    /// The value that an entry represents.
    static func from(dto: DTO) throws -> Self
}

/// A model of the application that maps both ways.
public typealias DTOConvertible = DTODecodable & DTOEncodable
