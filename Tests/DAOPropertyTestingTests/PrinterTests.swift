import DAOConformance
import DAOCore
import DAOTestSupport
import Foundation
import Testing

@testable import DAOPropertyTesting

/// Scripts as they are printed: `PrintedRows.swift` is one, compiled and run with the tests.
@Suite struct PrinterTests {
    /// A separate model, with a field of every type.
    private static let model: GeneratedModel = {
        let odd = [
            "rowid": PropertyTesting.GeneratedType.int16, "_": .string, "größe": .string, "a_b": .double, "default": .uuid,
        ]
        var fields = odd.sorted { $0.key < $1.key }.map { PropertyTesting.GeneratedField($0.key, $0.value) }
        for (index, type) in PropertyTesting.GeneratedType.allCases.enumerated() {
            fields.append(PropertyTesting.GeneratedField("plain\(index)", type, isIndexed: index == 3, defaultValue: type.empty))
            fields.append(
                PropertyTesting.GeneratedField(
                    "maybe\(index)", type, isOptional: true, isUnique: index == 2, earlierNames: ["old\(index)"]))
        }
        fields.insert(PropertyTesting.GeneratedField("order", .ticket, isKey: true), at: 2)
        return GeneratedModel(PropertyTesting.GeneratedEntity("select", fields, kept: [0, 1]), number: 0)
    }()

    /// One that cannot be stored.
    private static let invalid = GeneratedModel(
        PropertyTesting.GeneratedEntity(
            "invalid", [.init("id", .int, isKey: true), .init("a.b", .strings), .init("key", .string)]),
        number: 1,
        flaw: SchemaFlaw(field: "a.b"))

    /// A row of the generated model with something in every field.
    private static let generatedRow: Row = model.entity.fields.map { field in
        if field.isKey { return .integer(5) }
        if let choice = KnownValue.all(of: field.type.type)?.last { return choice.value }
        return switch field.type.kind {
        case .bool: .bool(true)
        case .float, .double: .double(1.5)
        case .decimal: .decimal(-2.5)
        case .data: .data(Data([1, 2]))
        case .uuid: .uuid(HardValues.uuids[3])
        case .date: .date(Date(timeIntervalSinceReferenceDate: 0.1))
        case .string: .string("a\"")
        case .url: .string("https://a.example/")
        default: .integer(7)
        }
    }

