extension Json {
    /// The key of a list when an object is expected.
    public static let arrayKey = "_array"

    /// The list in this value: the value itself, the member ``arrayKey``, or the empty list for an empty
    /// object.
    fileprivate var carriedArray: [Json]? {
        switch self {
        case .array(let elements): elements
        case .object(let members) where members.isEmpty: []
        case .object(let members): members[Self.arrayKey]?.arrayValue
        default: nil
        }
    }
}

extension Array: RawEncodable where Element: RawEncodable, Element.Raw == Json {
    /// The raw form of a list of entries is one JSON object.
    public typealias Raw = Json

    /// `{"_array": […]}` with every element's raw form, in order.
    ///
    /// - Throws: ``MappingError/badElement(index:error:)`` for the first element that fails.
    public func toRaw() throws -> Json {
        .object([Json.arrayKey: .array(try mapElements { try $0.toRaw() })])
    }
}

extension Array: RawDecodable where Element: RawDecodable, Element.Raw == Json {
    /// The elements of `{"_array": […]}`, in order. An empty object, which an empty response becomes, is the
    /// empty list. A plain JSON array is accepted too.
    ///
    /// - Throws: ``MappingError/cantFindKeyInRaw(_:)`` with the raw value when it has no list,
    ///   ``MappingError/badElement(index:error:)`` for the first element that fails.
    public static func from(raw: Json) throws -> [Element] {
        guard let elements = raw.carriedArray else { throw MappingError.cantFindKeyInRaw(raw) }
        return try elements.mapElements { try Element.from(raw: $0) }
    }
}

extension Array: DTOEncodable where Element: DTOEncodable, Element.DTO.Raw == Json {
    /// The entries of all elements.
    public typealias DTO = [Element.DTO]

    /// Every element's entry, in order.
    ///
    /// - Throws: ``MappingError/badElement(index:error:)`` for the first element that fails.
    public func toDTO() throws -> [Element.DTO] {
        try mapElements { try $0.toDTO() }
    }
}

extension Array: DTODecodable where Element: DTODecodable, Element.DTO.Raw == Json {
    /// Every entry's model, in order.
    ///
    /// - Throws: ``MappingError/badElement(index:error:)`` for the first element that fails.
    public static func from(dto: [Element.DTO]) throws -> [Element] {
        try dto.mapElements { try Element.from(dto: $0) }
    }
}

extension Array {
    fileprivate func mapElements<Mapped>(_ transform: (Element) throws -> Mapped) throws -> [Mapped] {
        var mapped: [Mapped] = []
        mapped.reserveCapacity(count)
        for (index, element) in enumerated() {
            do {
                mapped.append(try transform(element))
            } catch {
                throw MappingError.badElement(index: index, error: error)
            }
        }
        return mapped
    }
}
