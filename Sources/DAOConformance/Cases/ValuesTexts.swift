import DAOCore
import Foundation

/// V1: strings, bytes, UUIDs, URLs and dates.
enum ValuesTexts {
    static let cases: [ConformanceCase] = texts + bytes + dates

    private static let texts: [ConformanceCase] = [
        ConformanceCase("V.strings", "V1", title: "empty, blank and multi-line strings are stored unchanged") { context in
            let values = [
                "", " ", "  ", "a", " a ", "\t", "\n", "\r\n", "a\nb", "line\u{2028}separator", "'", "\"", "\\", "%",
                "''; --", "a,b|c",
            ]
            try context.expectKept(values, in: \.string, \.string)
        },
        ConformanceCase("V.stringsWithNul", "V1", title: "strings with NUL keep their full length") { context in
            let values = ["\0", "a\0b", "a\0", "\0a", "\0\0\0", "a\0\0"]
            let database = try context.expectKept(values, in: \.string, \.string)
            let dao = try database.dao(OptionalScalars.self)
            for value in values {
                try expectEqual(try dao.count { $0.string == value }, 1, "rows equal to \(Dump.text(of: value))")
            }
        },
        ConformanceCase("V.normalForms", "V1", title: "the normal forms of a word stay different bytes") { context in
            let word = "ﬁancé Å"
            let values = [
                word.precomposedStringWithCanonicalMapping, word.decomposedStringWithCanonicalMapping,
                word.precomposedStringWithCompatibilityMapping, word.decomposedStringWithCompatibilityMapping,
                "ﬁanc\u{e9} \u{212b}",
            ]
            try context.expectKept(values, in: \.string, \.string)
        },
        ConformanceCase("V.emoji", "V1", title: "emoji sequences, flags and skin tones are kept") { context in
            let values = [
                "👩‍👩‍👧‍👦", "🏴󠁧󠁢󠁳󠁣󠁴󠁿", "🇺🇳", "👍🏿", "❤️", "❤", "1️⃣", "\u{1f468}\u{200d}", "e" + String(repeating: "\u{301}", count: 500),
            ]
            try context.expectKept(values, in: \.string, \.string)
        },
        ConformanceCase("V.unusualScalars", "V1", title: "byte order marks, noncharacters and plane edges are kept") { context in
            let values = [
                "\u{feff}text", "text\u{feff}", "\u{10ffff}", "\u{d7ff}\u{e000}",
                "\u{202e}rtl\u{202c}", "\u{200b}",
                "\u{ad}", "\u{85}", "\u{fffd}",
            ]
            // The compiler refuses noncharacters in literals.
            let noncharacters: [UInt32] = [0xfffe, 0xffff, 0xfdd0, 0x1ffff, 0x10ffff]
            let strings = values + noncharacters.compactMap(Unicode.Scalar.init).map { "<\(Character($0))>" }
            try context.expectKept(strings, in: \.string, \.string)
        },
        ConformanceCase("V.allScalars", "V1", title: "all 1,112,064 Unicode scalars in one string are kept") { context in
            var text = String.UnicodeScalarView()
            for value in UInt32(0)...0x10ffff {
                if let scalar = Unicode.Scalar(value) { text.append(scalar) }
            }
            let string = String(text)
            let dao = try context.dao(Blob.self)
            try dao.create(Blob(id: 1, text: string))
            let stored = try require(try dao.read(byPrimaryKey: 1), "the row")
            try expectEqual(stored.text.utf8.count, string.utf8.count, "the length in bytes")
            try expectSame(stored.text, string)
        },
        ConformanceCase("V.looksLikeNumbers", "V1", title: "strings that look like numbers stay text") { context in
            let values = [
                "0123", "1e5", "+1", "-0", "0x10", "NaN", "nan", "inf", "null", "NULL", "nil", "true", "1.0", "1", ".5",
                "9223372036854775808", " 1",
                "1_000", "٣",
            ]
            let database = try context.expectKept(values, in: \.string, \.string)
            let dao = try database.dao(OptionalScalars.self)
            try expectEqual(try dao.count { $0.string == "1" }, 1, "rows equal to '1'")
        },
        ConformanceCase("V.stringSizes", "V1", title: "strings around the sizes of pages and buffers are kept") { context in
            let sizes = [
                1, 127, 128, 255, 256, 511, 512, 1023, 2015, 4095, 4096, 4097, 8192, 65_535, 65_536, 65_537, 1 << 20,
            ]
            try context.expectKept(sizes.map { Blob(id: $0, text: String(repeating: "x", count: $0 - 1) + "!") })
        },
        ConformanceCase("V.longIndexedStrings", "V1", "P2", title: "an index tells long strings by the last byte") { context in
            let dao = try context.dao(OptionalScalars.self)
            let long = String(repeating: "long ", count: 2000)
            let texts = [
                long, long + "\0", long + "a", long + "b", String(long.dropLast()), String(repeating: "long ", count: 100),
            ]
            try dao.create(texts.enumerated().map { OptionalScalars(id: $0, string: $1) })
            for (id, text) in texts.enumerated() {
                try expectEqual(try dao.read { $0.string == text }.map(\.id), [id], "rows with text \(id)")
            }
            try expectEqual(try dao.read(orderedBy: .ascending(\.string)).map(\.id), [5, 4, 0, 1, 2, 3])
            try expectEqual(try dao.read { $0.string > long }.map(\.id), [1, 2, 3])
            try dao.update(where: { $0.string == long + "a" }) { $0.string = long + "c" }
            try expectEqual(try dao.count { $0.string == long + "a" }, 0, "rows with the old text")
            try expectEqual(try dao.read { $0.string == long + "c" }.map(\.id), [2])
        },
        ConformanceCase("V.urls", "V1", title: "URLs keep their text: escapes, ports, fragments, any scheme") { context in
            let texts = [
                "https://example.org/a%20b/%C3%A9?q=1%2B1&x=#frag", "http://user:pw@host:8080/", "file:///tmp/a%20b",
                "mailto:a@example.org",
                "urn:isbn:0451450523", "data:text/plain;base64,SGk=", "x-app://", "https://example.org",
                "https://example.org/", "relative/path?x=1",
            ]
            let urls = try texts.map { try require(URL(string: $0), "a URL of \($0)") }
            let database = try context.expectKept(urls, in: \.url, \.url)
            let dao = try database.dao(OptionalScalars.self)
            for (id, url) in urls.enumerated() { try expectEqual(try dao.read { $0.url == url }.map(\.id), [id]) }
        },
        ConformanceCase("V.relativeURL", "V1", title: "a URL with a base is stored as its absolute text") { context in
            let base = try require(URL(string: "https://example.org/dir/"), "a URL")
            let url = try require(URL(string: "page?x=1", relativeTo: base), "a URL")
            let absolute = try require(URL(string: "https://example.org/dir/page?x=1"), "a URL")
            try context.expectKept([Scalars(id: 1, url: url)], as: [Scalars(id: 1, url: absolute)])
        },
        ConformanceCase(
            "V.hugeString", "V1", title: "a string of 64 MiB is kept", requires: [.hugeValues], isHeavy: true
        ) { context in
            let text = String(repeating: "0123456789abcde\u{a}", count: 4 << 20)
            let dao = try context.dao(Blob.self)
            try dao.create(Blob(id: 1, text: text))
            let stored = try dao.read(byPrimaryKey: 1)
            try expect((stored?.text).map { Data($0.utf8) } == Data(text.utf8), "the same 64 MiB of text")
        },
    ]

