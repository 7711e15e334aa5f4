/// The reason why a value could not be mapped from one layer to another.
///
/// A typed throw allows the short form:
///
/// ```swift
/// static func from(dto: PaymentEntry) throws(MappingError) -> PaymentField {
///     guard let mask = dto.mask else { throw .badType }
///     return PaymentField(mask: mask)
/// }
/// ```
public enum MappingError: Error, Sendable {
    /// The lower layer has a value of another type than the model requires.
    case badType
    /// A required value is missing.
    case missingValue(field: String)
    /// A value is present, but it is not valid for the model.
    case badValue(field: String)
    /// The model encodes to a value that is not a JSON object, such as a single value.
    case cantMapObjectToRaw
    /// A list was expected, but the raw value has none: the key `_array` is missing or its value is not a
    /// list.
    case cantFindKeyInRaw(Json)
    /// An element of a list could not be mapped, so the whole list fails.
    case badElement(index: Int, error: any Error)

    /// The original error: the error of the element, however deeply the lists are nested.
    public var root: any Error {
        guard case .badElement(_, let error) = self else { return self }
        return (error as? MappingError)?.root ?? error
    }
}

extension MappingError: CustomStringConvertible {
    /// The error and its position.
    public var description: String {
        switch self {
        case .badType: "The value is of another type than the model."
        case .missingValue(let field): "The value of \"\(field)\" is missing."
        case .badValue(let field): "The value of \"\(field)\" has no meaning for the model."
        case .cantMapObjectToRaw: "The model does not encode to a JSON object."
        case .cantFindKeyInRaw:
            "The raw value carries no list: an array, an empty object or {\"\(Json.arrayKey)\": […]} was expected."
        case .badElement(let index, let error): "Element \(index): \(error)"
        }
    }
}
