import Foundation

/// Decodes JSON that nests no deeper than a stack of 512 KiB holds: decoders call themselves for each level, and a file must not
/// say how often (contract V4, L5).
package enum NestedJSON {
    /// The most levels of arrays and objects. An encoder takes more for a level than a decoder. An entry of a catalog has fewer.
    static let maximumDepth = 128

    /// Decodes a value.
    ///
    /// - Throws: `DecodingError` when the bytes are not its JSON, or nest too deeply.
    package static func decode<Decoded: Decodable>(_ type: Decoded.Type, from json: UnsafeRawBufferPointer) throws -> Decoded {
        try JSONDecoder().decode(type, from: data(json))
    }

    /// Returns the bytes of JSON for a decoder.
    ///
    /// - Throws: `DecodingError` when they nest too deeply.
    static func data(_ json: UnsafeRawBufferPointer) throws -> Data {
        if isTooDeep(json) {
            throw DecodingError.dataCorrupted(
                .init(codingPath: [], debugDescription: "JSON of more than \(maximumDepth) levels of arrays and objects"))
        }
        return Data(json)
    }

    /// Whether arrays and objects nest more deeply. It does not recurse.
    static func isTooDeep(_ json: UnsafeRawBufferPointer) -> Bool {
        // Each level has a byte of its own.
        guard json.count > maximumDepth else { return false }
        var (depth, isInText, position) = (0, false, 0)
        while position < json.count {
            switch json[position] {
            case UInt8(ascii: "\""): isInText.toggle()
            case UInt8(ascii: "\\") where isInText: position += 1
            case UInt8(ascii: "["), UInt8(ascii: "{"):
                if isInText { break }
                depth += 1
                if depth > maximumDepth { return true }
            case UInt8(ascii: "]"), UInt8(ascii: "}"): if !isInText { depth -= 1 }
            default: break
            }
            position += 1
        }
        return false
    }
}
