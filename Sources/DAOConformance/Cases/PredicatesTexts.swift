import DAOCore
import Foundation

/// P2: text by bytes, and text operators with one Unicode-aware meaning.
enum PredicatesTexts {
    static let cases: [ConformanceCase] = bytes + operators + hostileTexts() + options() + globs()

    /// Texts that an engine could take for a pattern, a quote, an end of text or a number.
    static let hostile = [
        "%", "_", "\\", "*", "?", "[", "]", "'", "\"", "''", "100%", "a_b", "a*b", "a?b", "[ab]", "a\\b", "axb", "O'Brien",
        "'\u{301}", "\"\u{301}\\\u{301}",
        "'; DROP TABLE probe; --",
        "a\0b", "\0", "$1", ":x", "?1", "a\nb", "a\r\nb", "a b", "ab", "^a$", "#", "--", "/*", "{a}", "%@", "nil", "NULL",
    ]

    private static let bytes: [ConformanceCase] = [
        ConformanceCase(
            "P.foldedLongTexts", "P2", "Q13",
            title: "texts of any number of characters are compared without case to their last one"
        ) { context in
            let lengths = [998, 999, 1000, 1001, 1002, 1998, 1999, 2000, 2001, 3500]
            // Characters beyond ASCII are decomposed, and marks stay with the character before them.
            let rows = lengths.enumerated().map { id, length in
                Computed(id: id, text: "é" + String(repeating: "ä", count: length - 1) + "NE\u{301}edle \(length)")
            }
            let plain = lengths.enumerated().map { id, length in
                Computed(id: 100 + id, text: "É" + String(repeating: "a", count: length - 1) + "NEedle \(length)")
            }
            let dao = try context.dao(Computed.self)
            try dao.create(rows + plain)
            for (id, length) in lengths.enumerated() {
                let end = "NEEDLE \(length)"
                try expectEqual(
                    try dao.read { $0.text.contains(end, [.caseInsensitive, .diacriticInsensitive]) }.map(\.id), [id, 100 + id],
                    "the end of \(length) characters")
                try expectEqual(
                    try dao.read { $0.text.hasSuffix("A" + end, .caseInsensitive) }.map(\.id), [100 + id],
                    "the end of \(length) characters without case")
                for row in [rows[id], plain[id]] {
                    let upper = row.text.uppercased()
                    try expectEqual(
                        try dao.read { $0.text.equals(upper, .caseInsensitive) }.map(\.id), [row.id], "\(length) characters")
                }
            }
        },
        ConformanceCase(
            "P.textIsBytes", "P2", title: "a composed and a decomposed é are two texts; so are Å and the Ångström sign"
        ) { context in
            let reference = try ReferenceRows(context, Probe.texts(["é", "e\u{301}", "Å", "\u{212B}", "A\u{30A}", nil]))
            for name in Probe.texts {
                try reference.check(.field(name, .equal, "é"), [1], name)
                try reference.check(.field(name, .equal, "e\u{301}"), [2], name)
                try reference.check(.field(name, .notEqual, "é"), [2, 3, 4, 5, 6], name)
                try reference.check(.field(name, in: ["\u{212B}", "A\u{30A}"]), [4, 5], name)
            }
        },
        ConformanceCase("P.textOrderIsBytes", "P2", title: "Z < a < decomposed é < f < composed é; U+FFFD < U+10000") { context in
            let reference = try ReferenceRows(
                context, Probe.texts(["f", "é", "Z", "e\u{301}", "a", "\u{10000}", "\u{FFFD}"]))
            for name in Probe.texts {
                try reference.check(.field(name, .less, "f"), [3, 4, 5], name)
                try reference.check(.field(name, .greater, "f"), [2, 6, 7], name)
                try reference.check(.field(name, .greaterOrEqual, "é"), [2, 6, 7], name)
                try reference.check(.field(name, .greater, "\u{FFFD}"), [6], name)
                try reference.check(.field(name, .less, "a"), [3], name)
            }
        },
        ConformanceCase(
            "P.textIsNotANumber", "P2", title: "'0123', '123', '1e5' and '100000' are four texts, ordered as texts"
        ) { context in
            let reference = try ReferenceRows(
                context, Probe.texts(["0123", "123", "1e5", "100000", "9", "10", " 9", "9 ", "0x10", "+1", "NaN"]))
            for name in Probe.texts {
                try reference.check(.field(name, .equal, "123"), [2], name)
                try reference.check(.field(name, .equal, "9"), [5], name)
                try reference.check(.field(name, .greater, "9"), [8, 11], name)
                try reference.check(.field(name, .less, "10"), [1, 7, 9, 10], name)
            }
        },
        ConformanceCase("P.textWithNUL", "P2", title: "a NUL neither ends a text nor hides the rest") { context in
            let reference = try ReferenceRows(context, Probe.texts(["a", "a\0", "a\0b", "a\0c", "\0", "", "b"]))
            for name in Probe.texts {
                try reference.check(.field(name, .equal, "a"), [1], name)
                try reference.check(.field(name, .equal, "a\0b"), [3], name)
                try reference.check(.field(name, .contains, "b"), [3, 7], name)
                try reference.check(.field(name, .contains, "\0"), [2, 3, 4, 5], name)
                try reference.check(.field(name, .hasPrefix, "a\0"), [2, 3, 4], name)
                try reference.check(.field(name, .hasSuffix, "\0c"), [4], name)
                try reference.check(.field(name, .greater, "a\0b"), [4, 7], name)
                try reference.check(.field(name, .matches, "a?b"), [3], name)
            }
        },
        ConformanceCase("P.longTexts", "P2", "P7", title: "an index distinguishes texts by their 2,000th byte") { context in
            let start = String(repeating: "x", count: 1999)
            let reference = try ReferenceRows(
                context, Probe.texts(["c", "a", "b", "", "bb"].map { start + $0 } + [nil, "x", "y"]))
            for name in Probe.texts {
                try reference.check(.field(name, .equal, start + "a"), [2], name)
                try reference.check(.field(name, .less, start + "b"), [2, 4, 7], name)
                try reference.check(.field(name, .greaterOrEqual, start + "b"), [1, 3, 5, 8], name)
                try reference.check(.field(name, .greater, start + "b"), [1, 5, 8], name)
                try reference.check(.field(name, .hasPrefix, start + "b"), [3, 5], name)
                try reference.check(.field(name, .hasPrefix, start), [1, 2, 3, 4, 5], name)
                try reference.check(.field(name, in: [start + "c", start, start + "d"]), [1, 4], name)
                try reference.check(.field(name, .notEqual, start + "a"), [1, 3, 4, 5, 6, 7, 8], name)
            }
        },
    ]

