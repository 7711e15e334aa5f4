/// A model of the application that can be taken down to the wire layer.
///
/// The application works with plain values, the wire with entries; what the two call things, and what the wire leaves out,
/// is settled here and nowhere else.
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

/// A model of the application that can be made from the wire layer. See ``DTOEncodable``.
public protocol DTODecodable {
    /// The entry of the wire layer.
    associatedtype DTO: RawDecodable

    /// The value that an entry stands for.
    static func from(dto: DTO) throws -> Self
}

/// A model of the application that maps both ways.
public typealias DTOConvertible = DTODecodable & DTOEncodable
