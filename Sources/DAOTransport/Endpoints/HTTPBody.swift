import Foundation

/// The body of a request and its content type.
public struct HTTPBody: Sendable, Hashable {
    /// The bytes.
    public let data: Data

    /// The value of the `Content-Type` header.
    public let contentType: String

    /// A body of any content type.
    public init(data: Data, contentType: String) {
        self.data = data
        self.contentType = contentType
    }
}

extension HTTPBody {
    /// JSON that is already encoded.
    public static func json(_ data: Data) -> HTTPBody {
        HTTPBody(data: data, contentType: "application/json")
    }

    /// A JSON value. A list that travels as `{"_array": […]}` is sent as the list it is.
    public static func json(_ json: Json) -> HTTPBody {
        guard let members = json.objectValue, members.count == 1, let list = members[Json.arrayKey], list.arrayValue != nil
        else { return .json(json.data()) }
        return .json(list.data())
    }

    /// A form that is already encoded.
    public static func form(_ data: Data) -> HTTPBody {
        HTTPBody(data: data, contentType: "application/x-www-form-urlencoded")
    }

    /// A form of names and values, percent-encoded; an item without a value is sent as an empty one.
    public static func form(_ items: [URLQueryItem]) -> HTTPBody {
        let text = items.map { "\(formEncoded($0.name))=\(formEncoded($0.value ?? ""))" }.joined(separator: "&")
        return .form(Data(text.utf8))
    }

    /// Plain text that is already encoded.
    public static func text(_ data: Data) -> HTTPBody {
        HTTPBody(data: data, contentType: "text/plain")
    }

    /// Plain text, sent as UTF-8.
    public static func string(_ string: String) -> HTTPBody {
        HTTPBody(data: Data(string.utf8), contentType: "text/plain")
    }

    /// Bytes of no particular kind.
    public static func binary(_ data: Data) -> HTTPBody {
        HTTPBody(data: data, contentType: "application/octet-stream")
    }

    private static func formEncoded(_ text: String) -> String {
        var encoded = ""
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "*"), UInt8(ascii: "-"), UInt8(ascii: "."),
                UInt8(ascii: "_"):
                encoded.unicodeScalars.append(Unicode.Scalar(byte))
            case UInt8(ascii: " "):
                encoded += "+"
            default:
                let digits = String(byte, radix: 16, uppercase: true)
                encoded += digits.count == 1 ? "%0\(digits)" : "%\(digits)"
            }
        }
        return encoded
    }
}
