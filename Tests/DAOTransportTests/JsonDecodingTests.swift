import DAOTransport
import Foundation
import Testing

/// Entries are decoded as Foundation's decoder decodes them.
@Suite struct JsonDecodingTests {
    private class Base: Codable {
        let name: String
        init(name: String) { self.name = name }
    }
    private final class Derived: Base {
        let age: Int
        private enum CodingKeys: CodingKey { case age }
        init(name: String, age: Int) {
            self.age = age
            super.init(name: name)
        }
        required init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            age = try container.decode(Int.self, forKey: .age)
            try super.init(from: container.superDecoder())
        }
    }
    private enum Kind: String, Codable { case first, second }
    private struct Everything: Codable, Equatable, RawMappable, JsonCodingSettings {
        typealias Raw = Json
        let kind: Kind
        let sentAt: Date
        let bytes: Data
        let link: URL
        let price: Decimal
        let ratio: Float
        let small: Int8
        let wide: UInt64
        let maybe: Int?
        let holes: [Int?]
        let nested: [[String: [Bool]]]
        let byNumber: [Int: String]
        let freeKeys: [String: Int]

        static var jsonDecoder: JSONDecoder {
            let decoder = JSONDecoder.convertingFromSnakeCase()
            decoder.dateDecodingStrategy = .iso8601
            return decoder
        }
        static var jsonEncoder: JSONEncoder { .convertingToSnakeCase() }
    }

    private let text = """
        {"kind": "second", "sent_at": "2026-01-02T03:04:05Z", "bytes": "AQID", "link": "https://host/a?b=c", "price": 19.99,
        "ratio": 0.1, "small": -128, "wide": 18446744073709551615, "maybe": null, "holes": [1, null, 3], "nested": [{"a_b": [true]}],
        "by_number": {"1": "one"}, "free_keys": {"snake_case": 1, "camelCase": 2}, "unknown": {}}
        """

    @Test func everyKindOfValueIsReadAsFoundationReadsIt() throws {
        let expected = try Everything.jsonDecoder.decode(Everything.self, from: Data(text.utf8))
        #expect(try Everything.from(raw: Json(parsing: text)) == expected)
        #expect(try JsonBody(Data(text.utf8), with: Everything.jsonDecoder).decode(Everything.self) == expected)
        #expect(expected.freeKeys == ["snake_case": 1, "camelCase": 2])
    }

    @Test func everyKindOfErrorHasFoundationsKindAndPath() throws {
        func failure(_ body: () throws -> Everything) -> String {
            do {
                _ = try body()
                return "read"
            } catch DecodingError.keyNotFound(let key, let context) {
                return "no key \(key.stringValue) in \(context.codingPath.map(\.stringValue))"
            } catch DecodingError.valueNotFound(_, let context) {
                return "no value of \(context.codingPath.map(\.stringValue))"
            } catch DecodingError.typeMismatch(_, let context) {
                return "type of \(context.codingPath.map(\.stringValue))"
            } catch DecodingError.dataCorrupted(let context) {
                return "value of \(context.codingPath.map(\.stringValue))"
            } catch {
                return "\(error)"
            }
        }
        let good = try Json(parsing: text)
        let wrong: [Json?] = [nil as Json?, .null, 1, "text", true, [], [:], [[:]], ["a": 1], "https://host", "AQID"]
        for key in try #require(good.objectValue).keys.sorted() where key != "unknown" {
            for value in wrong {
                var bad = good
                bad[key] = value
                let ours = failure { try Everything.from(raw: bad) }
                let theirs = failure { try Everything.jsonDecoder.decode(Everything.self, from: bad.data()) }
                // Foundation loses the path of numbers and dates that it cannot read.
                let isEqual = ours == theirs || (theirs == "value of []" && ours.hasPrefix("value of [\""))
                #expect(isEqual, "\(key), \(value.map { "\($0)" } ?? "absent"): \(ours), not \(theirs)")
                let read = try? Everything.from(raw: bad)
                #expect(read == (try? Everything.jsonDecoder.decode(Everything.self, from: bad.data())))
            }
        }
    }

    @Test func strategiesOfTheDecoderApply() throws {
        struct Times: Decodable, Equatable { let times: [Date], numbers: [Double], bytes: [Data] }
        let text = #"{"times": [700000000.25, 0], "numbers": [1, "inf", "-inf"], "bytes": [[1, 2]]}"#
        let strategies: [JSONDecoder.DateDecodingStrategy] = [
            .deferredToDate, .secondsSince1970, .millisecondsSince1970,
            .custom { try Date(timeIntervalSince1970: 2 * $0.singleValueContainer().decode(Double.self)) },
        ]
        for strategy in strategies {
            let decoder = JSONDecoder()
            decoder.dateDecodingStrategy = strategy
            decoder.dataDecodingStrategy = .deferredToData
            decoder.nonConformingFloatDecodingStrategy = .convertFromString(
                positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
            let expected = try decoder.decode(Times.self, from: Data(text.utf8))
            #expect(try JsonBody(Data(text.utf8), with: decoder).decode(Times.self) == expected)
        }
        let formatted = JSONDecoder()
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(identifier: "UTC")
        formatter.dateFormat = "yyyy-MM-dd"
        formatted.dateDecodingStrategy = .formatted(formatter)
        let day = Data(#"["2026-01-02"]"#.utf8)
        #expect(try JsonBody(day, with: formatted).decode([Date].self) == formatted.decode([Date].self, from: day))
    }

    @Test func superclassesAndTheirKeysAreRead() throws {
        let derived = try JsonBody(Data(#"{"age": 7, "super": {"name": "Ann"}}"#.utf8)).decode(Derived.self)
        #expect(derived.age == 7 && derived.name == "Ann")
    }

    @Test(arguments: [
        "a_b", "_a_b_", "__", "", "userID", "user_ID", "user_id2", "a__b", "_a", "a_", "x_2nd_y", "\u{c4}B_\u{c7}D", "URL_string",
    ])
    func keysAreConvertedAsFoundationConvertsThem(_ key: String) throws {
        struct Keys: Decodable {
            struct Key: CodingKey {
                let stringValue: String
                var intValue: Int? { nil }
                init(stringValue: String) { self.stringValue = stringValue }
                init?(intValue: Int) { nil }
            }
            let all: [String]
            init(from decoder: any Decoder) throws { all = try decoder.container(keyedBy: Key.self).allKeys.map(\.stringValue) }
        }
        let body = Json(dictionaryLiteral: (key, 1)).data()
        let expected = try JSONDecoder.convertingFromSnakeCase().decode(Keys.self, from: body).all
        #expect(try JsonBody(body).decode(Keys.self).all == expected)
    }
}
