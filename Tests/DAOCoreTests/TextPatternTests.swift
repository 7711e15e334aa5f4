import Testing

@testable import DAOCore

@Suite("P2 · Text matching has one meaning, defined by Unicode")
struct TextPatternTests {
    private static let both: TextOptions = [.caseInsensitive, .diacriticInsensitive]

    private func equal(_ left: String, _ right: String, _ options: TextOptions) -> Bool {
        let result = TextPattern(.equals, left, options).matches(right)
        #expect(TextPattern(.equals, right, options).matches(left) == result, "\(left) and \(right)")
        return result
    }

    @Test(arguments: [
        ("ß", "SS"), ("ß", "ẞ"), ("straße", "STRASSE"), ("İ", "i\u{307}"), ("ΟΔΟΣ", "οδος"), ("οδος", "οδοσ"), ("Å", "\u{212B}"),
        ("å", "\u{212B}"),
        ("é", "e\u{301}"), ("É", "e\u{301}"), ("ﬁ", "FI"), ("K", "\u{212A}"), ("µ", "Μ"), ("ſ", "S"), ("Ω", "\u{2126}"),
        ("ǆ", "ǅ"), ("ᏸ", "Ᏸ"), ("ꭰ", "Ꭰ"),
        ("Ა", "ა"), ("ΐ", "Ι\u{308}\u{301}"), ("ᾳ", "ΑΙ"), ("ŉ", "ʼN"), ("և", "ԵՒ"), ("Ж", "ж"),
    ])
    func caseInsensitiveTextsAreEqual(_ left: String, _ right: String) { #expect(equal(left, right, .caseInsensitive)) }

    @Test(arguments: [("ı", "i"), ("ı", "I"), ("İ", "i"), ("é", "e"), ("fi", "fì"), ("s", "z"), ("ø", "o"), ("Ꭰ", "Ꭱ")])
    func differentLettersAreNotEqual(_ left: String, _ right: String) { #expect(!equal(left, right, .caseInsensitive)) }

    @Test func diacriticsAreIgnored() {
        #expect(equal("résumé", "resume", .diacriticInsensitive))
        #expect(equal("re\u{301}sume\u{301}", "résumé", .diacriticInsensitive))
        #expect(!equal("Résumé", "resume", .diacriticInsensitive))
        #expect(equal("Résumé", "RESUME", Self.both))
        #expect(equal("İstanbul", "istanbul", Self.both))
        #expect(equal("ệ", "e", .diacriticInsensitive))
        #expect(!equal("ø", "o", Self.both))
    }

    @Test func bytesAreComparedWithoutOptions() {
        #expect(!equal("é", "e\u{301}", []))
        #expect(TextPattern(.contains, "e", []).matches("e\u{301}"))
        #expect(!TextPattern(.contains, "e", []).matches("é"))
        #expect(TextPattern(.contains, "\n", []).matches("a\r\nb"))
        #expect(TextPattern(.contains, "", []).matches(""))
        #expect(TextPattern(.hasPrefix, "", []).matches("a"))
        #expect(TextPattern(.contains, "\0b", []).matches("a\0bc"))
        #expect(!TextPattern(.contains, "abc", []).matches("ab"))
        #expect(TextPattern(.hasSuffix, "bc", []).matches("abc"))
        #expect(TextPattern(.contains, "aab", []).matches("aaab"))
    }

    @Test func everyScalarEqualsItselfAfterFolding() {
        for code in (UInt32(0)...0x2FFFF).compactMap(Unicode.Scalar.init) {
            let text = String(code)
            guard equal(text, text, .caseInsensitive),
                equal(text.uppercased(), text.uppercased().lowercased(), .caseInsensitive) || code == "\u{130}"
            else {
                // The upper case of letters such as İ can lose a distinction; the upper case of other letters
                // cannot.
                Issue.record("U+\(String(code.value, radix: 16))")
                continue
            }
        }
    }

    @Test(arguments: [
        ("*", "", true), ("*", "abc", true), ("a*", "abc", true), ("*c", "abc", true), ("a*c", "abc", true),
        ("a*c", "abd", false), ("?", "", false),
        ("?", "é", true), ("?", "e\u{301}", false), ("??", "e\u{301}", true), ("a?c", "abc", true), ("a?c", "ac", false),
        ("**", "x", true), ("", "", true),
        ("", "a", false), ("a\\*c", "a*c", true), ("a\\*c", "abc", false), ("a\\?c", "a?c", true), ("a\\\\c", "a\\c", true),
        ("a\\", "a\\", true),
        ("*ab*ab", "abxab", true), ("*ab*ab", "ab", false), ("a[b]c", "a[b]c", true), ("100%", "100%", true),
        ("1_0", "100", false), ("*a*b*c*", "xxaxxbxxcxx", true),
        ("?*", "a", true), ("*?", "", false), ("👨‍👩‍👧", "👨‍👩‍👧", true),
    ])
    func patternsMatchCompleteTexts(_ pattern: String, _ text: String, _ expected: Bool) {
        #expect(TextPattern(.matches, pattern, []).matches(text) == expected)
    }

    @Test func patternsMatchFoldedTexts() {
        #expect(TextPattern(.matches, "CAF?", .caseInsensitive).matches("café"))
        #expect(TextPattern(.matches, "caf?", .caseInsensitive).matches("CAFE\u{301}"))
        #expect(TextPattern(.matches, "caf?", Self.both).matches("café"))
        #expect(TextPattern(.matches, "*É", .caseInsensitive).matches("cafe\u{301}"))
        #expect(TextPattern(.matches, "stra*E", .caseInsensitive).matches("Straße"))
        #expect(!TextPattern(.matches, "caf?", .caseInsensitive).matches("caféé"))
    }

    @Test(arguments: [
        ("U", "tüv", false), ("Ü", "tu\u{308}v", true), ("가", "각", false), ("각", "가각", true),
        ("a\u{301}", "a\u{301}\u{302}", false),
        ("ê", "e\u{302}\u{323}", false), ("\u{301}", "\u{301}", true), ("", "\u{301}", true), ("i", "İ", false),
        ("n", "ŉ", false),
        ("s", "Maß", false), ("SS", "Maß", true), ("α", "ᾳ", false),
        ("k", "\u{212A}\u{20DD}", false), ("a", "a\u{308}a", true), ("\u{A960}\u{1161}", "\u{A960}\u{1161}\u{D7CB}", false),
        ("가", "가\u{302E}", false), ("가가", "가가가", true),
    ])
    func hitsHaveWholeCharacters(_ pattern: String, _ text: String, _ expected: Bool) {
        #expect(TextPattern(.contains, pattern, .caseInsensitive).matches(text) == expected)
        #expect(TextPattern(.matches, "*\(pattern)*", .caseInsensitive).matches(text) == expected)
    }

    @Test func patternMatchingIsNotExponential() {
        let text = String(repeating: "a", count: 20_000)
        #expect(!TextPattern(.matches, String(repeating: "*a", count: 200) + "*b", []).matches(text))
    }

    /// Long texts are decomposed in pieces.
    @Test func longTextsAreFoldedAsShortOnes() {
        let unit = "É\u{323}e\u{301}\u{323}ǅ한q\u{307}\u{323} ཱིﬃ👨‍👩‍👧🇩🇪 "
        let text = String(repeating: unit, count: 1_000)
        for options: TextOptions in [.caseInsensitive, .diacriticInsensitive, Self.both] {
            let isSame = text.folded(options) == String(repeating: unit.folded(options), count: 1_000)
            #expect(isSame)
        }
        let isFound = TextPattern(.contains, "한Q\u{323}\u{307}", .caseInsensitive).matches(text)
        #expect(isFound)
    }

    /// A square of the length would take half a minute.
    @Test(.timeLimit(.minutes(30))) func longTextsAreFoldedInLinearTime() {
        let text = String(repeating: "é", count: 2_000_000)
        let start = ContinuousClock.now
        #expect(!TextPattern(.contains, "x", .caseInsensitive).matches(text))
        #expect(ContinuousClock.now - start < .seconds(20))
    }
}
