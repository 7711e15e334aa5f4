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

    /// Decodes a JSON value unchanged and makes the entry from it. An empty object is no list.
    public init(from decoder: any Decoder) throws {
        let raw = try Json(from: decoder)
        if Value.self is any RawList.Type, raw.objectValue?.isEmpty == true {
            let context = DecodingError.Context(
                codingPath: decoder.codingPath, debugDescription: "Expected a list, found an empty object.")
            throw DecodingError.typeMismatch(Value.self, context)
        }
        value = try Value.from(raw: raw)
    }
}

private protocol RawList {}
extension Array: RawList {}

extension FromRaw: Sendable where Value: Sendable {}
