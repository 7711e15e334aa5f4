import DAOConformance
import DAOCore
import Testing

@testable import DAOPropertyTesting

/// The lives of changing databases: as they are printed, and that they say what they should.
/// `PrintedEvolution.swift` is one, compiled and run with the tests.
@Suite struct EvolutionTests {
    private typealias Field = PropertyTesting.GeneratedField

    /// One step of every kind.
    private static let steps: [EvolutionStep] = {
        let first = PropertyTesting.GeneratedEntity(
            "select",
            [
                Field("id", .ticket, isKey: true), Field("mood", .string), Field("größe", .int16, isIndexed: true),
                Field("tags", .optionalStrings, isOptional: true),
            ], kept: [1])
        var second = first
        second.fields[1].type = .mood
        second.fields[2].name = "size"
        second.fields[2].earlierNames = ["größe", "neverStored"]
        second.fields.append(Field("price", .decimal, isUnique: false, defaultValue: .decimal(2.5)))
        second.fields.append(Field("when", .date, isOptional: true, isUnique: true))
        let third = PropertyTesting.GeneratedEntity(
            "order", [Field("id", .ticket, isKey: true), Field("title", .string)],
            dropped: ["size", "tags", "price", "when"])
        let rows: [Row] = [
            [.integer(1), .string("calm"), .integer(5), .string(#"["null",null,"",null]"#)],
            [.integer(2), .string("other"), .integer(-5), .null],
        ]
        return [
            .open(first, reopens: false), .persist(rows), .part(["mood", "id"], [[.string("calm"), .integer(1)]]),
            .part(["id"], [[.integer(9)]]), .erase([.integer(7), .integer(8)]), .open(second, reopens: true),
            .copy(rowsAtOnce: 1, interruptedAfter: 1),
            .evolve(
                version: 3,
                [
                    .init(
                        to: 2,
                        [
                            .changeType(of: "size", in: "select", from: .int16, to: .string),
                            .renameField("mood", of: "select", to: "title"),
                            .addField(Field("extra", .string, defaultValue: .string("a\"b")), to: "select"),
                            .dropField("tags", of: "select"),
                            .setIndex(on: "title", of: "select", isIndexed: true, isUnique: false),
                        ]),
                    .init(to: 3, [.changeKey(of: "select", to: "size"), .dropEntity("select"), .fail]),
                ], model: nil),
            .evolve(
                version: 3,
                [
                    .init(to: 2, [.set("price", of: "select", to: .decimal(0)), .erase(every: 2, of: "select")]),
                    .init(to: 3, [.renameEntity("select", to: "order"), .renameField("mood", of: "order", to: "title")]),
                ], model: third),
            .evolve(version: 2, [], model: nil), .copy(rowsAtOnce: 100, interruptedAfter: nil),
        ]
    }()

    /// What is to come of the steps.
    private static let expected = [
        "done", "done",
        #"read: ("calm", 1) ("other", 2); one by one: ("calm", 1) ("other", 2); given and reported: ("calm", 1) ("other", 2); done"#,
        "read: (1) (2); one by one: (1) (2); given and reported: (1) (2); unsupported", "done", "done",
        "interrupted, 2 rows copied", "0 to 3 by [\"to 2\", \"to 3\"], []; Abort",
        "0 to 3 by [\"to 2\", \"to 3\"], []; done", "schemaIsNewer; schemaIsNewer", "1 rows copied",
    ]

    @Test func referenceSaysWhatIsToCome() {
        var reference = EvolutionReference()
        let outcomes = Self.steps.map { reference.run($0) }
        #expect(outcomes == Self.expected.map { [$0] })
        #expect(
            reference.lines == [
                "version 3", "order of id int64 key, title string", #"order: (2, "other")"#, #"read: (2, "other")"#,
                #"one by one: (2, "other")"#, #"given and reported: (2, "other")"#,
            ])
    }

    @Test(arguments: Targets.all) func stepsAgree(_ target: ConformanceTarget) throws {
        try PropertyTesting.replay(Self.steps, on: target)
    }

    @Test func everyKindOfStepIsMade() {
        var kinds: [String: Int] = [:]
        for seed in UInt64(0)..<80 {
            var generator = EvolutionGenerator(seed: seed)
            var reference = EvolutionReference()
            for step in generator.script(20) {
                // The kind of step, and how it ends.
                let words = (reference.run(step).first ?? "").split(separator: "; ").last?.split(separator: " ")
                kinds[step.source.prefix { $0 != "(" } + " " + (words?.first ?? ""), default: 0] += 1
                if reference.lines.contains(where: { $0.hasPrefix("read: corruptedValue") }) {
                    kinds["unreadable", default: 0] += 1
                }
            }
        }
        let wanted = [
            ".open done", ".open schemaMismatch", ".open uniqueViolation", ".persist done", ".persist uniqueViolation",
            ".erase done", ".part done", ".part unsupported", ".part uniqueViolation",
            ".evolve done", ".evolve Abort", ".evolve corruptedValue", ".evolve schemaIsNewer", ".evolve uniqueViolation",
            ".copy interrupted,", "unreadable",
        ]
        #expect(wanted.filter { kinds[$0, default: 0] < 3 } == [], "of \(kinds)")
    }

    @Test func committedScriptIsWhatIsPrinted() throws {
        let failure = FailedScript(Self.steps, Difference(expected: "", got: ""))
        try expectCommitted(EvolutionTest(target: Targets.sqlite), failure, "PrintedEvolution.swift", seed: 43)
    }
}
