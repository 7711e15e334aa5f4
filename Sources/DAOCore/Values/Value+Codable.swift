import Foundation

// A catalog stores the defaults of fields in this form, which keeps every value exactly: the name of the case
// and the value as text, such as `{"double": "-inf"}`.
extension Value: Codable {
    private enum CodingKeys: String, CodingKey {
        case null, bool, integer, unsigned, double, decimal, string, data, uuid, date
    }

    /// Decodes a value from its case and its text.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        guard let key = container.allKeys.first else {
            throw DecodingError.dataCorrupted(.init(codingPath: decoder.codingPath, debugDescription: "a value without a type"))
        }
        let text = try container.decode(String.self, forKey: key)
        func parsed<Parsed>(_ value: Parsed?) throws -> Parsed {
            guard let value else {
                throw DecodingError.dataCorruptedError(forKey: key, in: container, debugDescription: "not a value of its type")
            }
            return value
        }
        self =
            switch key {
            case .null: .null
            case .bool: .bool(try parsed(Bool(text)))
            case .integer: .integer(try parsed(Int64(text)))
            case .unsigned: .unsigned(try parsed(UInt64(text)))
            case .double: .double(try parsed(Double(text)))
            case .decimal: .decimal(try parsed(Decimal(storedText: text)))
            case .string: .string(text)
            case .data: .data(try parsed(Data(base64Encoded: text)))
            case .uuid: .uuid(try parsed(UUID(uuidString: text)))
            case .date: .date(Date(timeIntervalSinceReferenceDate: try parsed(Double(text))))
            }
    }

    /// Encodes the case and the text of the value.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        switch self {
        case .null: try container.encode("", forKey: .null)
        case .bool(let flag): try container.encode(flag ? "true" : "false", forKey: .bool)
        case .integer(let number): try container.encode(String(number), forKey: .integer)
        case .unsigned(let number): try container.encode(String(number), forKey: .unsigned)
        case .double(let number): try container.encode("\(number)", forKey: .double)
        case .decimal(let number): try container.encode(number.storedText, forKey: .decimal)
        case .string(let text): try container.encode(text, forKey: .string)
        case .data(let data): try container.encode(data.base64EncodedString(), forKey: .data)
        case .uuid(let uuid): try container.encode(uuid.uuidString, forKey: .uuid)
        case .date(let date): try container.encode("\(date.timeIntervalSinceReferenceDate)", forKey: .date)
        }
    }
}
