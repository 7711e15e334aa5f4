import Foundation

/// The body of a request and its content type.
public struct HTTPBody: Sendable, Hashable {
    /// The bytes.
    public let data: Data

    /// The value of the `Content-Type` header.
    public let contentType: String

    /// Creates a body of any content type.
    public init(data: Data, contentType: String) {
        self.data = data
        self.contentType = contentType
    }
}

extension HTTPBody {
    /// A body of JSON that is already encoded.
    public static func json(_ data: Data) -> HTTPBody {
        HTTPBody(data: data, contentType: "application/json")
    }

    /// A body with a JSON value. A list in the form `{"_array": […]}` is sent as a plain list.
    public static func json(_ json: Json) -> HTTPBody {
        guard let members = json.objectValue, members.count == 1, let list = members[Json.arrayKey], list.arrayValue != nil
        else { return .json(json.data()) }
        return .json(list.data())
    }

    /// A body of a form that is already encoded.
    public static func form(_ data: Data) -> HTTPBody {
        HTTPBody(data: data, contentType: "application/x-www-form-urlencoded")
    }

    /// A form of names and values, percent-encoded. An item without a value is sent with an empty value.
    public static func form(_ items: [URLQueryItem]) -> HTTPBody {
        let text = items.map { "\(formEncoded($0.name))=\(formEncoded($0.value ?? ""))" }.joined(separator: "&")
        return .form(Data(text.utf8))
    }

    /// A body of plain text that is already encoded.
    public static func text(_ data: Data) -> HTTPBody {
        HTTPBody(data: data, contentType: "text/plain")
    }

    /// A body of plain text in UTF-8.
    public static func string(_ string: String) -> HTTPBody {
        HTTPBody(data: Data(string.utf8), contentType: "text/plain")
    }

    /// A body of arbitrary bytes.
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