    private static let operators: [ConformanceCase] = [
        ConformanceCase(
            "P.textOperators", "P2", "P7",
            title: "contains, hasPrefix and hasSuffix compare bytes, case included; nil matches none of them"
        ) { context in
            let reference = try ReferenceRows(context, Probe.texts(["banana", "Banana", "an", "", nil, "nab", "BANANA"]))
            for name in Probe.texts {
                try reference.check(.field(name, .contains, "an"), [1, 2, 3], name)
                try reference.check(.field(name, .hasPrefix, "b"), [1], name)
                try reference.check(.field(name, .hasPrefix, "ban"), [1], name)
                try reference.check(.field(name, .hasSuffix, "na"), [1, 2], name)
                try reference.check(.field(name, .contains, "N"), [7], name)
                try reference.check(.field(name, .hasSuffix, "banana"), [1], name)
                try reference.check(.field(name, .contains, "bananas"), [], name)
            }
        },
        ConformanceCase("P.emptyPattern", "P2", title: "every text contains the empty text; nil does not") { context in
            let reference = try ReferenceRows(context, Probe.texts(["a", "", nil]))
            for name in Probe.texts {
                for match in [TextMatch.contains, .hasPrefix, .hasSuffix] {
                    try reference.check(.field(name, match, ""), [1, 2], "\(name) \(match)")
                    try reference.check(.field(name, match, "", .caseInsensitive), [1, 2], "\(name) \(match)[c]")
                }
                try reference.check(.field(name, .matches, ""), [2], name)
                try reference.check(.field(name, .equals, "", .caseInsensitive), [2], name)
            }
        },
        ConformanceCase(
            "P.prefixBounds", "P2", "P7",
            title: "a range of prefixes has an upper bound also when the prefix ends with the last scalar"
        ) { context in
            let texts = [
                "a\u{7F}", "a\u{7F}b", "b", "\u{10FFFF}", "\u{10FFFF}\u{10FFFF}", "\u{10FFFE}", "\u{D7FF}", "\u{D7FF}x",
                "\u{E000}", "\u{7FF}y", "\u{800}",
            ]
            let reference = try ReferenceRows(context, Probe.texts(texts))
            for name in Probe.texts {
                try reference.check(.field(name, .hasPrefix, "a\u{7F}"), [1, 2], name)
                try reference.check(.field(name, .hasPrefix, "\u{10FFFF}"), [4, 5], name)
                try reference.check(.field(name, .hasPrefix, "\u{D7FF}"), [7, 8], name)
                try reference.check(.field(name, .hasPrefix, "\u{7FF}"), [10], name)
                try reference.check(.field(name, .hasPrefix, "\u{10FFFE}"), [6], name)
            }
        },
        ConformanceCase("P.containsByBytes", "P2", title: "decomposed é contains e, CR LF has LF, emoji their parts") { context in
            let reference = try ReferenceRows(context, Probe.texts(["e\u{301}", "é", "a\r\nb", "👨‍👩‍👧", "👧", "🇩🇪"]))
            for name in Probe.texts {
                try reference.check(.field(name, .contains, "e"), [1], name)
                try reference.check(.field(name, .contains, "\u{301}"), [1], name)
                try reference.check(.field(name, .contains, "\n"), [3], name)
                try reference.check(.field(name, .hasSuffix, "\nb"), [3], name)
                try reference.check(.field(name, .contains, "👧"), [4, 5], name)
                try reference.check(.field(name, .hasPrefix, "🇩"), [6], name)
            }
        },
        ConformanceCase(
            "P.hitsOfLetters", "P2", "P7", title: "with options, a hit begins and ends between letters, with all marks on them"
        ) { context in
            let both: TextOptions = [.caseInsensitive, .diacriticInsensitive]
            let texts = ["tüv", "tu\u{308}v", "TUV", "u", "Ü", "\u{308}u", "का", "क", "❤\u{FE0F}", nil]
            let reference = try ReferenceRows(context, Probe.texts(texts))
            for name in Probe.texts {
                func check(_ match: TextMatch, _ pattern: String, _ options: TextOptions, _ ids: [Int]) throws {
                    let what = "\(name) \(match) \(Dump.text(of: pattern))"
                    try reference.check(.field(name, match, pattern, options), ids, what)
                    let others = texts.indices.map { $0 + 1 }.filter { !ids.contains($0) }
                    try reference.check(!Condition<Probe>.field(name, match, pattern, options), others, "not \(what)")
                }
                try check(.contains, "U", .caseInsensitive, [3, 4, 6])
                try check(.contains, "ü", .caseInsensitive, [1, 2, 5])
                try check(.contains, "u", .diacriticInsensitive, [1, 2, 4, 6])
                try check(.contains, "U", both, [1, 2, 3, 4, 5, 6])
                try check(.contains, "u", [], [2, 4, 6])
                try check(.contains, "\u{308}", .caseInsensitive, [6])
                try check(.contains, "\u{308}V", .caseInsensitive, [])
                try check(.hasPrefix, "TU", .caseInsensitive, [3])
                try check(.hasPrefix, "TÜ", .caseInsensitive, [1, 2])
                try check(.hasSuffix, "V", .caseInsensitive, [1, 2, 3])
                try check(.hasSuffix, "\u{308}V", .caseInsensitive, [])
                try check(.matches, "*U*", .caseInsensitive, [3, 4, 6])
                try check(.matches, "T?V", .caseInsensitive, [1, 2, 3])
                try check(.matches, "TU?", .caseInsensitive, [3])
                try check(.matches, "?\u{308}*", .caseInsensitive, [])
                // A vowel sign is a mark, but no diacritic.
                try check(.contains, "क", both, [8])
                try check(.contains, "❤", .caseInsensitive, [])
                try check(.contains, "❤", both, [9])
            }
        },
        ConformanceCase(
            "P.hitsOfFoldedLetters", "P2", "P7", title: "without case, a hit has all of what one letter is folded to"
        ) { context in
            let texts = ["Maß", "Mass", "MASSE", "Maße", "ﬁn", "fin", "ᾳ", "αι", "s", "ẞ", nil]
            let reference = try ReferenceRows(context, Probe.texts(texts))
            for name in Probe.texts {
                func check(_ match: TextMatch, _ pattern: String, _ ids: [Int]) throws {
                    let what = "\(name) \(match) \(Dump.text(of: pattern))"
                    try reference.check(.field(name, match, pattern, .caseInsensitive), ids, what)
                    let others = texts.indices.map { $0 + 1 }.filter { !ids.contains($0) }
                    try reference.check(!Condition<Probe>.field(name, match, pattern, .caseInsensitive), others, "not \(what)")
                }
                try check(.equals, "MASS", [1, 2])
                try check(.contains, "s", [2, 3, 9])
                try check(.contains, "SS", [1, 2, 3, 4, 10])
                try check(.contains, "ß", [1, 2, 3, 4, 10])
                try check(.contains, "sse", [3, 4])
                try check(.contains, "as", [2, 3])
                try check(.hasPrefix, "mas", [2, 3])
                try check(.hasPrefix, "mass", [1, 2, 3, 4])
                try check(.hasPrefix, "F", [6])
                try check(.hasSuffix, "S", [2, 9])
                try check(.hasSuffix, "se", [3])
                try check(.hasSuffix, "in", [6])
                try check(.contains, "α", [8])
                try check(.contains, "ΑΙ", [7, 8])
                try check(.matches, "ma?", [1])
                try check(.matches, "ma??", [2, 4])
                try check(.matches, "*s", [2, 9])
                try check(.matches, "*s*", [2, 3, 9])
                try check(.matches, "?", [7, 9, 10])
            }
        },
        ConformanceCase("P.hitsOfSyllables", "P2", "P7", title: "with options, a hit has whole syllables of Hangul") { context in
            let texts = ["각", "가", "가각", "\u{1100}\u{1161}\u{11A8}", "\u{1100}", "\u{1100}\u{1161}\u{302E}", "가 각", nil]
            let reference = try ReferenceRows(context, Probe.texts(texts))
            for options: TextOptions in [.caseInsensitive, .diacriticInsensitive, [.caseInsensitive, .diacriticInsensitive]] {
                for name in Probe.texts {
                    func check(_ match: TextMatch, _ pattern: String, _ ids: [Int]) throws {
                        let what = "\(name) \(match) \(Dump.text(of: pattern))"
                        try reference.check(.field(name, match, pattern, options), ids, what)
                    }
                    try check(.contains, "가", [2, 3, 7])
                    try check(.contains, "각", [1, 3, 4, 7])
                    try check(.contains, "\u{1100}", [5])
                    try check(.contains, "\u{11A8}", [])
                    try check(.hasPrefix, "가", [2, 3, 7])
                    try check(.hasSuffix, "\u{1161}\u{11A8}", [])
                    try check(.hasSuffix, "각", [1, 3, 4, 7])
                    try check(.matches, "가?", [3])
                    try check(.matches, "?", [1, 2, 4, 5, 6])
                    try check(.matches, "*가*", [2, 3, 7])
                }
            }
        },
        ConformanceCase("P.urls", "P2", title: "every text operator sees a URL as its absolute text") { context in
            let urls = ["https://a.example/x?q=%20", "https://b.example/", "HTTPS://A.example/X"].compactMap {
                URL(string: $0)
            }
            let reference = try ReferenceRows(
                context, urls.enumerated().map { OptionalScalars(id: $0 + 1, url: $1) } + [OptionalScalars(id: 4)])
            try reference.check([1]) { $0.url.contains("%20") }
            try reference.check([1, 2]) { $0.url.hasPrefix("https:") }
            try reference.check([1, 3]) { $0.url.contains("A.EXAMPLE/x", .caseInsensitive) }
            try reference.check([2]) { $0.url.matches("https://?.example/") }
        },
        ConformanceCase(
            "P.onlyTextHasTextOperators", "P2", "P7",
            title: "a text operator on a number is invalidPredicate, not a conversion"
        ) { context in
            let reference = try ReferenceRows(context, Probe.numbers([5, 15]))
            for match in TextMatch.allCases {
                try expectError(.invalidPredicate, match.rawValue, entity: "probe", field: "number") {
                    try reference.ids(.field("number", match, "5"))
                }
            }
        },
    ]