    private static let bytes: [ConformanceCase] = [
        ConformanceCase("V.data", "V1", title: "empty data, every byte and text that is not UTF-8 are kept") { context in
            let values: [Data] = [
                Data(), Data([0]), Data([0, 0]), Data([0xff]), Data([0xff, 0xfe]), Data(0...255), Data((0...255).reversed()),
                Data([0x80, 0xc3]),
                Data("text".utf8), Data("\0".utf8),
            ].reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
            let database = try context.expectKept(values, in: \.data, \.data)
            let dao = try database.dao(OptionalScalars.self)
            for value in values {
                try expectEqual(try dao.count { $0.data == value }, 1, "rows equal to \(Dump.text(of: value))")
            }
        },
        ConformanceCase("V.dataSlice", "V1", title: "a slice of data is stored as the bytes of the slice") { context in
            let whole = Data(0...99)
            let slice = whole[10..<20]
            try context.expectKept([Scalars(id: 1, data: slice)], as: [Scalars(id: 1, data: Data(10...19))])
        },
        ConformanceCase("V.dataSizes", "V1", title: "data around the sizes of pages and buffers is kept") { context in
            let sizes = [1, 255, 256, 511, 512, 2016, 4079, 4080, 4081, 4095, 4096, 4097, 65_535, 65_536, 1 << 20]
            try context.expectKept(
                sizes.map { size in Blob(id: size, data: Data((0..<size).map { UInt8(truncatingIfNeeded: $0 ^ size) })) })
        },
        ConformanceCase("V.hugeData", "V1", title: "64 MiB of data are kept", requires: [.hugeValues], isHeavy: true) { context in
            let pattern = Data((0..<(1 << 20)).map { UInt8(truncatingIfNeeded: $0 ^ ($0 >> 8)) })
            var data = Data(capacity: 64 << 20)
            for _ in 0..<64 { data.append(pattern) }
            let dao = try context.dao(Blob.self)
            try dao.create(Blob(id: 1, data: data))
            try expect(try dao.read(byPrimaryKey: 1)?.data == data, "the same 64 MiB")
            try dao.persist(Blob(id: 1))
            try expectSame(try dao.read(), [Blob(id: 1)])
        },
        ConformanceCase(
            "V.tooLong", "V1", "W3", title: "a value beyond the declared length is unsupported", lacks: [.hugeValues]
        ) { context in
            let database = try context.open()
            let maximum = try require(database.capabilities.maximumValueLength, "a declared length")
            let dao = try database.dao(Blob.self)
            try dao.create(Blob(id: 1, text: String(repeating: "x", count: maximum)))
            try database.transaction {
                try expectError(.unsupported, entity: "blob") {
                    try dao.create(Blob(id: 2, text: String(repeating: "x", count: maximum + 1)))
                }
                try expectError(.unsupported, entity: "blob") { try dao.create(Blob(id: 3, data: Data(count: maximum + 1))) }
                try dao.create(Blob(id: 4))
            }
            try expectEqual(try dao.read().map(\.id), [1, 4])
        },
        ConformanceCase("V.manyLargeRows", "V1", title: "two hundred rows of 10 to 50 KB are read back complete") { context in
            let rows = (0..<200).map { id in
                Blob(
                    id: id, text: String(repeating: "\(id) ", count: 2500), data: Data(repeating: UInt8(id), count: id * 200))
            }
            let dao = try context.dao(Blob.self)
            try dao.create(rows)
            try expectSame(try dao.read(), rows)
        },
        ConformanceCase("V.uuids", "V1", title: "UUIDs of all zeros, all ones and arbitrary bytes are kept") { context in
            let full: UInt8 = 0xff
            let values = [
                Scalars.zero,
                UUID(uuid: (full, full, full, full, full, full, full, full, full, full, full, full, full, full, full, full)),
                UUID(uuid: (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)),
                UUID(uuid: (full, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1)),
            ]
            let database = try context.expectKept(values, in: \.uuid, \.uuid)
            let dao = try database.dao(OptionalScalars.self)
            for value in values { try expectEqual(try dao.count { $0.uuid == value }, 1, "rows equal to \(value)") }
        },
    ]

