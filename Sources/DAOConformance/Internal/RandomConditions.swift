import DAOCore
import Foundation

/// Conditions on probes that nobody would think of, the same for the same seed.
struct RandomConditions {
    static let texts = [
        "", "a", "A", "ab", "b", "é", "e\u{301}", "E\u{301}", "f", "Z", "ß", "SS", "100%", "a_b", "a*b", "a?b", "[a]", "'", "\\",
        "a\0b", "0123", "123", "1e5", "\u{FFFD}",
        "\u{10000}", "i", "İ", "ı", "σ", "ς", "Σ",
    ]
    static let reals: [Double] = [
        0, 1, -1, 0.5, 1.5, -1.5, 0.1, 7, 1e300, -1e300, .infinity, -.infinity, .nan, .leastNonzeroMagnitude,
        9_007_199_254_740_994, 9.3e18,
    ]

    private var random: SeededNumbers
    private let entity = Probe.schema.description

    init(seed: UInt64) { random = SeededNumbers(seed: seed) }

    /// A condition of up to a few levels.
    mutating func next() -> Condition<Probe> { Condition(node(depth: Int(random.next() % 4))) }

    /// An order of no to three terms.
    mutating func order() -> [Sort<Probe>] {
        (0..<Int(random.next() % 4)).map { _ in .by(random.pick(entity.fields).name, ascending: random.next() % 2 == 0) }
    }

    /// A number below a bound.
    mutating func number(below bound: Int) -> Int { Int(random.next() % UInt64(bound)) }

    private mutating func node(depth: Int) -> PredicateNode {
        if depth == 0 { return leaf() }
        switch random.next() % 4 {
        case 0: return .not(node(depth: depth - 1))
        case 1: return .and((0...Int(random.next() % 3)).map { _ in node(depth: depth - 1) })
        case 2: return .or((0...Int(random.next() % 3)).map { _ in node(depth: depth - 1) })
        default: return leaf()
        }
    }

    private mutating func leaf() -> PredicateNode {
        let index = Int(random.next() % UInt64(entity.fields.count))
        let kind = entity.fields[index].type.kind
        let comparison = random.pick(Comparison.allCases)
        switch random.next() % 8 {
        case 0: return .isIn(field: index, (0..<Int(random.next() % 5)).map { _ in value(kind) })
        case 1 where kind.isText:
            return .text(
                field: index, random.pick(TextMatch.allCases), random.pick(Self.texts + ["*", "?", "*b", "a*", "?*"]),
                TextOptions(rawValue: Int(random.next() % 4)))
        case 2:
            let others = entity.fields.indices.filter {
                let other = entity.fields[$0].type.kind
                return other == kind || (other.isNumeric && kind.isNumeric)
            }
            return .compareFields(index, comparison, random.pick(others))
        case 3:
            return .and([.compare(field: index, .greaterOrEqual, value(kind)), .compare(field: index, .lessOrEqual, value(kind))])
        default: return .compare(field: index, comparison, value(kind))
        }
    }

    private mutating func value(_ kind: ValueKind) -> Value {
        if random.next() % 8 == 0 { return .null }
        switch kind {
        case .bool: return .bool(random.next() % 2 == 0)
        case .string: return .string(random.pick(Self.texts))
        default:
            switch random.next() % 6 {
            case 0: return random.pick(Self.reals).fieldValue
            case 1: return .decimal(Decimal(Int(random.next() % 800) - 400) / 4)
            case 2: return random.pick([UInt64(Int64.max), UInt64(Int64.max) + 1, .max]).fieldValue
            default: return .integer(Int64(random.next() % 60) - 30)
            }
        }
    }
}
