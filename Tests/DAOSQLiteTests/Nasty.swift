import DAOCore
import Foundation

/// SplitMix64: the same rows in every run.
struct Seeded: RandomNumberGenerator {
    var state: UInt64
    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}

/// Values that storages have been known to lose.
enum Nasty {
    static let integers: [Int] = [.min, .min + 1, -1, 0, 1, 2, 10, 1 << 53, (1 << 53) + 1, .max - 1, .max]
    static let unsigned: [UInt64] = [
        0, 1, 5, UInt64(Int64.max) - 1, UInt64(Int64.max), UInt64(Int64.max) + 1, 1 << 63 | 5, .max - 1, .max,
    ]
    static let doubles: [Double] = [
        -.infinity, -.greatestFiniteMagnitude, -1.5, -1, -.leastNonzeroMagnitude, 0, 0.1, 1, 5, 9_007_199_254_740_992, 1e19,
        .infinity, .nan,
        .greatestFiniteMagnitude,
    ]
    static let floats: [Float] = [-.infinity, -1.5, 0, 0.1, 1, .infinity, .nan, .greatestFiniteMagnitude]
    static let decimals: [Decimal] =
        ["-100", "-2.5", "-2", "0", "0.001", "0.01", "2", "2.5", "10", "100", "12345678901234567890123456789012345678"]
        .map { Decimal(string: $0)! } + [Decimal.nan]
    static let strings = [
        "", "a", "ab", "a\0", "a\0b", "\0", "A", "B", "é", "e\u{301}", "\u{FFFD}", "\u{10000}", "\u{FEFF}x", "10", "2", "0123",
        "1e5",
        "NaN", "100%", "a_b", "*?", "ß", "STRASSE", "straße", "İ", "i", "👩‍👩‍👧", "Z", "f", "\u{7F}", "\u{7F}\u{80}", "\u{10FFFF}",
        String(repeating: "x", count: 5000),
    ]
    static let data = [Data(), Data([0]), Data([0, 0]), Data([255]), Data([1, 2, 3]), Data(repeating: 7, count: 100_000)]
    static let uuids = [
        UUID(uuidString: "00000000-0000-0000-0000-000000000000")!, UUID(uuidString: "FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF")!,
        UUID(uuidString: "7FFFFFFF-0000-0000-0000-000000000000")!,
    ]
    static let urls = ["https://a.example/?q=%20x", "file:///tmp/a%20b", "a"].map { URL(string: $0)! }
    static let dates = doubles.map(Date.init(timeIntervalSinceReferenceDate:))

    static func row(_ id: Int, _ random: inout Seeded) -> Everything {
        func maybe<Value>(_ values: [Value]) -> Value? {
            Int.random(in: 0..<10, using: &random) < 3 ? nil : values.randomElement(using: &random)
        }
        func one<Value>(_ values: [Value]) -> Value { values.randomElement(using: &random)! }
        return Everything(
            id: id, flag: Bool.random(using: &random), small: maybe([-128, -1, 0, 1, 127]), big: one(unsigned),
            bigger: maybe(unsigned),
            ratio: one(doubles), maybe: maybe(doubles), single: maybe(floats), price: one(decimals), discount: maybe(decimals),
            name: one(strings), note: maybe(strings), bytes: one(data), blob: maybe(data), token: one(uuids), other: maybe(uuids),
            site: maybe(urls), date: one(dates), seen: maybe(dates), mood: maybe([.calm, .wild]),
            tags: one([[], ["a"], ["b", ""]]))
    }

    /// A value of a field's kind, or one near it.
    static func value(_ kind: ValueKind, _ random: inout Seeded) -> Value {
        func one<Value>(_ values: [Value]) -> Value { values.randomElement(using: &random)! }
        switch kind {
        case .bool: return .bool(one([true, false]))
        case .int8, .int16, .int32, .int64, .uint8, .uint16, .uint32, .uint64, .float, .double, .decimal:
            switch Int.random(in: 0..<4, using: &random) {
            case 0: return one(integers).fieldValue
            case 1: return one(unsigned).fieldValue
            case 2: return one(doubles).fieldValue
            default: return .decimal(one(decimals))
            }
        case .string: return .string(one(strings))
        case .url: return .string(one(urls).absoluteString)
        case .embedded: return .string(one(["[]", "[\"a\"]"]))
        case .data: return .data(one(data))
        case .uuid: return .uuid(one(uuids))
        case .date: return .date(one(dates))
        case .toOne, .toMany: return .null
        }
    }

    static func node(_ entity: EntityDescription, _ depth: Int, _ random: inout Seeded) -> PredicateNode {
        func int(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &random) }
        let field = int(entity.fields.count)
        let kind = entity.fields[field].type.kind
        let comparison: Comparison =
            kind.isOrdered ? Comparison.allCases.randomElement(using: &random)! : [.equal, .notEqual][int(2)]
        func literal() -> Value { int(10) == 0 ? .null : value(kind, &random) }
        switch depth > 0 ? int(10) : 4 + int(6) {
        case 0, 1: return .and((0..<int(4)).map { _ in node(entity, depth - 1, &random) })
        case 2: return .or((0..<int(4)).map { _ in node(entity, depth - 1, &random) })
        case 3: return .not(node(entity, depth - 1, &random))
        case 4, 5: return .compare(field: field, comparison, literal())
        case 6:
            let others = entity.fields.indices.filter {
                let other = entity.fields[$0].type.kind
                return other == kind || (other.isNumeric && kind.isNumeric) || (other.isText && kind.isText)
            }
            return .compareFields(field, comparison, others.randomElement(using: &random)!)
        case 7: return .isIn(field: field, (0..<[0, 1, 3, 50][int(4)]).map { _ in literal() })
        default:
            let texts = entity.fields.indices.filter { entity.fields[$0].type.kind.isText }
            let match = TextMatch.allCases.randomElement(using: &random)!
            return .text(
                field: texts.randomElement(using: &random)!, match, strings.randomElement(using: &random)!,
                TextOptions(rawValue: int(4)))
        }
    }
}
