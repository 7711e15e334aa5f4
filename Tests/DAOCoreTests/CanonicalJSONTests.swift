import Foundation
import Testing

@testable import DAOCore

/// JSON of which equal values have one text.
@Suite struct CanonicalJSONTests {
    @Test(arguments: [
        ("[ ]", "[]"), (" { } ", "{}"), ("[1.0,-0,0.10,1e2,100E-2]", "[1,0,0.1,100,1]"), ("1e-5", "1e-05"), ("0.0001", "0.0001"),
        ("12.50e1", "125"), ("1E400", "1e+400"), ("10000000000000000.0", "10000000000000000"), ("-1e0", "-1"), ("0e9", "0"),
        (#"{"b":1,"a":[2, {"d":0,"c":0}]}"#, #"{"a":[2,{"c":0,"d":0}],"b":1}"#),
        (#"{"a":1,"\u0061":2}"#, #"{"a":1}"#), (#"{"b":1,"a":2,"b":3,"a":4}"#, #"{"a":2,"b":1}"#),
        (#""\u0041\/\u00e9\ud83d\ude00\b\f\n\r\t\u0000\u001F\"\\""#, "\"A/é😀\\b\\f\\n\\r\\t\\u0000\\u001f\\\"\\\\\""),
        ("{\"é\":1,\"z\":2,\"e\u{301}\":3}", "{\"e\u{301}\":3,\"z\":2,\"é\":1}"), (#"{"a\"":1,"a!":2}"#, #"{"a!":2,"a\"":1}"#),
        ("true", "true"), ("null", "null"), ("\"\u{7F}\u{2028}\"", "\"\u{7F}\u{2028}\""),
    ]) func aTextHasOneForm(_ text: String, _ canonical: String) {
        #expect(CanonicalJSON.text(text) == canonical)
        #expect(CanonicalJSON.text(canonical) == canonical)
    }

    @Test(arguments: [
        "", " ", "x", "[", "]", "[1,]", "[,]", "{\"a\"}", "{\"a\":}", "{1:2}", "[1 2]", "01", "1.", ".5", "+1", "1e", "-", "nul",
        "truex",
        "\"", "\"\\x\"", "\"\\u12\"", "\"\\ud800\"", "\"\\udc00\"", "\"\n\"", "[1]]", "{\"a\":1,}", "NaN",
        "1e99999999999999999999",
        String(repeating: "[", count: 600) + String(repeating: "]", count: 600),
    ]) func whatIsNoJSONHasNone(_ text: String) { #expect(CanonicalJSON.text(text) == nil) }

    /// What Foundation writes and reads is read as the same value.
    @Test func aCanonicalTextDecodesAsTheValue() throws {
        var random = SystemRandomNumberGenerator()
        for _ in 0..<5_000 {
            let number = Double(bitPattern: UInt64.random(in: 0...UInt64.max, using: &random))
            guard number.isFinite else { continue }
            let value = Everything(
                number: number, float: Float(bitPattern: UInt32.random(in: 0..<0x7F80_0000, using: &random)),
                large: UInt64.random(in: 0...UInt64.max, using: &random),
                least: Int64.random(in: Int64.min...Int64.max, using: &random),
                decimal: Decimal(Int64.random(in: Int64.min...Int64.max, using: &random))
                    * Decimal(sign: .plus, exponent: Int.random(in: -100...80, using: &random), significand: 1),
                texts: Set((0..<5).map { _ in String(UInt32.random(in: 0...99, using: &random), radix: 7) }),
                date: Date(timeIntervalSinceReferenceDate: number),
                keys: [[1, 2]: "b", [Int.random(in: 3...9, using: &random)]: "a\u{0}\"\\"])
            let text = try CanonicalEncoder.json(of: value)
            #expect(try EmbeddedJSON.decode(Everything.self, from: text) == value, "\(text)")
            #expect(CanonicalJSON.text(text) == text)
            let encoder = JSONEncoder()
            #expect(
                try EmbeddedJSON.decode(
                    Everything.self, from: #require(CanonicalJSON.text(String(decoding: encoder.encode(value), as: UTF8.self))))
                    == value)
        }
    }

    struct Everything: Codable, Equatable {
        var number: Double
        var float: Float
        var large: UInt64
        var least: Int64
        var decimal: Decimal
        var texts: Set<String>
        var date: Date
        var keys: [[Int]: String]
    }

    /// Containers in containers, and the encoders of superclasses.
    @Test func nestedContainersAreEncodedAsByFoundation() throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let value = Nested()
        #expect(try CanonicalEncoder.json(of: value) == String(decoding: encoder.encode(value), as: UTF8.self))
        #expect(try CanonicalEncoder.json(of: [Int?.some(1), nil]) == "[1,null]")
        #expect(throws: EncodingError.self) { try CanonicalEncoder.json(of: [Decimal.nan]) }
    }

    /// Foundation's encoders of different systems do not share an order, and files go from one to another.
    @Test func keysAreInTheOrderOfTheirBytes() throws {
        let text = try CanonicalEncoder.json(of: ["a10": 1, "A9": 2, "ä": 3, "a9": 4, "B": 5])
        #expect(text == #"{"A9":2,"B":5,"a10":1,"a9":4,"ä":3}"#)
    }

    private struct Nested: Encodable {
        enum Keys: String, CodingKey { case b, a, c, d }
        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Keys.self)
            var list = container.nestedUnkeyedContainer(forKey: .b)
            try list.encode(1)
            var object = list.nestedContainer(keyedBy: Keys.self)
            var inner = list.nestedUnkeyedContainer()
            try inner.encode("x")
            try object.encode(true, forKey: .d)
            try object.encodeNil(forKey: .a)
            var single = container.superEncoder().singleValueContainer()
            try single.encode(["k": 1.5])
            var nothing = list.superEncoder().unkeyedContainer()
            try nothing.encodeNil()
            try container.encode("twice", forKey: .c)
            try container.encode("last/", forKey: .c)
            try container.encode(Empty(), forKey: .a)
        }
    }

    private struct Empty: Encodable { func encode(to encoder: any Encoder) throws {} }
}