    /// One step of every kind, the last of which is printed as the one that fails.
    private static let steps: [RowStep] = {
        func query(_ node: PredicateNode) -> QueryDescription { QueryDescription(node: node) }
        let note: [Row] = ["a", "b\0", "\u{e9}"].map { [.string($0), .string("t"), .string("t"), .null, .null, .integer(7)] }
        var wide = Entity.wide.table.blank
        for (name, value) in [
            ("flag", .bool(true)), ("count", .unsigned(.max)), ("ratio", .double(-.infinity)), ("real", .double(-0.0)),
            ("realTwin", .double(-0.0)), ("price", .decimal(-2.5)), ("bytes", .data(Data(repeating: 7, count: 600))),
            ("token", .uuid(HardValues.uuids[3])), ("site", .string("a")),
            ("date", .date(Date(timeIntervalSinceReferenceDate: .nan))),
            ("mood", .string("")), ("tags", .string(#"["a"]"#)), ("shape", .string(#"{"name":"box","sides":4}"#)),
            ("text", .string(HardValues.prefix + "\"\\")),
        ] as [(String, Value)] {
            guard let field = Entity.wide.fields.firstIndex(where: { $0.name == name }) else { continue }
            wide[field] = value
        }
        let deep = PredicateNode.or([
            .not(.and([.compare(field: 5, .greater, .double(1.5)), .compareFields(1, .equal, 2)])),
            .isIn(field: 0, [.null, .string("a")]),
            .text(field: 1, .matches, "*\\*?", [.caseInsensitive, .diacriticInsensitive]),
        ])
        let read = RowStep(verb: .read)
        return [
            RowStep(verb: .create, rows: [note[0]]), RowStep(verb: .create, rows: note),
            RowStep(verb: .persist, rows: note), RowStep(verb: .persist, rows: note, flag: true),
            RowStep(verb: .upsert, entity: .wide, rows: [wide]), RowStep(verb: .merge, rows: note, number: 2),
            RowStep(verb: .merge, rows: note, flag: true),
            RowStep(verb: .update, query: query(deep), changes: [FieldChange(field: 3, value: .string("body"))], number: 1),
            RowStep(verb: .update, query: query(deep), changes: [FieldChange(field: 5, value: .integer(8))]),
            RowStep(verb: .findOrCreate, rows: [note[1]], ids: ["b\0"]), RowStep(verb: .eraseRows, rows: [note[2]]),
            RowStep(verb: .eraseKeys, ids: ["x", "y"]), RowStep(verb: .eraseQuery, query: query(.constant(false))),
            RowStep(verb: .set, query: query(.constant(false)), changes: [FieldChange(field: 5, value: .integer(9))]),
            RowStep(verb: .eraseAll, entity: .tally), RowStep(verb: .readKey, ids: ["a"]),
            RowStep(verb: .readKeys, ids: ["b\0", "a"]),
            RowStep(verb: .count, query: query(deep)), RowStep(verb: .keys, query: query(deep)),
            RowStep(verb: .exists, query: query(deep)), RowStep(verb: .existsKey, ids: ["a"]),
            RowStep(verb: .total, entity: .wide, field: 15, total: .average),
            RowStep(verb: .forEach, number: 1), RowStep(verb: .cursor, number: 1, inner: [RowStep(verb: .eraseKeys, ids: ["a"])]),
            RowStep(verb: .pages, number: 1, flag: true, inner: [RowStep(verb: .upsert, rows: [note[0]])]),
            RowStep(verb: .upsert, entity: .generated(model), rows: [model.table.blank, generatedRow]),
            RowStep(verb: .invalid, entity: .generated(invalid)),
            RowStep(verb: .update, entity: .generated(model), changes: [FieldChange(field: 4, value: .string("x"))]),
            RowStep(verb: .total, entity: .generated(model), field: 0, total: .max),
            RowStep(verb: .persist, entity: .generated(model), rows: [model.table.blank], flag: true),
            RowStep(verb: .read, entity: .generated(model)),
            RowStep(verb: .increment, ids: ["a"], field: 5),
            RowStep(
                verb: .translate, entity: .wide, rows: [wide, wide], number: 1, flag: true,
                inner: [RowStep(verb: .upsert, rows: note)]),
            RowStep(verb: .translate, rows: [note[0]], inner: [read]),
            RowStep(
                verb: .race, number: 2, flag: true,
                inner: [
                    RowStep(verb: .increment, ids: ["a"], field: 5), RowStep(verb: .increment, ids: ["a"], field: 5),
                    RowStep(verb: .upsert, rows: [note[2]]),
                ]),
            RowStep(verb: .outlive, inner: [read, RowStep(verb: .eraseAll)]), RowStep(verb: .outlive, flag: true, inner: [read]),
            RowStep(verb: .unpromised), RowStep(verb: .closeInside),
            RowStep(verb: .neighbour, inner: [RowStep(verb: .upsert, rows: [note[1]]), read]),
            RowStep(
                verb: .watch, query: query(deep),
                inner: [RowStep(verb: .upsert, rows: note), RowStep(verb: .eraseKeys, ids: ["a"])]),
            RowStep(verb: .watch, flag: true, inner: [RowStep(verb: .second, inner: [RowStep(verb: .upsert, rows: note)])]),
            RowStep(verb: .leave), RowStep(verb: .upsert, rows: note),
            RowStep(verb: .second, inner: [read]), RowStep(verb: .reopen), RowStep(verb: .compact),
            RowStep(verb: .partition, query: query(deep)),
            RowStep(verb: .snapshot, before: [read], inner: [RowStep(verb: .eraseKeys, ids: ["b\0"])], after: [read]),
            RowStep(
                verb: .transaction, flag: true,
                inner: [
                    RowStep(verb: .outside, inner: [read]), RowStep(verb: .eraseAll),
                    RowStep(verb: .transaction, inner: [RowStep(verb: .upsert, rows: [note[0]])]), read,
                ]),
        ]
    }()

    private static var failure: FailedScript<RowStep> {
        var reference = RowReference()
        let outcomes = steps.map { reference.perform($0) }
        guard case .nested(let inner, _)? = outcomes.last, let expected = inner.last else {
            return FailedScript(steps, Difference(expected: "", got: ""))
        }
        return FailedScript(steps, Difference(path: [inner.count - 1], expected: expected.text, got: Outcome.rows([]).text))
    }

    @Test func committedScriptIsWhatIsPrinted() throws {
        try expectCommitted(RowTest(target: Targets.sqlite), Self.failure, "PrintedRows.swift", seed: 42)
    }

    @Test(arguments: Targets.all) func stepsAgree(_ target: ConformanceTarget) throws {
        let failure = try RowTest(target: target, checkInterval: 1).failure(of: Self.steps)
        #expect(failure.map { "\($0.path): expected \($0.expected), got \($0.got)" } == nil)
    }

    @Test func everyKindOfStepIsPrinted() {
        func verbs(_ operations: [RowStep]) -> Set<RowStep.Verb> {
            operations.reduce(into: []) { $0.formUnion(verbs($1.nested).union([$1.verb])) }
        }
        let missing = Set(RowStep.Verb.allCases).subtracting(verbs(Self.steps))
        // Queries that are checked against each other are printed as the one that is wrong.
        #expect(missing == [.inclusion, .indexless, .windows, .reversal, .agreement])
    }

    @Test func scriptsAreTheSameForOneSeed() {
        func text(_ seed: UInt64) -> [String] {
            var generator = RowGenerator(seed: seed)
            return generator.script(steps: 100).map(text)
        }
        func text(_ step: RowStep) -> String {
            ([step.verb.rawValue] + step.source + step.nested.map(text)).joined(separator: "\n")
        }
        #expect(text(3) == text(3))
        #expect(text(3) != text(4))
    }
}
