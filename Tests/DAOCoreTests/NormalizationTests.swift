import DAOCore
import DAOTestSupport
import Foundation
import Testing

/// Reference model of a predicate: the meaning of a tree by contract P1 and P3, without normalization and
/// without conversion of literals.
private func referenceResult(_ node: PredicateNode, _ row: [Value], _ entity: EntityDescription) -> Bool {
    switch node {
    case .constant(let value): value
    case .and(let nodes): nodes.allSatisfy { referenceResult($0, row, entity) }
    case .or(let nodes): nodes.contains { referenceResult($0, row, entity) }
    case .not(let node): !referenceResult(node, row, entity)
    case .compare(let field, let comparison, let value):
        holds(row[field], comparison, literal(value, entity.fields[field].type.kind))
    case .compareFields(let left, let comparison, let right): holds(row[left], comparison, row[right])
    case .isIn(let field, let values):
        values.contains { holds(row[field], .equal, literal($0, entity.fields[field].type.kind)) }
    case .text(let field, let match, let pattern, let options):
        if case .string(let text) = row[field] { TextPattern(match, pattern, options).matches(text) } else { false }
    case .related, .relatedCount, .compareRelated, .through, .embedded, .invalid: false
    }
}

private func holds(_ left: Value, _ comparison: Comparison, _ right: Value) -> Bool {
    if left.isNull || right.isNull {
        switch comparison {
        case .equal: return left.isNull && right.isNull
        case .notEqual: return left.isNull != right.isNull
        default: return false
        }
    }
    return comparison.holds(Value.order(left, right))
}

/// A Float field rounds a floating-point literal as the compiler does. A literal that rounds to infinity
/// stays unchanged.
private func literal(_ value: Value, _ kind: ValueKind) -> Value {
    switch (value, kind) {
    case (.double(let number), .float) where Double(Float(number)).isFinite: .double(Double(Float(number)))
    case (.integer(let number), .bool): .bool(number == 1)
    case (.string(let text), .uuid): UUID(uuidString: text).map(Value.uuid) ?? value
    default: value
    }
}

@Suite("P1, P3 · Normalization preserves the meaning")
struct NormalizationTests {
    private let entity = Sample.schema.description

    private static let integers: [Int64] = [
        .min, -129, -128, -1, 0, 1, 2, 5, 126, 127, 128, 1 << 53, (1 << 53) + 1, 4_650_000_000_000_000_000, .max - 1, .max,
    ]
    private static let doubles: [Double] = [
        -.infinity, -1e300, -1e19, -0x1p63, -128.5, -1.5, -0.5, -.leastNonzeroMagnitude, 0, .leastNonzeroMagnitude, 0.1, 0.3, 0.5,
        1.5, 126.5, 127, 127.5, 0x1p53, 9.2e18, 0x1p63, 9.3e18,
        0x1p64, 1.9e19, 3.5e38, 1e39, 1e165, 1e300, .infinity, .nan, Double(Float(0.1)), 16_777_217, 1e-127,
        1.2345678901234567e-120,
    ]
    private static let decimals: [Decimal] =
        [
            "-1e100", "-9223372036854775809", "-1.5", "0", "0.1", "0.3", "1.5", "127.000", "9007199254740993",
            "9223372036854775807.5", "18446744073709551615",
            "18446744073709551616", "1e39", "1e127", "1e-128", "0.10000000149011612",
        ].compactMap { Decimal(string: $0) } + [.nan]
    private static let texts = ["", "a", "A", "é", "e\u{301}", "ß", "SS", "100%", "a_b", "*", "?", "Z", "f"]

    private func number(_ random: inout SeededGenerator) -> Value {
        switch Int.random(in: 0..<10, using: &random) {
        case 0: .null
        case 1...3: .integer(Self.integers.randomElement(using: &random) ?? 0)
        case 4: .unsigned([UInt64(Int64.max) + 1, 9_300_000_000_000_000_000, .max].randomElement(using: &random) ?? .max)
        case 5...7: .double(Self.doubles.randomElement(using: &random) ?? 0)
        default: .decimal(Self.decimals.randomElement(using: &random) ?? 0)
        }
    }

    /// A value that a field of the kind can hold, in its stored form.
    private func stored(_ field: FieldDescription, _ random: inout SeededGenerator) -> Value {
        if field.type.isOptional, Int.random(in: 0..<10, using: &random) < 3 { return .null }
        switch field.type.kind {
        case .bool: return .bool(Bool.random(using: &random))
        case .int8: return .integer([-128, -1, 0, 1, 5, 126, 127].randomElement(using: &random) ?? 0)
        case .uint64:
            return [0, 1, UInt64(Int64.max), UInt64(Int64.max) + 1, 9_300_000_000_000_000_000, .max].randomElement(
                using: &random)?.fieldValue ?? .integer(0)
        case .int64: return .integer(Self.integers.randomElement(using: &random) ?? 0)
        case .double: return (Self.doubles.randomElement(using: &random) ?? 0).fieldValue
        case .float: return Float(Self.doubles.randomElement(using: &random) ?? 0).fieldValue
        case .decimal: return .decimal(Self.decimals.randomElement(using: &random) ?? 0)
        case .string, .url, .embedded: return .string(Self.texts.randomElement(using: &random) ?? "")
        case .date:
            return Date(timeIntervalSinceReferenceDate: [0, 1, -1, .nan, .infinity].randomElement(using: &random) ?? 0).fieldValue
        case .uuid:
            return .uuid(Bool.random(using: &random) ? .zero : UUID(uuid: (1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)))
        default: return .data(Data([UInt8.random(in: 0...2, using: &random)]))
        }
    }

