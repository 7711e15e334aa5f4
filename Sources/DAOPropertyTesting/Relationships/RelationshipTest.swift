import DAOConformance
import DAOCore

/// Steps on models that refer to each other.
struct RelationshipTest: ModelBasedTest {
    let target: ConformanceTarget

    /// Fewer than others: everything is compared after each.
    func script(seed: UInt64, operations: Int) -> [RelationshipStep] {
        var generator = RelationshipGenerator(seed: seed)
        return generator.script(max(1, operations / 8))
    }

    func begin(_ script: [RelationshipStep], at location: ConformanceTarget.Location) throws -> RelationshipSession? {
        RelationshipSession(runner: try RelationshipRunner(target.open(location)))
    }
}

/// Models that refer to each other in a database, and in the reference model.
struct RelationshipSession: ModelBasedSession {
    let runner: RelationshipRunner
    private var reference = RelationshipReference()

    init(runner: RelationshipRunner) { self.runner = runner }

    func close() { try? runner.database.close() }

    mutating func run(_ step: RelationshipStep, isLast: Bool) -> Difference<RelationshipStep>? {
        let expected = reference.run(step)
        do {
            let got = try runner.run(step)
            if got != expected { return Difference(expected: expected, got: got) }
            let content = try runner.content()
            if content == reference.content { return nil }
            return Difference(expected: reference.content.text, got: content.text)
        } catch {
            return Difference(expected: expected, got: "\(error)")
        }
    }
}

extension RelationshipReference.Content {
    /// The rows and links in a readable order.
    fileprivate var text: String {
        func rows(_ rows: [Int: Int]) -> String { rows.sorted { $0.key < $1.key }.map { "\($0)=\($1)" }.joined(separator: " ") }
        func lists(_ lists: [Int: [Int]]) -> String {
            lists.sorted { $0.key < $1.key }.map { "\($0)\($1)" }.joined(separator: " ")
        }
        return """
            topics \(rows(topics)); owners \(rows(owners)); posts \(lists(topicPosts)) of \(rows(posts)) by \(rows(authors)); \
            labels \(lists(topicLabels)) of \(rows(labels)); people \(rows(people)); folders \(rows(folders)) with \(lists(children))
            """
    }
}

extension PropertyTesting {
    /// Runs steps on models that refer to each other, and on a reference model: what a printed test calls.
    ///
    /// - Throws: What differs, as `ConformanceFailure`.
    public static func replay(_ script: [RelationshipStep], on target: ConformanceTarget) throws {
        try RelationshipTest(target: target).replay(script)
    }
}
