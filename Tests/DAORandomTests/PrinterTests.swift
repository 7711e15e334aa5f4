import DAOCore
import Foundation
import Testing

@testable import DAOConformance

/// Scripts as they are printed: `PrintedScript.swift` is one, compiled and run with the tests.
@Suite struct PrinterTests {
    /// A model of its own, with a field of every type.
    private static let made: MadeModel = {
        let odd = ["rowid": RandomProof.MadeType.int16, "_": .string, "größe": .string, "a_b": .double, "default": .uuid]
        var fields = odd.sorted { $0.key < $1.key }.map { RandomProof.MadeField($0.key, $0.value) }
        for (index, type) in RandomProof.MadeType.allCases.enumerated() {
            fields.append(RandomProof.MadeField("plain\(index)", type, isIndexed: index == 3, standard: type.empty))
            fields.append(
                RandomProof.MadeField(
                    "maybe\(index)", type, isOptional: true, isUnique: index == 2, earlierNames: ["old\(index)"]))
        }
        fields.insert(RandomProof.MadeField("order", .ticket, isKey: true), at: 2)
        return MadeModel(RandomProof.MadeEntity("select", fields, kept: [0, 1]), number: 0)
    }()

    /// One that cannot be stored.
    private static let invalid = MadeModel(
        RandomProof.MadeEntity("invalid", [.init("id", .int, isKey: true), .init("a b", .strings), .init("key", .string)]),
        number: 1,
        flaw: MadeFlaw(field: "a b"))

    /// A row of the made model with something in every field.
    private static let madeRow: Row = made.entity.fields.map { field in
        if field.isKey { return .integer(5) }
        if let choice = Choice.all(of: field.type.type)?.last { return choice.value }
        return switch field.type.kind {
        case .bool: .bool(true)
        case .float, .double: .double(1.5)
        case .decimal: .decimal(-2.5)
        case .data: .data(Data([1, 2]))
        case .uuid: .uuid(Pools.uuids[3])
        case .date: .date(Date(timeIntervalSinceReferenceDate: 0.1))
        case .string: .string("a\"")
        case .url: .string("https://a.example/")
        default: .integer(7)
        }
    }

