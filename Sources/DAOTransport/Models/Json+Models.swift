/// `Json` passes through both layers unchanged, so a chain can omit either layer.
extension Json: RawEncodable, RawDecodable {
    /// Returns this value.
    public func toRaw() -> Json {
        self
    }

    /// Returns the raw value.
    public static func from(raw: Json) -> Json {
        raw
    }
}

extension Json: DTOEncodable, DTODecodable {
    /// Returns this value.
    public func toDTO() -> Json {
        self
    }

    /// Returns the entry.
    public static func from(dto: Json) -> Json {
        dto
    }
}
