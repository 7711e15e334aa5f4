import DAOConformance
import DAOCore

/// Steps on models that refer to each other.
struct RelationshipTest: ModelBasedTest {
    let target: ConformanceTarget

    /// Fewer steps than of other kinds: the whole state is compared after each step.
    func script(seed: UInt64, operations: Int) -> [RelationshipStep] {
        var generator = RelationshipGenerator(seed: seed)
        return generator.script(max(1, operations / 8))
    }

    func begin(_ script: [RelationshipStep], at location: ConformanceTarget.Location) throws
        -> ComparedSession<RelationshipStep, RelationshipRunner, RelationshipReference>?
    {
        ComparedSession(try RelationshipRunner(target.open(location)))
    }
}

extension RelationshipReference.Content {
    /// The rows and links in a readable order.
    var lines: [String] {
        func text<Value>(_ name: String, _ rows: [Int: Value]) -> String {
            "\(name): " + rows.sorted { $0.key < $1.key }.map { "\($0)=\($1)" }.joined(separator: " ")
        }
        return [
            text("topics", topics), text("owners", owners), text("lists of posts", topicPosts), text("posts", posts),
            text("authors", authors), text("lists of labels", topicLabels), text("labels", labels), text("people", people),
            text("folders", folders), text("lists of folders", children),
            text("proposals", proposals), text("revisions", revisions),
            text("errands", errands), text("wholes", wholes), text("owners of errands", errandOwners), text("helpers", helpers),
        ]
    }
}

extension PropertyTesting {
    /// Runs steps on related models, on the database and on a reference model. Printed tests call it.
    ///
    /// - Parameters:
    ///   - script: The steps.
    ///   - target: The kind of database.
    ///   - isLogged: Whether the changes are logged, and applied to a copy.
    /// - Throws: The difference, as `ConformanceFailure`.
    public static func replay(_ script: [RelationshipStep], on target: ConformanceTarget, isLogged: Bool = false) throws {
        let test = RelationshipTest(target: target)
        if isLogged { try LoggedTest(base: test).replay(script) } else { try test.replay(script) }
    }
}