    private static let dates: [ConformanceCase] = [
        ConformanceCase("V.dates", "V1", title: "distant dates, and any fraction, are kept to the last bit") { context in
            let seconds: [Double] = [
                0, 1, -1, 0.1, 1e-9, -1e-9, 1e15, -1e15, 1e300, -1e300, 725_846_400.123_456_789, 978_307_200, -978_307_200,
                .leastNonzeroMagnitude,
                .infinity, -.infinity,
            ]
            let values = [Date.distantPast, .distantFuture] + seconds.map(Date.init(timeIntervalSinceReferenceDate:))
            try context.expectKept(values, in: \.date, \.date)
        },
        ConformanceCase("V.datesOneBitApart", "V1", title: "dates that differ in one bit stay different and ordered") { context in
            let base = 725_846_400.123
            let values = [base.nextDown, base, base.nextUp].map(Date.init(timeIntervalSinceReferenceDate:))
            let database = try context.expectKept(values, in: \.date, \.date)
            let dao = try database.dao(OptionalScalars.self)
            try expectEqual(try dao.read { $0.date < values[1] }.map(\.id), [0])
            try expectEqual(try dao.read { $0.date == values[1] }.map(\.id), [1])
            try expectEqual(try dao.read(orderedBy: .descending(\.date)).map(\.id), [2, 1, 0, -1])
        },
        ConformanceCase("V.dateSince1970", "V1", title: "a date made from seconds since 1970 reads back equal") { context in
            let values = [0, 1.5, 1_700_000_000.123_456, 4_102_444_800].map(Date.init(timeIntervalSince1970:))
            try context.expectKept(values, in: \.date, \.date)
        },
    ]
}