    /// One step of every kind, the last of which is printed as the one that fails.
    private static let steps: [Step] = {
        func query(_ node: PredicateNode) -> QuerySpec { QuerySpec(node: node) }
        let note: [Row] = ["a", "b\0", "\u{e9}"].map { [.string($0), .string("t"), .string("t"), .null, .null, .integer(7)] }
        var wide = Entity.wide.table.blank
        for (name, value) in [
            ("flag", .bool(true)), ("count", .unsigned(.max)), ("ratio", .double(-.infinity)), ("real", .double(-0.0)),
            ("realTwin", .double(-0.0)), ("price", .decimal(-2.5)), ("bytes", .data(Data(repeating: 7, count: 600))),
            ("token", .uuid(Pools.uuids[3])), ("site", .string("a")), ("date", .date(Date(timeIntervalSinceReferenceDate: .nan))),
            ("mood", .string("")), ("tags", .string(#"["a"]"#)), ("shape", .string(#"{"name":"box","sides":4}"#)),
            ("text", .string(Pools.prefix + "\"\\")),
        ] as [(String, Value)] {
            guard let field = Entity.wide.fields.firstIndex(where: { $0.name == name }) else { continue }
            wide[field] = value
        }
        let deep = PredicateNode.or([
            .not(.and([.compare(field: 5, .greater, .double(1.5)), .compareFields(1, .equal, 2)])),
            .isIn(field: 0, [.null, .string("a")]),
            .text(field: 1, .matches, "*\\*?", [.caseInsensitive, .diacriticInsensitive]),
        ])
        let read = Step(verb: .read)
        return [
            Step(verb: .create, rows: [note[0]]), Step(verb: .create, rows: note),
            Step(verb: .persist, rows: note), Step(verb: .persist, rows: note, flag: true),
            Step(verb: .upsert, entity: .wide, rows: [wide]), Step(verb: .merge, rows: note, number: 2),
            Step(verb: .merge, rows: note, flag: true),
            Step(verb: .update, query: query(deep), changes: [Change(field: 3, value: .string("body"))], number: 1),
            Step(verb: .update, query: query(deep), changes: [Change(field: 5, value: .integer(8))]),
            Step(verb: .findOrCreate, rows: [note[1]], ids: ["b\0"]), Step(verb: .eraseRows, rows: [note[2]]),
            Step(verb: .eraseKeys, ids: ["x", "y"]), Step(verb: .eraseQuery, query: query(.constant(false))),
            Step(verb: .eraseAll, entity: .tally), Step(verb: .readKey, ids: ["a"]), Step(verb: .readKeys, ids: ["b\0", "a"]),
            Step(verb: .count, query: query(deep)), Step(verb: .keys, query: query(deep)),
            Step(verb: .exists, query: query(deep)), Step(verb: .existsKey, ids: ["a"]),
            Step(verb: .total, entity: .wide, field: 15, total: .average),
            Step(verb: .forEach, number: 1), Step(verb: .cursor, number: 1, inner: [Step(verb: .eraseKeys, ids: ["a"])]),
            Step(verb: .pages, number: 1, flag: true, inner: [Step(verb: .upsert, rows: [note[0]])]),
            Step(verb: .upsert, entity: .made(made), rows: [made.table.blank, madeRow]),
            Step(verb: .invalid, entity: .made(invalid)),
            Step(verb: .update, entity: .made(made), changes: [Change(field: 4, value: .string("x"))]),
            Step(verb: .total, entity: .made(made), field: 0, total: .max),
            Step(verb: .persist, entity: .made(made), rows: [made.table.blank], flag: true),
            Step(verb: .read, entity: .made(made)),
            Step(verb: .increment, ids: ["a"], field: 5),
            Step(
                verb: .translate, entity: .wide, rows: [wide, wide], number: 1, flag: true,
                inner: [Step(verb: .upsert, rows: note)]),
            Step(verb: .translate, rows: [note[0]], inner: [read]),
            Step(
                verb: .race, number: 2, flag: true,
                inner: [
                    Step(verb: .increment, ids: ["a"], field: 5), Step(verb: .increment, ids: ["a"], field: 5),
                    Step(verb: .upsert, rows: [note[2]]),
                ]),
            Step(verb: .outlive, inner: [read, Step(verb: .eraseAll)]), Step(verb: .outlive, flag: true, inner: [read]),
            Step(verb: .unpromised), Step(verb: .closeInside),
            Step(verb: .neighbour, inner: [Step(verb: .upsert, rows: [note[1]]), read]),
            Step(verb: .watch, query: query(deep), inner: [Step(verb: .upsert, rows: note), Step(verb: .eraseKeys, ids: ["a"])]),
            Step(verb: .watch, flag: true, inner: [Step(verb: .second, inner: [Step(verb: .upsert, rows: note)])]),
            Step(verb: .leave), Step(verb: .upsert, rows: note),
            Step(verb: .second, inner: [read]), Step(verb: .reopen), Step(verb: .partition, query: query(deep)),
            Step(verb: .snapshot, before: [read], inner: [Step(verb: .eraseKeys, ids: ["b\0"])], after: [read]),
            Step(
                verb: .transaction, flag: true,
                inner: [
                    Step(verb: .outside, inner: [read]), Step(verb: .eraseAll),
                    Step(verb: .transaction, inner: [Step(verb: .upsert, rows: [note[0]])]), read,
                ]),
        ]
    }()

    private static var divergence: Replay.Divergence {
        var reference = Reference()
        let outcomes = steps.map { reference.perform($0) }
        guard case .nested(let inner, _)? = outcomes.last, let expected = inner.last else {
            return Replay.Divergence(script: steps, path: [], expected: .done, got: .done)
        }
        return Replay.Divergence(script: steps, path: [inner.count - 1], expected: expected, got: .rows([]))
    }

    @Test func committedScriptIsWhatIsPrinted() throws {
        let printed = ScriptPrinter.text(of: Self.divergence, target: "sqlite", seed: 42, operations: 250)
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("PrintedScript.swift")
        let committed = try String(contentsOf: file, encoding: .utf8)
        let expected = "// swift-format-ignore-file\n" + printed
        if committed != expected {
            let copy = FileManager.default.temporaryDirectory.appendingPathComponent("PrintedScript.swift")
            try expected.write(to: copy, atomically: true, encoding: .utf8)
            Issue.record("PrintedScript.swift is not what is printed; that is in \(copy.path)")
        }
    }

    @Test(arguments: Targets.all) func stepsAgree(_ target: ConformanceTarget) throws {
        let divergence = try Replay(target: target, checkInterval: 1).run(Self.steps).divergence
        #expect(divergence.map { "\($0.path): expected \($0.expected.text), got \($0.got.text)" } == nil)
    }

    @Test func everyKindOfStepIsPrinted() {
        func verbs(_ operations: [Step]) -> Set<Step.Verb> {
            operations.reduce(into: []) { $0.formUnion(verbs($1.nested).union([$1.verb])) }
        }
        let missing = Set(Step.Verb.allCases).subtracting(verbs(Self.steps))
        // Queries that are checked against each other are printed as the one that is wrong.
        #expect(missing == [.inclusion, .indexless, .windows, .reversal, .agreement])
    }

    @Test func scriptsAreTheSameForOneSeed() {
        func text(_ seed: UInt64) -> [String] {
            var generator = Generator(seed: seed)
            return generator.script(steps: 100).map(text)
        }
        func text(_ step: Step) -> String {
            ([step.verb.rawValue] + step.source + step.nested.map(text)).joined(separator: "\n")
        }
        #expect(text(3) == text(3))
        #expect(text(3) != text(4))
    }
}
