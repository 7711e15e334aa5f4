import DAOTestSupport
import DAOTransport
import Foundation
import Testing

@Suite struct JsonTests {
    @Test func literalsAndSubscriptsReadAndWrite() {
        var json: Json = ["name": "Ann", "age": 30, "ratio": 0.5, "isOn": true, "none": nil, "photos": [["id": "p1"]]]
        #expect(json["name"]?.stringValue == "Ann")
        #expect(json["age"]?.intValue == 30)
        #expect(json["ratio"]?.doubleValue == 0.5)
        #expect(json["isOn"]?.boolValue == true)
        #expect(json["none"]?.isNull == true)
        #expect(json["absent"] == nil)
        #expect(json["photos"]?[0]?["id"] == "p1")
        #expect(json["photos"]?[1] == nil)
        #expect(json["photos"]?[-1] == nil)

        json["age"] = 31
        json["name"] = nil as Json?
        #expect(json["age"] == 31)
        #expect(json.objectValue?.keys.contains("name") == false)

        var text: Json = "text"
        text["key"] = 1
        #expect(text == ["key": 1])
    }

    @Test func numbersKeepTheirText() throws {
        let texts = [
            "0", "-0", "1", "1.0", "1.10", "-1.5e-3", "9223372036854775807", "-9223372036854775808", "18446744073709551615",
            "18446744073709551616", "0.1", "123456789012345678901234567890.123456789012345678901234567890", "1e400",
        ]
        for text in texts {
            #expect(try Json(parsing: text).serialized() == text)
        }
        #expect(try Json(parsing: "9223372036854775807").intValue == Int.max)
        #expect(try Json(parsing: "18446744073709551615").numberValue?.integer(as: UInt64.self) == UInt64.max)
        #expect(Json(UInt64.max).serialized() == "18446744073709551615")
        #expect(try Json(parsing: "0.1").decimalValue == Decimal(string: "0.1"))
        #expect(try Json(parsing: "1.5").intValue == nil)
        #expect(try Json(parsing: "1.50e1").intValue == 15)
        #expect(try Json(parsing: "256").numberValue?.integer(as: UInt8.self) == nil)
        #expect(try Json(parsing: "1e400").doubleValue == nil)
        #expect(Json(Double.nan) == nil)
        #expect(Json(Double.leastNonzeroMagnitude).doubleValue == Double.leastNonzeroMagnitude)
        #expect(Json(Double.greatestFiniteMagnitude).doubleValue == Double.greatestFiniteMagnitude)
    }

    @Test func numbersCompareAndHashByValue() throws {
        let same = try ["1", "1.0", "1e0", "10e-1", "0.1e1"].map { try Json(parsing: $0) }
        #expect(Set(same).count == 1)
        #expect(try Json(parsing: "0") == Json(parsing: "-0.0"))
        #expect(try Json(parsing: "18446744073709551615") != Json(parsing: "18446744073709551616"))
        #expect(try Json(parsing: "9007199254740993") != Json(parsing: "9007199254740992"))
        #expect(Json(true) != Json(1))
        #expect(try Json(parsing: "1e99999999999999999999") != Json(parsing: "1"))
    }

