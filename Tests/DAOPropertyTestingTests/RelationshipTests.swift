import DAOConformance
import Testing

@testable import DAOPropertyTesting

/// Steps on models that refer to each other, as they are printed. `PrintedRelationships.swift` is one script,
/// compiled and run with the tests.
@Suite struct RelationshipTests {
    /// One step of every kind.
    private static let steps: [RelationshipStep] =
        [
            .topic(1, version: 1, owner: 2, posts: [1, 2, 1], author: nil, labels: [3]),
            .topic(2, version: 2, owner: nil, posts: [2], author: 1, labels: []), .post(5, version: 3, author: 1),
            .person(3, version: 4), .label(1, version: 5),
            .folder(.init(1, [.init(2, [.init(1, nil)]), .init(3, [])]), version: 6), .retitle(1, version: 7),
            .shorten(1, by: 1), .transaction([.eraseTopics([1]), .transaction([.eraseLabels([3])], fails: true)], fails: false),
            .erasePosts([5]), .erasePeople([1]), .eraseFolders([2]), .proposals([1, 2, 1], version: 8, age: 0),
            .proposals([2, 1], version: 9, age: 1), .updateProposals([1, 3], version: 10), .eraseProposals([2]),
            .errands([.init(1, whole: 2, owner: 2, helper: nil), .init(2, whole: nil, owner: 2, helper: 1)], version: 11),
            .eraseErrands([2]), .askErrands(2),
        ] + RelationshipStep.Question.allCases.map { .ask($0, 2) }

    @Test func committedScriptIsWhatIsPrinted() throws {
        let failure = FailedScript(Self.steps, Difference(expected: "", got: ""))
        try expectCommitted(RelationshipTest(target: Targets.sqlite), failure, "PrintedRelationships.swift", seed: 44)
    }

    @Test(arguments: Targets.all, [false, true]) func stepsAgree(_ target: ConformanceTarget, _ isLogged: Bool) throws {
        try PropertyTesting.replay(Self.steps, on: target, isLogged: isLogged)
    }
}
