import DAOConformance
import DAOCore
import Testing

@testable import DAOPropertyTesting

/// Scripts in which rules meet: as they are printed, and that they say what they should. `PrintedPairs.swift` is one, compiled
/// and run with the tests.
@Suite struct PairTests {
    /// One step of every kind.
    private static let steps: [PairStep] = [
        .holders([1, 2, 3], by: .first), .typed(by: .first), .openAtOnce(.loose),
        .badges([.init(1, holder: 1, rank: 5), .init(2, holder: nil, rank: nil), .init(3, holder: 1, rank: 7)], by: .first),
        .open(.cascading, by: .second), .eraseHolder(2, by: .second, .untyped),
        .update(rank: 9, holder: nil, erasing: .holder(1), by: .second), .typed(by: .second),
        .transaction(
            [
                .holders([2], by: .first), .merge(1, rank: 4, erasing: .badge(1), by: .first),
                .badges([.init(1, holder: 9, rank: 1)], by: .first),
            ], fails: true, by: .second),
        .observed(
            [
                .evolve(.rename(toMedals: true), by: .second), .evolve(.retype(ofMedals: true), by: .first),
                .open(.restricted, by: .first),
            ], inside: [.holders([1, 2], by: .first)], fails: false, by: .second),
        .badges([.init(1, holder: 2, rank: 5)], by: .first), .eraseHolder(2, by: .second, .byKey),
        .eraseHolder(1, by: .second, .byCondition), .update(rank: 1, holder: nil, erasing: .badge(1), by: .first),
        .reopen, .open(.marked, by: .first),
        .badges([.init(4, holder: 3, rank: 4), .init(5, holder: nil, rank: nil)], by: .first),
        .typed(by: .first), .evolve(.dropHolder(ofMedals: false), by: .first), .typed(by: .first), .eraseBadge(4, by: .second),
        .evolve(.dropEntity(ofMedals: false), by: .second), .eraseHolder(2, by: .first, .byKey),
        .eraseHolder(3, by: .first, .byKey),
        .copyIn(.cascading, holders: [1, 3], badges: [.init(1, holder: 3, rank: 2), .init(2, holder: nil, rank: 2)]),
        .eraseHolder(3, by: .second, .untyped),
        .seats(
            [
                .init(1, row: 1, isLeft: false, crew: 1), .init(2, row: 1, isLeft: true, crew: 2),
                .init(3, row: 2, isLeft: false, crew: 1),
            ], by: .first),
        .setLeft(false, row: 1, by: .second), .setLeft(true, row: 1, by: .second),
        .seats([.init(4, row: 2, isLeft: false, crew: 0)], by: .first),
        .crews(1, 2), .groups(first: 1), .groupsBesideAWriter(first: 2), .compact,
        .compactBeside([.crews(3, 0), .holders([7], by: .first)]),
    ]

    /// What is to come of the steps.
    private static let expected = [
        "done", "left out", "done, done", "done", "schemaMismatch", "1", "3",
        "1 of - 9, 2 of - 9, 3 of - 9", "done, done, referenceViolation", "done; done, done, done", "done",
        "referenceViolation", "1", "0", "done", "done", "done", "4 of 3 4 r4, 5 of - - m", "done", "schemaMismatch",
        "1",
        "done", "1", "1", "done", "1", "done", "uniqueViolation of 2 by 1 in row", "2", "uniqueViolation of 4 by 3 in row",
        "1 3 | 2 | 1 2 3", "1: 2 of 2, 2: 3 of 1; 2: 3", "done", "done", " | 1 2 3 | , done",
    ]

    @Test func referenceSaysWhatIsToCome() {
        var reference = PairReference()
        #expect(Self.steps.map { reference.run($0) } == Self.expected.map { [$0] })
        #expect(
            reference.lines.filter { $0.hasPrefix("pair_badge") || $0.hasPrefix("pair_medal") }
                == [
                    "pair_badge: 2 of - 2", "pair_badge: 2 of - 2", "pair_medal: 1 of - '9', 2 of - '9', 3 of - '9'",
                    "pair_medal: 1 of - '9', 2 of - '9', 3 of - '9'",
                ])
    }

    @Test(arguments: Targets.all) func stepsAgree(_ target: ConformanceTarget) throws {
        try PropertyTesting.replay(Self.steps, on: target)
    }

    @Test func everyKindOfStepIsMade() {
        var kinds: [String: Int] = [:]
        func count(_ step: PairStep, _ outcome: String) {
            kinds[step.source.prefix { $0 != "(" } + " " + (outcome.split(separator: " ").first ?? ""), default: 0] += 1
        }
        for seed in UInt64(0)..<80 {
            var generator = PairGenerator(seed: seed)
            var reference = PairReference()
            for step in generator.script(30) { count(step, reference.run(step).first ?? "") }
        }
        let wanted = [
            ".open done", ".open schemaMismatch", ".openAtOnce done,", ".badges done", ".badges schemaMismatch",
            ".eraseHolder referenceViolation", ".eraseHolder 1", ".eraseBadge 1", ".update 2", ".update referenceViolation",
            ".merge done", ".merge referenceViolation", ".evolve done", ".copyIn done", ".seats done",
            ".seats uniqueViolation", ".setLeft uniqueViolation", ".groupsBesideAWriter done", ".compact done", ".reopen done",
        ]
        #expect(wanted.filter { kinds[$0, default: 0] < 3 } == [], "of \(kinds)")
    }

    @Test func committedScriptIsWhatIsPrinted() throws {
        let failure = FailedScript(Self.steps, Difference(expected: "", got: ""))
        try expectCommitted(PairTest(target: Targets.sqlite), failure, "PrintedPairs.swift", seed: 45)
    }
}
