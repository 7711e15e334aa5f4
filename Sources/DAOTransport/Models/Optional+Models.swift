extension Optional where Wrapped: RawDecodable {
    /// The value of an optional raw form: nil for nil, otherwise the result of `Wrapped.from(raw:)`.
    ///
    /// - Throws: the error of `Wrapped.from(raw:)`.
    public static func from(raw: Wrapped.Raw?) throws -> Wrapped? {
        try raw.map { try Wrapped.from(raw: $0) }
    }
}

extension Optional where Wrapped: DTODecodable {
    /// The value of an optional entry: nil for nil, otherwise the result of `Wrapped.from(dto:)`.
    ///
    /// ```swift
    /// let photo: Photo? = try .from(dto: entry.photo)
    /// let photos: [Photo]? = try .from(dto: entry.photos)
    /// ```
    ///
    /// - Throws: the error of `Wrapped.from(dto:)`.
    public static func from(dto: Wrapped.DTO?) throws -> Wrapped? {
        try dto.map { try Wrapped.from(dto: $0) }
    }
}