    private static func hostileTexts() -> [ConformanceCase] {
        let ways: [(id: String, match: TextMatch?)] = [
            ("P.hostile.equal", nil), ("P.hostile.contains", .contains), ("P.hostile.prefix", .hasPrefix),
            ("P.hostile.suffix", .hasSuffix),
        ]
        return ways.map { way in
            ConformanceCase(way.id, "P2", "P7", title: "wildcards, quotes, brackets and NULs match themselves") { context in
                let rows = Probe.texts(hostile)
                let reference = try ReferenceRows(context, rows)
                for text in hostile {
                    let bytes = Array(text.utf8)
                    let expected = rows.filter { row in
                        let candidate = Array((row.text ?? "").utf8)
                        return switch way.match {
                        case .hasPrefix: candidate.starts(with: bytes)
                        case .hasSuffix: candidate.reversed().starts(with: bytes.reversed())
                        case .contains: candidate.indices.contains { candidate[$0...].starts(with: bytes) }
                        default: candidate == bytes
                        }
                    }
                    for name in Probe.texts {
                        let condition: Condition<Probe> = way.match.map { .field(name, $0, text) } ?? .field(name, .equal, text)
                        try reference.check(condition, expected.map(\.id), "\(name) with \(Dump.text(of: text))")
                    }
                }
            }
        }
    }