    @Test func stringsEscapeAndUnescape() throws {
        let json = try Json(parsing: #""\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00 é""#)
        #expect(json.stringValue == "\"\\/\u{8}\u{c}\n\r\té😀 é")
        #expect(try Json(parsing: json.serialized()) == json)
        #expect(Json("\u{0}\u{1f}").serialized() == #""\u0000\u001f""#)
    }

    @Test func aCommaBeforeAClosingBracketIsAccepted() throws {
        #expect(try Json(parsing: #"{"a": [1, 2,], }"#) == ["a": [1, 2]])
    }

    @Test(
        arguments: [
            #"{"a": 1, "a": 2}"#, #"{"a": 1, "a": 1}"#, #"{"a": null, "a": null}"#, #"{"a": 1, "\u0061": 2}"#,
            #"[{"b": {"a": 1, "a": 2}}]"#,
            "{\"\u{e9}\": 1, \"e\u{301}\": 2}",
        ])
    func repeatedKeyIsRefusedEverywhere(_ text: String) {
        let body = JsonBody(Data(text.utf8))
        let error = #expect(throws: DecodingError.self) { try Json(parsing: text) }
        #expect(error.map { "\($0)".contains("again") } == true)
        #expect(throws: DecodingError.self) { try body.decode(Json.self) }
        #expect(throws: DecodingError.self) { try body.decode([String: Int?].self) }
    }

    @Test func keysThatBecomeOneKeyAreRefusedWhereThatKeyIsRead() throws {
        struct Reader: Decodable { let bookList: Int }
        struct Other: Decodable { let id: Int }
        let body = JsonBody(Data(#"{"book_list": 1, "bookList": 2, "id": 3}"#.utf8))
        #expect(throws: DecodingError.self) { try body.decode(Reader.self) }
        #expect(try body.decode(Other.self).id == 3)
        #expect(try body.decode(Json.self)["bookList"] == 2)
    }

    @Test func numbersReadTheSameInBothWays() throws {
        struct Entry: Codable, RawMappable {
            typealias Raw = Json
            let value: Double
        }
        #expect(try Entry.from(raw: Json(parsing: #"{"value": 1e-400}"#)).value == 0)
        #expect(try JsonBody(Data(#"{"value": 1e-400}"#.utf8)).decode(Entry.self).value == 0)
        #expect(try Json(parsing: "1e-400").doubleValue == 0)
        for text in ["0.00e999999999999999999", "-0", "0e-999"] { #expect(try Json(parsing: text).decimalValue == 0, "\(text)") }
        #expect(try Json(parsing: "1e130").decimalValue == Decimal(string: "1000e127"))
        #expect(try Json(parsing: "10e-129").decimalValue == Decimal(sign: .plus, exponent: -128, significand: 1))
        for text in ["1e-129", "1e166", "1e400"] { #expect(try Json(parsing: text).decimalValue == nil, "\(text)") }
    }

    @Test(arguments: ["123.45", "1e40", "99999999999999999999", "1e-400", "-1e999999999999999999999"])
    func numberThatDoesNotFitIsAnErrorWithItsPath(_ number: String) throws {
        struct Entry: Codable, RawMappable {
            struct Part: Codable { let count: Int }
            typealias Raw = Json
            let parts: [Part]
        }
        let raw = try Json(parsing: #"{"parts": [{"count": 1}, {"count": \#(number)}]}"#)
        for read in [{ try Entry.from(raw: raw) }, { try JsonBody(raw.data()).decode(Entry.self) }] {
            do {
                _ = try read()
                Issue.record("\(number) was read")
            } catch DecodingError.dataCorrupted(let context) {
                #expect(context.codingPath.map(\.stringValue) == ["parts", "Index 1", "count"])
                #expect(context.debugDescription.contains(number))
            }
        }
    }

    @Test func keysAreSerializedInOrder() {
        #expect(Json(dictionaryLiteral: ("b", 1), ("a", [true, nil])).serialized() == #"{"a":[true,null],"b":1}"#)
    }

    @Test(arguments: [
        "", " ", "{", "[", "[1", "[1 2]", "{\"a\"}", "{\"a\":}", "{a:1}", "tru", "nul", "01", "1.", ".5", "+1", "1e", "-", "NaN",
        "\"", "\"\\x\"", "\"\\u12\"", "\"\\ud800\"", "\"\\ud800\\u0041\"", "\"\n\"", "1 2", "[,]", "{,}",
    ])
    func invalidTextThrows(_ text: String) {
        #expect(throws: DecodingError.self) { try Json(parsing: text) }
    }

    @Test func invalidUTF8Throws() {
        #expect(throws: DecodingError.self) { try Json(parsing: Data([0x22, 0xFF, 0x22])) }
    }

    @Test func deepNestingThrows() throws {
        let deep = String(repeating: "[", count: 100_000)
        #expect(throws: DecodingError.self) { try Json(parsing: deep) }
        let fine = String(repeating: "[", count: 500) + String(repeating: "]", count: 500)
        #expect(throws: Never.self) { try Json(parsing: fine) }
    }

    @Test func aByteOrderMarkIsSkipped() throws {
        #expect(try Json(parsing: Data([0xEF, 0xBB, 0xBF]) + Data("[1]".utf8)) == [1])
    }

    @Test func codableRoundTripIsExact() throws {
        let json: Json = [
            "max": Json(Int64.max), "min": Json(Int64.min), "unsigned": Json(UInt64.max), "fraction": 0.1,
            "list": [1, "two", nil, true],
            "nested": ["a": [:], "b": []], "decimal": try Json(parsing: "12345678901234567890123456.789"),
        ]
        let decoded = try JSONDecoder().decode(Json.self, from: JSONEncoder().encode(json))
        #expect(decoded == json)
        #expect(try JSONDecoder().decode(Json.self, from: json.data()) == json)
    }

    @Test func jsonKeysAreNotConvertedByTheDecoder() throws {
        struct Root: Decodable { let rawValue: Json }
        let root = try JSONDecoder.convertingFromSnakeCase().decode(
            Root.self, from: Data(#"{"raw_value": {"is_pinned": 1}}"#.utf8))
        #expect(root.rawValue == ["is_pinned": 1])
    }

    @Test(arguments: 1...3 as ClosedRange<UInt64>) func randomValuesSurviveSerialization(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<300 {
            let json = Self.random(depth: 4, using: &generator)
            #expect(try Json(parsing: json.serialized()) == json)
            #expect(try Json(parsing: json.serialized()).serialized() == json.serialized())
        }
    }

    private static func random(depth: Int, using generator: inout SeededGenerator) -> Json {
        switch Int.random(in: 0..<(depth > 0 ? 8 : 6), using: &generator) {
        case 0: return nil
        case 1: return Json(Bool.random(using: &generator))
        case 2: return Json(Int64.random(in: .min ... .max, using: &generator))
        case 3: return Json(UInt64.random(in: .min ... .max, using: &generator))
        case 4: return Json(Double(bitPattern: UInt64.random(in: .min ... .max, using: &generator)))
        case 5:
            let scalars = (0..<Int.random(in: 0..<8, using: &generator)).map { _ in
                Unicode.Scalar(UInt32.random(in: 0..<0xD800, using: &generator)) ?? "x"
            }
            return Json(String(String.UnicodeScalarView(scalars)))
        case 6: return .array((0..<3).map { _ in random(depth: depth - 1, using: &generator) })
        default:
            return .object(
                Dictionary(
                    (0..<3).map { (_: Int) in
                        ("k\(Int.random(in: 0..<9, using: &generator))", random(depth: depth - 1, using: &generator))
                    },
                    uniquingKeysWith: { $1 }
                )
            )
        }
    }
}
