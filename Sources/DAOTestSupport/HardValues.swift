import DAOCore
import Foundation

/// Values that storages have been known to lose, few enough for collisions to be common.
package enum HardValues {
    package static let integers: [Int64] = [
        .min, .min + 1, -1_000_000, -129, -128, -2, -1, 0, 1, 2, 3, 5, 10, 127, 128, 255, 256, 65_535, 1 << 31, (1 << 53) - 1,
        1 << 53,
        (1 << 53) + 1, .max - 1, .max,
    ]
    package static let unsigned: [UInt64] = [0, 1, 2, 10, UInt64(Int64.max), UInt64(Int64.max) + 1, 1 << 63 | 5, .max - 1, .max]

    package static let doubles: [Double] = [
        -.infinity, -.greatestFiniteMagnitude, -1e19, -1.5, -1, -0x1p-1022, -.leastNonzeroMagnitude, -0.0, 0,
        .leastNonzeroMagnitude,
        0.1, 0.1.nextUp, 0.5, 1, 1.5, 2, 3, 9_007_199_254_740_992, 9_223_372_036_854_775_808, 1e19, 1e300,
        .greatestFiniteMagnitude,
        .infinity, .nan, -Double.nan, Double(bitPattern: 0x7ff8_0000_0000_0123),
    ]
    /// The doubles that are stored as they are: neither a negative zero nor a NaN but one.
    package static let storedDoubles = doubles.filter { !$0.isNaN && !($0 == 0 && $0.sign == .minus) } + [.nan]
    package static let floats: [Float] = [
        -.infinity, -.greatestFiniteMagnitude, -1.5, -0.0, 0, .leastNonzeroMagnitude, 0.1, 0.5, 1, 2, 16_777_216, 9e18, .infinity,
        .nan,
    ]
    /// Numbers of few binary digits below 2⁵³: what decimals and floating-point numbers both hold.
    package static let dyadic: [Double] = [-2.5, -1, 0, 0.25, 0.5, 1, 1.5, 2, 10, 1_000_000]
    package static let decimals: [Decimal] =
        [
            "-12345678901234567890.5", "-100", "-2.5", "-2", "-0.001", "0", "0.001", "0.01", "0.1", "0.25", "0.5", "1", "1.5",
            "2", "9.99", "10",
            "100", "9223372036854775808", "18446744073709551615", "12345678901234567890123456789012345678",
            "0.00000000000000000000000001",
        ].compactMap { Decimal(string: $0) } + [.nan]

    package static let prefix = String(repeating: "p", count: 300)
    package static let strings = [
        "", "a", "ab", "abc", "a\0", "a\0b", "\0", "a\u{1}", "A", "AB", "B", "b", "Z", "f", "é", "e\u{301}", "É", "resume",
        "résumé", "RÉSUMÉ",
        "ß", "SS", "ss", "Straße", "STRASSE", "İ", "i", "i\u{307}", "ı", "I", "Σίσυφος", "ΣΊΣΥΦΟΣ", "σ", "ς", "ﬁ", "fi",
        "\u{FFFD}", "\u{10000}", "\u{10FFFF}",
        "\u{FEFF}x", "10", "2", "0123", "1e5", "NaN", "null", "100%", "a_b", "a*b", "a?b", "*", "?", "\\", "a\\b", "'; DROP",
        "\"", "\r\n", "a\r\nb",
        "👩‍👩‍👧", "👩", "\u{301}", prefix, prefix + "a", prefix + "a\0", prefix + "b", prefix + "é", " a", "a ",
    ]
    package static let patterns = [
        "", "*", "?", "a*", "*a", "*b*", "a?b", "?*", "**", "\\*", "a\\*b", "\\", "a\\", "*é*", "r?sum?", "R*É", "s*", "*\0*",
        "*\u{301}", "?\u{301}",
        "p*a", "σ*", "??", "*%*", "a_b", "[a]", "*\n*", "e?", "*ss*",
    ]
    package static let options: [TextOptions] = [
        [], [], .caseInsensitive, .diacriticInsensitive, [.caseInsensitive, .diacriticInsensitive],
    ]

    package static let data: [Data] =
        [[], [0], [0, 0], [0, 1], [1], [1, 2, 3], [127], [128], [255], [255, 255]].map { Data($0) }
        + [Data(repeating: 7, count: 600), Data(repeating: 7, count: 600) + [0], Data(repeating: 7, count: 600) + [1]]
    package static let uuids = [
        "00000000-0000-0000-0000-000000000000", "00000000-0000-0000-0000-000000000001", "0A000000-0000-0000-0000-000000000000",
        "7FFFFFFF-0000-0000-0000-000000000000", "80000000-0000-0000-0000-000000000000", "E621E1F8-C36C-495A-93FC-0C247A3E6E5F",
        "FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFE", "FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF", "12345678-1234-1234-1234-123456789ABC",
    ].compactMap { UUID(uuidString: $0) }
    package static let urls = [
        "https://a.example/?q=%20x", "https://a.example/", "file:///tmp/a%20b", "a", "b/c#d", "mailto:x@y.z",
    ]
    package static let dates: [Double] = [
        -.infinity, -1e15, -63_114_076_800, -1, -0.0, 0, 1e-9, 0.1, 1, 700_000_000.123, 700_000_000.123.nextUp, 64_092_211_200,
        .infinity, .nan,
    ]

    /// The keys of an entity.
    package static func keys(_ kind: ValueKind) -> [Value] {
        switch kind {
        case .int64: integerKeys
        case .uint64: unsignedKeys
        case .uuid: uuids.map(Value.uuid)
        case .string: stringKeys
        default: narrowKeys(kind)
        }
    }

    private static let integerKeys: [Value] = [Int64.min, -10, -1, 0, 1, 2, 3, 10, 42, (1 << 53) + 1, .max - 1, .max].map(
        Value.integer)
    private static let unsignedKeys: [Value] = [
        UInt64(0), 1, 2, 10, 255, UInt64(Int64.max), UInt64(Int64.max) + 1, .max - 1, .max,
    ].map(\.fieldValue)
    private static let stringKeys: [Value] = [
        "", "a", "ab", "a\0", "a\u{1}", "A", "b", "é", "e\u{301}", "10", "2", "\u{FFFD}", "\u{10000}", "\0",
        String(repeating: "k", count: 256), String(repeating: "k", count: 255) + "l",
    ].map(Value.string)
    /// Keys of fewer bits.
    private static func narrowKeys(_ kind: ValueKind) -> [Value] {
        let range = kind.integerRange ?? 0...0
        return ([range.lowerBound, -10, -1, 0, 1, 2, 3, 10, 42, range.upperBound - 1, range.upperBound].filter(range.contains))
            .map(Value.integer)
    }
    package static let tooLongKey = Value.string(String(repeating: "k", count: 257))
    /// Texts that are no key of an entity.
    package static func foreignIDs(_ kind: ValueKind) -> [String] {
        switch kind {
        case .int64: ["abc", "01", "+1", "", "9223372036854775808", "E621E1F8-C36C-495A-93FC-0C247A3E6E5F"]
        case .uint64: ["-1", "1.0", "", "18446744073709551616"]
        case .uuid: ["5", "", "e621e1f8-c36c-495a-93fc-0c247a3e6e5f"]
        case .string: [String(repeating: "k", count: 257), String(repeating: "é", count: 129)]
        default: ["abc", "01", "9223372036854775807", "-9223372036854775808", "", "5000000000"]
        }
    }
}