    private static func options() -> [ConformanceCase] {
        let both: TextOptions = [.caseInsensitive, .diacriticInsensitive]
        let rows: [(id: String, title: String, texts: [String], pattern: String, options: TextOptions, ids: [Int])] = [
            ("P.fold.ascii", "ASCII letters fold", ["Straw", "STRAW", "straw", "strax"], "sTrAw", .caseInsensitive, [1, 2, 3]),
            (
                "P.fold.latin", "É is é, composed or not", ["É", "é", "e\u{301}", "E\u{301}", "e", "É\u{301}"], "é",
                .caseInsensitive, [1, 2, 3, 4]
            ),
            (
                "P.fold.sharpS", "ß is SS is ẞ is ss", ["ß", "SS", "ẞ", "ss", "Ss", "s", "ſs"], "ß", .caseInsensitive,
                [1, 2, 3, 4, 5, 7]
            ),
            (
                "P.fold.dottedI", "İ is i with a dot, not i; ı is neither", ["İ", "i\u{307}", "i", "I", "ı"], "İ",
                .caseInsensitive, [1, 2]
            ),
            ("P.fold.dotlessI", "I is i in every locale, never ı", ["I", "i", "ı", "İ"], "i", .caseInsensitive, [1, 2]),
            (
                "P.fold.finalSigma", "a final sigma is a sigma", ["ΟΔΟΣ", "οδος", "οδοσ", "οδο"], "οδος", .caseInsensitive,
                [1, 2, 3]
            ),
            (
                "P.fold.signs", "the Ångström, Kelvin and Ohm signs are their letters",
                ["\u{212B}", "Å", "å", "K", "\u{212A}", "Ω"], "å", .caseInsensitive, [1, 2, 3]
            ),
            ("P.fold.ligature", "ﬁ is fi", ["ﬁ", "FI", "fi", "f"], "Fi", .caseInsensitive, [1, 2, 3]),
            (
                "P.fold.cherokee", "Cherokee, Georgian and Cyrillic fold", ["Ꭰ", "ꭰ", "ა", "Ა", "Ж", "ж"], "ꭰ", .caseInsensitive,
                [1, 2]
            ),
            (
                "P.fold.diacritics", "diacritics are ignored, case is not",
                ["résumé", "re\u{301}sume", "resume", "Resume", "rèsumë"],
                "resume", .diacriticInsensitive, [1, 2, 3, 5]
            ),
            (
                "P.fold.both", "case and diacritics are ignored together",
                ["RÉSUMÉ", "resume", "Re\u{301}sumé", "resumes", "ResumE"],
                "rësume", both, [1, 2, 3, 5]
            ),
            ("P.fold.notLetters", "ø is not o, under any option", ["ø", "Ø", "o", "ö"], "o", both, [3, 4]),
        ]
        return rows.map { row in
            ConformanceCase(row.id, "P2", "P7", title: row.title) { context in
                let reference = try ReferenceRows(context, Probe.texts(row.texts + [nil]))
                let padded = try ReferenceRows(context.openOther(), Probe.texts(row.texts.map { "(\($0))" } + [nil]))
                for name in Probe.texts {
                    try reference.check(.field(name, .equals, row.pattern, row.options), row.ids, "\(name) equals")
                    try reference.check(.field(name, .matches, row.pattern, row.options), row.ids, "\(name) matches")
                    try padded.check(.field(name, .contains, row.pattern + ")", row.options), row.ids, "\(name) contains")
                    try padded.check(.field(name, .hasPrefix, "(" + row.pattern + ")", row.options), row.ids, "\(name) hasPrefix")
                    try padded.check(.field(name, .hasSuffix, row.pattern + ")", row.options), row.ids, "\(name) hasSuffix")
                    // The reverse: the first text is the pattern, and the pattern is the text of a row.
                    try reference.checkReference(.field(name, .contains, row.texts[0], row.options), "\(name) contains the first")
                }
            }
        }
    }

