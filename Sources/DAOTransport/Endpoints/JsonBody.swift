import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The body of a response, before it is decoded.
///
/// It is the root of an endpoint that keeps the types of its server to itself (``JsonEndpoint``), and decodes a body in
/// an ``Endpoint`` that has its own `content(from:with:)`.
public struct JsonBody: Sendable {
    /// The bytes.
    public let data: Data
    /// The status of the response; nil when it did not come over HTTP.
    public let statusCode: Int?
    private let decoder: JSONDecoder

    /// Creates the body of a response.
    ///
    /// - Parameters:
    ///   - data: the bytes.
    ///   - response: the response, whose status says whether it has content; nil when it has.
    ///   - decoder: has the settings of the decoding: of dates, bytes, keys and numbers.
    public init(_ data: Data, of response: URLResponse? = nil, with decoder: JSONDecoder = .convertingFromSnakeCase()) {
        self.data = data
        statusCode = (response as? HTTPURLResponse)?.statusCode
        self.decoder = decoder
    }

    /// Decodes the whole body.
    ///
    /// The body is parsed as ``Json/init(parsing:)-(Data)`` does, so an object in which a key occurs twice is an error,
    /// also where `Root` does not have that key. A decoder that allows more than JSON (`allowsJSON5`,
    /// `assumesTopLevelDictionary`) reads by its own rules.
    ///
    /// For `Json` the rules of the raw layer apply: a list becomes `{"_array": […]}`, so that any model or list of models
    /// can be made from it. An empty body, `null` and `{}` are no content. Every other type is decoded directly, and an
    /// empty body is a `DecodingError`.
    ///
    /// - Throws: `DecodingError`; ``ContentError`` for a response without content, or with only a part of it.
    public func decode<Root: Decodable>(_ type: Root.Type = Root.self) throws -> Root {
        if statusCode == 206 { throw ContentError.partial }
        if statusCode == 204 || statusCode == 205 { throw ContentError.missing(statusCode: statusCode) }
        if type == Json.self {
            let raw = try Self.raw(data)
            guard raw.objectValue?.isEmpty != true else { throw ContentError.missing(statusCode: statusCode) }
            if let raw = raw as? Root { return raw }
        }
        guard !decoder.allowsJSON5, !decoder.assumesTopLevelDictionary else { return try decoder.decode(type, from: data) }
        return try Json(parsing: data).decode(type, with: decoder)
    }

    /// Whether the response has no content, as far as its body says: an empty object is none.
    var isMissing: Bool { statusCode == 204 || statusCode == 205 || (statusCode != 206 && Self.isMissing(data)) }

    /// Whether a body is empty, `null` or `{}`.
    package static func isMissing(_ data: Data) -> Bool {
        func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D }
        guard let first = data.firstIndex(where: { !isSpace($0) }), let last = data.lastIndex(where: { !isSpace($0) }) else {
            return true
        }
        if data[first] == UInt8(ascii: "{"), data[last] == UInt8(ascii: "}") {
            return data[first...last].dropFirst().dropLast().allSatisfy(isSpace)
        }
        return data[first...last].elementsEqual("null".utf8)
    }

    /// The raw form of a body, which any model can be made of. Without content it is the empty object.
    package static func raw(_ data: Data) throws -> Json {
        guard !data.isEmpty else { return Json() }
        switch try Json(parsing: data) {
        case .null: return Json()
        case .array(let elements): return .object([Json.arrayKey: .array(elements)])
        case let json: return json
        }
    }

    /// The empty value of a type: nil, the empty list or an object without members; nil when it has none.
    static func empty<Value>(_ type: Value.Type) -> Value? {
        if type == Json.self { return Json() as? Value }
        if type == Void.self { return () as? Value }
        guard let decodable = type as? any Decodable.Type else { return nil }
        for json in [.null, .array([]), .object([:])] as [Json] {
            if let value = try? json.decode(decodable, with: JSONDecoder()) as? Value { return value }
        }
        return nil
    }
}
