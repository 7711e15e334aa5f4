/// Decodes an entry the way its own mapping does, from inside a decoder with any settings.
///
/// An envelope that holds `FromRaw<[DialogEntry]>` gives the same entries as one that holds `Json` and is mapped afterwards:
/// keys are converted by the entry alone, never by the envelope's decoder too.
///
/// ```swift
/// struct DialogListRoot: Decodable {
///     let dialogList: FromRaw<[DialogEntry]>
/// }
/// ```
public struct FromRaw<Value: RawDecodable>: Decodable where Value.Raw == Json {
    /// The entry.
    public let value: Value

    /// Reads a JSON value as it is and hands it to the entry.
    public init(from decoder: any Decoder) throws {
        value = try Value.from(raw: Json(from: decoder))
    }
}

extension FromRaw: Sendable where Value: Sendable {}
