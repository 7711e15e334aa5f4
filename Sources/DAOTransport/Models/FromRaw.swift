/// Decodes an entry with its own mapping, inside a decoder with any settings.
///
/// An envelope with `FromRaw<[DialogEntry]>` gives the same entries as an envelope with `Json` that is mapped
/// afterwards. Only the entry converts keys, never the decoder of the envelope.
///
/// ```swift
/// struct DialogListRoot: Decodable {
///     let dialogList: FromRaw<[DialogEntry]>
/// }
/// ```
public struct FromRaw<Value: RawDecodable>: Decodable where Value.Raw == Json {
    /// The entry.
    public let value: Value

    /// Decodes a JSON value unchanged and makes the entry from it.
    public init(from decoder: any Decoder) throws {
        value = try Value.from(raw: Json(from: decoder))
    }
}

extension FromRaw: Sendable where Value: Sendable {}
