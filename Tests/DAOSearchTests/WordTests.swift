import DAOTestSupport
import Foundation
import Testing

@testable import DAOSearch

@Suite("S1, S2 · Words") struct WordTests {
    private static let file = "/usr/share/unicode/auxiliary/WordBreakTest.txt"
    private static var isThere: Bool { FileManager.default.fileExists(atPath: file) }

    /// Every line of the test of UAX 29: `÷` is a boundary and `×` none, between the numbers of characters.
    @Test(.enabled(if: isThere, "the package unicode-data is not installed"))
    func segmentsAreThoseOfUnicode() throws {
        var count = 0
        for line in try String(contentsOfFile: Self.file, encoding: .utf8).split(separator: "\n") where !line.hasPrefix("#") {
            let fields = line.prefix { $0 != "#" }.split(whereSeparator: \.isWhitespace)
            var scalars: [Unicode.Scalar] = []
            var expected: [Int] = []
            for field in fields {
                switch field {
                case "÷": expected.append(scalars.count)
                case "×": break
                default: scalars.append(try #require(UInt32(field, radix: 16).flatMap(Unicode.Scalar.init)))
                }
            }
            var found = [0]
            WordBreaks.forEachSegment(of: scalars.map(WordBreaks.properties)) { found.append($0.upperBound) }
            #expect(found == expected, "\(line)")
            count += 1
        }
        #expect(count > 1800)
    }

    @Test(arguments: [
        ("Don't panic, e-mail me.", ["don", "t", "panic", "e", "mail", "me"]),
        ("_a_ b__c 1_2 か_き a_\u{301}b", ["a", "b", "c", "1", "2", "か", "き", "a", "b"]),
        ("l'état l’État wine's col·lecció", ["l", "etat", "l", "etat", "wine", "s", "col", "leccio"]),
        ("www.example.com a:b 1.5a a.5 U.S.A.", ["www", "example", "com", "a", "b", "1.5a", "a", "5", "u", "s", "a"]),
        ("a'\u{200D}\u{301}b e\u{301}'e\u{301} x'", ["a", "b", "e", "e", "x"]),
        ("צ'ק צה\"ל ג'", ["צ'ק", "צה\"ל", "ג'"]),
        ("3.14 1,000 x_y iPhone15Pro", ["3.14", "1,000", "x", "y", "iphone15pro"]),
        ("Straße STRASSE ﬁn", ["strasse", "strasse", "fin"]),
        ("Café cafe\u{301} ŁÓDŹ Ångström", ["cafe", "cafe", "łodz", "angstrom"]),
        ("ΟΔΟΣ ὁδός", ["οδοσ", "οδοσ"]), ("Ёлка йод", ["елка", "иод"]), ("שָׁלוֹם", ["שלום"]), ("كِتَابٌ أحمد", ["كتاب", "احمد"]),
        ("東京都に住む", ["東", "京", "都", "に", "住", "む"]), ("カー が か", ["カ", "ー", "が", "か"]), ("か\u{3099}", ["が"]),
        ("한국어를 abc한국", ["한", "국", "어", "를", "abc", "한", "국"]), ("\u{1112}\u{1161}\u{11AB}국", ["한", "국"]),
        ("ภาษาไทย น้ำ", ["ภ", "า", "ษ", "า", "ไ", "ท", "ย", "น้ำ"]), ("नमस्ते", ["नमस्ते"]), ("👩‍👩‍👧 ❤️ !?", []), ("", []),
        ("²³ ① Ⅻ", ["²", "³", "①", "ⅻ"]),
        ("a\u{0}b\r\nc", ["a", "b", "c"]),
    ])
    func wordsOfATextAreFolded(_ text: String, _ words: [String]) {
        #expect(
            Term.terms(of: text).map { Array($0.text.utf8) } == words.map { Array($0.utf8) },
            "\(Term.terms(of: text).map(\.text))")
    }

    /// Texts of ASCII are cut another way. After a letter of another script the whole text is cut as Unicode says.
    @Test func asciiTextsHaveTheSameWords() {
        var random = SeededGenerator(seed: 7)
        let characters = Array("aZ09_.':,;\"- \r\n\u{0}/".utf8)
        for round in 0..<20_000 {
            let bytes = (0..<random.below(round % 50 == 0 ? 600 : 12)).map { _ in
                round % 50 == 0 ? characters[random.below(5)] : characters[random.below(characters.count)]
            }
            let text = String(decoding: bytes, as: UTF8.self)
            let terms = Term.terms(of: "é " + text).dropFirst()
            #expect(
                Term.terms(of: text)
                    == terms.map { Term(text: $0.text, range: $0.range.lowerBound - 3..<$0.range.upperBound - 3) },
                "\(text.debugDescription)")
        }
    }

    @Test func aWordKnowsWhereItIs() {
        let text = "Über 東京, naïve"
        let parts = Term.terms(of: text).map { String(decoding: Array(text.utf8)[$0.range], as: UTF8.self) }
        #expect(parts == ["Über", "東", "京", "naïve"])
    }

    @Test func longWordsAreCut() {
        let word = String(repeating: "ä", count: 300)
        #expect(Term.terms(of: word)[0].text == String(repeating: "a", count: 128))
        #expect(Term.terms(of: String(repeating: "語", count: 300)).count == 300)
        #expect(Term.terms(of: String(repeating: "ж", count: 300))[0].text.utf8.count == 128)
    }

    /// Words of a text of random characters cover the letters and numbers, in order, without overlapping.
    @Test func wordsOfAnyTextAreInOrder() {
        var random = SystemRandomNumberGenerator()
        let blocks: [ClosedRange<UInt32>] = [
            0...0x250, 0x300...0x370, 0x590...0x700, 0xE00...0xE80, 0x1100...0x1200, 0x2000...0x2070,
            0x3000...0x3100, 0x4E00...0x4E40, 0xAC00...0xAC80, 0x1F300...0x1F6FF, 0xFB00...0xFB10,
        ]
        for _ in 0..<2000 {
            var scalars = String.UnicodeScalarView()
            for _ in 0..<Int.random(in: 1...24, using: &random) {
                let block = blocks.randomElement(using: &random) ?? 0...127
                if let scalar = Unicode.Scalar(UInt32.random(in: block, using: &random)) { scalars.append(scalar) }
            }
            let text = String(scalars)
            let bytes = Array(text.utf8)
            var end = 0
            for term in Term.terms(of: text) {
                #expect(term.range.lowerBound >= end && !term.range.isEmpty)
                let between = String(decoding: bytes[end..<term.range.lowerBound], as: UTF8.self)
                #expect(
                    !between.unicodeScalars.contains { WordBreaks.properties(of: $0).isLetterOrNumber }, "\(scalars.map(\.value))"
                )
                end = term.range.upperBound
            }
            #expect(
                !String(decoding: bytes[end...], as: UTF8.self).unicodeScalars.contains {
                    WordBreaks.properties(of: $0).isLetterOrNumber
                })
        }
    }
}