    private static func globs() -> [ConformanceCase] {
        let rows: [(id: String, title: String, pattern: String, options: TextOptions, ids: [Int])] = [
            ("P.glob.star", "* matches any run, also the empty run", "a*b", [], [1, 2, 3, 4, 5, 6, 12, 13]),
            ("P.glob.question", "? is exactly one Unicode scalar", "a?b", [], [2, 3, 4, 5, 6, 12]),
            ("P.glob.escaped", "a backslash makes * and ? literal", "a\\*b", [], [3]),
            ("P.glob.escapedQuestion", "a backslash makes ? literal", "a\\?b", [], [4]),
            ("P.glob.whole", "the pattern has to match the complete text", "ab", [], [1]),
            ("P.glob.brackets", "brackets are not character classes", "[ab]", [], [8]),
            ("P.glob.sqlWildcards", "% and _ are not wildcards", "a%", [], []),
            ("P.glob.folded", "* and ? work together with options", "A*é?", [.caseInsensitive], [5, 12]),
            ("P.glob.everything", "* alone matches every text, but not nil", "*", [], [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 13]),
        ]
        let texts: [String?] = ["ab", "axb", "a*b", "a?b", "aéb", "a\0b", "ba", "[ab]", "a_", "", nil, "aÉb", "axxb"]
        return rows.map { row in
            ConformanceCase(row.id, "P2", "P7", title: row.title) { context in
                let reference = try ReferenceRows(context, Probe.texts(texts))
                for name in Probe.texts { try reference.check(.field(name, .matches, row.pattern, row.options), row.ids, name) }
            }
        }
    }
}
