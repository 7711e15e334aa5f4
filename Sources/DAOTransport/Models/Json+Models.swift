/// `Json` passes through both layers unchanged, so that either of them can be left out of a chain.
extension Json: RawEncodable, RawDecodable {
    /// Itself.
    public func toRaw() -> Json {
        self
    }

    /// The raw value itself.
    public static func from(raw: Json) -> Json {
        raw
    }
}

extension Json: DTOEncodable, DTODecodable {
    /// Itself.
    public func toDTO() -> Json {
        self
    }

    /// The entry itself.
    public static func from(dto: Json) -> Json {
        dto
    }
}
