/// Why a value could not be taken from one layer to another.
///
/// It can be thrown typed, which makes the short form compile:
///
/// ```swift
/// static func from(dto: PaymentEntry) throws(MappingError) -> PaymentField {
///     guard let mask = dto.mask else { throw .badType }
///     return PaymentField(mask: mask)
/// }
/// ```
public enum MappingError: Error, Sendable {
    /// The lower layer holds another kind of thing than the model asked for.
    case badType
    /// A value that the model needs is absent.
    case missingValue(field: String)
    /// A value is there, but the model has no meaning for it.
    case badValue(field: String)
    /// The model encodes to something that is not a JSON object, such as a single value.
    case cantMapObjectToRaw
    /// A list was asked for, and the raw value carries none: no `_array` key, or no list under it.
    case cantFindKeyInRaw(Json)
    /// One element of a list could not be mapped. The list has no value then.
    case badElement(index: Int, error: any Error)

    /// The error where it began: that of the element, however deep the lists are nested.
    public var root: any Error {
        guard case .badElement(_, let error) = self else { return self }
        return (error as? MappingError)?.root ?? error
    }
}

extension MappingError: CustomStringConvertible {
    /// What happened, and where.
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