    private func value(for field: FieldDescription, _ random: inout SeededGenerator) -> Value {
        if field.type.kind.isNumeric { return number(&random) }
        if field.type.kind == .bool, Int.random(in: 0..<4, using: &random) == 0 {
            return .integer(Int64.random(in: 0...1, using: &random))
        }
        return Int.random(in: 0..<5, using: &random) == 0 ? .null : stored(field, &random)
    }

    @Test(arguments: [1] as [UInt64]) func generatedTreesKeepTheirMeaning(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let predicates = PredicateGenerator(entity) { value(for: entity.fields[$0], &$1) }
        let rows = (0..<60).map { _ in entity.fields.map { stored($0, &random) } }
        for round in 0..<8_000 {
            let node = predicates.predicate(depth: round % 5, using: &random)
            let filter = try node.filter(for: entity)
            for row in rows where filter.matches({ row[$0] }) != referenceResult(node, row, entity) {
                Issue.record("\(node)\nas \(filter)\non \(row)")
                return
            }
        }
    }

    @Test func numericLiteralsCompareExactlyWithNumericFields() throws {
        let literals =
            Self.integers.map(Value.integer) + Self.doubles.map { $0.fieldValue } + Self.decimals.map(Value.decimal)
            + [.unsigned(.max), .unsigned(UInt64(Int64.max) + 1), .unsigned(5), .null]
        var random = SeededGenerator(seed: 2)
        for (index, field) in entity.fields.enumerated() where field.type.kind.isNumeric {
            let rows = (0..<80).map { _ in stored(field, &random) } + [field.type.isOptional ? .null : stored(field, &random)]
            for literal in literals {
                for comparison in Comparison.allCases {
                    for isNegated in [false, true] {
                        let plain = PredicateNode.compare(field: index, comparison, literal)
                        let node = isNegated ? PredicateNode.not(plain) : plain
                        let filter = try node.filter(for: entity)
                        for row in rows {
                            var values = [Value](repeating: .null, count: entity.fields.count)
                            values[index] = row
                            if filter.matches({ values[$0] }) != referenceResult(node, values, entity) {
                                Issue.record("\(field.name) \(row) \(isNegated ? "not " : "")\(comparison) \(literal): \(filter)")
                            }
                        }
                    }
                }
            }
        }
    }

    @Test func literalsGetTheTypeOfTheirField() throws {
        func filter(_ name: String, _ comparison: Comparison, _ value: Value) throws -> Filter {
            try PredicateNode.compare(field: Sample.index(name), comparison, value).filter(for: entity)
        }
        let age = try Sample.index("age")
        #expect(try filter("age", .equal, .double(1.5)) == .none)
        #expect(try filter("age", .notEqual, .double(1.5)) == .all)
        #expect(try filter("age", .less, .double(1.5)) == .compare(field: age, .lessOrEqual, .integer(1)))
        #expect(try filter("age", .greaterOrEqual, .double(-1.5)) == .compare(field: age, .greater, .integer(-2)))
        #expect(try filter("age", .less, .double(9.3e18)) == .isNull(field: age, false))
        #expect(try filter("age", .greater, .unsigned(.max)) == .none)
        #expect(try filter("age", .less, .double(.nan)) == .isNull(field: age, false))
        #expect(try filter("age", .equal, .double(2)) == .compare(field: age, .equal, .integer(2)))
        #expect(try filter("level", .greater, .integer(1000)) == .none)
        #expect(
            try filter("score", .equal, .decimal(decimal("0.3"))) == .compare(field: Sample.index("score"), .equal, .double(0.3)))
        #expect(
            try filter("price", .equal, .double(0.1)) == .compare(field: Sample.index("price"), .equal, .decimal(decimal("0.1"))))
        #expect(try filter("price", .less, .double(1e300)) == .compare(field: Sample.index("price"), .less, .decimal(.nan)))
        #expect(try filter("ratio", .equal, .double(1e300)) == .none)
        #expect(try filter("flag", .equal, .integer(1)) == .compare(field: Sample.index("flag"), .equal, .bool(true)))
        #expect(try PredicateNode.and([]).filter(for: entity) == .all)
        #expect(try PredicateNode.or([]).filter(for: entity) == .none)
    }

    @Test func incomparableOperandsAreRefused() throws {
        func message(_ node: PredicateNode) throws -> String { try storageError { try node.filter(for: entity) }.message }
        let age = try Sample.index("age")
        let tags = try Sample.index("tags")
        #expect(
            try message(.compare(field: age, .equal, .string("5")))
                == "'age' is int64 and cannot be compared with a value of type string")
        #expect(try message(.compare(field: tags, .less, .string("5"))) == "'tags' is embedded and cannot be compared by less")
        #expect(
            try message(.compareFields(age, .equal, tags)) == "'age' is int64 and 'tags' is embedded, which cannot be compared")
        #expect(try message(.text(field: age, .contains, "5", [])) == "'age' is int64, and contains requires a text field")
        #expect(try message(.compare(field: 99, .equal, .null)) == "'sample' has no field at position 99")
        var deep = PredicateNode.constant(true)
        for _ in 0..<1500 { deep = .not(deep) }
        #expect(try message(deep) == "the predicate nests more than 1000 levels deep; nest it less")
    }
}
