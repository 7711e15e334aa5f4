import Foundation
import Testing

@testable import DAOCore

/// The arrays that are read without Foundation have the same elements as with it.
@Suite struct ElementJSONTests {
    private var random = SystemRandomNumberGenerator()

    @Test mutating func arraysAreDecodedAsByFoundation() throws {
        for _ in 0..<20_000 {
            let elements = (0..<Int.random(in: 0...4, using: &random)).map { _ in element() }
            let json = ElementJSON.array(of: elements)
            #expect(CanonicalJSON.text(json) == json)
            #expect(try ElementJSON.elements(of: json) == EmbeddedJSON.decode([ElementJSON].self, from: json))
        }
    }

    @Test mutating func whateverTextIsDecodedAsByFoundation() throws {
        let characters = Array("[]\",.-+eE0123456789nulltrue {}:\\/a\u{0}\n\u{7F}é😀\u{FEFF}")
        for _ in 0..<20_000 {
            var text = Array(ElementJSON.array(of: (0..<Int.random(in: 0...3, using: &random)).map { _ in element() }))
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                let at = Int.random(in: 0...text.count, using: &random)
                switch Int.random(in: 0...2, using: &random) {
                case 0: text.insert(characters.randomElement(using: &random)!, at: at)
                case 1 where at < text.count: text.remove(at: at)
                default: text.insert(contentsOf: "0.0", at: at)
                }
            }
            let json = String(text)
            let expected = try? EmbeddedJSON.decode([ElementJSON].self, from: json)
            let isSame = (try? ElementJSON.elements(of: json)) == expected
            #expect(isSame, "\(json.debugDescription)")
        }
    }

    private mutating func element() -> ElementJSON {
        switch Int.random(in: 0...9, using: &random) {
        case 0: .null
        case 1: .integer(Int64.random(in: Int64.min...Int64.max, using: &random))
        case 2: .integer(Int64.random(in: -20...20, using: &random))
        case 3: .unsigned(UInt64.random(in: UInt64(Int64.max)...UInt64.max, using: &random))
        case 4: .double(Double(bitPattern: UInt64.random(in: 0...UInt64.max, using: &random)))
        case 5: .double([0, -0.0, 1, -1, 0.1, 1e15, 1e16, 1e-5, 12_345.678, .infinity].randomElement(using: &random)!)
        case 6: .double(Double.random(in: -1...1, using: &random))
        case 7:
            .string(
                ["", "tag", "a/b", "\"", "\\", "\u{8}\t\u{1F}", "\u{7F}", "\u{2028}", "é", "e\u{301}", "😀", "\u{0}"]
                    .randomElement()!)
        default:
            .string(
                String(
                    String.UnicodeScalarView(
                        (0..<Int.random(in: 0...20, using: &random)).compactMap { _ in
                            Unicode.Scalar(UInt32.random(in: 1...0x2FF, using: &random))
                        })))
        }
    }
}
