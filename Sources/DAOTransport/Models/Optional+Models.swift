extension Optional where Wrapped: RawDecodable {
    /// The value of a raw form that may be absent: nil for nil, else what `Wrapped` makes of it.
    ///
    /// - Throws: what `Wrapped.from(raw:)` throws.
    public static func from(raw: Wrapped.Raw?) throws -> Wrapped? {
        try raw.map { try Wrapped.from(raw: $0) }
    }
}

extension Optional where Wrapped: DTODecodable {
    /// The value of an entry that may be absent: nil for nil, else what `Wrapped` makes of it.
    ///
    /// ```swift
    /// let photo: Photo? = try .from(dto: entry.photo)
    /// let photos: [Photo]? = try .from(dto: entry.photos)
    /// ```
    ///
    /// - Throws: what `Wrapped.from(dto:)` throws.
    public static func from(dto: Wrapped.DTO?) throws -> Wrapped? {
        try dto.map { try Wrapped.from(dto: $0) }
    }
}
